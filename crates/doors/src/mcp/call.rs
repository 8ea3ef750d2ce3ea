//! `tools/call`, by whichever way its message was read.

use std::sync::Arc;

use http::HeaderMap;
use proto::Code;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, ErrorData, InputRequiredResult,
};
use serde_json::Value;
use strip::{Reply, Request};

use super::{Core, render, servers};
use crate::schema;
use crate::wishes::{RUN_HEADER, Unclear, Wishes};

/// A server needs something that the caller did not declare.
pub(crate) const MISSING_CAPABILITY: i32 = -32021;
/// A server needs the person to open a page first.
const NEEDS_URL: i32 = -32042;

/// Takes a call of somebody who cannot be asked anything through the strip, and makes of its answer what a client of
/// its era reads.
pub(crate) async fn run(
    core: &Core,
    call: Request,
    modern: bool,
) -> Result<CallToolResult, ErrorData> {
    match answered(core, call, modern).await? {
        CallToolResponse::Complete(result) => Ok(result),
        _ => Err(ErrorData::internal_error("the tool asks a caller who cannot be asked", None)),
    }
}

/// Takes a call through the strip, and makes of its answer what a client of its era reads.
pub(super) async fn answered(
    core: &Core,
    call: Request,
    modern: bool,
) -> Result<CallToolResponse, ErrorData> {
    let (name, resumed) = (call.tool.clone(), call.resume.is_some());
    let principal = Arc::clone(&call.principal);
    let answer = core.strip.call(call).await;
    match (answer.reply, &answer.native) {
        (Reply::NeedsInput, Some(native)) => {
            return servers::typed::<InputRequiredResult>(native).map(Into::into);
        }
        (Reply::Pending, Some(native)) => {
            return servers::typed::<CreateTaskResult>(native).map(Into::into);
        }
        _ => {}
    }
    let view = core.strip.view(&principal);
    let wraps = |data: &Value| {
        let entry = view.tools().resolve(&name).ok();
        let schema = entry.and_then(|entry| entry.descriptor.output_schema.as_ref());
        !modern && schema::wraps_result(schema, data)
    };
    let native = answer.native.and_then(render::Native::of);
    match answer.result {
        Ok(data) => {
            let mut result = match native {
                Some(native) => native.success(wraps, answer.meta),
                None => {
                    let wrapped = wraps(&data);
                    render::success(data, wrapped, answer.meta)
                }
            };
            result.content.extend(answer.references.iter().map(render::link));
            Ok(result.into())
        }
        // What stands between a server and its caller is theirs to settle, not the model's.
        Err(failure)
            if let Some(error) = servers::of_server(&failure)
                && (resumed || matches!(error.code.0, MISSING_CAPABILITY | NEEDS_URL)) =>
        {
            Err(error)
        }
        // A tool may say NOT_FOUND about what it looked for; only a name without a tool is the protocol's fault.
        Err(failure)
            if native.is_none()
                && failure.code == Code::NotFound
                && view.tools().resolve(&name).is_err() =>
        {
            Err(ErrorData::invalid_params(failure.message, failure.details))
        }
        Err(failure) => {
            Ok(match native {
                // What a server itself says of its failure says more than our words for it.
                Some(native) => native.failure(&failure, answer.meta),
                None => render::failure(&failure, answer.meta),
            }
            .into())
        }
    }
}

/// What a caller asks for in a request's `_meta`.
pub(crate) fn wishes<'a>(
    asked: impl Fn(&'static str) -> Option<&'a Value>,
) -> Result<Wishes, ErrorData> {
    let at = |key: &'static str| {
        move |unclear: Unclear| {
            ErrorData::invalid_params(format!("`_meta[\"{key}\"]` {unclear}"), None)
        }
    };
    let mut wishes = Wishes::default();
    if let Some(key) = asked(render::IDEMPOTENCY_KEY) {
        wishes.key(key.as_str()).map_err(at(render::IDEMPOTENCY_KEY))?;
    }
    if let Some(verify) = asked(render::VERIFY) {
        wishes.verify(verify.as_bool()).map_err(at(render::VERIFY))?;
    }
    if let Some(timeout) = asked(render::TIMEOUT_MS) {
        wishes.timeout_ms(timeout.as_u64()).map_err(at(render::TIMEOUT_MS))?;
    }
    for key in render::RUN {
        if let Some(run) = asked(key) {
            wishes.run(run.as_str()).map_err(at(key))?;
        }
    }
    Ok(wishes)
}

/// The run that a request names in a header; what its `_meta` says goes before.
pub(crate) fn run_of_header(headers: &HeaderMap, wishes: &mut Wishes) -> Result<(), ErrorData> {
    let Some(name) = headers.get(RUN_HEADER).filter(|_| !wishes.names_run()) else {
        return Ok(());
    };
    let unclear =
        |unclear| ErrorData::invalid_params(format!("the header `{RUN_HEADER}` {unclear}"), None);
    wishes.run(name.to_str().ok().map(str::trim)).map_err(unclear)
}
