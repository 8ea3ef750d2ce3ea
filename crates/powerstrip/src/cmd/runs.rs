use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use proto::clean;
use serde_json::{Value, json};

use super::Usage;
use crate::access::Access;
use crate::context::Context;
use crate::gateway::runs::{ANSWER, LIST, SHOW};
use crate::output::{self, Style, field as text, shown};
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip runs                                   the last runs, and which of them wait for a person
  powerstrip runs ls --state waiting                those that wait
  powerstrip runs show run_0123…                    its questions and calls
  powerstrip runs answer run_0123… --value true     answer the one question that it asks
  powerstrip runs answer run_0123… --slot tone --text 'plain and short'

It asks the gateway that runs on this data folder. A run is named by its id; the first digits are enough.";

/// List runs, show what they ask, and answer
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
    /// Answer what a run asks
    Answer(Answer),
}

#[derive(Debug, Default, Args)]
struct Ls {
    /// Only runs in this state: open, waiting, completed, expired.
    #[arg(long, value_name = "STATE", value_parser = ["open", "waiting", "completed", "expired"])]
    state: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: u32,
}

#[derive(Debug, Args)]
struct Show {
    /// The run's id, or how it begins.
    #[arg(value_name = "ID")]
    run: String,
}

#[derive(Debug, Args)]
struct Answer {
    /// The run's id, or how it begins.
    #[arg(value_name = "ID")]
    run: String,
    /// Which question; not needed where there is one.
    #[arg(long, value_name = "SLOT")]
    slot: Option<String>,
    /// The answer as JSON: `true`, `3`, `\"red\"`, `[\"a\",\"b\"]`.
    #[arg(long, value_name = "JSON", required_unless_present = "text", conflicts_with = "text")]
    value: Option<String>,
    /// The answer as plain text.
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

/// Prints what was told for people.
type Printed = fn(&Value, Style) -> anyhow::Result<()>;

impl RunsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let action = self.action.unwrap_or(Action::Ls(Ls { state: None, limit: 50 }));
        let done = action.run(&access).await;
        access.close().await;
        telemetry.flush().await;
        let (told, show): (Value, Printed) = done?;
        if context.global.json {
            output::json(&told)?;
        } else {
            show(&told, Style::stdout(&context.environment))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

type Done = (Value, fn(&Value, Style) -> anyhow::Result<()>);

impl Action {
    async fn run(self, access: &Access) -> anyhow::Result<Done> {
        match self {
            Self::Ls(Ls { state, limit }) => {
                let params = json!({"state": state, "limit": limit});
                Ok((access.operate(LIST, params).await?, list))
            }
            Self::Show(Show { run }) => {
                let id = whole(access, &run).await?;
                Ok((access.operate(SHOW, json!({"run": id})).await?, show))
            }
            Self::Answer(answer) => answer.run(access).await,
        }
    }
}

impl Answer {
    async fn run(self, access: &Access) -> anyhow::Result<Done> {
        let value: Value = match (&self.value, self.text) {
            (Some(json), _) => serde_json::from_str(json).map_err(|error| {
                Usage(format!("--value is not JSON: {error}; `--text` takes plain text"))
            })?,
            (None, text) => text.into(),
        };
        let run = whole(access, &self.run).await?;
        let slot = match self.slot {
            Some(slot) => slot,
            None => only_question(&access.operate(SHOW, json!({"run": run})).await?)?,
        };
        let params = json!({"run": run, "slot": slot, "value": value});
        Ok((access.operate(ANSWER, params).await?, answered))
    }
}

/// The id that begins so.
async fn whole(access: &Access, prefix: &str) -> anyhow::Result<String> {
    if prefix.len() >= "run_".len() + 32 {
        return Ok(prefix.to_owned());
    }
    let runs = access.operate(LIST, json!({"state": null, "limit": null})).await?;
    let ids: Vec<_> = runs
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|run| run["id"].as_str())
        .filter(|id| id.starts_with(prefix))
        .collect();
    match ids.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => bail!("no run's id begins with `{prefix}`"),
        several => bail!("{} runs' ids begin with `{prefix}`", several.len()),
    }
}

fn only_question(run: &Value) -> anyhow::Result<String> {
    let open: Vec<_> = run["questions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|question| question["state"] == "open")
        .filter_map(|question| question["slot_id"].as_str())
        .collect();
    match open.as_slice() {
        [slot] => Ok((*slot).to_owned()),
        [] => bail!("the run asks nothing"),
        several => {
            bail!("the run asks for {}; name one with --slot", shown(&several.join(", ")))
        }
    }
}

/// A value as a person may see it.
fn value(value: &Value) -> String {
    clean::visible_json(&value.to_string())
}

fn list(runs: &Value, style: Style) -> anyhow::Result<()> {
    let runs = runs.as_array().map_or(&[][..], Vec::as_slice);
    if runs.is_empty() {
        output::line("no runs")?;
    }
    for run in runs {
        let state = match text(run, "state").as_str() {
            "waiting" => style.doubtful(format_args!("{:9}", "waiting")),
            state => format!("{state:9}"),
        };
        let who = match run["agent"].as_str() {
            Some(agent) => format!("{} as {}", text(run, "owner"), shown(agent)),
            None => text(run, "owner"),
        };
        output::line(format_args!(
            "{}  {state}  {:7}  {who}  {} data tools  {}",
            style.bold(text(run, "id")),
            text(run, "kind"),
            run["data_tools"],
            shown(run["name"].as_str().unwrap_or_default()),
        ))?;
    }
    Ok(())
}

fn show(run: &Value, style: Style) -> anyhow::Result<()> {
    list(&json!([run]), style)?;
    if let Some(summary) = run["summary"].as_str() {
        output::line(format_args!("  summary: {}", shown(summary)))?;
    }
    for artifact in run["artifacts"].as_array().into_iter().flatten() {
        let artifact = shown(artifact.as_str().unwrap_or_default());
        output::line(format_args!("  artifact: {artifact}"))?;
    }
    for question in run["questions"].as_array().into_iter().flatten() {
        let options: Vec<_> = question["options"].as_array().into_iter().flatten().collect();
        let offered = match options.is_empty() {
            true => String::new(),
            false => format!(" {}", value(&question["options"])),
        };
        output::line(format_args!(
            "  {} {} ({}{offered}): {}",
            style.bold(text(question, "slot_id")),
            text(question, "state"),
            text(question, "slot_type"),
            text(question, "prompt"),
        ))?;
        if question["state"] == "answered" {
            output::line(format_args!(
                "    {} by {}",
                value(&question["value"]),
                text(question, "answered_by")
            ))?;
        }
    }
    for call in run["calls"].as_array().into_iter().flatten() {
        let took = call["ended_unix_ms"].as_u64().unwrap_or_default()
            - call["started_unix_ms"].as_u64().unwrap_or_default();
        output::line(style.faint(format_args!(
            "  {}  {}  {took} ms  {}",
            text(call, "tool"),
            text(call, "outcome"),
            text(call, "trace_id"),
        )))?;
    }
    Ok(())
}

fn answered(question: &Value, _: Style) -> anyhow::Result<()> {
    Ok(output::line(format_args!("{}: {}", text(question, "slot_id"), value(&question["value"])))?)
}
