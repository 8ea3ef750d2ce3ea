//! Workflows on a terminal: lists, one workflow, and its events as they come.

mod outcome;

pub use outcome::print_outcome;

use std::io::{self, IsTerminal as _};

use operations::workflows::{WorkflowDetails, WorkflowEvent, WorkflowSummary};
use proto::{ANSWERED_BY, clean};
use serde_json::Value;

use crate::table::{Cell, Record, Table};
use crate::{Style, Tone, line, shown, text, time};

/// Prints a list.
pub fn list(workflows: &[WorkflowSummary], style: Style) -> io::Result<()> {
    if workflows.is_empty() {
        return line("no workflows: `powerstrip workflows run FILE` starts one");
    }
    let headers = ["ID", "NAME", "STATE", "LAYER", "TASKS", "CHANGED", "EXPIRES IN", "OWNER"];
    let mut table = Table::new(headers).right(["LAYER", "TASKS"]).cut(["NAME", "OWNER"]);
    for workflow in workflows {
        let expires = match workflow.state.as_str() {
            "paused" => Cell::new(time::left(workflow.expires_unix_ms)),
            _ => Cell::maybe(None::<&str>),
        };
        table.row([
            Cell::new(&workflow.workflow_id).tone(Tone::Strong),
            Cell::new(&workflow.name),
            state(workflow, workflow.waits_for()),
            Cell::new(format_args!("{}/{}", layer(workflow), workflow.layers)),
            Cell::new(format_args!(
                "{}/{}{}",
                workflow.tasks_done,
                workflow.tasks_total,
                workflow.shortfall()
            )),
            Cell::new(time::ago(workflow.updated_unix_ms)),
            expires,
            Cell::new(owner(workflow)),
        ]);
    }
    table.print(style)
}

/// Prints one workflow with its tasks.
pub fn show(details: &WorkflowDetails, style: Style) -> io::Result<()> {
    if not_undone(details, style)? {
        line("")?;
    }
    let workflow = &details.workflow;
    let mut record = Record::new();
    record.field("id", Cell::new(&workflow.workflow_id).tone(Tone::Strong));
    record.field("name", Cell::new(&workflow.name));
    record.field("run", Cell::new(&workflow.run_id));
    record.field("state", state(workflow, details.waits_for()));
    record.maybe("intent", workflow.intent.as_deref());
    record.field("owner", Cell::new(owner(workflow)));
    record.field("started", Cell::new(time::ago(workflow.started_unix_ms)));
    record.field("changed", Cell::new(time::ago(workflow.updated_unix_ms)));
    if workflow.state == "paused" {
        record.field("expires in", Cell::new(time::left(workflow.expires_unix_ms)));
    }
    let checkpoint = details.checkpoint.as_ref();
    let field = |name: &str| checkpoint.and_then(|answer| answer.get(name));
    record.maybe("checkpoint", field("checkpoint_id").and_then(Value::as_str));
    record.maybe("decision", field("decision_context").and_then(Value::as_str));
    record.maybe("feedback", field("feedback").and_then(Value::as_str));
    record.maybe("reason", field("reason").and_then(Value::as_str));
    let list = |name: &str| field(name).and_then(Value::as_array).into_iter().flatten();
    let options: Vec<_> = list("options").filter_map(Value::as_str).collect();
    let waiting: Vec<_> =
        list("decisions").filter_map(|decision| decision["approval_id"].as_str()).collect();
    let reasons = list("decisions").filter_map(|decision| decision["reason"].as_str());
    let reasons: Vec<_> = reasons.map(shown).collect();
    record.maybe("because", (!reasons.is_empty()).then(|| reasons.join("; ")));
    if let [first, others @ ..] = waiting.as_slice() {
        record.field("approve", command("approvals approve", first));
        record.field("reject", command("approvals reject", first));
        if !others.is_empty() {
            let others = format!("{} others: powerstrip approvals", others.len());
            record.field("and", Cell::new(others));
        }
    } else if options.contains(&"continue") {
        record.field("continue", command("workflows continue", &workflow.workflow_id));
    } else if workflow.outcome.as_deref() == Some("quarantined") {
        let forced = format!("{} --force", workflow.workflow_id);
        record.field("continue", command("workflows continue", &forced));
        record.field("abort", command("workflows abort", &workflow.workflow_id));
    }
    if !options.is_empty() {
        record.field("agents may", Cell::new(options.join(", ")));
    }
    record.print(style)?;
    line("")?;
    tasks(details).print(style)
}

/// Prints what the workflow has done and could not undo; returns false if there is nothing.
pub fn not_undone(details: &WorkflowDetails, style: Style) -> io::Result<bool> {
    if details.not_undone.is_empty() {
        return Ok(false);
    }
    line(style.bad("not undone:"))?;
    let mut table = Table::new(["TASK", "COMPENSATION"]);
    for one in &details.not_undone {
        table.row([Cell::new(&one.task_id).tone(Tone::Strong), Cell::new(&one.tool)]);
        table.detail(Cell::new(&one.reason).tone(Tone::Bad));
    }
    table.print(style)?;
    Ok(true)
}

/// What a person can type; the first characters of an id are enough.
fn command(name: &str, id: &str) -> Cell {
    Cell::new(format_args!("powerstrip {name} {}", id.get(..8).unwrap_or(id)))
}

fn tasks(details: &WorkflowDetails) -> Table {
    let headers = ["LAYER", "TASK", "TOOL", "STATE", "TOOK", "AFTER"];
    let mut table = Table::new(headers).right(["LAYER", "TOOK"]).cut(["TOOL", "AFTER"]);
    for task in &details.tasks {
        let took = task.duration_ms.map(|took| format!("{took} ms"));
        table.row([
            Cell::new(task.layer + 1),
            Cell::new(&task.task_id).tone(Tone::Strong),
            Cell::new(&task.tool),
            status(details.task_state(task)),
            Cell::maybe(took),
            Cell::new(task.depends_on.join(", ")).tone(Tone::Faint),
        ]);
        if let Some(error) = &task.error {
            table.detail(Cell::new(failure(error)).tone(Tone::Bad));
        }
    }
    table
}

/// A task's failure in one line: what a server itself said is marked as its words.
fn failure(error: &Value) -> String {
    let part = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let server = error.get("details").and_then(|details| details.get(ANSWERED_BY)?.as_str());
    match server {
        Some(server) => format!("{server} answered: {}", part("message")),
        None => format!("{}: {}", part("code"), part("message")),
    }
}

/// The state of a workflow; of a paused one, what it waits for.
fn state(workflow: &WorkflowSummary, waits_for: Option<String>) -> Cell {
    let outcome = workflow.outcome.as_deref();
    if let Some(waits_for) = waits_for {
        let bad = outcome == Some("quarantined");
        return Cell::new(waits_for).tone(if bad { Tone::Bad } else { Tone::Doubtful });
    }
    match (workflow.state.as_str(), outcome) {
        ("ended", Some("complete")) => Cell::new("complete").tone(Tone::Good),
        ("ended", Some(outcome)) => Cell::new(outcome).tone(Tone::Bad),
        (other, _) => Cell::new(other),
    }
}

fn status(status: &str) -> Cell {
    let tone = match status {
        "success" => Tone::Good,
        "failed" => Tone::Bad,
        "waiting" => Tone::Doubtful,
        "pending" | "skipped" | "not run" => Tone::Faint,
        _ => Tone::Plain,
    };
    Cell::new(status).tone(tone)
}

/// The number of its layer, counted from 1.
fn layer(workflow: &WorkflowSummary) -> usize {
    (workflow.layer + 1).min(workflow.layers)
}

fn owner(workflow: &WorkflowSummary) -> String {
    let agent = workflow.agent.as_ref().map(|agent| format!(" as {agent}")).unwrap_or_default();
    format!("{}/{}{agent}", workflow.tenant, workflow.owner)
}

/// Follows a workflow: on a terminal its tasks are drawn again in place, elsewhere each event is a line.
pub struct Live {
    style: Style,
    in_place: bool,
    drawn: usize,
}

impl Live {
    /// For standard output.
    pub fn new(style: Style) -> Self {
        Self { style, in_place: io::stdout().is_terminal() && style.width().is_some(), drawn: 0 }
    }

    /// Whether it draws the whole workflow, rather than its events.
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Draws the tasks over what was drawn before.
    pub fn draw(&mut self, details: &WorkflowDetails) -> io::Result<()> {
        let workflow = &details.workflow;
        let mut lines = vec![format!(
            "{}  {}  layer {}/{}  {}",
            self.style.bold(shown(&workflow.workflow_id)),
            state(workflow, details.waits_for()).painted(self.style),
            layer(workflow),
            workflow.layers,
            workflow.progress()
        )];
        lines.extend(tasks(details).lines(self.style));
        let mut out = String::new();
        if self.drawn > 0 {
            out.push_str(&format!("\x1b[{}A\x1b[0J", self.drawn));
        }
        self.drawn = lines.len();
        for one in lines {
            out.push_str(&one);
            out.push('\n');
        }
        text(out)
    }

    /// Prints events, one line each.
    pub fn print(&self, events: &[WorkflowEvent]) -> io::Result<()> {
        events.iter().try_for_each(|event| line(self.describe(event)))
    }

    fn describe(&self, event: &WorkflowEvent) -> String {
        let tone = match event.kind.as_str() {
            "complete" => Tone::Good,
            "failed" | "aborted" | "expired" | "quarantined" => Tone::Bad,
            "decision_required" | "input_required" => Tone::Doubtful,
            _ => Tone::Plain,
        };
        let fields = event.data.as_object().into_iter().flatten();
        let fields =
            fields.filter(|(_, value)| !(value.is_array() || value.is_object() || value.is_null()));
        let fields: Vec<_> = fields
            .map(|(name, value)| {
                let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
                format!("{name}={}", shown(&clean::visible(&value)))
            })
            .collect();
        format!(
            "{}  {}  {}",
            self.style.faint(proto::time::rfc3339(event.at_unix_ms)),
            self.style.paint(tone, shown(&event.kind)),
            fields.join(" ")
        )
    }
}

#[cfg(test)]
mod tests {
    use operations::workflows::WorkflowTask;
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_one_inert_line_each() {
        let live = Live { style: Style::default(), in_place: false, drawn: 0 };
        let event = WorkflowEvent {
            number: 3,
            at_unix_ms: 0,
            kind: "task_done".to_owned(),
            data: json!({"task_id": "a\x1b[2J\nb", "status": "success", "duration_ms": 7, "more": [1], "reason": null}),
        };
        let text = live.describe(&event);
        assert!(text.contains("task_done") && text.contains("duration_ms=7"), "{text}");
        assert!(
            text.contains("status=success") && !text.contains("more=") && !text.contains("reason"),
            "{text}"
        );
        assert!(!text.contains('\x1b') && !text.contains('\n'), "{text:?}");
    }

    #[test]
    fn a_table_has_a_line_for_each_task_and_its_error() {
        let task = WorkflowTask {
            task_id: "a".to_owned(),
            status: "failed".to_owned(),
            error: Some(json!({"code": "TIMEOUT", "message": "too slow"})),
            ..WorkflowTask::default()
        };
        let never = WorkflowTask { status: "pending".to_owned(), ..WorkflowTask::default() };
        let mut details =
            WorkflowDetails { tasks: vec![task, never], ..WorkflowDetails::default() };
        details.workflow.state = "ended".to_owned();
        let lines = tasks(&details).lines(Style::default());
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[2].contains("TIMEOUT: too slow"), "{lines:?}");
        assert!(lines[3].contains("not run"), "{lines:?}");
    }
}
