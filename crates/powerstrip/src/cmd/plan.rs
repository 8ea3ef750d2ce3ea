use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use schema::yaml::{self, Limits};
use serde_json::{Map, Value, json};
use terminal::Style;
use terminal::plans;

use dag::{Proposal, name_of_intent};
use workflow::inputs::StartInput;
use workflow::operations::{PlanInput, PlanWorkflow};

use super::workflows::{FIRST_WAIT_MS, start_and_follow};
use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip plan 'Parse data.xml'                        the tools, their arguments and what is missing
  powerstrip plan 'Parse the files' --context found.json  with values that the plan may use
  powerstrip plan 'Parse data.xml' --run                  run the plan and watch it
  powerstrip plan 'Parse data.xml' --save parse.yaml      a file for `powerstrip workflows run`

Without --run nothing runs. Exit codes: 0 there is a plan, 1 nothing fits, or --run lacks arguments.";

/// A context may be as large as the input of the tool.
const LIMITS: Limits =
    Limits { max_bytes: workflow::MAX_BYTES, merge_keys: false, custom_tags: false };

/// Plan the tool calls for an intent
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanCommand {
    /// What to do, in words.
    intent: String,
    /// A file with values that the plan may use: an object in YAML or JSON.
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    /// Run the plan if nothing is missing.
    #[arg(long)]
    run: bool,
    /// Write the plan to a new file, as `powerstrip workflows run` takes it.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

impl PlanCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let style = Style::stdout(&context.environment);
        let done = self.plan(&access, style, context.global.json).await;
        access.close().await;
        telemetry.flush().await;
        done
    }

    async fn plan(self, access: &Access, style: Style, as_json: bool) -> anyhow::Result<ExitCode> {
        let given = self.context.as_deref().map(read_context).transpose()?;
        let name = name_of_intent(&self.intent);
        let input = PlanInput { intent: self.intent, context: given };
        let plan = access.run::<PlanWorkflow>(&input).await?;
        if let Some(file) = &self.save {
            userfiles::create_new(file, written(&name, &plan).as_bytes())
                .with_context(|| format!("{} cannot be written", file.display()))?;
        }
        if as_json {
            terminal::record(&plan)?;
        } else {
            plans::show(&plan_view(&plan), style)?;
        }
        if plan.tasks.is_empty() {
            terminal::note("nothing fits: no tool does what the intent says");
            return Ok(ExitCode::FAILURE);
        }
        if !self.run {
            return Ok(ExitCode::SUCCESS);
        }
        if !plan.missing.is_empty() {
            terminal::note("not run: arguments are missing");
            return Ok(ExitCode::FAILURE);
        }
        let mut start = StartInput::default();
        start.fields.insert("workflow".to_owned(), json!({"name": name, "tasks": plan.tasks}));
        start.fields.insert("config".to_owned(), json!({"wait_ms": FIRST_WAIT_MS}));
        start_and_follow(access, style, as_json, &start).await
    }
}

fn read_context(file: &Path) -> anyhow::Result<Map<String, Value>> {
    let text = userfiles::read_text(file, LIMITS.max_bytes as u64)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    yaml::parse(&text, LIMITS).with_context(|| format!("{} is no object", file.display()))
}

fn plan_view(plan: &Proposal) -> plans::PlanView {
    let tasks = plan.tasks.iter().map(|task| plans::TaskView {
        id: task.id.clone(),
        tool: task.tool.clone().unwrap_or_default(),
        for_each: task.for_each.clone(),
        arguments: task.arguments.clone(),
        missing: plan
            .missing
            .iter()
            .filter(|missing| missing.task_id == task.id)
            .map(|missing| (missing.argument.clone(), missing.schema.clone()))
            .collect(),
        others: plan
            .alternatives
            .iter()
            .filter(|other| other.task_id == task.id)
            .map(|other| other.tool.clone())
            .collect(),
    });
    plans::PlanView {
        tasks: tasks.collect(),
        confidence: plan.confidence,
        reasons: plan.reasons.clone(),
    }
}

/// The DAG as YAML. Values are written as JSON, which YAML contains.
fn written(name: &str, plan: &Proposal) -> String {
    let mut text = String::new();
    for missing in &plan.missing {
        text += &format!("# missing: `{}` of `{}`\n", missing.argument, missing.task_id);
    }
    text += &format!("name: {}\ntasks:\n", json!(name));
    for task in &plan.tasks {
        text += &format!("- id: {}\n  tool: {}\n", json!(task.id), json!(task.tool));
        if let Some(items) = &task.for_each {
            text += &format!("  for_each: {items}\n");
        }
        if !task.arguments.is_empty() {
            text += "  arguments:\n";
        }
        for (name, value) in &task.arguments {
            text += &format!("    {}: {value}\n", json!(name));
        }
    }
    text
}
