//! Web services, through the guarded client.

use std::time::Duration;

use bytes::Bytes;
use egress::http::{FetchError, Limits, Part, Refusal, Request, Response};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method};
use proto::{Blame, Code, Failure};
use serde_json::{Value, json};
use strip::Job;

use super::pack_tool::PackTool;
use crate::contract::{self, Reply};
use crate::manifest::Http;
use crate::template::Values;

/// The longest URL, and the longest header, that a template may make.
const MAX_TEXT: usize = 16 * 1024;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl PackTool {
    pub(super) async fn run_http(&self, http: &Http, job: &Job) -> Result<Reply, Failure> {
        let values = self.values(&job.input);
        let request = Request {
            method: http.method.clone(),
            url: http.url.render_url(&values, MAX_TEXT)?,
            headers: headers(http, &values, job)?,
            body: body(http, &job.input).into(),
        };
        let limits = Limits {
            deadline: Some(self.time(job)),
            max_body_bytes: self.max_output() as u64,
            ..Limits::default()
        };
        let sending = self.runtime.http.send(request, &limits, &self.pack.manifest.scope);
        let response = tokio::select! {
            response = sending => response.map_err(|error| failure(error, http.url.uses_input()))?,
            () = job.cancel().cancelled() => {
                return Err(Failure::new(Code::Unavailable, "the call was cancelled"));
            }
        };
        read(&response)
    }
}

/// The input as the body; a GET request has none.
fn body(http: &Http, input: &Value) -> Bytes {
    if http.method == Method::GET { Bytes::new() } else { Bytes::from(input.to_string()) }
}

fn headers(http: &Http, values: &Values, job: &Job) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, JSON);
    if http.method != Method::GET {
        headers.insert(CONTENT_TYPE, JSON);
        if let Some(key) = &job.request().idempotency_key
            && let Ok(key) = HeaderValue::from_str(key)
        {
            headers.insert(IDEMPOTENCY_KEY, key);
        }
    }
    for (name, template) in &http.headers {
        let text = template.render(values, MAX_TEXT)?;
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            Failure::new(
                Code::InvalidInput,
                format!("the value for the header `{name}` has characters that no header can have"),
            )
        })?;
        value.set_sensitive(template.uses_env());
        headers.insert(name, value);
    }
    Ok(headers)
}

fn read(response: &Response) -> Result<Reply, Failure> {
    let status = response.status;
    if !status.is_success() {
        return Err(refused(response));
    }
    if response.body.is_empty() {
        return Ok(Reply { data: Value::Null, warnings: Vec::new() });
    }
    let value = serde_json::from_slice(&response.body).map_err(|_| {
        let text = String::from_utf8_lossy(&response.body);
        contract::unreadable(format!(
            "the service answered `{}`, which is not JSON",
            contract::preview(&text)
        ))
    })?;
    contract::open(value)
}

/// The failure for a status other than success.
fn refused(response: &Response) -> Failure {
    let status = response.status;
    let code = Code::of_http(status.as_u16());
    let failure = Failure::new(code, format!("the service answered {status}"))
        .details(json!({"status": status.as_u16()}));
    let unknown = response.redirected || Code::http_leaves_effect_unknown(status.as_u16());
    let failure = if unknown { failure.with_unknown_effect() } else { failure };
    // It was the service that failed, not the gateway.
    let failure =
        if failure.blame == Blame::Gateway { failure.blame(Blame::Tool) } else { failure };
    let wait =
        response.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    match wait {
        Some(seconds) => failure.retry_after(Duration::from_secs(seconds)),
        None => failure,
    }
}

/// The failure for a missing answer: the caller's fault where the caller chose the host, else the pack's or the service's.
fn failure(error: FetchError, chosen_by_caller: bool) -> Failure {
    let message = error.to_string();
    match error {
        FetchError::Refused(Refusal::Redirects { .. }) => contract::tool_failure(message),
        FetchError::Refused(_) if chosen_by_caller => Failure::new(Code::InvalidInput, message),
        FetchError::Refused(_) => Failure::new(Code::Unsupported, message),
        FetchError::Redirected(error) => failure(*error, chosen_by_caller).with_unknown_effect(),
        FetchError::Timeout { .. } => Failure::new(Code::Timeout, message),
        FetchError::TooLarge { part: Part::Body, limit } => {
            contract::unreadable(format!("the service answered with more than {limit} bytes"))
                .details(json!({"limit": limit}))
        }
        FetchError::TooLarge { part: Part::Headers, .. } | FetchError::Protocol { .. } => {
            Failure::new(Code::Unavailable, message).blame(Blame::Tool).with_unknown_effect()
        }
        FetchError::Resolve { .. } | FetchError::Connect { .. } | FetchError::Tls { .. } => {
            Failure::new(Code::Unavailable, message).blame(Blame::Tool)
        }
    }
}
