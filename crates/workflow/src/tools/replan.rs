use dag::plan::Reading;
use proto::Failure;
use serde_json::json;
use strip::Output;
use uuid::Uuid;

use super::ToolCall;
use super::plan::Planned;
use crate::PlanRequest;
use crate::failures::{not_found, stopping};
use crate::inputs::Replan;
use crate::service::{Accepted, Command};

impl ToolCall<'_> {
    /// Adds tasks that are planned for a requirement.
    pub(super) async fn replan(&self, id: Uuid, input: Replan) -> Result<Output, Failure> {
        let live = self.workflows.own(self.owner(), id).await?.ok_or_else(|| not_found(id))?;
        let request = PlanRequest {
            intent: input.new_requirement,
            context: input.available_context.unwrap_or_default(),
            extends: Some(self.workflows.extended(&live).await?),
            client: None,
        };
        let proposal = match self.plan(&live.owner, request).await? {
            Planned::Proposal { proposal, .. } => proposal,
            Planned::Question(question) => return Ok(question),
        };
        let command = || Command::Inject { tasks: Reading::from(&*proposal), replans: true };
        let sent = self.workflows.command(self.owner(), id, command).await?;
        let (_, accepted) = sent.ok_or_else(|| not_found(id))?;
        let Accepted::Extended { tasks } = accepted else { return Err(stopping()) };
        Ok(Output::new(json!({
            "status": "replanned",
            "workflow_id": id.to_string(),
            "new_tasks": tasks,
            "options": ["continue", "abort"],
            "confidence": proposal.confidence,
            "reasons": proposal.reasons,
            "alternatives": proposal.alternatives,
            "missing": proposal.missing,
        })))
    }
}
