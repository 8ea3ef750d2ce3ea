//! The tools by which an agent starts and steers workflows.

mod respond;
mod schemas;

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use proto::{Annotations, Caps, Descriptor, Failure, Principal, RequestedLimits, canonical};
use serde::Deserialize;
use serde_json::{Value, json};
use strip::{EmptyTexts, Job, Output, Part, Tool};
use uuid::Uuid;

use crate::core::PauseKind;
use crate::failures::{invalid, native, not_found, only_operators, stopping, unsupported};
use crate::fit::{MAX_ANSWER, cut};
use crate::plan::Reading;
use crate::service::{Accepted, Arguments, Command, Live, Service};
use crate::start::{Start, Started};
use crate::workflows::{Wait, Workflows};

/// The catalog's source of these tools.
pub const SOURCE: &str = "workflow";

/// The longest that one call takes.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The largest input and answer.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// The answers while a workflow goes on.
const PROGRESS: [&str; 6] =
    ["complete", "layer_complete", "running", "failed", "rejected", "aborted"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ExecuteDag,
    Continue,
    Replan,
    Abort,
    ApprovalResponse,
    RetryTask,
    ModifyArgs,
    SkipTask,
    InjectTasks,
    WorkflowStatus,
}

impl Kind {
    /// Whether tasks or compensations run because of it, which may do anything.
    fn runs_tasks(self) -> bool {
        let plans = [Self::Replan, Self::ModifyArgs, Self::SkipTask, Self::InjectTasks];
        !plans.contains(&self) && self != Self::WorkflowStatus
    }

    /// Whether the same call again has no further effect.
    fn is_idempotent(self) -> bool {
        !matches!(self, Self::ExecuteDag | Self::Continue | Self::Replan | Self::RetryTask)
    }
}

struct About {
    kind: Kind,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    input: fn() -> Value,
    /// The statuses of its answers besides those of progress.
    more: &'static [&'static str],
    progresses: bool,
}

const TOOLS: [About; 10] = [
    About {
        kind: Kind::ExecuteDag,
        name: "execute_dag",
        title: "Run a workflow",
        description: "Runs a DAG of tool calls as a durable workflow. With config.per_layer_validation it pauses after each \
                      layer: then continue, inject_tasks, modify_args, skip_task or abort.",
        input: schemas::execute_dag,
        more: &["planned"],
        progresses: true,
    },
    About {
        kind: Kind::Continue,
        name: "continue",
        title: "Continue a workflow",
        description: "Runs the next layer of a paused workflow, or waits for a running one.",
        input: schemas::continue_workflow,
        more: &[],
        progresses: true,
    },
    About {
        kind: Kind::Replan,
        name: "replan",
        title: "Plan more tasks",
        description: "Adds tasks planned for a new requirement.",
        input: schemas::replan,
        more: &["replanned"],
        progresses: false,
    },
    About {
        kind: Kind::Abort,
        name: "abort",
        title: "Abort a workflow",
        description: "Ends a workflow: running calls are cancelled, finished ones compensated.",
        input: schemas::abort,
        more: &[],
        progresses: true,
    },
    About {
        kind: Kind::ApprovalResponse,
        name: "approval_response",
        title: "Decide about a checkpoint",
        description: "Approves or rejects what waits at a checkpoint. Agents cannot approve their own calls.",
        input: schemas::approval_response,
        more: &[],
        progresses: true,
    },
    About {
        kind: Kind::RetryTask,
        name: "retry_task",
        title: "Retry a failed task",
        description: "Runs a failed task of a paused workflow again, with other arguments if given.",
        input: schemas::retry_task,
        more: &[],
        progresses: true,
    },
    About {
        kind: Kind::ModifyArgs,
        name: "modify_args",
        title: "Change a task's arguments",
        description: "Replaces the arguments of a task that has not begun, in a paused workflow.",
        input: schemas::modify_args,
        more: &[],
        progresses: true,
    },
    About {
        kind: Kind::SkipTask,
        name: "skip_task",
        title: "Skip a task",
        description: "Skips a task that has not begun, in a paused workflow.",
        input: schemas::skip_task,
        more: &[],
        progresses: true,
    },
    About {
        kind: Kind::InjectTasks,
        name: "inject_tasks",
        title: "Add tasks",
        description: "Adds tasks, of the form that execute_dag takes, to a paused workflow. They run after continue.",
        input: schemas::inject_tasks,
        more: &["replanned"],
        progresses: false,
    },
    About {
        kind: Kind::WorkflowStatus,
        name: "workflow_status",
        title: "Show a workflow",
        description: "Shows a workflow's state, tasks and last events, without waiting.",
        input: schemas::workflow_status,
        more: &["report"],
        progresses: false,
    },
];

struct WorkflowTool {
    kind: Kind,
    descriptor: Descriptor,
    service: Weak<Service>,
}

impl Workflows {
    /// The tools, to be published under [`SOURCE`].
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tool = |about: &About| {
            let tool: Arc<dyn Tool> = Arc::new(WorkflowTool {
                kind: about.kind,
                descriptor: about.descriptor(),
                service: Arc::downgrade(self.service()),
            });
            tool
        };
        TOOLS.iter().map(tool).collect()
    }
}

impl About {
    fn descriptor(&self) -> Descriptor {
        let mut statuses = self.more.to_vec();
        if self.progresses {
            statuses.extend(PROGRESS);
        }
        let id = format!("powerstrip:{}", self.name);
        Descriptor {
            unprefixed: false,
            id: id.parse().expect("ids of built-in tools are well formed"),
            version: semver::Version::new(1, 0, 0),
            title: Some(self.title.to_owned()),
            description: self.description.to_owned(),
            input_schema: (self.input)(),
            output_schema: Some(schemas::output(&statuses)),
            deterministic: false,
            limits: RequestedLimits {
                timeout: Some(TIMEOUT),
                max_input_bytes: Some(MAX_BYTES),
                max_output_bytes: Some(MAX_BYTES),
            },
            caps: Caps::default(),
            files: None,
            annotations: Annotations {
                title: None,
                read_only_hint: Some(self.kind == Kind::WorkflowStatus),
                destructive_hint: Some(self.kind.runs_tasks()),
                idempotent_hint: Some(self.kind.is_idempotent()),
                open_world_hint: Some(self.kind.runs_tasks()),
            },
            implementation: None,
            meta: None,
            extra: serde_json::Map::new(),
        }
    }
}

#[derive(Deserialize)]
struct ExecuteInput {
    intent: Option<String>,
    workflow: Option<Value>,
    #[serde(default)]
    config: ExecuteConfig,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExecuteConfig {
    per_layer_validation: bool,
    wait_ms: Option<u64>,
}

/// The parameters of all other tools; the input schema says which of them each takes.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Input {
    workflow_id: String,
    reason: Option<String>,
    checkpoint_id: Option<String>,
    wait_ms: Option<u64>,
    approved: bool,
    feedback: Option<String>,
    force: bool,
    task_id: String,
    arguments: Option<Arguments>,
    tasks: Value,
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
        let listed = schemas::without_tasks(self.descriptor.input_schema.clone());
        Some(match self.kind {
            Kind::Continue => schemas::with_force(listed),
            _ => listed,
        })
    }

    fn native_failure(&self, failure: &Failure) -> Option<Value> {
        Some(native(failure))
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let service = self.service.upgrade().ok_or_else(stopping)?;
        let calls = ToolCall { workflows: Workflows::of(&service), job };
        let mut output = match self.kind {
            Kind::ExecuteDag => calls.execute().await,
            kind => calls.steer(kind).await,
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

impl ToolCall<'_> {
    async fn execute(&self) -> Result<Output, Failure> {
        let input: ExecuteInput = parse(&self.job.request.input)?;
        let dag = match (input.intent, input.workflow) {
            (Some(_), None) => {
                return Err(unsupported(
                    "this gateway has no planner: give the tasks themselves as `workflow`",
                ));
            }
            (None, Some(dag)) => dag,
            _ => return Err(invalid("give exactly one of `intent` and `workflow`")),
        };
        let request = &self.job.request;
        let start = Start {
            dag: Reading::of_dag(&dag),
            per_layer: input.config.per_layer_validation,
            client_key: request.idempotency_key.clone(),
        };
        let longest = input.config.wait_ms.map(Duration::from_millis);
        let id = match self.workflows.start(&request.principal, start).await? {
            Started::Now(live) => return self.wait(&live, longest, None).await,
            Started::Before(id) => id,
        };
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

    async fn steer(&self, kind: Kind) -> Result<Output, Failure> {
        let input: Input = parse(&self.job.request.input)?;
        let id = Uuid::parse_str(&input.workflow_id)
            .map_err(|_| invalid("`workflow_id` is not a UUID, as execute_dag returns it"))?;
        let longest = input.wait_ms.map(Duration::from_millis);
        let principal = self.owner();
        if kind == Kind::WorkflowStatus {
            return self.workflows.report(principal, id).await.map(Output::new);
        }
        if kind == Kind::Replan {
            // Only for those who could replan it.
            self.workflows.own(principal, id).await?.ok_or_else(|| not_found(id))?;
            return Err(unsupported(
                "this gateway has no planner: add the tasks themselves with inject_tasks",
            ));
        }
        if kind == Kind::ApprovalResponse {
            return self.respond(id, &input).await;
        }
        if input.force && self.job.request.on_behalf_of.is_none() {
            return Err(only_operators(id));
        }
        let command = || match kind {
            Kind::Continue if input.force => Command::Release { reason: input.reason.clone() },
            Kind::Abort => Command::Abort { reason: input.reason.clone().unwrap_or_default() },
            Kind::RetryTask => Command::Retry {
                task_id: input.task_id.clone(),
                arguments: input.arguments.clone(),
            },
            Kind::ModifyArgs => Command::Modify {
                task_id: input.task_id.clone(),
                arguments: input.arguments.clone().unwrap_or_default(),
            },
            Kind::SkipTask => {
                Command::Skip { task_id: input.task_id.clone(), reason: input.reason.clone() }
            }
            Kind::InjectTasks => Command::Inject { tasks: Reading::of_tasks(&input.tasks) },
            _ => Command::Continue {
                checkpoint_id: input.checkpoint_id.clone(),
                reason: input.reason.clone(),
            },
        };
        let Some((live, accepted)) = self.workflows.command(principal, id, command).await? else {
            return self.after_the_end(kind, id).await;
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

    /// Whose workflows the call is about.
    fn owner(&self) -> &Principal {
        let request = &self.job.request;
        request.on_behalf_of.as_ref().unwrap_or(&request.principal)
    }

    /// The answers that an ended workflow repeats.
    async fn after_the_end(&self, kind: Kind, id: Uuid) -> Result<Output, Failure> {
        let last = self.workflows.last_answer(self.owner(), id).await?;
        let repeated = last.filter(|answer| {
            matches!(
                (kind, answer["status"].as_str()),
                (Kind::Continue, Some("complete" | "failed")) | (Kind::Abort, Some("aborted"))
            )
        });
        repeated.map(Output::new).ok_or_else(|| not_found(id))
    }
}

fn waits_for_people(live: &Live) -> bool {
    let snapshot = live.published.borrow();
    let kind = snapshot.state.pause().map(|pause| &pause.kind);
    matches!(kind, Some(PauseKind::Approval | PauseKind::Input))
}

fn parse<T: serde::de::DeserializeOwned>(input: &Value) -> Result<T, Failure> {
    T::deserialize(input)
        .map_err(|error| invalid(format!("the input does not fit the tool: {error}")))
}
