//! `/v1/approvals`: what waits for a person, deciding about it, and what happens to it, as it happens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use auth::scope::APPROVALS_READ;
use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use proto::{Code, Principal, TraceId};
use serde::Deserialize;
use serde_json::{Value, json};

use strip::Failure;
use strip::approval::{
    ApprovalFilter, ApprovalRow, ApprovalState, Approvals, Decider, Event, StoreError, Undecided,
    reach, view,
};
use tokio::sync::broadcast::error::RecvError;

use super::admission::Admitted;
use super::{Shared, reply};

/// A decision is a word and a reason.
const MAX_BODY_BYTES: usize = 64 * 1024;

const MAX_PAGE: u32 = 200;

/// Longer arguments are left out of events; the route of the confirmation has them.
const TOLD_ARGUMENTS: usize = 2_000;

/// How often a stream without news says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// A state, or `all`; what is pending, if nothing is said.
    state: Option<String>,
    /// Where the page before ended.
    after: Option<String>,
    limit: Option<u32>,
}

type Refused = (StatusCode, Failure);

pub(super) async fn list(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Response {
    answered(trace, async {
        let Query(wanted) = wanted.map_err(|rejection| invalid(rejection.body_text()))?;
        let filter = wanted.filter(&principal)?;
        let rows = desk(&shared)?.list(&filter).await.map_err(unread)?;
        let next = rows.last().filter(|_| rows.len() == filter.limit as usize).map(cursor);
        Ok(json!({"approvals": rows.iter().map(view).collect::<Vec<_>>(), "next": next}))
    })
    .await
}

pub(super) async fn show(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    id: Result<Path<String>, PathRejection>,
) -> Response {
    answered(trace, async {
        let id = path(id)?;
        let row = desk(&shared)?.get(reach(&principal), &id).await.map_err(unread)?;
        row.as_ref().map(view).ok_or_else(|| unknown("confirmation"))
    })
    .await
}

pub(super) async fn decide(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    id: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    answered(trace, async {
        let id = path(id)?;
        let (parts, body) = request.into_parts();
        let bytes = shared.bodies.read(&parts, body, MAX_BODY_BYTES).await.map_err(|fault| {
            let failure = fault.failure();
            (reply::usual_status(&failure), failure)
        })?;
        let decision = serde_json::from_slice(&bytes)
            .map_err(|error| invalid(format!("the decision cannot be read: {error}")))?;
        let decided = desk(&shared)?.decide(&id, &Decider::Person(principal), decision).await;
        decided.map(|row| view(&row)).map_err(undecided)
    })
    .await
}

pub(super) async fn rules(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
) -> Response {
    answered(trace, async { Ok(json!({"rules": desk(&shared)?.rules(reach(&principal))})) }).await
}

pub(super) async fn remove_rule(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    id: Result<Path<String>, PathRejection>,
) -> Response {
    answered(trace, async {
        let id = path(id)?;
        match desk(&shared)?.remove_rule(reach(&principal), &id).await.map_err(unread)? {
            true => Ok(json!({"removed": id})),
            false => Err(unknown("standing rule")),
        }
    })
    .await
}

/// What happens, as server-sent events; who falls behind is told that something was missed.
pub(super) async fn events(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let approvals = match desk(&shared) {
        Ok(approvals) => approvals,
        Err((status, failure)) => return reply::refuse(status, &failure, trace),
    };
    let tenant = reach(&principal).map(str::to_owned);
    let heard = stream::unfold(approvals.events(), move |mut events| {
        let tenant = tenant.clone();
        async move {
            let text = loop {
                match tokio::time::timeout(HEARTBEAT, events.recv()).await {
                    Err(_silence) => break ": still here\n\n".to_owned(),
                    Ok(Err(RecvError::Closed)) => return None,
                    Ok(Err(RecvError::Lagged(_))) => {
                        break "event: missed\ndata: {}\n\n".to_owned();
                    }
                    Ok(Ok(event)) if tenant.as_ref().is_none_or(|t| *t == event.row.tenant) => {
                        break told(&event);
                    }
                    Ok(Ok(_)) => {}
                }
            };
            Some((Ok::<_, Infallible>(Bytes::from(text)), events))
        }
    });
    // At once, so that a client knows from when on it hears everything.
    let opened = stream::iter([Ok(Bytes::from_static(b": here\n\n"))]);
    let stopping = shared.options.shutdown.clone().cancelled_owned();
    let admitted = Admitted::new(APPROVALS_READ, &request.into_parts().0, principal);
    let heard = opened.chain(heard).take_until(stopping).take_until(admitted.until_invalid(shared));
    let mut response = Response::new(Body::from_stream(heard));
    for (name, value) in [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn told(event: &Event) -> String {
    let mut row = ApprovalRow::clone(&event.row);
    row.arguments = row.arguments.filter(|text| text.len() <= TOLD_ARGUMENTS);
    format!("event: {}\nid: {}\ndata: {}\n\n", event.kind.as_str(), row.id, view(&row))
}

impl Wanted {
    fn filter(self, principal: &Principal) -> Result<ApprovalFilter, Refused> {
        let state = match self.state.as_deref() {
            None => Some(ApprovalState::Pending),
            Some("all") => None,
            Some(state) => {
                let no_state = |()| invalid(format!("there is no state `{state}`"));
                Some(state.parse().map_err(no_state)?)
            }
        };
        let after = self.after.map(|text| {
            let (created, id) = text.split_once('_')?;
            Some((created.parse().ok()?, id.to_owned()))
        });
        let after = match after {
            Some(None) => return Err(invalid("`after` is what `next` said".to_owned())),
            Some(after) => after,
            None => None,
        };
        let limit = self.limit.unwrap_or(50).clamp(1, MAX_PAGE);
        Ok(ApprovalFilter { tenant: reach(principal).map(str::to_owned), state, after, limit })
    }
}

fn cursor(row: &ApprovalRow) -> String {
    format!("{}_{}", row.created_unix_ms, row.id)
}

async fn answered(trace: TraceId, work: impl Future<Output = Result<Value, Refused>>) -> Response {
    match work.await {
        Ok(value) => {
            let mut response = reply::json(StatusCode::OK, &value);
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err((status, failure)) => reply::refuse(status, &failure, trace),
    }
}

pub(super) fn desk(shared: &Shared) -> Result<&Arc<Approvals>, Refused> {
    shared.strip.approvals().ok_or_else(|| {
        let failure = Failure::new(Code::Unsupported, "this process asks nobody for approvals");
        (reply::usual_status(&failure), failure)
    })
}

fn path(id: Result<Path<String>, PathRejection>) -> Result<String, Refused> {
    id.map(|Path(id)| id).map_err(|rejection| invalid(rejection.body_text()))
}

fn invalid(message: String) -> Refused {
    (StatusCode::BAD_REQUEST, Failure::new(Code::InvalidInput, message))
}

fn unknown(what: &str) -> Refused {
    (StatusCode::NOT_FOUND, Failure::new(Code::NotFound, format!("there is no such {what}")))
}

fn unread(error: StoreError) -> Refused {
    let failure = Failure::new(Code::Unavailable, "the store cannot be read").caused_by(error);
    (StatusCode::SERVICE_UNAVAILABLE, failure)
}

fn undecided(why: Undecided) -> Refused {
    let message = why.to_string();
    match why {
        Undecided::Unknown(_) => unknown("confirmation"),
        Undecided::Invalid(_) => invalid(message),
        Undecided::Store(error) => unread(error),
        Undecided::Over(row) => {
            let details = json!({"state": row.state, "decidedBy": row.decided_by});
            (StatusCode::CONFLICT, Failure::new(Code::Denied, message).details(details))
        }
        Undecided::Agent | Undecided::OwnCall => {
            (StatusCode::FORBIDDEN, Failure::new(Code::Denied, message))
        }
    }
}
