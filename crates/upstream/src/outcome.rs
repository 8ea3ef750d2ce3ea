//! Turns the result of `tools/call` into the output of a tool, without losing anything.

use std::sync::Arc;

use proto::{Failure, clean};
use serde_json::{Map, Value};
use strip::Output;
use strip::files::data_of;

use crate::error::{TransportError, shown};
use crate::rpc::RpcResult;
use crate::{fault, unanswerable};

/// How a server's results are handled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Whether invisible characters are removed; otherwise they are counted.
    pub(crate) clean: bool,
    /// Whether large parts are stored as files, so that they need not be restored.
    pub(crate) keep: bool,
}

/// Reads a result.
pub(crate) fn read(server: &str, answer: RpcResult, rules: Rules) -> Result<Output, Failure> {
    let clean_results = rules.clean;
    let malformed = |why: String| TransportError::malformed(why).failure(server);
    let json = if rules.keep { answer.get().into() } else { answer.whole() };
    let mut result: Value = serde_json::from_str(&json)
        .map_err(|why| malformed(format!("the result cannot be read: {why}")))?;
    let hidden = if may_hide(&json) { hidden(&mut result, clean_results) } else { 0 };
    drop(json);
    let failed = result.get("isError") == Some(&Value::Bool(true));
    if let Some(blobs) = answer.blobs.as_ref().filter(|_| rules.keep && failed) {
        // The text of a failure is read here; few are large.
        result = serde_json::from_str(&blobs.restore(&result.to_string()))
            .map_err(|why| malformed(format!("the result cannot be read: {why}")))?;
    }
    let Value::Object(fields) = &result else {
        return Err(malformed("the result is no object".to_owned()));
    };
    if fields.get("resultType").is_some_and(|kind| kind == "input_required") {
        // A caller that can be asked has been asked before the result comes here.
        return Err(unanswerable::question(server, None));
    }
    check(fields).map_err(malformed)?;

    if failed {
        let failure = fault::failure(server, &result, shown(&text(fields)));
        return Err(failure.native(Arc::new(result)));
    }
    let mut output = Output::new(data_of(&result));
    output.blobs = answer.blobs.filter(|_| rules.keep);
    output.native = Some(Arc::new(result));
    if hidden > 0 {
        output.warnings.push(if clean_results {
            format!(
                "{hidden} invisible characters were removed from the result of server `{server}`"
            )
        } else {
            format!("the result of server `{server}` has {hidden} invisible characters")
        });
    }
    Ok(output)
}

/// Checks the fields that all readers of a result rely on.
fn check(fields: &Map<String, Value>) -> Result<(), String> {
    match fields.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => {}
        Some(other) => {
            return Err(format!(
                "it answers with a {other:?}, which the client did not declare support for"
            ));
        }
    }
    if !matches!(fields.get("isError"), None | Some(Value::Bool(_) | Value::Null)) {
        return Err("`isError` is neither true nor false".to_owned());
    }
    match fields.get("content") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(blocks)) if blocks.iter().all(Value::is_object) => Ok(()),
        Some(_) => Err("`content` is no list of objects".to_owned()),
    }
}

/// All text blocks, one below the other.
fn text(fields: &Map<String, Value>) -> String {
    let blocks = fields.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}

/// Whether a JSON text may have invisible characters; most do not, and are not searched.
fn may_hide(json: &str) -> bool {
    let suspect = ["\\u", "\\b", "\\f", "<!--"];
    !json.is_ascii()
        || json.as_bytes().contains(&0x7f)
        || suspect.into_iter().any(|written| json.contains(written))
}

fn hidden(result: &mut Value, clean_results: bool) -> usize {
    if clean_results {
        clean::json_in_place(result)
    } else {
        clean::json_in_place(&mut result.clone())
    }
}

#[cfg(test)]
mod tests;
