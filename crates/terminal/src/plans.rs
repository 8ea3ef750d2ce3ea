//! Plans on a terminal: a tree of tasks with their arguments.

use std::io;

use serde_json::{Map, Value};

use crate::{Style, line, shown};

/// The longest value that is shown, in characters.
const VALUE_CHARACTERS: usize = 80;

/// A plan to show.
pub struct PlanView {
    pub tasks: Vec<TaskView>,
    pub confidence: f64,
    pub reasons: Vec<String>,
}

/// A task of it.
pub struct TaskView {
    pub id: String,
    pub tool: String,
    pub for_each: Option<Value>,
    pub arguments: Map<String, Value>,
    /// Arguments that are still to be given, with their schemas.
    pub missing: Vec<(String, Value)>,
    /// Other tools that fit.
    pub others: Vec<String>,
}

impl TaskView {
    /// The last of these tasks that it takes a value from.
    fn parent(&self, before: &[Self]) -> Option<usize> {
        let values = Value::Object(self.arguments.clone()).to_string();
        let list = self.for_each.as_ref().map(Value::to_string).unwrap_or_default();
        let uses = |task: &Self| {
            let path = format!("tasks.{}.output", task.id);
            values.contains(&path) || list.contains(&path)
        };
        before.iter().rposition(uses)
    }
}

/// Prints a plan: each task below the one that it takes values from.
pub fn show(plan: &PlanView, style: Style) -> io::Result<()> {
    let confidence = format!("{:.2}", plan.confidence);
    let painted =
        if plan.confidence < 0.5 { style.doubtful(&confidence) } else { style.good(&confidence) };
    line(format_args!("confidence {painted}"))?;
    let parents: Vec<Option<usize>> =
        (0..plan.tasks.len()).map(|at| plan.tasks[at].parent(&plan.tasks[..at])).collect();
    for root in (0..plan.tasks.len()).filter(|at| parents[*at].is_none()) {
        branch(plan, &parents, root, 0, style)?;
    }
    line("")?;
    for reason in &plan.reasons {
        line(style.faint(shown(reason)))?;
    }
    Ok(())
}

fn branch(
    plan: &PlanView,
    parents: &[Option<usize>],
    at: usize,
    depth: usize,
    style: Style,
) -> io::Result<()> {
    let task = &plan.tasks[at];
    let indent = "  ".repeat(depth);
    let arrow = if depth > 0 { "└ " } else { "" };
    line(format_args!("{indent}{arrow}{}  {}", style.bold(shown(&task.id)), shown(&task.tool)))?;
    let inner = format!("{indent}{}  ", if depth > 0 { "  " } else { "" });
    if let Some(items) = &task.for_each {
        line(format_args!("{inner}for each of {}", value(items)))?;
    }
    for (name, given) in &task.arguments {
        line(format_args!("{inner}{}: {}", shown(name), value(given)))?;
    }
    for (name, schema) in &task.missing {
        let kind = schema["type"].as_str().unwrap_or("any value");
        let note = style.bad(format_args!("missing ({})", shown(kind)));
        line(format_args!("{inner}{}: {note}", shown(name)))?;
    }
    if !task.others.is_empty() {
        let others = shown(&task.others.join(", "));
        line(format_args!("{inner}{}", style.faint(format_args!("or {others}"))))?;
    }
    for child in (at + 1..plan.tasks.len()).filter(|child| parents[*child] == Some(at)) {
        branch(plan, parents, child, depth + 1, style)?;
    }
    Ok(())
}

fn value(value: &Value) -> String {
    let text = shown(&value.to_string());
    match text.char_indices().nth(VALUE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
