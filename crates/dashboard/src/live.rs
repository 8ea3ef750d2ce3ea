//! Tells open pages that something has changed; they fetch themselves anew.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use auth::scope;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use doors::until_invalid;
use futures_util::{StreamExt as _, stream};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::state::Dashboard;
use crate::viewer::Viewer;

/// How often a silent stream sends a comment, so that nothing on the way takes it for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn events(State(board): State<Dashboard>, viewer: Viewer) -> Response {
    let catalog = board.parts.strip.catalog().changes();
    let tenant = viewer.tenant();
    let approvals = board.parts.strip.approvals().filter(|_| viewer.may(scope::APPROVALS_READ));
    let approvals = approvals.map(|approvals| approvals.events());
    let runs = viewer.may(scope::RUNS_READ).then(|| board.parts.strip.runs().events());
    let shutdown = board.parts.shutdown.clone();
    let session = viewer.session;
    let state = (catalog, approvals, runs);
    let events = stream::unfold((state, tenant), |(mut state, tenant)| async move {
        loop {
            let (catalog, approvals, runs) = &mut state;
            let topic = tokio::select! {
                changed = catalog.changed() => {
                    changed.ok()?;
                    Some("catalog")
                }
                event = next(approvals) => match event {
                    Ok(event) => {
                        let seen = tenant.as_ref().is_none_or(|tenant| event.row.tenant == *tenant);
                        seen.then_some("approvals")
                    }
                    // It fell behind; looking again catches up with whatever it missed.
                    Err(RecvError::Lagged(_)) => Some("approvals"),
                    Err(RecvError::Closed) => return None,
                },
                event = next(runs) => match event {
                    Ok(event) => {
                        let seen = tenant.as_ref().is_none_or(|tenant| event.tenant == *tenant);
                        seen.then_some("runs")
                    }
                    Err(RecvError::Lagged(_)) => Some("runs"),
                    Err(RecvError::Closed) => return None,
                },
            };
            if let Some(topic) = topic {
                let told = Event::default().event("change").data(topic);
                return Some((Ok::<_, Infallible>(told), (state, tenant)));
            }
        }
    });
    let invalid = until_invalid(move || {
        let (board, session) = (board.clone(), Arc::clone(&session));
        async move { board.sessions.is_valid(&session) && board.is_valid(&session).await }
    });
    let events = events.take_until(shutdown.cancelled_owned()).take_until(Box::pin(invalid));
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// What happens next; never anything where nobody listens.
async fn next<T: Clone>(events: &mut Option<Receiver<T>>) -> Result<T, RecvError> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
