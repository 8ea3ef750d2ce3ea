//! Notifies open pages of changes, so that they fetch themselves again.

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

/// How often an idle stream sends a comment, so that proxies keep it open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn events(State(dashboard): State<Dashboard>, viewer: Viewer) -> Response {
    let catalog = dashboard.parts.strip.catalog().changes();
    let tenant = viewer.tenant();
    let approvals = dashboard.parts.strip.approvals().filter(|_| viewer.may(scope::APPROVALS_READ));
    let approvals = approvals.map(|approvals| approvals.events());
    let runs = viewer.may(scope::RUNS_READ).then(|| dashboard.parts.strip.runs().events());
    let shutdown = dashboard.parts.shutdown.clone();
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
                        let visible = tenant.as_ref().is_none_or(|tenant| event.row.tenant == *tenant);
                        visible.then_some("approvals")
                    }
                    // Missed events: the page fetches everything again.
                    Err(RecvError::Lagged(_)) => Some("approvals"),
                    Err(RecvError::Closed) => return None,
                },
                event = next(runs) => match event {
                    Ok(event) => {
                        let visible = tenant.as_ref().is_none_or(|tenant| event.tenant == *tenant);
                        visible.then_some("runs")
                    }
                    Err(RecvError::Lagged(_)) => Some("runs"),
                    Err(RecvError::Closed) => return None,
                },
            };
            if let Some(topic) = topic {
                let event = Event::default().event("change").data(topic);
                return Some((Ok::<_, Infallible>(event), (state, tenant)));
            }
        }
    });
    let invalid = until_invalid(move || {
        let (dashboard, session) = (dashboard.clone(), Arc::clone(&session));
        async move { dashboard.sessions.is_valid(&session) && dashboard.is_valid(&session).await }
    });
    let events = events.take_until(shutdown.cancelled_owned()).take_until(Box::pin(invalid));
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// The next event; waits forever without a receiver.
async fn next<T: Clone>(events: &mut Option<Receiver<T>>) -> Result<T, RecvError> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
