//! Plans: asks the planner, and checks what it may be asked.

use std::sync::Arc;

use dag::Proposal;
use dag::core::{Address, Stage, Verdict};
use dag::plan::{Plan, Present};
use proto::{Failure, Principal};
use serde_json::{Map, Value};

use crate::catalog_tools::CatalogTools;
use crate::failures::{bad_dag, invalid, unsupported};
use crate::outage::read;
use crate::planner::{Extended, MAX_INTENT_CHARS, PlanRequest, PresentTask};
use crate::service::Live;
use crate::workflows::Workflows;

impl Workflows {
    /// Plans an intent with the tools of a caller; nothing is stored.
    pub async fn propose(
        &self,
        principal: &Arc<Principal>,
        request: PlanRequest,
    ) -> Result<Proposal, Failure> {
        if request.intent.trim().is_empty() {
            return Err(invalid("the intent is empty: say what should be done"));
        }
        let length = request.intent.chars().count();
        if length > MAX_INTENT_CHARS {
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

    /// A checked plan of an intent, for people to read; nothing is stored.
    pub async fn preview(
        &self,
        principal: &Arc<Principal>,
        intent: String,
        context: Map<String, Value>,
    ) -> Result<Proposal, Failure> {
        let request = PlanRequest { intent, context, ..PlanRequest::default() };
        let proposal = self.propose(principal, request).await?;
        self.check_proposal(principal, &proposal)?;
        Ok(proposal)
    }

    /// Checks a proposal like the DAG of a caller.
    fn check_proposal(&self, principal: &Principal, proposal: &Proposal) -> Result<Plan, Failure> {
        let tools = CatalogTools::of(&self.service().strip, principal);
        PlanRequest::default().check(proposal, &tools).map_err(|faults| bad_dag(&faults))
    }

    /// A workflow that is to be extended, with the outputs that are there.
    pub(crate) async fn extended(&self, live: &Live) -> Result<Extended, Failure> {
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
        let state = &snapshot.state;
        let at = Present { size: state.size(), from_layer: state.root.layer + 1 };
        Ok(Extended { plan: Arc::clone(&snapshot.plan), at, tasks: present })
    }
}
