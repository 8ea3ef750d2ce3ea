//! `POST /v1/calls`: a batch of calls, each answered with its own envelope.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use proto::{Code, Envelope, Failure, Principal, TraceId};
use serde::Serialize;
use serde_json::{Value, json};
use strip::Door;
use strip::batch::Batch;

use super::routes::BATCH;
use super::state::Shared;
use super::{envelope, reply};
use crate::call_options::CallOptions;
use crate::exact::check_integers;

/// The answer to one call of the batch.
#[derive(Serialize)]
struct BatchAnswer {
    id: String,
    #[serde(flatten)]
    envelope: Envelope,
}

pub(super) async fn batch(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    match run(&shared, principal, trace, request).await {
        Ok(response) => response,
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

async fn run(
    shared: &Shared,
    principal: Arc<Principal>,
    trace: TraceId,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let options = envelope::call_options(&parts.headers, &parts.uri);
    let mut options = match options {
        Ok(options) => options,
        Err(invalid) => return Err(shared.refuse_call(BATCH, &principal, trace, invalid).await),
    };
    let bytes = match shared.bodies.read_json(&parts, body, shared.max_body()).await {
        Ok(bytes) => bytes,
        Err(fault) => return Err(shared.refuse_body(&fault, BATCH, &principal, trace).await),
    };
    let batch = match read(&bytes, &mut options) {
        Ok(batch) => batch,
        Err(invalid) => return Err(shared.refuse_call(BATCH, &principal, trace, invalid).await),
    };
    let mut frame = strip::Request::new("", Value::Null, Arc::clone(&principal), Door::Http);
    frame.trace = trace;
    options.apply(&mut frame);
    // If the client disconnects, this future is dropped: calls that run are cancelled, the others never start.
    let cancel = shared.strip.call_token(trace);
    let _cancel_on_drop = cancel.clone().drop_guard();
    frame.cancel = cancel;
    let done = match shared.strip.call_batch(batch, frame).await {
        Ok(done) => done,
        Err(invalid) => return Err(shared.refuse_call(BATCH, &principal, trace, invalid).await),
    };
    let answers: Vec<_> = done
        .answers
        .into_iter()
        .map(|(id, answer)| BatchAnswer { id, envelope: answer.envelope() })
        .collect();
    let body = json!({"run_id": done.run, "trace_id": trace, "answers": answers});
    Ok(reply::json(StatusCode::OK, &body))
}

/// Reads a batch, which may name its run.
fn read(bytes: &[u8], options: &mut CallOptions) -> Result<Batch, Failure> {
    check_integers(bytes)?;
    let batch: Batch = serde_json::from_slice(bytes).map_err(|error| {
        Failure::new(Code::InvalidInput, format!("the body is not a batch of calls: {error}"))
            .details(json!({"line": error.line(), "column": error.column()}))
    })?;
    if let Some(run) = &batch.run_id {
        options.run(Some(run)).map_err(envelope::invalid_option("`run_id`"))?;
    }
    Ok(batch)
}
