//! `/v1/approvals/events`: changes of approvals as server-sent events.

use std::sync::Arc;

use approvals::{ApprovalRow, ApprovalView, Event, reach};
use auth::scope::APPROVALS_READ;
use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::stream;
use proto::{Code, Failure, Principal, TraceId};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use super::admission::Admitted;
use super::state::Shared;
use super::{reply, sse};

/// Longer arguments are left out of events; the route of the approval has them.
const MAX_ARGUMENTS: usize = 2_000;

/// Streams events; a reader that falls behind gets `missed`.
pub(super) async fn events(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
    Extension(trace): Extension<TraceId>,
    request: Request,
) -> Response {
    let Some(approvals) = shared.strip.approvals() else {
        let failure =
            Failure::new(Code::Unsupported, "approvals are not available in this process");
        return reply::refuse_as_usual(&failure, trace);
    };
    let tenant = reach(&principal).map(str::to_owned);
    let events = stream::unfold(approvals.events(), move |mut events| {
        let tenant = tenant.clone();
        async move {
            let text = loop {
                match events.recv().await {
                    Err(RecvError::Closed) => return None,
                    Err(RecvError::Lagged(_)) => break sse::MISSED.to_owned(),
                    Ok(event) if tenant.as_ref().is_none_or(|t| *t == event.row.tenant) => {
                        break render(&event);
                    }
                    Ok(_) => {}
                }
            };
            Some((text, events))
        }
    });
    let admitted = Admitted::new(APPROVALS_READ, &request.into_parts().0, principal);
    sse::respond(shared, admitted, events)
}

fn render(event: &Event) -> String {
    let mut row = ApprovalRow::clone(&event.row);
    row.arguments = row.arguments.filter(|text| text.len() <= MAX_ARGUMENTS);
    let (kind, id) = (event.kind.as_str(), row.id.clone());
    let mut data = json!(ApprovalView::from(row));
    proto::time::add_timestamps(&mut data);
    format!("event: {kind}\nid: {id}\ndata: {data}\n\n")
}
