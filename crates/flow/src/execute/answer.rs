//! The answer of `research.execute`, from the outputs of the workflow's tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::dag;
use super::input::Input;
use crate::compose::{BibliographyEntry, ClaimCounts, Method};
use crate::graph::Graph;
use crate::notes::tool::NOTHING;
use crate::outline::Outline;
use crate::source::ReportedSource;

/// The most warnings of an answer.
const MOST_WARNINGS: usize = 50;

/// The most errors of the citation audit that are listed.
const MOST_FINDINGS: usize = 20;

/// The answer to the caller.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResearchOutput {
    pub status: ResearchStatus,
    pub workflow_id: String,
    #[serde(flatten)]
    pub report: Option<Report>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResearchStatus {
    Running,
    Complete,
}

/// What a finished workflow has made.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    pub artifacts: Vec<Artifact>,
    pub outline: Outline,
    pub bibliography: Vec<BibliographyEntry>,
    pub graph: Graph,
    pub sources: Vec<ReportedSource>,
    pub claims: ClaimCounts,
    pub method: Method,
    /// The prompts that a model was given.
    pub prompts: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Artifact {
    pub file_id: String,
    pub file_name: String,
    /// `outline`, `report`, `bibliography` or `map`.
    pub kind: String,
    pub format: String,
}

/// How a task of the workflow has ended.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskOutcome {
    pub(super) output: Value,
    /// Why it has none, and why items of it have none.
    pub(super) errors: Vec<String>,
}

/// The outcomes of the workflow's tasks by their ids.
pub(super) type Outcomes = BTreeMap<String, TaskOutcome>;

impl ResearchOutput {
    pub(super) fn running(workflow_id: String, warnings: Vec<String>) -> Self {
        Self { status: ResearchStatus::Running, workflow_id, report: None, warnings }
    }

    /// The answer of a workflow that has ended.
    pub(super) fn complete(
        workflow_id: String,
        input: &Input,
        outcomes: &Outcomes,
    ) -> Result<Self, Failure> {
        let mut warnings = warnings(outcomes);
        let compose = output(outcomes, dag::COMPOSE);
        let rejected = output(outcomes, dag::REVIEW)["status"] == "rejected";
        if rejected {
            let feedback = output(outcomes, dag::REVIEW)["feedback"].as_str().unwrap_or_default();
            warnings.insert(
                0,
                format!("The outline was rejected, so no report was written. {feedback}")
                    .trim_end()
                    .to_owned(),
            );
        }
        warnings.extend(check_audit(input, outcomes)?);
        let claims: ClaimCounts = read(&compose["claims"])?;
        if claims.supported == 0 && !rejected {
            warnings
                .insert(0, "No source that was read answers a question of the outline.".to_owned());
        }
        warnings.truncate(MOST_WARNINGS);
        let plan = output(outcomes, dag::PLAN);
        let outlines = [dag::REVIEW, dag::MERGE].map(|task| &output(outcomes, task)["outline"]);
        let outline = outlines.into_iter().find(|outline| !outline.is_null());
        let outline = outline.unwrap_or(&plan["outline"]);
        let report = Report {
            artifacts: artifacts(input, outcomes),
            outline: read(outline)?,
            bibliography: read(&compose["bibliography"])?,
            graph: read(if compose["graph"].is_null() {
                &plan["graph"]
            } else {
                &compose["graph"]
            })?,
            sources: read(&compose["sources"])?,
            claims,
            method: read(&compose["method"])?,
            prompts: prompts(outcomes),
        };
        let status = ResearchStatus::Complete;
        Ok(Self { status, workflow_id, report: Some(report), warnings })
    }
}

/// The prompts that models were given, each once.
fn prompts(outcomes: &Outcomes) -> Vec<String> {
    let notes = [dag::NOTES, dag::NOTES_ADDED].map(|task| output(outcomes, task).as_array());
    let outputs = [dag::PLAN, dag::COMPOSE].map(|task| output(outcomes, task)).into_iter();
    let named: BTreeSet<&str> = outputs
        .chain(notes.into_iter().flatten().flatten())
        .filter_map(|output| output["prompts"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    named.into_iter().map(str::to_owned).collect()
}

static NO_OUTPUT: Value = Value::Null;

fn output<'a>(outcomes: &'a Outcomes, task: &str) -> &'a Value {
    outcomes.get(task).map_or(&NO_OUTPUT, |outcome| &outcome.output)
}

/// Reads a part of an output; a part that no task has made is the default.
fn read<T: Default + serde::de::DeserializeOwned>(value: &Value) -> Result<T, Failure> {
    if value.is_null() {
        return Ok(T::default());
    }
    T::deserialize(value).map_err(|error| {
        let message = "a tool that replaces one of the research flow answers in another shape";
        Failure::new(Code::Unsupported, message).caused_by(error)
    })
}

/// What did not work, in the order of the tasks.
fn warnings(outcomes: &Outcomes) -> Vec<String> {
    let mut warnings = Vec::new();
    let tasks = [
        (dag::SEARCH, "A search failed"),
        (dag::READ, "A source could not be read"),
        (dag::FIND, "A collection could not be searched"),
        (dag::ORDER, "Results could not be ordered"),
        (dag::NOTES, "Notes could not be taken"),
        (dag::FIND_ADDED, "A collection could not be searched"),
        (dag::NOTES_ADDED, "Notes could not be taken"),
        (dag::AUDIT, "The citations could not be checked"),
    ];
    for (task, problem) in tasks {
        let errors =
            outcomes.get(task).map(|outcome| outcome.errors.as_slice()).unwrap_or_default();
        let mut seen: Vec<&str> = Vec::new();
        for error in errors {
            if !seen.contains(&error.as_str()) {
                seen.push(error);
                warnings.push(format!("{problem}: {error}"));
            }
        }
    }
    for (task, outcome) in outcomes {
        if task.starts_with("report_") {
            warnings
                .extend(outcome.errors.iter().map(|error| format!("A format is missing: {error}")));
        }
        // A task for each item of a list has as many outputs.
        let outputs =
            outcome.output.as_array().map_or(slice::from_ref(&outcome.output), Vec::as_slice);
        let passed_on = outputs.iter().filter_map(|output| output.get("warnings")?.as_array());
        for warning in passed_on.flatten().filter_map(Value::as_str) {
            // The report itself lists the questions that nothing answers.
            if warning != NOTHING && !warnings.iter().any(|known| known == warning) {
                warnings.push(warning.to_owned());
            }
        }
    }
    warnings
}

/// The errors of the citation audit as warnings, or as a failure if the caller wants a strict check.
fn check_audit(input: &Input, outcomes: &Outcomes) -> Result<Vec<String>, Failure> {
    let findings = output(outcomes, dag::AUDIT)["findings"].as_array();
    let errors: Vec<&str> = findings
        .into_iter()
        .flatten()
        .filter(|finding| finding["severity"] == "error")
        .filter_map(|finding| finding["message"].as_str())
        .collect();
    if errors.is_empty() {
        return Ok(Vec::new());
    }
    if input.strict {
        let details = serde_json::json!({"findings": findings});
        let count = errors.len();
        let found = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
        let listed = errors[..count.min(MOST_FINDINGS)].join("; ");
        let more = if count > MOST_FINDINGS { "; …" } else { "" };
        let message = format!("The citation audit found {found}: {listed}{more}");
        // The sources that the caller chose do not bear what it asked for.
        return Err(Failure::new(Code::InvalidInput, message).details(details));
    }
    let shown = errors.iter().take(MOST_FINDINGS);
    let mut warnings: Vec<String> =
        shown.map(|error| format!("The citation audit found an error: {error}")).collect();
    if let Some(more) = errors.len().checked_sub(MOST_FINDINGS).filter(|more| *more > 0) {
        warnings.push(format!("The citation audit found {more} more errors."));
    }
    Ok(warnings)
}

fn artifacts(input: &Input, outcomes: &Outcomes) -> Vec<Artifact> {
    let fixed = dag::STORED.map(|(task, kind, format)| (task.to_owned(), kind, format));
    let reports = input
        .stored_formats()
        .into_iter()
        .map(|format| (dag::stores_report(format.name()), "report", format.name()));
    let (outline, rest) = fixed.split_at(1);
    let all = outline.iter().cloned().chain(reports).chain(rest.iter().cloned());
    let stored = all.filter_map(|(task, kind, format)| {
        let file = output(outcomes, &task);
        Some(Artifact {
            file_id: file["file_id"].as_str()?.to_owned(),
            file_name: file["file_name"].as_str()?.to_owned(),
            kind: kind.to_owned(),
            format: format.to_owned(),
        })
    });
    stored.collect()
}
