mod artifacts;
mod corpus;
mod diff;
mod progress;
mod summary;
mod usage;
mod waiting;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use config::Loaded;
use flow::operations::{ResearchInput, StartResearch};
use operations::workflows::WorkflowEvent;
use serde_json::{Map, Value, json};
use terminal::Style;
use uuid::Uuid;
use workflow::operations::{FollowInput, FollowWorkflow};

use super::workflows::FIRST_WAIT_MS;
use crate::access::Access;
use crate::context::Context;
use crate::exit::FAILED;
use crate::telemetry::Telemetry;
use artifacts::OutputFolder;
use progress::Steps;
use waiting::Attendant;

const EXAMPLES: &str = "\
Examples:
  powerstrip research 'urban heat islands'                      search the web and write a cited report
  powerstrip research 'urban heat islands' --corpus manuals/    only from the documents of a folder, offline
  powerstrip research 'heat pumps' --depth deep --perspective cost --perspective noise
  powerstrip research 'heat pumps' --approve-outline --format markdown --format html
  powerstrip research diff 550e8400… 7c9e6679… --svg changes.svg  what two mind maps have in common, and what not

The report, its outline, its bibliography and a mind map are written into a new folder, `research-TOPIC` unless --out
says otherwise; nothing is overwritten. Progress goes to standard error, the summary to standard output.
Ctrl-C leaves the research running: the same command with the --idempotency-key that it prints comes back to it.
Exit codes: 0 there is a report, 1 the research failed, its outline was rejected, or it waits for a decision.";

/// The exit code of a command that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Research a topic and write a cited report
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ResearchCommand {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Compare the mind maps of two reports
    Diff(diff::Diff),
}

#[derive(Debug, Args)]
struct Options {
    /// What to find out.
    #[arg(required = true, value_parser = NonEmptyStringValueParser::new())]
    topic: Vec<String>,
    /// How many questions are asked and sources read.
    #[arg(long, value_name = "DEPTH", default_value = "standard", value_parser = ["quick", "standard", "deep"])]
    depth: String,
    /// Read the documents of this folder, and nothing from the web.
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Search this collection, too; repeat for several.
    #[arg(long = "collection", value_name = "NAME")]
    collections: Vec<String>,
    /// An angle to look at the topic from, such as `cost`; repeat for several [default: history, methods, equity, evidence].
    #[arg(long = "perspective", value_name = "NAME")]
    perspectives: Vec<String>,
    /// Wait until a person has approved or edited the outline.
    #[arg(long)]
    approve_outline: bool,
    /// Wait until a person has looked at the questions and added others.
    #[arg(long)]
    merge_questions: bool,
    /// A format of the report; repeat for several.
    #[arg(long = "format", value_name = "FORMAT", default_value = "markdown", value_parser = ["markdown", "html", "docx", "pdf"])]
    formats: Vec<String>,
    /// The most sources to read from the web, 1 to 50 [default: by depth 5, 12 or 30].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=50))]
    max_sources: Option<u32>,
    /// Fail if the check of the citations finds an error.
    #[arg(long)]
    strict: bool,
    /// The folder to write to; it is made, and must be empty if it exists.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A key of your own: the same command with it comes back to the research that was started first.
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    idempotency_key: Option<String>,
}

impl ResearchCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        // Checked before anything is started.
        let folder = match self.action {
            None => Some(OutputFolder::choose(self.options.out.clone(), &self.options.topic())?),
            Some(_) => None,
        };
        let access = Access::open(context, &loaded, None).await?;
        let done = match (self.action, folder) {
            (Some(Action::Diff(diff)), _) => diff.run(&access, context).await,
            (None, Some(folder)) => {
                let session = Session { access: &access, context, loaded: &loaded, folder };
                session.research(self.options).await
            }
            (None, None) => Ok(FAILED),
        };
        access.close().await;
        telemetry.flush().await;
        done
    }
}

impl Options {
    fn topic(&self) -> String {
        self.topic.join(" ")
    }

    /// The input of `research.execute`.
    fn input(&self, collections: Vec<String>) -> Map<String, Value> {
        let mut formats: Vec<&str> = Vec::new();
        for format in &self.formats {
            if !formats.contains(&format.as_str()) {
                formats.push(format);
            }
        }
        let input = json!({
            "topic": self.topic(),
            "depth": self.depth,
            "sources": {"web": self.corpus.is_none(), "collections": collections},
            "merge_questions": self.merge_questions,
            "approve_outline": self.approve_outline,
            "formats": formats,
            "strict": self.strict,
            "wait_ms": FIRST_WAIT_MS,
        });
        let Value::Object(mut input) = input else { return Map::new() };
        if !self.perspectives.is_empty() {
            input.insert("perspectives".to_owned(), json!(self.perspectives));
        }
        if let Some(most) = self.max_sources {
            input.insert("max_sources".to_owned(), most.into());
        }
        input
    }
}

/// How following a research ended.
enum Followed {
    Ended,
    /// It waits for a decision that this command cannot explain better than the workflow's own page.
    Stuck(String),
    Interrupted,
}

struct Session<'a> {
    access: &'a Access,
    context: &'a Context,
    loaded: &'a Loaded,
    folder: OutputFolder,
}

impl Session<'_> {
    async fn research(self, options: Options) -> anyhow::Result<ExitCode> {
        let mut collections = options.collections.clone();
        if let Some(corpus) = &options.corpus {
            collections.insert(0, corpus::index(self.access, corpus).await?);
        }
        let key = options.idempotency_key.clone();
        let key = key.unwrap_or_else(|| format!("research-{}", Uuid::new_v4()));
        let mut fields = options.input(collections);
        fields.insert(operations::IDEMPOTENCY_KEY.to_owned(), key.as_str().into());
        let input = ResearchInput { fields };
        let started = self.access.run::<StartResearch>(&input).await?;
        let id =
            started["workflow_id"].as_str().context("the gateway named no workflow")?.to_owned();
        if started["status"] == "complete" {
            return self.finish(&started).await;
        }
        let followed = self.follow(&id).await.inspect_err(|_| self.explain_return(&id, &key))?;
        match followed {
            Followed::Ended => {
                // With the same key, the answer is that of the first workflow.
                let answer = self.access.run::<StartResearch>(&input).await?;
                self.finish(&answer).await
            }
            Followed::Stuck(why) => {
                terminal::note(format_args!("{why}; see `powerstrip workflows show {id}`"));
                Ok(FAILED)
            }
            Followed::Interrupted => {
                self.explain_return(&id, &key);
                Ok(ExitCode::from(INTERRUPTED))
            }
        }
    }

    /// Shows progress until the workflow ends.
    async fn follow(&self, id: &str) -> anyhow::Result<Followed> {
        let mut steps = Steps::new(Style::stderr(&self.context.environment));
        let mut attendant = Attendant::new(self.access, self.loaded, &self.folder, id);
        let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
        let mut after = 0;
        loop {
            let input = FollowInput { id: id.to_owned(), after };
            let events = tokio::select! {
                events = self.access.run::<FollowWorkflow>(&input) => events?.events,
                _ = &mut interrupted => {
                    steps.clear();
                    return Ok(Followed::Interrupted);
                }
            };
            if let Some(last) = events.last() {
                after = last.number;
            }
            for event in &events {
                steps.take(event);
            }
            if events.iter().any(WorkflowEvent::is_last) {
                steps.clear();
                return Ok(Followed::Ended);
            }
            // Only the last event says what it waits for now.
            match events.last().map(|event| event.kind.as_str()) {
                Some("input_required" | "decision_required") => {
                    steps.clear();
                    attendant.explain().await?;
                }
                Some("quarantined") => {
                    steps.clear();
                    return Ok(Followed::Stuck("the workflow is quarantined".to_owned()));
                }
                Some("layer_complete") if is_pause(events.last()) => {
                    steps.clear();
                    return Ok(Followed::Stuck("the workflow waits for a decision".to_owned()));
                }
                _ => {}
            }
        }
    }

    /// Writes the artifacts and prints what was found.
    async fn finish(self, answer: &Value) -> anyhow::Result<ExitCode> {
        if answer["status"] != "complete" {
            bail!("the research has not ended: {}", answer["workflow_id"]);
        }
        let written = self.folder.write(self.access, answer).await?;
        if self.context.global.json {
            let mut answer = answer.clone();
            answer["files"] = written.iter().map(|path| path.display().to_string()).collect();
            terminal::json(&answer)?;
        } else {
            let style = Style::stdout(&self.context.environment);
            summary::print(answer, self.folder.path(), &written, style)?;
        }
        // A person may have rejected the outline.
        Ok(if summary::has_report(answer) { ExitCode::SUCCESS } else { FAILED })
    }

    /// How to come back to a research that goes on.
    fn explain_return(&self, id: &str, key: &str) {
        let goes_on = match self.access {
            Access::Here(..) => {
                "it continues with the next command or `powerstrip serve` on this data folder"
            }
            _ => "it goes on in the gateway",
        };
        terminal::note(format_args!("left the research: {goes_on}"));
        terminal::note(format_args!(
            "  the same command with --idempotency-key {key}  comes back to it"
        ));
        terminal::note(format_args!("  powerstrip workflows watch {id}"));
        terminal::note(format_args!("  powerstrip workflows abort {id}"));
    }
}

/// Whether a workflow has stopped at this event until someone decides.
fn is_pause(event: Option<&WorkflowEvent>) -> bool {
    event.is_some_and(|event| event.data.get("checkpoint_id").is_some())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command};

    fn parse(arguments: &[&str]) -> ResearchCommand {
        let command = Cli::try_parse_from([&["powerstrip", "research"], arguments].concat());
        let Command::Research(command) = command.unwrap().command else { panic!("research") };
        command
    }

    #[test]
    fn options_become_the_input_of_the_tool() {
        let command = parse(&["urban", "heat", "--format", "html", "--format", "html", "--strict"]);
        let input = Value::Object(command.options.input(vec!["city".to_owned()]));
        assert_eq!(input["topic"], "urban heat");
        assert_eq!(input["formats"], json!(["html"]));
        assert_eq!(input["sources"], json!({"web": true, "collections": ["city"]}));
        assert!(input.get("perspectives").is_none() && input["strict"] == true, "{input}");
        let offline = parse(&["heat", "--corpus", "manuals", "--perspective", "cost"]);
        let input = Value::Object(offline.options.input(Vec::new()));
        assert_eq!(
            (&input["sources"]["web"], &input["depth"]),
            (&json!(false), &json!("standard"))
        );
        assert_eq!(input["perspectives"], json!(["cost"]));
    }

    #[test]
    fn a_comparison_needs_no_topic() {
        assert!(matches!(parse(&["diff", "a", "b"]).action, Some(Action::Diff(_))));
        assert!(Cli::try_parse_from(["powerstrip", "research"]).is_err());
    }
}
