use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use operations::workflows::{WorkflowQuery, WorkflowState};
use proto::clean;
use runs::{QuestionView, RunCall, RunDetails, RunSummary};
use serde_json::Value;
use strip::runs::operations::{
    AnswerInput, AnswerQuestion, ListRuns, RunId, RunList, RunQuery, ShowRun,
};
use workflow::operations::ListWorkflows;

use super::approvals::note_damaged;
use crate::access::Access;
use crate::context::Context;
use crate::exit::Usage;
use crate::telemetry::Telemetry;
use terminal::table::{Cell, Record, Table};
use terminal::{Style, Tone, shown, time};

const EXAMPLES: &str = "\
Examples:
  powerstrip runs                                   the last runs, and which of them wait for an answer
  powerstrip runs ls --state waiting                runs that wait for an answer
  powerstrip runs show run_0123…                    its questions and calls
  powerstrip runs answer run_0123… --value true     answer its only open question
  powerstrip runs answer run_0123… --slot tone --text 'plain and short'
  powerstrip runs show run_0123… --document > outline.md
  powerstrip runs answer run_0123… --file outline.md

It asks the gateway that runs on this data folder. A run is named by its id; the first digits are enough.";

/// The largest file that is read; the gateway limits answers further.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The kind of the runs of workflows.
const WORKFLOW: &str = "workflow";

/// The type of a question whose answer is a long text.
const DOCUMENT: &str = "document";

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
    #[command(visible_alias = "list")]
    Ls(Ls),
    /// Show one run with its questions and calls
    Show(Show),
    /// Answer a question of a run
    Answer(Answer),
}

#[derive(Debug, Default, Args)]
struct Ls {
    /// Only runs in this state; `waiting` for an answer to a question.
    #[arg(long, value_name = "STATE", value_parser = ["open", "waiting", "completed", "aborted", "rejected", "failed", "expired"])]
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
    /// Print only the text of its open question for a document, to edit it.
    #[arg(long)]
    document: bool,
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
    #[arg(long, value_name = "JSON", required_unless_present_any = ["text", "file"])]
    value: Option<String>,
    /// The answer as plain text.
    #[arg(long, value_name = "TEXT", conflicts_with = "value")]
    text: Option<String>,
    /// A file with the answer as plain text, of up to 64 KB.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["value", "text"])]
    file: Option<PathBuf>,
}

impl RunsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let action = self.action.unwrap_or(Action::Ls(Ls { state: None, limit: 50 }));
        let done = match Access::open_existing(context, &loaded).await? {
            Some(access) => {
                let done = action.run(&access, context).await;
                access.close().await;
                done
            }
            None => action.run_without_data(context),
        };
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    /// There are no runs where there is no data folder.
    fn run_without_data(self, context: &Context) -> anyhow::Result<()> {
        let Self::Ls(Ls { state, .. }) = self else { bail!("there are no runs") };
        if context.global.json {
            return Ok(terminal::record(&Vec::<RunSummary>::new())?);
        }
        list(&[], &Paused::new(), state.as_deref(), Style::stdout(&context.environment))
    }

    async fn run(self, access: &Access, context: &Context) -> anyhow::Result<()> {
        let (style, as_json) = (Style::stdout(&context.environment), context.global.json);
        match self {
            Self::Ls(Ls { state, limit }) => {
                let query = RunQuery { state, limit: Some(limit), offset: 0 };
                let RunList { runs, damaged } = access.run::<ListRuns>(&query).await?;
                note_damaged("run", &damaged);
                if as_json {
                    return Ok(terminal::record(&runs)?);
                }
                let paused = paused_workflows(access, &runs).await?;
                list(&runs, &paused, query.state.as_deref(), style)
            }
            Self::Show(Show { run, document }) => {
                let id = resolve(access, run).await?;
                let run = access.run::<ShowRun>(&RunId { id }).await?;
                if document {
                    return Ok(terminal::text(only_document(&run)?)?);
                }
                if as_json { Ok(terminal::record(&run)?) } else { show(&run, style) }
            }
            Self::Answer(answer) => {
                let question = answer.run(access).await?;
                if as_json {
                    return Ok(terminal::record(&question)?);
                }
                let slot = shown(&question.slot_id);
                if question.slot_type == DOCUMENT {
                    return Ok(terminal::line(format_args!("{slot}: answered"))?);
                }
                let value = question.value.unwrap_or_default();
                Ok(terminal::line(format_args!("{slot}: {}", visible(&value)))?)
            }
        }
    }
}

impl Answer {
    async fn run(self, access: &Access) -> anyhow::Result<QuestionView> {
        let value: Value = match (&self.value, self.text, &self.file) {
            (Some(json), ..) => serde_json::from_str(json).map_err(|error| {
                Usage(format!("--value is not JSON: {error}; `--text` takes plain text"))
            })?,
            (None, Some(text), _) => text.into(),
            (None, None, Some(file)) => read_text(file)?.into(),
            (None, None, None) => Value::Null,
        };
        let id = resolve(access, self.run).await?;
        let slot_id = match self.slot {
            Some(slot) => slot,
            None => only_question(&access.run::<ShowRun>(&RunId { id: id.clone() }).await?)?,
        };
        access.run::<AnswerQuestion>(&AnswerInput { id, slot_id, value }).await
    }
}

/// The text of a file, with the line breaks that other doors send.
fn read_text(file: &Path) -> anyhow::Result<String> {
    let text = userfiles::read_text(file, MAX_FILE_BYTES)
        .with_context(|| format!("--file {}: cannot read the file", file.display()))?;
    Ok(text.trim_start_matches('\u{feff}').replace("\r\n", "\n"))
}

/// The whole id of the run whose id begins so.
async fn resolve(access: &Access, given: String) -> anyhow::Result<String> {
    if given.len() >= "run_".len() + 32 {
        return Ok(given);
    }
    let listed = access.run::<ListRuns>(&RunQuery::default()).await?;
    let damaged = listed.damaged.into_iter().map(|row| row.id);
    let begins = |id: &String| {
        id.starts_with(&given) || id.strip_prefix("run_").is_some_and(|id| id.starts_with(&given))
    };
    let ids = listed.runs.into_iter().map(|run| run.id).chain(damaged);
    let ids: Vec<_> = ids.filter(begins).collect();
    match ids.as_slice() {
        [id] => Ok(id.clone()),
        [] => bail!(
            "none of the last runs has an id that begins with `{given}`; `powerstrip runs` lists them"
        ),
        several => bail!("{} runs' ids begin with `{given}`; give more of it", several.len()),
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

/// The text that the run's only open question for a document begins with.
fn only_document(run: &RunDetails) -> anyhow::Result<&str> {
    let open =
        |question: &&QuestionView| question.state == "open" && question.slot_type == DOCUMENT;
    let open: Vec<_> = run.questions.iter().filter(open).collect();
    match open.as_slice() {
        [question] => Ok(question.options.first().map_or("", String::as_str)),
        [] => bail!("the run has no open question for a document"),
        _ => bail!("the run has several open questions for documents; `--json` shows them all"),
    }
}

/// A value without characters that act on the terminal.
fn visible(value: &Value) -> String {
    clean::visible_json(&value.to_string())
}

/// What the paused workflows wait for, by the ids of their runs.
type Paused = BTreeMap<String, String>;

/// The run of a workflow that waits for a person is open: only the workflow has that state.
async fn paused_workflows(access: &Access, runs: &[RunSummary]) -> anyhow::Result<Paused> {
    if !runs.iter().any(|run| run.kind == WORKFLOW && run.state == "open") {
        return Ok(Paused::new());
    }
    let mut paused = Paused::new();
    for state in [WorkflowState::Paused, WorkflowState::Quarantined] {
        let query =
            WorkflowQuery { state: Some(state), limit: Some(500), ..WorkflowQuery::default() };
        let workflows = access.run::<ListWorkflows>(&query).await?.workflows;
        let waiting = workflows.into_iter();
        paused.extend(waiting.filter_map(|one| Some((one.run_id.clone(), one.waits_for()?))));
    }
    Ok(paused)
}

fn list(
    runs: &[RunSummary],
    paused: &Paused,
    only: Option<&str>,
    style: Style,
) -> anyhow::Result<()> {
    if runs.is_empty() {
        return Ok(match only {
            None => terminal::line(
                "no runs: a call with `--run NAME`, a batch or a workflow begins one",
            ),
            Some("waiting") => terminal::line(
                "no run waits for an answer; `powerstrip approvals` lists calls that wait for a decision",
            ),
            Some(state) => terminal::line(format_args!("no runs in the state `{state}`")),
        }?);
    }
    let headers = ["ID", "STATE", "KIND", "LAST CALL", "TOOLS", "CALLER", "NAME"];
    let mut table = Table::new(headers).right(["TOOLS"]).cut(["CALLER", "NAME"]);
    for run in runs {
        table.row([
            Cell::new(&run.id).tone(Tone::Strong),
            match paused.get(&run.id) {
                Some(waits_for) => Cell::new(waits_for).tone(Tone::Doubtful),
                None => Cell::state(&run.state),
            },
            Cell::new(&run.kind),
            Cell::new(time::ago(run.touched_unix_ms)),
            Cell::new(run.data_tools),
            Cell::new(caller(run)),
            Cell::maybe(run.name.as_deref()),
        ]);
    }
    Ok(table.print(style)?)
}

fn caller(run: &RunSummary) -> String {
    match &run.agent {
        Some(agent) => format!("{} as {agent}", run.owner),
        None => run.owner.clone(),
    }
}

fn show(details: &RunDetails, style: Style) -> anyhow::Result<()> {
    let run = &details.run;
    let mut record = Record::new();
    record.field("id", Cell::new(&run.id).tone(Tone::Strong));
    record.field("state", Cell::state(&run.state));
    record.field("kind", Cell::new(&run.kind));
    record.maybe("name", run.name.as_deref());
    record.field("caller", Cell::new(caller(run)));
    record.field("data tools", Cell::new(run.data_tools));
    record.field("started", Cell::new(time::ago(run.created_unix_ms)));
    record.field("last call", Cell::new(time::ago(run.touched_unix_ms)));
    record.maybe("summary", run.summary.as_deref());
    for artifact in &run.artifacts {
        record.field("artifact", Cell::new(artifact));
    }
    record.print(style)?;
    if !details.questions.is_empty() {
        terminal::line("")?;
        questions(&details.questions).print(style)?;
    }
    if !details.calls.is_empty() {
        terminal::line("")?;
        calls(&details.calls).print(style)?;
    }
    Ok(())
}

fn questions(questions: &[QuestionView]) -> Table {
    let mut table = Table::new(["SLOT", "STATE", "TYPE", "QUESTION"]);
    for question in questions {
        let is_document = question.slot_type == DOCUMENT;
        let options = if question.options.is_empty() || is_document {
            String::new()
        } else {
            format!(" {}", visible(&question.options.clone().into()))
        };
        let tone = if question.state == "open" { Tone::Doubtful } else { Tone::Plain };
        table.row([
            Cell::new(&question.slot_id).tone(Tone::Strong),
            Cell::new(&question.state).tone(tone),
            Cell::new(format_args!("{}{options}", question.slot_type)),
            Cell::new(&question.prompt),
        ]);
        if question.state == "open" && is_document {
            table.detail(Cell::new("edit it: runs show ID --document, runs answer ID --file PATH"));
        }
        if let (Some(value), Some(by)) = (&question.value, &question.answered_by) {
            table.detail(Cell::new(format_args!("{} by {by}", visible(value))));
        }
    }
    table
}

fn calls(calls: &[RunCall]) -> Table {
    let mut table =
        Table::new(["TOOL", "OUTCOME", "TOOK", "STARTED", "TRACE"]).right(["TOOK"]).cut(["TOOL"]);
    for call in calls {
        let took = call.ended_unix_ms.saturating_sub(call.started_unix_ms);
        let tone = match call.outcome.as_str() {
            "OK" => Tone::Good,
            "ASKED" => Tone::Doubtful,
            _ => Tone::Bad,
        };
        table.row([
            Cell::new(&call.tool).tone(Tone::Strong),
            Cell::new(&call.outcome).tone(tone),
            Cell::new(format_args!("{took} ms")),
            Cell::new(time::ago(call.started_unix_ms)),
            Cell::new(call.trace_id),
        ]);
    }
    table
}
