//! Operations on workflows: those that read, and one for each tool that steers.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use ::operations::scope::{RUNS_READ, TOOLS_CALL};
use ::operations::workflows::{
    WorkflowConsole as _, WorkflowDetails, WorkflowEvent, WorkflowId, WorkflowList, WorkflowQuery,
};
use ::operations::{Caller, Operation, OperationError, Route, Table};
use dag::Proposal;
use proto::{Principal, TraceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strip::{Door, Request};
use uuid::Uuid;

use crate::failures::{not_found, stopping};
use crate::inputs::{
    Abort, ApprovalResponse, Continue, Execute, InjectTasks, ModifyArgs, Replan, RetryTask,
    RouteInput, SkipTask, StartInput, SteeringInput, WorkflowStatus,
};
use crate::workflows::Workflows;

/// The longest that the operator waits for news of a workflow at a time.
const LONGEST_POLL: Duration = Duration::from_secs(20);

/// What audit rows of plans are about.
const PLAN: &str = "workflows/plan";

/// How many events one page has.
const EVENT_PAGE: u32 = 200;

/// The operations on workflows.
pub fn table(workflows: &Arc<Workflows>) -> Table {
    Table::default()
        .with::<ListWorkflows>(workflows)
        .with::<ShowWorkflow>(workflows)
        .with::<FollowWorkflow>(workflows)
        .with::<StartWorkflow>(workflows)
        .with::<PlanWorkflow>(workflows)
        .with::<Steer<Continue>>(workflows)
        .with::<Steer<Replan>>(workflows)
        .with::<Steer<Abort>>(workflows)
        .with::<Steer<ApprovalResponse>>(workflows)
        .with::<Steer<RetryTask>>(workflows)
        .with::<Steer<ModifyArgs>>(workflows)
        .with::<Steer<SkipTask>>(workflows)
        .with::<Steer<InjectTasks>>(workflows)
        .with::<Steer<WorkflowStatus>>(workflows)
}

pub struct ListWorkflows;

impl Operation for ListWorkflows {
    const NAME: &'static str = "powerstrip.workflows.list";
    const SUMMARY: &'static str =
        "List the workflows of the caller's tenant, the last changed first";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/workflows", RUNS_READ, "gateway.listWorkflows"));
    type Service = Workflows;
    type Input = WorkflowQuery;
    type Output = WorkflowList;

    async fn run(
        workflows: Arc<Workflows>,
        caller: Caller,
        query: WorkflowQuery,
    ) -> Result<WorkflowList, OperationError> {
        workflows.list(&caller, query).await
    }
}

pub struct ShowWorkflow;

impl Operation for ShowWorkflow {
    const NAME: &'static str = "powerstrip.workflows.show";
    const SUMMARY: &'static str = "Show a workflow with its tasks and last events";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/workflows/{id}", RUNS_READ, "gateway.getWorkflow"));
    type Service = Workflows;
    type Input = WorkflowId;
    type Output = WorkflowDetails;

    async fn run(
        workflows: Arc<Workflows>,
        caller: Caller,
        WorkflowId { id }: WorkflowId,
    ) -> Result<WorkflowDetails, OperationError> {
        workflows.show(&caller, &id).await
    }
}

/// Which events of a workflow to read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FollowInput {
    pub id: String,
    /// The number of the last event that was seen.
    pub after: i64,
}

/// Events of a workflow; none if nothing happened for a while.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventList {
    pub events: Vec<WorkflowEvent>,
}

/// For commands: over HTTP the events are a stream.
pub struct FollowWorkflow;

impl Operation for FollowWorkflow {
    const NAME: &'static str = "powerstrip.workflows.follow";
    const SUMMARY: &'static str = "Wait for the next events of a workflow";
    type Service = Workflows;
    type Input = FollowInput;
    type Output = EventList;

    async fn run(
        workflows: Arc<Workflows>,
        caller: Caller,
        FollowInput { id, after }: FollowInput,
    ) -> Result<EventList, OperationError> {
        use futures_util::StreamExt as _;

        let stream = workflows.events(&caller, &id, after).await?;
        let mut stream = stream.ready_chunks(EVENT_PAGE as usize);
        match tokio::time::timeout(LONGEST_POLL, stream.next()).await {
            Ok(Some(events)) => {
                Ok(EventList { events: events.into_iter().collect::<Result<_, _>>()? })
            }
            // An empty list would be asked for again at once.
            Ok(None) if workflows.service().draining.is_cancelled() => Err(stopping().into()),
            Ok(None) | Err(_) => Ok(EventList { events: Vec::new() }),
        }
    }
}

pub struct StartWorkflow;

impl Operation for StartWorkflow {
    const NAME: &'static str = "powerstrip.workflows.start";
    const SUMMARY: &'static str = "Run a DAG of tool calls as a durable workflow";
    const ROUTE: Option<Route> = Some(
        Route::post("/v1/workflows", TOOLS_CALL, "gateway.startWorkflow")
            .enveloped()
            .calling("powerstrip:execute_dag")
            .with_key()
            .with_max_body(crate::tools::MAX_BYTES),
    );
    type Service = Workflows;
    type Input = StartInput;
    type Output = Value;

    async fn run(
        workflows: Arc<Workflows>,
        mut caller: Caller,
        mut input: StartInput,
    ) -> Result<Value, OperationError> {
        caller.take_key(&mut input.fields)?;
        workflows
            .send_request(request_of(
                &caller,
                door_of(&caller),
                Execute::TOOL,
                Value::Object(input.fields),
            ))
            .await
    }
}

/// What to plan.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanInput {
    /// What to do, in words.
    pub intent: String,
    /// Values that the plan may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
}

pub struct PlanWorkflow;

impl Operation for PlanWorkflow {
    const NAME: &'static str = "powerstrip.workflows.plan";
    const SUMMARY: &'static str =
        "Plan the tasks for an intent; nothing runs and nothing is stored";
    const ROUTE: Option<Route> = Some(
        Route::post("/v1/workflows/plan", TOOLS_CALL, "gateway.planWorkflow")
            .calling(PLAN)
            .with_max_body(crate::tools::MAX_BYTES),
    );
    type Service = Workflows;
    type Input = PlanInput;
    type Output = Proposal;

    async fn run(
        workflows: Arc<Workflows>,
        caller: Caller,
        PlanInput { intent, context }: PlanInput,
    ) -> Result<Proposal, OperationError> {
        let context = context.unwrap_or_default();
        workflows.plan_for(&caller, door_of(&caller), intent, context).await
    }
}

/// An operation that calls the tool with this input.
pub struct Steer<I>(PhantomData<I>);

impl<I: SteeringInput> Operation for Steer<I> {
    const NAME: &'static str = I::OPERATION;
    const SUMMARY: &'static str = I::SUMMARY;
    const ROUTE: Option<Route> = Some(
        Route::post(I::PATH, TOOLS_CALL, I::OPERATION_ID)
            .enveloped()
            .calling(I::FACTS.id)
            .with_max_body(crate::tools::MAX_BYTES),
    );
    type Service = Workflows;
    type Input = RouteInput<I>;
    type Output = Value;

    async fn run(
        workflows: Arc<Workflows>,
        caller: Caller,
        input: RouteInput<I>,
    ) -> Result<Value, OperationError> {
        workflows.steer(caller, I::TOOL, input.fields).await
    }
}

impl Workflows {
    /// Calls a workflow tool through all guards.
    pub(crate) async fn send_request(&self, request: Request) -> Result<Value, OperationError> {
        let answer = self.service().strip.call(request).await;
        answer.result.map(Arc::unwrap_or_clone).map_err(OperationError::of_call)
    }

    /// Plans an intent for a caller. It leaves an audit row and counts against the rate, as a call does.
    pub(crate) async fn plan_for(
        &self,
        caller: &Caller,
        door: Door,
        intent: String,
        context: Map<String, Value>,
    ) -> Result<Proposal, OperationError> {
        let principal = Arc::clone(&caller.principal);
        let input = json!({"intent": intent, "context": context});
        let mut request = Request::new(PLAN, input, Arc::clone(&principal), door);
        request.trace = caller.trace.unwrap_or_else(TraceId::random);
        let work = self.preview(&principal, intent, context);
        let planned = self.service().strip.run_work(request, work).await;
        planned.map_err(OperationError::of_call)
    }

    /// The principal that started a workflow, if it has not ended.
    pub(crate) async fn owner(&self, id: Uuid) -> Result<Arc<Principal>, OperationError> {
        let live = self.load(id).await?.ok_or_else(|| not_found(id))?;
        Ok(Arc::clone(&live.owner))
    }

    /// Calls a tool that steers a workflow. The operator may continue and end workflows of all callers.
    async fn steer(
        &self,
        caller: Caller,
        tool: &str,
        mut input: Map<String, Value>,
    ) -> Result<Value, OperationError> {
        let id = input.remove("id").unwrap_or_default();
        let id = Self::parse(id.as_str().unwrap_or_default())?;
        if input.insert("workflow_id".to_owned(), id.to_string().into()).is_some() {
            return Err(OperationError::invalid(
                "the path names the workflow: send no `workflow_id`",
            ));
        }
        let mut request = request_of(&caller, door_of(&caller), tool, Value::Object(input));
        if caller.is_operator() && [Continue::TOOL, Abort::TOOL].contains(&tool) {
            request.on_behalf_of = Some(self.owner(id).await?);
            tracing::info!(workflow_id = %id, command = tool, "the operator acts for the owner of a workflow");
        }
        self.send_request(request).await
    }
}

/// The door of an operation: requests over HTTP have a trace.
fn door_of(caller: &Caller) -> Door {
    if caller.trace.is_some() { Door::Http } else { Door::Cli }
}

/// A call of a workflow tool by a caller.
pub(crate) fn request_of(caller: &Caller, door: Door, tool: &str, input: Value) -> Request {
    let name = format!("powerstrip:{tool}");
    let mut request = Request::new(&name, input, Arc::clone(&caller.principal), door);
    request.trace = caller.trace.unwrap_or_else(TraceId::random);
    request.idempotency_key.clone_from(&caller.idempotency_key);
    request
}
