//! REST: a tool's input in, an envelope out; discovery, prompts and schemas beside it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use proto::{Code, Principal, PromptRef, TraceId};
use serde_json::{Value, json};
use strip::{Call, Door, Failure};

use super::{Shared, body, reply};

/// A key is a name for a call, not a place to store things.
const MAX_KEY_LEN: usize = 255;

pub(super) async fn discover(State(shared): State<Shared>) -> Response {
    reply::json(StatusCode::OK, &shared.strip.discovery())
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
        let shelf = shared.strip.prompts().shelf();
        let prompt = shelf.get(&PromptRef { domain, name, major: Some(major) })?;
        Ok(json!({"body": prompt.body, "spec": prompt.spec}))
    });
    match found {
        Ok(body) => reply::json(StatusCode::OK, &body),
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

/// Serves what discovery's `inputSchemaRef` and `outputSchemaRef` name.
pub(super) async fn schema(
    State(shared): State<Shared>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let snapshot = shared.strip.catalog().snapshot();
    let found = path_of(path).and_then(|reference| {
        let (tool, side) = reference.rsplit_once('/').unwrap_or((reference.as_str(), ""));
        let entry = snapshot.resolve(tool)?;
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
    let (parts, body) = request.into_parts();
    let options = &shared.options;
    let read = match Wishes::read(&parts.headers, &parts.uri) {
        Ok(wishes) => {
            body::read(&parts.headers, body, options.max_body_bytes, options.body_timeout)
                .await
                .map_err(|fault| fault.failure())
                .and_then(|bytes| Ok((wishes, input(&bytes)?)))
        }
        Err(failure) => Err(failure),
    };
    let (wishes, input) = match read {
        Ok(read) => read,
        Err(failure) => return refuse_call(&shared, &tool, &failure, trace),
    };
    let mut call = Call::new(tool, input, principal, Door::Http);
    call.trace = trace;
    call.verify = wishes.verify;
    call.idempotency_key = wishes.idempotency_key;
    call.patience = wishes.patience;
    answer(shared, call).await
}

/// Runs the call in a task of its own: if the client leaves, the call is told so and still ends in its audit row.
async fn answer(shared: Shared, call: Call) -> Response {
    let left = call.cancel.clone().drop_guard();
    let (tool, trace) = (call.tool.clone(), call.trace);
    let strip = Arc::clone(&shared.strip);
    let span = tracing::Span::current();
    let task =
        tokio::spawn(tracing::Instrument::instrument(async move { strip.call(call).await }, span));
    match task.await {
        Ok(answer) => {
            left.disarm();
            reply::answer(answer)
        }
        Err(error) => {
            tracing::error!(%error, "a call's task ended without an answer");
            let failure = Failure::new(Code::Internal, "the gateway failed on this call")
                .blame(proto::Blame::Gateway);
            refuse_call(&shared, &tool, &failure, trace)
        }
    }
}

/// An envelope that names the tool as far as it is known.
fn refuse_call(shared: &Shared, tool: &str, failure: &Failure, trace: TraceId) -> Response {
    let status = reply::usual_status(failure);
    match shared.strip.catalog().snapshot().resolve(tool) {
        Ok(entry) => {
            let version = entry.descriptor.version.to_string();
            let known = (entry.descriptor.id.as_str(), version.as_str());
            reply::refuse_call(status, failure, known, trace)
        }
        Err(_) => {
            let shown: String = tool.chars().take(200).collect();
            reply::refuse_call(status, failure, (&shown, ""), trace)
        }
    }
}

fn path_of<T>(path: Result<Path<T>, PathRejection>) -> Result<T, Failure> {
    path.map(|Path(parts)| parts).map_err(|rejection| {
        Failure::new(
            Code::InvalidInput,
            format!("the path cannot be read: {}", rejection.body_text()),
        )
    })
}

/// A tool's input: any JSON; nothing at all stands for an empty object.
fn input(bytes: &[u8]) -> Result<Value, Failure> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Failure::new(Code::InvalidInput, format!("the body is not JSON: {error}"))
            .details(json!({"line": line, "column": column}))
    })
}

/// What a caller asks for beside the input.
#[derive(Debug, Default)]
struct Wishes {
    verify: bool,
    idempotency_key: Option<String>,
    patience: Option<Duration>,
}

impl Wishes {
    fn read(headers: &HeaderMap, uri: &http::Uri) -> Result<Self, Failure> {
        let mut wishes = Self::default();
        if uri.query().is_some() {
            let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri)
                .map_err(|error| invalid(format!("the query cannot be read: {error}")))?;
            if let Some(verify) = query.get("verify") {
                wishes.verify = yes(verify, "the query's `verify`")?;
            }
        }
        if let Some(verify) = text(headers, "powerstrip-verify")? {
            wishes.verify |= yes(verify, "the header `Powerstrip-Verify`")?;
        }
        if let Some(key) = text(headers, "idempotency-key")? {
            if key.is_empty() || key.len() > MAX_KEY_LEN {
                return Err(invalid(format!(
                    "the header `Idempotency-Key` has 1 to {MAX_KEY_LEN} characters"
                )));
            }
            wishes.idempotency_key = Some(key.to_owned());
        }
        if let Some(patience) = text(headers, "powerstrip-timeout-ms")? {
            let milliseconds =
                patience.parse().ok().filter(|ms: &u64| *ms > 0).ok_or_else(|| {
                    invalid(
                        "the header `Powerstrip-Timeout-Ms` is a positive whole number".to_owned(),
                    )
                })?;
            wishes.patience = Some(Duration::from_millis(milliseconds));
        }
        Ok(wishes)
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Failure> {
    headers
        .get(name)
        .map(|value| value.to_str().map(str::trim))
        .transpose()
        .map_err(|_| invalid(format!("the header `{name}` is not plain text")))
}

fn yes(value: &str, what: &str) -> Result<bool, Failure> {
    match value {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(invalid(format!("{what} is `true` or `false`"))),
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidInput, message)
}
