//! Turns the answer of a service into the output of a tool.

use std::time::Duration;

use egress::http::Response;
use http::StatusCode;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use openapi::{essence, is_json};
use proto::{Blame, Code, Failure, clean};
use serde_json::{Value, json};
use strip::Output;

use crate::error::shown;

/// Reads an answer. `clean_results` removes invisible characters; otherwise they are counted.
pub(super) fn read(
    server: &str,
    response: &Response,
    clean_results: bool,
) -> Result<Output, Failure> {
    if !response.status.is_success() {
        return Err(refused(server, response));
    }
    let mut data = data(server, response)?;
    let mut cleaned = data.clone();
    let hidden = clean::json_in_place(&mut cleaned);
    if clean_results {
        data = cleaned;
    }
    let mut output = Output::new(data);
    if hidden > 0 {
        output.warnings.push(if clean_results {
            format!("{hidden} invisible characters were removed from the answer of `{server}`")
        } else {
            format!("the answer of server `{server}` has {hidden} invisible characters")
        });
    }
    Ok(output)
}

fn data(server: &str, response: &Response) -> Result<Value, Failure> {
    if response.body.is_empty() {
        return Ok(Value::Null);
    }
    let kind = response.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = essence(kind.unwrap_or("application/json")).to_ascii_lowercase();
    if is_json(&kind) {
        let body = proto::without_lone_surrogates(&response.body);
        return serde_json::from_slice(&body).map_err(|_| {
            Failure::new(
                Code::Internal,
                format!("server `{server}` says JSON and gave something else"),
            )
            .with_unknown_effect()
        });
    }
    match std::str::from_utf8(&response.body) {
        Ok(text) if !text.contains('\0') => Ok(json!(text)),
        _ => Err(Failure::new(
            Code::Unsupported,
            format!(
                "server `{server}` answered with `{}`, which cannot be forwarded",
                shown(&kind)
            ),
        )
        .blame(Blame::Tool)
        .with_unknown_effect()),
    }
}

/// The failure for a status other than success; the same as for tools of kind `http`.
fn refused(server: &str, response: &Response) -> Failure {
    let status = response.status;
    let code = match status {
        StatusCode::UNAUTHORIZED => Code::Unavailable,
        status => Code::of_http(status.as_u16()),
    };
    let said = shown(&String::from_utf8_lossy(&response.body));
    let said = if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) };
    let failure = Failure::new(code, format!("server `{server}` answered {status}{said}"))
        .details(json!({"server": server, "status": status.as_u16()}));
    let unknown = response.redirected || Code::http_leaves_effect_unknown(status.as_u16());
    let failure = if unknown { failure.with_unknown_effect() } else { failure };
    let failure = match (failure.blame, status) {
        // The gateway's own credentials were refused, which no caller can fix.
        (_, StatusCode::UNAUTHORIZED) => failure.blame(Blame::Gateway).retryable(false),
        (Blame::Gateway, _) => failure.blame(Blame::Tool),
        _ => failure,
    };
    let wait =
        response.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    match wait {
        Some(seconds) => failure.retry_after(Duration::from_secs(seconds)),
        None => failure,
    }
}
