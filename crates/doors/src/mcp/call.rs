//! `tools/call`, for the direct path and for rmcp.

use http::HeaderMap;
use proto::Code;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, ErrorData, InputRequiredResult,
};
use schema::protocols;
use serde_json::{Value, json};
use strip::servers::ClientIdentity;
use strip::{Reply, Request};

use super::apps::Links;
use super::content::ContentKinds;
use super::state::McpState;
use super::{render, results};
use crate::call_options::{CallOptions, InvalidOption, RUN_HEADER};
use crate::exact::{ROUNDED, rounded};

/// A server needs a capability that the caller did not declare.
pub(crate) const MISSING_CAPABILITY: i32 = -32021;
/// A server needs the user to open a URL first.
const NEEDS_URL: i32 = -32042;

/// Calls a tool for a caller that cannot be asked questions.
pub(crate) async fn call(
    state: &McpState,
    call: Request,
    kinds: ContentKinds,
) -> Result<CallToolResult, ErrorData> {
    match answer(state, call, kinds).await? {
        CallToolResponse::Complete(result) => Ok(result),
        _ => Err(ErrorData::internal_error(
            "the tool asked a question, but the caller cannot be asked",
            None,
        )),
    }
}

/// Calls a tool and renders its answer for the protocol revision of the client.
pub(super) async fn answer(
    state: &McpState,
    call: Request,
    kinds: ContentKinds,
) -> Result<CallToolResponse, ErrorData> {
    let (resumed, modern) = (call.resume.is_some(), call.modern);
    let client = ClientIdentity::of(&call);
    let mut answer = state.strip.call(call).await;
    if let Some(native) = &mut answer.native {
        results::remove_reserved(native);
        kinds.render(native);
    }
    match (answer.reply, &answer.native) {
        (Reply::NeedsInput, Some(native)) => {
            return results::typed::<InputRequiredResult>(native).map(Into::into);
        }
        (Reply::Pending, Some(native)) => {
            return results::typed::<CreateTaskResult>(native).map(Into::into);
        }
        _ => {}
    }
    let entry = answer.entry;
    let wraps = |data: &Value| {
        let schema = entry.as_ref().and_then(|entry| entry.descriptor.output_schema.as_ref());
        !modern && protocols::wraps_result(schema, data)
    };
    let mut native = answer.native.and_then(render::Native::of);
    if let Some(native) = &mut native
        && let Some((server, _)) = answer.meta.tool.split_once(':')
    {
        let (listing, readable) = (
            state.strip.servers().listing_of(&client),
            state.strip.may_use_server(&client.principal, server),
        );
        native.translate(&Links { listing: &listing, server, readable });
    }
    match answer.result {
        Ok(data) => {
            let mut result = match native {
                Some(native) => native.success(wraps, answer.meta),
                None => {
                    let wrapped = wraps(&data);
                    let text = entry.as_ref().and_then(|entry| entry.tool.text_for_models(&data));
                    render::success(data, text, wrapped, answer.meta)
                }
            };
            if kinds.has_links() {
                result.content.extend(answer.references.iter().map(render::link));
            }
            Ok(result.into())
        }
        // Errors that the client has to handle, not the model.
        Err(failure)
            if let Some(error) = results::server_error(&failure)
                && (resumed || matches!(error.code.0, MISSING_CAPABILITY | NEEDS_URL)) =>
        {
            Err(error)
        }
        // A tool may itself answer NOT_FOUND; only an unknown tool is a protocol error.
        Err(failure) if native.is_none() && failure.code == Code::NotFound && entry.is_none() => {
            Err(ErrorData::invalid_params(failure.message, failure.details))
        }
        Err(failure) => {
            Ok(match native {
                // The server's own description of the failure is more precise than ours.
                Some(native) => native.failure(&failure, answer.meta),
                None => render::failure(&failure, answer.meta),
            }
            .into())
        }
    }
}

/// Reads the options of a call from the `_meta` of its request.
pub(crate) fn call_options<'a>(
    field: impl Fn(&'static str) -> Option<&'a Value>,
) -> Result<CallOptions, ErrorData> {
    let at = |key: &'static str| {
        move |invalid: InvalidOption| {
            ErrorData::invalid_params(format!("`_meta[\"{key}\"]` {invalid}"), None)
        }
    };
    if let Some(path) = field(ROUNDED).and_then(Value::as_str) {
        let failure = rounded(&[path.to_owned()]);
        let item = json!(failure.item());
        return Err(ErrorData::invalid_params(failure.message, Some(item)));
    }
    let mut options = CallOptions::default();
    if let Some(key) = field(render::IDEMPOTENCY_KEY) {
        options.key(key.as_str()).map_err(at(render::IDEMPOTENCY_KEY))?;
    }
    if let Some(verify) = field(render::VERIFY) {
        options.verify(verify.as_bool()).map_err(at(render::VERIFY))?;
    }
    if let Some(timeout) = field(render::TIMEOUT_MS) {
        options.timeout_ms(timeout.as_u64()).map_err(at(render::TIMEOUT_MS))?;
    }
    for key in render::RUN {
        if let Some(run) = field(key) {
            options.run(run.as_str()).map_err(at(key))?;
        }
    }
    Ok(options)
}

/// Reads the run from a header, unless `_meta` names one.
pub(crate) fn run_of_header(
    headers: &HeaderMap,
    options: &mut CallOptions,
) -> Result<(), ErrorData> {
    let Some(name) = headers.get(RUN_HEADER).filter(|_| !options.names_run()) else {
        return Ok(());
    };
    let invalid =
        |invalid| ErrorData::invalid_params(format!("the header `{RUN_HEADER}` {invalid}"), None);
    options.run(name.to_str().ok().map(str::trim)).map_err(invalid)
}
