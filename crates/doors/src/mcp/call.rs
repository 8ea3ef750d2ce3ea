//! `tools/call`, by whichever way its message was read.

use std::sync::Arc;

use proto::Code;
use rmcp::model::{CallToolResult, ErrorData};
use serde_json::Value;
use strip::Call;

use super::{Core, render};
use crate::schema;
use crate::wishes::{Unclear, Wishes};

/// Takes a call through the strip, and makes of its answer what a client of its era reads.
pub(crate) async fn run(
    core: &Core,
    call: Call,
    modern: bool,
) -> Result<CallToolResult, ErrorData> {
    let (name, principal) = (call.tool.clone(), Arc::clone(&call.principal));
    let answer = core.strip.call(call).await;
    let view = core.strip.view(&principal);
    let wraps = |data: &Value| {
        let entry = view.tools().resolve(&name).ok();
        let schema = entry.and_then(|entry| entry.descriptor.output_schema.as_ref());
        !modern && schema::wraps_result(schema, data)
    };
    let native = answer.native.as_deref().and_then(render::Native::of);
    match answer.result {
        Ok(data) => Ok(match native {
            Some(native) => native.success(wraps, answer.meta),
            None => {
                let wrapped = wraps(&data);
                render::success(data, wrapped, answer.meta)
            }
        }),
        // What a server itself says of its failure says more than our words for it.
        Err(failure) if let Some(native) = native => Ok(native.failure(&failure, answer.meta)),
        // A tool may say NOT_FOUND about what it looked for; only a name without a tool is the protocol's fault.
        Err(failure) if failure.code == Code::NotFound && view.tools().resolve(&name).is_err() => {
            Err(ErrorData::invalid_params(failure.message, failure.details))
        }
        Err(failure) => Ok(render::failure(&failure, answer.meta)),
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
    if let Some(patience) = asked(render::TIMEOUT_MS) {
        wishes.patience_ms(patience.as_u64()).map_err(at(render::TIMEOUT_MS))?;
    }
    Ok(wishes)
}
