//! Finds the approval that a call waits for, so that the command that makes the call can say where to decide.

use std::sync::Arc;

use approvals::{ApprovalFilter, ApprovalState};
use operations::{Caller, Operation, OperationError, Table};
use proto::{Digest, canonical, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strip::Strip;

/// How many pending approvals are looked at.
const MAX_PENDING: u32 = 200;

pub(super) fn table(strip: &Arc<Strip>) -> Table {
    Table::default().with::<FindWaiting>(strip)
}

/// A call as it was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MadeCall {
    /// The tool, as the caller named it.
    pub tool: String,
    pub input: Value,
}

/// The approval that a call waits for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingCall {
    pub id: String,
    pub tool: String,
    /// The page where a person decides.
    pub url: Option<String>,
    pub deadline_unix_ms: u64,
}

pub struct FindWaiting;

impl Operation for FindWaiting {
    const NAME: &'static str = "powerstrip.approvals.waiting";
    const SUMMARY: &'static str = "Find the approval that a call waits for";
    type Service = Strip;
    type Input = MadeCall;
    type Output = Option<WaitingCall>;

    async fn run(
        strip: Arc<Strip>,
        _: Caller,
        call: MadeCall,
    ) -> Result<Option<WaitingCall>, OperationError> {
        let Some(approvals) = strip.approvals() else { return Ok(None) };
        let tool = {
            let snapshot = strip.catalog().snapshot();
            let Ok(entry) = snapshot.resolve(&call.tool) else { return Ok(None) };
            entry.descriptor.id.shared()
        };
        let arguments: Digest = digest(&canonical::bytes(&call.input));
        let filter = ApprovalFilter {
            state: Some(ApprovalState::Pending),
            limit: MAX_PENDING,
            ..ApprovalFilter::default()
        };
        let pending = approvals.list(&filter).await.map_err(|error| {
            let message = format!("the pending approvals cannot be read: {error}");
            OperationError::new(proto::Code::Unavailable, message)
        })?;
        let dashboard = approvals.terms().dashboard.clone();
        let found = pending
            .rows
            .into_iter()
            .find(|row| *row.tool == *tool && row.arguments_digest == arguments);
        Ok(found.map(|row| WaitingCall {
            url: dashboard.map(|dashboard| format!("{dashboard}/approvals/{}", row.id)),
            id: row.id,
            tool: row.tool,
            deadline_unix_ms: row.deadline_unix_ms,
        }))
    }
}
