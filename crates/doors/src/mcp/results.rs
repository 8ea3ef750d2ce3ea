//! Converts results and errors between servers and rmcp.

use std::sync::Arc;

use proto::{Code, Failure};
use rmcp::model::{ErrorCode, ErrorData, InputResponses};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use strip::Resume;

/// The answers of a client to the questions of a server, in a request that it sends again.
pub(super) fn resume(responses: Option<InputResponses>, state: Option<String>) -> Option<Resume> {
    if responses.is_none() && state.is_none() {
        return None;
    }
    let responses = responses.unwrap_or_default().into_iter().collect();
    Some(Resume { responses, state })
}

/// Removes what a server wrote under the keys of `_meta` that are the gateway's own, also from the result of a task.
pub(super) fn remove_reserved(result: &mut Arc<Value>) {
    let is_reserved = |key: &String| key.starts_with("powerstrip/");
    for path in ["/_meta", "/result/_meta"] {
        let fields = result.pointer(path).and_then(Value::as_object);
        // Not copied where nothing changes: a result may be large.
        if fields.is_some_and(|fields| fields.keys().any(is_reserved))
            && let Some(Value::Object(fields)) = Arc::make_mut(result).pointer_mut(path)
        {
            fields.retain(|key, _| !is_reserved(key));
        }
    }
}

/// The result of a server as rmcp's type.
pub(super) fn typed<T: DeserializeOwned>(result: &Value) -> Result<T, ErrorData> {
    // Results of legacy servers have no `resultType`, which modern clients require.
    let has_type = result.get("resultType").is_some() || !result.is_object();
    let whole = (!has_type).then(|| {
        let mut whole = result.clone();
        whole["resultType"] = "complete".into();
        whole
    });
    T::deserialize(whole.as_ref().unwrap_or(result)).map_err(|why| {
        tracing::warn!(%why, "the result of a server does not match the protocol");
        ErrorData::internal_error("the server sent a result that is not valid MCP", None)
    })
}

/// The server's own error unchanged; otherwise the JSON-RPC error of a failure.
pub(super) fn error_of(failure: Failure) -> ErrorData {
    if let Some(error) = server_error(&failure) {
        return error;
    }
    match failure.code {
        Code::NotFound => ErrorData::resource_not_found(failure.message, failure.details),
        Code::InvalidInput => ErrorData::invalid_params(failure.message, failure.details),
        _ => {
            let mut data = Map::new();
            data.insert("code".to_owned(), failure.code.as_str().into());
            data.insert("retryable".to_owned(), failure.retryable.into());
            ErrorData::internal_error(failure.message, Some(data.into()))
        }
    }
}

/// The JSON-RPC error of a server, if that is the cause of a failure.
pub(super) fn server_error(failure: &Failure) -> Option<ErrorData> {
    let details = failure.details.as_ref()?;
    details.get("server")?;
    let code = i32::try_from(details.get("code")?.as_i64()?).ok()?;
    let data = details.get("data").filter(|data| !data.is_null()).cloned();
    Some(ErrorData::new(ErrorCode(code), failure.message.clone(), data))
}
