use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use operations::workflows::{
    WorkflowDetails, WorkflowEvent, WorkflowId, WorkflowQuery, WorkflowState, WorkflowSummary,
};
use schema::yaml::{self, Limits};
use serde_json::{Map, Value, json};
use terminal::Style;
use terminal::workflows::{self as shown, Live};
use workflow::inputs::{Abort, Continue, RouteInput, StartInput};
use workflow::operations::{
    FollowInput, FollowWorkflow, ListWorkflows, ShowWorkflow, StartWorkflow, Steer,
};

use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip workflows                              the workflows that run, wait or have ended
  powerstrip workflows run nightly.yaml             run a DAG and watch it
  powerstrip workflows run nightly.yaml --per-layer pause after each layer
  powerstrip workflows watch 550e8400               its tasks as they change
  powerstrip workflows continue 550e8400            run the next layer
  powerstrip workflows abort 550e8400 --reason 'wrong input'

A file holds `tasks:` as execute_dag takes them, in YAML or JSON. The first characters of an id are enough.
`run` and `continue` end with the outputs of the last layer or the first error; with --json they print the workflow's \
answer, `watch --json` prints each event.
Exit codes: 0 it is complete or paused, 1 it failed or was aborted.";

/// A file may be as large as the input of the tool.
const LIMITS: Limits =
    Limits { max_bytes: workflow::MAX_BYTES, merge_keys: false, custom_tags: false };

/// The wait of the first answer: the events tell the rest.
pub(crate) const FIRST_WAIT_MS: u64 = 1;

/// Run, watch and steer workflows
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WorkflowsCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List workflows
    #[command(visible_alias = "list")]
    Ls {
        /// Only workflows in this state.
        #[arg(long, value_name = "STATE", value_parser = state_parser())]
        state: Option<WorkflowState>,
        /// The most workflows to list.
        #[arg(long, value_name = "COUNT", default_value_t = 50)]
        limit: u32,
    },
    /// Show one workflow with its tasks
    Show {
        /// The workflow's id, or its first characters.
        id: String,
    },
    /// Watch a workflow until it ends
    Watch {
        /// The workflow's id, or its first characters.
        id: String,
    },
    /// Run the DAG of a file until it pauses or ends
    Run {
        /// A file with the `tasks`, in YAML or JSON.
        file: PathBuf,
        /// Pause after each layer.
        #[arg(long)]
        per_layer: bool,
    },
    /// Run the next layer of a paused workflow
    Continue {
        /// The workflow's id, or its first characters.
        id: String,
        /// Why, for the events of the workflow.
        #[arg(long)]
        reason: Option<String>,
        /// Continue it even if it is quarantined because processes died while it was active.
        #[arg(long)]
        force: bool,
    },
    /// End a workflow and undo what can be undone
    Abort {
        /// The workflow's id, or its first characters.
        id: String,
        /// Why, as `workflows show` prints it.
        #[arg(long, default_value = "aborted by the operator")]
        reason: String,
    },
}

/// Reads the name of a state.
fn state_parser() -> impl TypedValueParser<Value = WorkflowState> {
    let names = WorkflowState::ALL.map(WorkflowState::as_str);
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(name.into()))
}

impl WorkflowsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let action = self.action.unwrap_or(Action::Ls { state: None, limit: 50 });
        let (style, as_json) = (Style::stdout(&context.environment), context.global.json);
        let access = match &action {
            Action::Run { .. } => Some(Access::open(context, &loaded, None).await?),
            _ => Access::open_existing(context, &loaded).await?,
        };
        let Some(access) = access else {
            telemetry.flush().await;
            return action.run_without_data(style, as_json);
        };
        let done = action.run(&Watcher { access: &access, style, as_json }).await;
        access.close().await;
        telemetry.flush().await;
        done
    }
}

impl Action {
    /// There are no workflows where there is no data folder.
    fn run_without_data(self, style: Style, as_json: bool) -> anyhow::Result<ExitCode> {
        let Self::Ls { state, .. } = self else { bail!("there are no workflows") };
        list(&[], state, style, as_json)
    }

    async fn run(self, watcher: &Watcher<'_>) -> anyhow::Result<ExitCode> {
        let access = watcher.access;
        match self {
            Self::Ls { state, limit } => {
                let query = WorkflowQuery { state, limit: Some(limit), ..WorkflowQuery::default() };
                let workflows = access.run::<ListWorkflows>(&query).await?.workflows;
                list(&workflows, state, watcher.style, watcher.as_json)
            }
            Self::Show { id } => watcher.show(&resolve(access, id).await?).await,
            Self::Watch { id } => {
                watcher.follow(&resolve(access, id).await?, 0, Until::Ended).await
            }
            Self::Run { file, per_layer } => watcher.start(&read(&file, per_layer)?).await,
            Self::Continue { id, reason, force } => {
                let id = resolve(access, id).await?;
                let before = watcher.details(&id).await?;
                let wait_ms = Some(FIRST_WAIT_MS);
                let input = Continue { reason, checkpoint_id: None, wait_ms, force };
                let answer = access.run::<Steer<Continue>>(&RouteInput::new(&id, &input)).await?;
                let paused_at = answer.get("checkpoint_id");
                if paused_at.is_some() && paused_at == before.checkpoint_id() {
                    // Continuing does not lead past this checkpoint, so there are no events to wait for.
                    return watcher.show(&id).await;
                }
                let seen = before.events.last().map_or(0, |last| last.number);
                watcher.follow(&id, seen, Until::Paused).await
            }
            Self::Abort { id, reason } => {
                let id = resolve(access, id).await?;
                let input = RouteInput::new(&id, &Abort { reason });
                access.run::<Steer<Abort>>(&input).await?;
                watcher.show(&id).await?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn list(
    workflows: &[WorkflowSummary],
    only: Option<WorkflowState>,
    style: Style,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    match only {
        _ if as_json => terminal::record(&workflows)?,
        Some(state) if workflows.is_empty() => {
            terminal::line(format_args!("no workflows in the state `{}`", state.as_str()))?
        }
        _ => shown::list(workflows, style)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a file: `{tasks}`, or the whole input of execute_dag.
fn read(file: &Path, per_layer: bool) -> anyhow::Result<StartInput> {
    let text = userfiles::read_text(file, LIMITS.max_bytes as u64)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let given: Map<String, Value> =
        yaml::parse(&text, LIMITS).with_context(|| format!("{} is no workflow", file.display()))?;
    let mut fields = if given.contains_key("tasks") {
        Map::from_iter([("workflow".to_owned(), Value::Object(given))])
    } else if ["workflow", "intent"].iter().any(|name| given.contains_key(*name)) {
        given
    } else {
        bail!("{} has neither `tasks` nor a `workflow` with them", file.display())
    };
    let config = fields.entry("config").or_insert_with(|| json!({}));
    // Another value than an object is refused by the tool.
    if let Value::Object(config) = config {
        if per_layer {
            config.insert("per_layer_validation".to_owned(), true.into());
        }
        config.insert("wait_ms".to_owned(), FIRST_WAIT_MS.into());
    }
    Ok(StartInput { fields })
}

/// Puts all faults of a DAG into the message.
fn with_faults(error: anyhow::Error) -> anyhow::Error {
    let details = error.downcast_ref::<operations::OperationError>();
    let faults = details.and_then(|error| error.details.as_ref()?.get("faults")?.as_array());
    let faults = faults.into_iter().flatten().map(|fault| {
        let part = |name: &str| terminal::shown(fault[name].as_str().unwrap_or_default());
        format!("\n  {} {}: {}", part("path"), part("code"), part("message"))
    });
    let faults: String = faults.collect();
    if faults.is_empty() { error } else { anyhow::anyhow!("the workflow is not valid:{faults}") }
}

/// The whole id of the workflow whose id begins so.
pub(crate) async fn resolve(access: &Access, given: String) -> anyhow::Result<String> {
    if given.len() >= 36 {
        return Ok(given);
    }
    // Two show that the id is ambiguous.
    let query =
        WorkflowQuery { id: Some(given.clone()), limit: Some(2), ..WorkflowQuery::default() };
    let found = access.run::<ListWorkflows>(&query).await?.workflows;
    match found.as_slice() {
        [one] => Ok(one.workflow_id.clone()),
        [] => bail!(
            "no workflow has an id that begins with `{given}`; `powerstrip workflows` lists them"
        ),
        _ => bail!("the ids of several workflows begin with `{given}`; give more of it"),
    }
}

struct Watcher<'a> {
    access: &'a Access,
    style: Style,
    as_json: bool,
}

/// Starts a workflow and shows it until it pauses or ends.
pub(crate) async fn start_and_follow(
    access: &Access,
    style: Style,
    as_json: bool,
    input: &StartInput,
) -> anyhow::Result<ExitCode> {
    Watcher { access, style, as_json }.start(input).await
}

impl Watcher<'_> {
    async fn start(&self, input: &StartInput) -> anyhow::Result<ExitCode> {
        let answer = self.access.run::<StartWorkflow>(input).await.map_err(with_faults)?;
        let id = answer["workflow_id"].as_str().unwrap_or_default().to_owned();
        self.follow(&id, 0, Until::Paused).await
    }

    async fn details(&self, id: &str) -> anyhow::Result<WorkflowDetails> {
        self.access.run::<ShowWorkflow>(&WorkflowId { id: id.to_owned() }).await
    }

    async fn show(&self, id: &str) -> anyhow::Result<ExitCode> {
        let details = self.details(id).await?;
        if self.as_json {
            terminal::record(&details)?;
        } else {
            shown::show(&details, self.style)?;
        }
        Ok(exit_code(&details))
    }

    /// Shows events after a number until the workflow ends, or pauses; then what it has produced or waits for.
    async fn follow(&self, id: &str, mut after: i64, until: Until) -> anyhow::Result<ExitCode> {
        let mut live = Live::new(self.style);
        loop {
            let input = FollowInput { id: id.to_owned(), after };
            let events = self.access.run::<FollowWorkflow>(&input).await?.events;
            after = events.last().map_or(after, |last| last.number);
            if self.as_json {
                if until == Until::Ended {
                    events.iter().try_for_each(terminal::record_line)?;
                }
            } else if live.is_in_place() {
                live.draw(&self.details(id).await?)?;
            } else {
                live.print(&events)?;
            }
            let paused = |event: &WorkflowEvent| event.data.get("checkpoint_id").is_some();
            let is_paused =
                events.last().is_some_and(|last| until == Until::Paused && paused(last));
            if is_paused || events.is_empty() || events.iter().any(WorkflowEvent::is_last) {
                let details = self.details(id).await?;
                if events.is_empty() && details.workflow.state != "ended" {
                    continue;
                }
                self.conclude(&details, until)?;
                return Ok(exit_code(&details));
            }
        }
    }

    /// Prints where the workflow has stopped.
    fn conclude(&self, details: &WorkflowDetails, until: Until) -> anyhow::Result<()> {
        if self.as_json {
            if until == Until::Paused {
                // The answer of execute_dag, which has the id and the results, while it is kept.
                match &details.checkpoint {
                    Some(answer) => terminal::json(answer)?,
                    None => terminal::record(details)?,
                }
            }
            return Ok(());
        }
        if details.workflow.state != "ended" {
            terminal::line("")?;
            return Ok(shown::show(details, self.style)?);
        }
        if !details.not_undone.is_empty() {
            terminal::line("")?;
            shown::not_undone(details, self.style)?;
        }
        Ok(shown::print_outcome(details, self.style)?)
    }
}

/// When to stop watching.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// At the next checkpoint, or at the end.
    Paused,
    /// At the end.
    Ended,
}

fn exit_code(details: &WorkflowDetails) -> ExitCode {
    let workflow = &details.workflow;
    let failed = workflow.state == "ended" && workflow.outcome.as_deref() != Some("complete");
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
