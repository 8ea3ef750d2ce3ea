//! REST: tool calls answered with envelopes, discovery, prompts and schemas.

use std::collections::HashMap;
use std::sync::Arc;

use auth::scope::TOOLS_CALL;
use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use proto::{Code, Failure, Principal, PromptRef, TraceId};
use serde_json::{Value, json};
use strip::Door;
use strip::agents::View;

use super::state::Shared;
use super::{reply, scopes};
use crate::call_options::{CallOptions, InvalidOption, RUN_HEADER};
use crate::exact::check_integers;

pub(super) async fn discover(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
) -> Response {
    reply::json(StatusCode::OK, &shared.strip.discovery(&principal))
}

pub(super) async fn prompt(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<(String, String, String)>, PathRejection>,
) -> Response {
    let found = path_of(path).and_then(|(domain, name, major)| {
        let major = major.strip_prefix('v').unwrap_or(&major).parse().map_err(|_| {
            Failure::new(
                Code::InvalidInput,
                "the last part of the path is a major version, such as `1`",
            )
        })?;
        let prompts = shared.strip.prompts().snapshot();
        let prompt = prompts.get(&PromptRef { domain, name, major: Some(major) })?;
        Ok(json!({"body": prompt.body, "spec": prompt.spec}))
    });
    match found {
        Ok(body) => reply::json(StatusCode::OK, &body),
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

/// Serves the schemas that `inputSchemaRef` and `outputSchemaRef` of discovery name.
pub(super) async fn schema(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let view = shared.strip.view(&principal);
    let found = path_of(path).and_then(|reference| {
        let (tool, side) = reference.rsplit_once('/').unwrap_or((reference.as_str(), ""));
        let entry = view.tools().resolve(tool)?;
        match side {
            "input" => Ok(entry.descriptor.input_schema.clone()),
            "output" => entry.descriptor.output_schema.clone().ok_or_else(|| {
                Failure::new(Code::NotFound, format!("`{tool}` declares no output schema"))
            }),
            _ => Err(Failure::new(Code::NotFound, "a schema's path ends in `/input` or `/output`")),
        }
    });
    match found {
        Ok(schema) => reply::json(StatusCode::OK, &schema),
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

pub(super) async fn call(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let tool = match path_of(path) {
        Ok(tool) => tool,
        Err(failure) => return reply::refuse_as_usual(&failure, trace),
    };
    // On an agent's route, admission has checked only the scope to read.
    if !auth::scope::covers(&principal, TOOLS_CALL) {
        let missing = auth::Refusal::MissingScope;
        let failure = Failure::new(Code::Denied, missing.to_string());
        shared.refuse_call(&tool, &principal, trace, failure).await;
        let path = request.uri().path();
        return scopes::refuse(&shared.access, path, &missing, Some(TOOLS_CALL), trace);
    }
    let (options, input) = match read(&shared, &tool, &principal, trace, request).await {
        Ok(read) => read,
        Err(failure) => {
            let view = shared.strip.view(&principal);
            return refuse_call(&view, &tool, &failure, trace);
        }
    };
    let mut call = strip::Request::new(tool, input, principal, Door::Http);
    call.trace = trace;
    call.cancel = shared.strip.call_token(trace);
    options.apply(&mut call);
    // If the client disconnects, this future is dropped, which the audit row of the call records.
    reply::answer(shared.strip.call(call).await)
}

/// Reads the options and the input of a call. If they cannot be read, that is in the audit trail.
async fn read(
    shared: &Shared,
    tool: &str,
    principal: &Arc<Principal>,
    trace: TraceId,
    request: Request,
) -> Result<(CallOptions, Value), Failure> {
    let (parts, body) = request.into_parts();
    let options = match call_options(&parts.headers, &parts.uri) {
        Ok(options) => options,
        Err(invalid) => return Err(shared.refuse_call(tool, principal, trace, invalid).await),
    };
    let bytes = match shared.bodies.read_json(&parts, body, shared.max_body()).await {
        Ok(bytes) => bytes,
        Err(fault) => return Err(shared.refuse_body(&fault, tool, principal, trace).await),
    };
    match input(&bytes) {
        Ok(input) => Ok((options, input)),
        Err(invalid) => Err(shared.refuse_call(tool, principal, trace, invalid).await),
    }
}

/// An envelope that names the tool, if it is known.
fn refuse_call(view: &View, tool: &str, failure: &Failure, trace: TraceId) -> Response {
    let status = reply::usual_status(failure);
    match view.tools().resolve(tool) {
        Ok(entry) => {
            let version = entry.descriptor.version.to_string();
            reply::refuse_call(status, failure, entry.descriptor.id.as_str(), &version, trace)
        }
        Err(_) => {
            let shown: String = tool.chars().take(200).collect();
            reply::refuse_call(status, failure, &shown, "", trace)
        }
    }
}

pub(super) fn path_of<T>(path: Result<Path<T>, PathRejection>) -> Result<T, Failure> {
    path.map(|Path(parts)| parts).map_err(|rejection| {
        Failure::new(
            Code::InvalidInput,
            format!("the path cannot be read: {}", rejection.body_text()),
        )
    })
}

/// The input of a tool: any JSON. An empty body is an empty object.
fn input(bytes: &[u8]) -> Result<Value, Failure> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    check_integers(bytes)?;
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Failure::new(Code::InvalidInput, format!("the body is not JSON: {error}"))
            .details(json!({"line": line, "column": column}))
    })
}

/// Reads the options of a call from its headers and query.
pub(super) fn call_options(headers: &HeaderMap, uri: &http::Uri) -> Result<CallOptions, Failure> {
    let mut options = CallOptions::default();
    if uri.query().is_some() {
        let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri)
            .map_err(|error| invalid(format!("the query cannot be read: {error}")))?;
        if let Some(verify) = query.get("verify") {
            options.verify(boolean(verify)).map_err(invalid_option("the query's `verify`"))?;
        }
    }
    if let Some(verify) = text(headers, "powerstrip-verify")? {
        options
            .verify(boolean(verify))
            .map_err(invalid_option("the header `Powerstrip-Verify`"))?;
    }
    read_key(headers, &mut options)?;
    if let Some(run) = text(headers, RUN_HEADER)? {
        options.run(Some(run)).map_err(invalid_option("the header `Powerstrip-Run`"))?;
    }
    if let Some(timeout) = text(headers, "powerstrip-timeout-ms")? {
        let field = "the header `Powerstrip-Timeout-Ms`";
        options.timeout_ms(timeout.parse().ok()).map_err(invalid_option(field))?;
    }
    Ok(options)
}

/// The idempotency key of a request.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let mut options = CallOptions::default();
    read_key(headers, &mut options)?;
    Ok(options.into_key())
}

fn read_key(headers: &HeaderMap, options: &mut CallOptions) -> Result<(), Failure> {
    if let Some(key) = text(headers, "idempotency-key")? {
        options.key(Some(key)).map_err(invalid_option("the header `Idempotency-Key`"))?;
    }
    Ok(())
}

/// The failure of an option, which names its field.
pub(super) fn invalid_option(field: &'static str) -> impl FnOnce(InvalidOption) -> Failure {
    move |why| invalid(format!("{field} {why}"))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Failure> {
    headers
        .get(name)
        .map(|value| value.to_str().map(str::trim))
        .transpose()
        .map_err(|_| invalid(format!("the header `{name}` is not plain text")))
}

fn boolean(value: &str) -> Option<bool> {
    match value {
        "true" | "1" | "" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

pub(super) fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidInput, message)
}
