//! The tools by which an agent starts and steers workflows.

mod answers;
mod plan;
mod replan;
mod respond;

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use dag::core::PauseKind;
use dag::name_of_intent;
use dag::plan::Reading;
use proto::{Descriptor, Failure, Principal, RequestedLimits, canonical};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use strip::typed::About;
use strip::{EmptyTexts, Job, Output, Part, Tool};
use uuid::Uuid;

use crate::PlanRequest;
use crate::failures::{invalid, native, not_found, only_operators, stopping};
use crate::fit::{MAX_ANSWER, cut};
use crate::inputs::{
    Abort, ApprovalResponse, Continue, Effect, Execute, Facts, InjectTasks, ModifyArgs,
    PLAN_OR_PROGRESS, Replan, RetryTask, SkipTask, SteeringInput, ToolInput, WorkflowStatus,
};
use crate::service::{Accepted, Command, Live, Service};
use crate::start::{Start, Started};
use crate::workflows::{Wait, Workflows};
use plan::Planned;

/// The catalog's source of these tools.
pub const SOURCE: &str = "workflow";

/// The longest that one call takes.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The largest input and answer of a workflow tool.
pub const MAX_BYTES: usize = 1 << 20;

/// The argument that operators may give and that agents are not shown.
const HIDDEN: &str = "force";

/// What a call asks for.
enum Invocation {
    Execute(Execute),
    Steer(Uuid, Steering),
}

/// A change to one workflow.
enum Steering {
    Continue(Continue),
    Replan(Replan),
    Abort(Abort),
    Respond(ApprovalResponse),
    Retry(RetryTask),
    Modify(ModifyArgs),
    Skip(SkipTask),
    Inject(InjectTasks),
    Status(WorkflowStatus),
}

type ReadInput = Box<dyn Fn(&Value) -> Result<Invocation, Failure> + Send + Sync>;

struct WorkflowTool {
    descriptor: Descriptor,
    accepted: Value,
    read: ReadInput,
    service: Weak<Service>,
}

impl Workflows {
    /// The tools, to be published under [`SOURCE`].
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let execute = Facts {
            id: "powerstrip:execute_dag",
            title: "Run a workflow",
            description: "Runs a DAG of tool calls as a durable workflow. With config.per_layer_validation it pauses after each \
                          layer: then continue, inject_tasks, modify_args, skip_task or abort.",
            effect: Effect::RunsTasks,
            idempotent: false,
            answers: PLAN_OR_PROGRESS,
        };
        let read = |input: &Value| parse(input).map(Invocation::Execute);
        vec![
            self.tool::<Execute>(execute, Box::new(read)),
            self.steering(Steering::Continue),
            self.steering(Steering::Replan),
            self.steering(Steering::Abort),
            self.steering(Steering::Respond),
            self.steering(Steering::Retry),
            self.steering(Steering::Modify),
            self.steering(Steering::Skip),
            self.steering(Steering::Inject),
            self.steering(Steering::Status),
        ]
    }

    /// A tool that steers the workflow that its input names.
    fn steering<I: SteeringInput + DeserializeOwned>(
        &self,
        steering: fn(I) -> Steering,
    ) -> Arc<dyn Tool> {
        let read = move |input: &Value| {
            let ToolInput { workflow_id, input } = parse(input)?;
            let id = Uuid::parse_str(&workflow_id)
                .map_err(|_| invalid("`workflow_id` is not a UUID, as execute_dag returns it"))?;
            Ok(Invocation::Steer(id, steering(input)))
        };
        self.tool::<ToolInput<I>>(I::FACTS, Box::new(read))
    }

    fn tool<I: JsonSchema>(&self, facts: Facts, read: ReadInput) -> Arc<dyn Tool> {
        let runs_tasks = facts.effect == Effect::RunsTasks;
        let about = About {
            id: facts.id,
            title: facts.title,
            description: facts.description,
            deterministic: false,
            read_only: facts.effect == Effect::Reads,
            idempotent: facts.idempotent,
            open_world: runs_tasks,
            limits: RequestedLimits {
                timeout: Some(TIMEOUT),
                max_input_bytes: Some(MAX_BYTES),
                max_output_bytes: Some(MAX_BYTES),
            },
        };
        let mut descriptor = about.without_output::<I>();
        descriptor.output_schema = Some(answers::schema(facts.answers));
        descriptor.annotations.destructive_hint = Some(runs_tasks);
        let accepted = without_tasks(descriptor.input_schema.clone());
        if let Some(listed) = descriptor.input_schema.as_object_mut() {
            listed.remove("description");
        }
        if let Some(listed) = descriptor.input_schema["properties"].as_object_mut() {
            listed.remove(HIDDEN);
        }
        let service = Arc::downgrade(self.service());
        Arc::new(WorkflowTool { descriptor, accepted, read, service })
    }
}

/// A schema that admits any DAG: its faults are reported by the reader, all at once.
fn without_tasks(mut schema: Value) -> Value {
    for field in ["workflow", "tasks"] {
        if let Some(dag) = schema["properties"].get_mut(field) {
            *dag = Value::Bool(true);
        }
    }
    schema
}

#[async_trait]
impl Tool for WorkflowTool {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        Part::Workflow
    }

    fn references(&self) -> bool {
        false
    }

    fn empty_texts(&self) -> EmptyTexts {
        EmptyTexts::DROP
    }

    fn accepted_input(&self) -> Option<Value> {
        Some(self.accepted.clone())
    }

    fn native_failure(&self, failure: &Failure) -> Option<Value> {
        Some(native(failure))
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let service = self.service.upgrade().ok_or_else(stopping)?;
        let call = ToolCall { workflows: Workflows::of(&service), job };
        let mut output = match (self.read)(&job.input)? {
            Invocation::Execute(input) => call.execute(input).await,
            Invocation::Steer(id, steering) => call.steer(id, steering).await,
        }?;
        if canonical::len(&output.data) > MAX_ANSWER {
            cut(Arc::make_mut(&mut output.data), MAX_ANSWER);
        }
        Ok(output)
    }
}

struct ToolCall<'a> {
    workflows: Workflows,
    job: &'a Job,
}

/// A command to a workflow, and how its caller is answered.
struct Order {
    command: Command,
    /// The longest wait for the answer.
    longest: Option<Duration>,
    /// The last answers that an ended workflow repeats.
    repeats: &'static [&'static str],
}

impl From<Command> for Order {
    fn from(command: Command) -> Self {
        Self { command, longest: None, repeats: &[] }
    }
}

impl ToolCall<'_> {
    async fn execute(&self, input: Execute) -> Result<Output, Failure> {
        let request = self.job.request();
        let config = input.config.unwrap_or_default();
        let start = |dag: Reading| Start {
            dag,
            per_layer: config.per_layer_validation,
            client_key: request.idempotency_key.clone(),
            intent: None,
            planned: None,
            id: None,
            request: None,
        };
        let start = match (input.intent, input.workflow) {
            (Some(intent), None) => {
                let start = Start { intent: Some(intent.clone()), ..start(Reading::default()) };
                if let Some(id) = self.workflows.earlier(&request.principal, &start).await? {
                    return self.join(id, config.wait_ms).await;
                }
                let plan = PlanRequest::new(&intent);
                let (proposal, accepted) = match self.plan(&request.principal, plan).await? {
                    Planned::Proposal { proposal, accepted } => (proposal, accepted),
                    Planned::Question(question) => return Ok(question),
                };
                let waits = proposal.waits(accepted || config.accept_plan);
                let planned = waits.then(|| Box::new(proposal.notes()));
                let name = name_of_intent(&intent);
                let dag = Reading { name: Some(name), ..Reading::from(&*proposal) };
                Start { dag, planned, ..start }
            }
            (None, Some(dag)) => start(Reading::of_dag(&dag)),
            _ => return Err(invalid("give exactly one of `intent` and `workflow`")),
        };
        match self.workflows.start(&request.principal, start).await? {
            Started::Now(live) => {
                self.wait(&live, config.wait_ms.map(Duration::from_millis), None).await
            }
            Started::Before(id) => self.join(id, config.wait_ms).await,
        }
    }

    /// Waits for a workflow that the caller has started before.
    async fn join(&self, id: Uuid, wait_ms: Option<u64>) -> Result<Output, Failure> {
        let request = self.job.request();
        let longest = wait_ms.map(Duration::from_millis);
        match self.workflows.own(&request.principal, id).await? {
            Some(live) => self.wait(&live, longest, None).await,
            None => {
                let last = self.workflows.last_answer(&request.principal, id).await?;
                last.map(Output::new).ok_or_else(|| not_found(id))
            }
        }
    }

    async fn wait(
        &self,
        live: &Live,
        longest: Option<Duration>,
        seen: Option<u64>,
    ) -> Result<Output, Failure> {
        let wait = Wait { longest, seen, settled: &[] };
        self.workflows.wait(live, self.job, wait).await
    }

    async fn steer(&self, id: Uuid, steering: Steering) -> Result<Output, Failure> {
        let order = match steering {
            Steering::Status(WorkflowStatus {}) => {
                return self.workflows.report(self.owner(), id).await.map(Output::new);
            }
            Steering::Replan(input) => return self.replan(id, input).await,
            Steering::Respond(response) => return self.respond(id, response).await,
            Steering::Continue(input) => self.continuation(id, input)?,
            Steering::Abort(Abort { reason }) => {
                Order { repeats: &["aborted"], ..Command::Abort { reason }.into() }
            }
            Steering::Retry(RetryTask { task_id, arguments }) => {
                Command::Retry { task_id, arguments }.into()
            }
            Steering::Modify(ModifyArgs { task_id, arguments }) => {
                Command::Modify { task_id, arguments }.into()
            }
            Steering::Skip(SkipTask { task_id, reason }) => {
                Command::Skip { task_id, reason }.into()
            }
            Steering::Inject(InjectTasks { tasks }) => {
                Command::Inject { tasks: Reading::of_tasks(&tasks), replans: false }.into()
            }
        };
        self.give(id, order).await
    }

    /// The order of `continue`; only operators free a workflow from quarantine.
    fn continuation(&self, id: Uuid, input: Continue) -> Result<Order, Failure> {
        let Continue { reason, checkpoint_id, wait_ms, force } = input;
        if force && self.job.request().on_behalf_of.is_none() {
            return Err(only_operators(id));
        }
        let command = if force {
            Command::Release { reason }
        } else {
            Command::Continue { checkpoint_id, reason }
        };
        let longest = wait_ms.map(Duration::from_millis);
        Ok(Order { command, longest, repeats: &["complete", "failed"] })
    }

    /// Gives a command to the caller's workflow and waits for what comes of it.
    async fn give(&self, id: Uuid, order: Order) -> Result<Output, Failure> {
        let Order { command, longest, repeats } = order;
        let sent = self.workflows.command(self.owner(), id, || command.clone()).await?;
        let Some((live, accepted)) = sent else {
            let last = self.workflows.last_answer(self.owner(), id).await?;
            let repeated = last.filter(|answer| {
                answer["status"].as_str().is_some_and(|status| repeats.contains(&status))
            });
            return repeated.map(Output::new).ok_or_else(|| not_found(id));
        };
        match accepted {
            Accepted::Extended { tasks } => Ok(Output::new(json!({
                "status": "replanned",
                "workflow_id": id.to_string(),
                "new_tasks": tasks,
                "options": ["continue", "abort"],
            }))),
            Accepted::Repeats { version } => {
                let seen = waits_for_people(&live).then_some(version);
                self.wait(&live, longest, seen).await
            }
            _ => self.wait(&live, longest, None).await,
        }
    }

    /// The principal whose workflows the call is about.
    fn owner(&self) -> &Principal {
        let request = self.job.request();
        request.on_behalf_of.as_ref().unwrap_or(&request.principal)
    }
}

fn waits_for_people(live: &Live) -> bool {
    let snapshot = live.published.borrow();
    let kind = snapshot.state.pause().map(|pause| &pause.kind);
    matches!(kind, Some(PauseKind::Approval | PauseKind::Input))
}

fn parse<T: DeserializeOwned>(input: &Value) -> Result<T, Failure> {
    T::deserialize(input)
        .map_err(|error| invalid(format!("the input does not fit the tool: {error}")))
}
