//! `/v1/runs`: what runs have come to, what they ask people, and the answers.

use std::collections::HashMap;
use std::sync::Arc;

use auth::scope::{ADMIN, covers};
use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use http::{StatusCode, Uri};
use proto::{Code, Principal, TraceId};
use serde::Deserialize;
use serde_json::{Value, json};
use strip::Failure;
use strip::runs::RunFilter;

use super::envelope::{invalid, path_of};
use super::{Shared, reply};

/// Room for any answer.
const MAX_BODY_BYTES: usize = 128 * 1024;

const STATES: [&str; 4] = ["open", "waiting", "completed", "expired"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    slot_id: String,
    value: Value,
}

/// Whose runs a caller sees: their tenant's, and the operator all.
fn tenant(principal: &Principal) -> Option<&str> {
    (!covers(principal, ADMIN)).then(|| principal.tenant.as_str())
}

pub(super) async fn list(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    uri: Uri,
) -> Response {
    let listed = async {
        let mut filter = filter(&uri)?;
        filter.tenant = tenant(&principal).map(str::to_owned);
        shared.strip.runs().list(&filter).await
    };
    match listed.await {
        Ok(runs) => reply::json(StatusCode::OK, &json!({"runs": runs})),
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

fn filter(uri: &Uri) -> Result<RunFilter, Failure> {
    let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri)
        .map_err(|error| invalid(format!("the query cannot be read: {error}")))?;
    let mut filter = RunFilter::default();
    for (key, value) in query {
        let number =
            || value.parse().map_err(|_| invalid(format!("the query's `{key}` is a whole number")));
        match key.as_str() {
            "state" if STATES.contains(&value.as_str()) => filter.state = Some(value),
            "state" => {
                let states = STATES.join(", ");
                return Err(invalid(format!("the query's `state` is one of {states}")));
            }
            "limit" => filter.limit = Some(number()?),
            "offset" => filter.offset = number()?,
            _ => {
                let shown: String = key.chars().take(100).collect();
                let message = format!("there is no `{shown}`; there are state, limit and offset");
                return Err(invalid(message));
            }
        }
    }
    Ok(filter)
}

pub(super) async fn show(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
) -> Response {
    let shown = async {
        let id = path_of(path)?;
        shared.strip.runs().show(tenant(&principal), &id).await
    };
    match shown.await {
        Ok(run) => reply::json(StatusCode::OK, &run),
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}

pub(super) async fn answer(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let answered = async {
        let id = path_of(path)?;
        let (parts, body) = request.into_parts();
        let bytes = shared.bodies.read(&parts, body, MAX_BODY_BYTES).await;
        let bytes = bytes.map_err(|fault| fault.failure())?;
        let given: Given = serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("the body is not `{{slot_id, value}}`: {error}");
            Failure::new(Code::InvalidInput, message)
        })?;
        let question = (id.as_str(), given.slot_id.as_str());
        let runs = shared.strip.runs();
        runs.answer(&principal, tenant(&principal), question, &given.value).await
    };
    match answered.await {
        Ok(question) => reply::json(StatusCode::OK, &question),
        Err(failure) => reply::refuse_as_usual(&failure, trace),
    }
}
