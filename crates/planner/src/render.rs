//! Writes a draft as the tasks of a DAG.

use std::sync::Arc;

use dag::evaluate::literal;
use dag::{AlternativeTool, MissingArgument, Proposal, Task};
use serde_json::{Map, Value};
use strip::catalog::Entry;

use crate::draft::{Argument, Draft, DraftTask, Items};

/// The draft as tasks with templates.
pub(crate) fn proposal(draft: &Draft, entries: &[Arc<Entry>]) -> Proposal {
    let mut proposal = Proposal {
        confidence: (f64::from(draft.confidence) * 100.0).round() / 100.0,
        ..Proposal::default()
    };
    for task in &draft.tasks {
        proposal.tasks.push(render(task, &draft.ids));
        proposal.reasons.push(task.reason.clone());
        proposal.alternatives.extend(task.alternatives.iter().map(|other| AlternativeTool {
            task_id: task.id.clone(),
            tool: other.tool.clone(),
            score: (f64::from(other.score) * 100.0).round() / 100.0,
        }));
        let schema = entries
            .iter()
            .find(|entry| entry.descriptor.id.as_str() == task.tool)
            .map(|entry| &entry.descriptor.input_schema);
        proposal.missing.extend(task.missing.iter().map(|argument| MissingArgument {
            task_id: task.id.clone(),
            argument: argument.clone(),
            schema: schema.map_or(Value::Bool(true), |schema| schema_of(schema, argument)),
        }));
    }
    proposal.reasons.extend(draft.notes.iter().cloned());
    proposal
}

fn schema_of(schema: &Value, argument: &str) -> Value {
    let mut schema = schema;
    for part in argument.split('.') {
        schema = &schema["properties"][part];
    }
    if schema.is_null() { Value::Bool(true) } else { schema.clone() }
}

fn render(task: &DraftTask, ids: &[String]) -> Task {
    let mut arguments = Map::new();
    for (path, argument) in &task.arguments {
        let value = match argument {
            Argument::Literal(value) => literal(value),
            Argument::Output { task, field } => braces(&output(&ids[*task], field)),
            Argument::OneItem { task, field } => {
                Value::Array(vec![braces(&output(&ids[*task], field))])
            }
            Argument::Item(None) => braces("item"),
            Argument::Item(Some(field)) => braces(&join("item", field)),
        };
        insert(&mut arguments, path, value);
    }
    let for_each = task.for_each.as_ref().map(|items| match items {
        Items::Values(values) => literal(&Value::Array(values.clone())),
        Items::Output { task, field } => braces(&output(&ids[*task], field)),
    });
    Task {
        id: task.id.clone(),
        tool: Some(task.tool.clone()),
        arguments,
        for_each,
        depends_on: Vec::new(),
        ..Task::default()
    }
}

fn braces(expression: &str) -> Value {
    Value::from(format!("{{{{ {expression} }}}}"))
}

fn output(task: &str, field: &str) -> String {
    let whole = format!("tasks.{task}.output");
    if field.is_empty() { whole } else { join(&whole, field) }
}

/// A path with one more field.
fn join(path: &str, field: &str) -> String {
    let is_plain = field.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && field.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_plain || field == crate::tool::TEXT_OUTPUT {
        format!("{path}.{field}")
    } else {
        format!("{path}[{}]", Value::from(field))
    }
}

/// Puts a value into nested objects.
pub fn insert(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            object.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inner = object.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
