use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use proto::clean;
use serde_json::Value;
use strip::runs::operations::{AnswerInput, AnswerQuestion, ListRuns, RunId, RunQuery, ShowRun};
use strip::runs::{QuestionView, RunDetails, RunSummary};

use crate::access::Access;
use crate::context::Context;
use crate::exit::Usage;
use crate::output::{self, Style, shown};
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip runs                                   the last runs, and which of them wait for an answer
  powerstrip runs ls --state waiting                runs that wait
  powerstrip runs show run_0123…                    its questions and calls
  powerstrip runs answer run_0123… --value true     answer its only open question
  powerstrip runs answer run_0123… --slot tone --text 'plain and short'

It asks the gateway that runs on this data folder. A run is named by its id; the first digits are enough.";

/// List runs, show their questions, and answer
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunsCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the last runs
    Ls(Ls),
    /// Show one run with its questions and calls
    Show(Show),
    /// Answer a question of a run
    Answer(Answer),
}

#[derive(Debug, Default, Args)]
struct Ls {
    /// Only runs in this state: open, waiting, completed, expired.
    #[arg(long, value_name = "STATE", value_parser = ["open", "waiting", "completed", "expired"])]
    state: Option<String>,
    /// The most runs to list.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: u32,
}

#[derive(Debug, Args)]
struct Show {
    /// The run's id, or its first characters.
    #[arg(value_name = "ID")]
    run: String,
}

#[derive(Debug, Args)]
struct Answer {
    /// The run's id, or its first characters.
    #[arg(value_name = "ID")]
    run: String,
    /// The question's slot; not needed if one question is open.
    #[arg(long, value_name = "SLOT")]
    slot: Option<String>,
    /// The answer as JSON: `true`, `3`, `\"red\"`, `[\"a\",\"b\"]`.
    #[arg(long, value_name = "JSON", required_unless_present = "text", conflicts_with = "text")]
    value: Option<String>,
    /// The answer as plain text.
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl RunsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let action = self.action.unwrap_or(Action::Ls(Ls { state: None, limit: 50 }));
        let done = action.run(&access, context).await;
        access.close().await;
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    async fn run(self, access: &Access, context: &Context) -> anyhow::Result<()> {
        let (style, as_json) = (Style::stdout(&context.environment), context.global.json);
        match self {
            Self::Ls(Ls { state, limit }) => {
                let query = RunQuery { state, limit: Some(limit), offset: 0 };
                let runs = access.run::<ListRuns>(&query).await?.runs;
                if as_json { Ok(output::json(&runs)?) } else { list(&runs, style) }
            }
            Self::Show(Show { run }) => {
                let id = resolve(access, run).await?;
                let run = access.run::<ShowRun>(&RunId { id }).await?;
                if as_json { Ok(output::json(&run)?) } else { show(&run, style) }
            }
            Self::Answer(answer) => {
                let question = answer.run(access).await?;
                if as_json {
                    return Ok(output::json(&question)?);
                }
                let (slot, value) = (shown(&question.slot_id), question.value.unwrap_or_default());
                Ok(output::line(format_args!("{slot}: {}", visible(&value)))?)
            }
        }
    }
}

impl Answer {
    async fn run(self, access: &Access) -> anyhow::Result<QuestionView> {
        let value: Value = match (&self.value, self.text) {
            (Some(json), _) => serde_json::from_str(json).map_err(|error| {
                Usage(format!("--value is not JSON: {error}; `--text` takes plain text"))
            })?,
            (None, text) => text.into(),
        };
        let id = resolve(access, self.run).await?;
        let slot_id = match self.slot {
            Some(slot) => slot,
            None => only_question(&access.run::<ShowRun>(&RunId { id: id.clone() }).await?)?,
        };
        access.run::<AnswerQuestion>(&AnswerInput { id, slot_id, value }).await
    }
}

/// The whole id of the run whose id begins so.
async fn resolve(access: &Access, prefix: String) -> anyhow::Result<String> {
    if prefix.len() >= "run_".len() + 32 {
        return Ok(prefix);
    }
    let runs = access.run::<ListRuns>(&RunQuery::default()).await?.runs;
    let ids: Vec<_> =
        runs.into_iter().map(|run| run.id).filter(|id| id.starts_with(&prefix)).collect();
    match ids.as_slice() {
        [id] => Ok(id.clone()),
        [] => bail!("no run's id begins with `{prefix}`"),
        several => bail!("{} runs' ids begin with `{prefix}`", several.len()),
    }
}

fn only_question(run: &RunDetails) -> anyhow::Result<String> {
    let open: Vec<_> = run
        .questions
        .iter()
        .filter(|question| question.state == "open")
        .map(|question| question.slot_id.as_str())
        .collect();
    match open.as_slice() {
        [slot] => Ok((*slot).to_owned()),
        [] => bail!("the run has no open question"),
        several => {
            bail!("the run asks for {}; name one with --slot", shown(&several.join(", ")))
        }
    }
}

/// A value without characters that act on the terminal.
fn visible(value: &Value) -> String {
    clean::visible_json(&value.to_string())
}

fn list(runs: &[RunSummary], style: Style) -> anyhow::Result<()> {
    if runs.is_empty() {
        output::line("no runs")?;
    }
    runs.iter().try_for_each(|run| brief(run, style))
}

fn brief(run: &RunSummary, style: Style) -> anyhow::Result<()> {
    let state = match run.state.as_str() {
        "waiting" => style.doubtful(format_args!("{:9}", "waiting")),
        state => format!("{:9}", shown(state)),
    };
    let caller = match &run.agent {
        Some(agent) => format!("{} as {}", shown(&run.owner), shown(agent)),
        None => shown(&run.owner),
    };
    output::line(format_args!(
        "{}  {state}  {:7}  {caller}  {} data tools  {}",
        style.bold(shown(&run.id)),
        shown(&run.kind),
        run.data_tools,
        shown(run.name.as_deref().unwrap_or_default()),
    ))?;
    Ok(())
}

fn show(details: &RunDetails, style: Style) -> anyhow::Result<()> {
    brief(&details.run, style)?;
    if let Some(summary) = &details.run.summary {
        output::line(format_args!("  summary: {}", shown(summary)))?;
    }
    for artifact in &details.run.artifacts {
        output::line(format_args!("  artifact: {}", shown(artifact)))?;
    }
    for question in &details.questions {
        let options = match question.options.is_empty() {
            true => String::new(),
            false => format!(" {}", visible(&question.options.clone().into())),
        };
        output::line(format_args!(
            "  {} {} ({}{options}): {}",
            style.bold(shown(&question.slot_id)),
            shown(&question.state),
            shown(&question.slot_type),
            shown(&question.prompt),
        ))?;
        if let (Some(value), Some(by)) = (&question.value, &question.answered_by) {
            output::line(format_args!("    {} by {}", visible(value), shown(by)))?;
        }
    }
    for call in &details.calls {
        let took = call.ended_unix_ms.saturating_sub(call.started_unix_ms);
        let (tool, outcome) = (shown(&call.tool), shown(&call.outcome));
        output::line(
            style.faint(format_args!("  {tool}  {outcome}  {took} ms  {}", call.trace_id)),
        )?;
    }
    Ok(())
}
