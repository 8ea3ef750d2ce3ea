//! The planner of intents, as workflows see it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dag::Proposal;
use dag::plan::{Fault, Plan, Present, Reading, Tools};
use proto::{Failure, Principal};
use serde_json::{Map, Value};

/// The longest intent or requirement, in characters.
pub const MAX_INTENT_CHARS: usize = 2_000;

/// Makes plans.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Plans an intent with the tools of a caller. Fails with INVALID_INPUT and the nearest tools if nothing fits.
    async fn plan(
        &self,
        principal: &Arc<Principal>,
        request: PlanRequest,
    ) -> Result<Proposal, Failure>;

    /// Learns from a workflow of a tenant that is complete.
    async fn learn(&self, tenant: &str, plan: &Plan);
}

/// The language model of the caller's own client.
#[async_trait]
pub trait ClientModel: fmt::Debug + Send + Sync {
    /// Its answer to a message by these rules; none if it cannot or will not answer.
    async fn answer(&self, rules: &str, message: &str) -> Option<String>;
}

/// What to plan.
#[derive(Clone, Debug, Default)]
pub struct PlanRequest {
    pub intent: String,
    /// Values that the caller knows.
    pub context: Map<String, Value>,
    /// The workflow that is to be extended.
    pub extends: Option<Extended>,
    /// The model of the caller's client, if it offers one.
    pub client: Option<Arc<dyn ClientModel>>,
}

impl PlanRequest {
    /// A request for a new workflow.
    pub fn new(intent: &str) -> Self {
        Self { intent: intent.to_owned(), ..Self::default() }
    }

    /// The tasks that are there already.
    pub fn present(&self) -> &[PresentTask] {
        self.extends.as_ref().map_or(&[], |extended| &extended.tasks)
    }

    /// Checks a proposal for this request like the DAG of a caller.
    pub fn check(&self, proposal: &Proposal, tools: &dyn Tools) -> Result<Plan, Vec<Fault>> {
        let more = Reading::from(proposal);
        match &self.extends {
            Some(extended) => extended.plan.extend(more, extended.at, tools),
            None => Plan::of(more, tools),
        }
    }
}

/// A workflow that gets more tasks.
#[derive(Clone, Debug)]
pub struct Extended {
    pub plan: Arc<Plan>,
    pub at: Present,
    pub tasks: Vec<PresentTask>,
}

/// A task that a plan may build on.
#[derive(Clone, Debug)]
pub struct PresentTask {
    pub id: String,
    pub tool: Option<String>,
    /// Its output is a list, with one item for each call.
    pub is_list: bool,
    pub output: Option<Arc<Value>>,
}
