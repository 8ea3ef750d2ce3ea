//! Plans: asks the planner, and checks what it may be asked.

use std::sync::Arc;

use proto::{Failure, Principal};

use crate::core::{Address, Stage, Verdict};
use crate::failures::{bad_dag, invalid, unsupported};
use crate::outage::read;
use crate::plan::{CatalogTools, Plan, Reading};
use crate::planner::{MAX_INTENT_CHARS, PlanRequest, PresentTask, Proposal};
use crate::service::Live;
use crate::workflows::Workflows;

impl Workflows {
    /// Plans an intent with the tools of a caller; nothing is stored.
    pub async fn propose(
        &self,
        principal: &Arc<Principal>,
        request: PlanRequest,
    ) -> Result<Proposal, Failure> {
        let length = request.intent.chars().count();
        if request.intent.trim().is_empty() || length > MAX_INTENT_CHARS {
            let message =
                format!("an intent has 1 to {MAX_INTENT_CHARS} characters; this one has {length}");
            return Err(invalid(message));
        }
        let planner = self
            .service()
            .planner()
            .ok_or_else(|| unsupported("this gateway has no planner: give the tasks themselves"))?;
        planner.plan(principal, request).await
    }

    /// Checks a proposal like the DAG of a caller.
    pub fn check_proposal(
        &self,
        principal: &Principal,
        proposal: &Proposal,
    ) -> Result<Plan, Failure> {
        let strip = &self.service().strip;
        let tools = CatalogTools {
            tools: Arc::clone(strip.view(principal).tools()),
            prompts: strip.prompts().snapshot(),
        };
        Plan::of(Reading::from(proposal), &tools).map_err(|faults| bad_dag(&faults))
    }

    /// The tasks of a workflow, with the outputs that are there.
    pub(crate) async fn present_tasks(&self, live: &Live) -> Result<Vec<PresentTask>, Failure> {
        let snapshot = live.published.borrow().clone();
        let mut present = Vec::new();
        for (place, task) in snapshot.plan.tasks.iter().enumerate() {
            let succeeded =
                snapshot.state.root.tasks[place].stage == Stage::Ended(Verdict::Success);
            let address = Address::task(place);
            let output = if succeeded {
                Some(read(|| live.results.output(&snapshot.plan, &address)).await?)
            } else {
                None
            };
            present.push(PresentTask {
                id: task.task.id.clone(),
                tool: task.task.tool.clone(),
                is_list: task.task.for_each.is_some(),
                output,
            });
        }
        Ok(present)
    }
}
