//! The edges of a plan: which outputs are used as which arguments.

use std::collections::BTreeSet;

use dag::plan::Plan;
use serde_json::Value;

use crate::edges::EdgeKey;

/// The longest names that are learned, in bytes.
const MAX_NAME: usize = 300;

/// The edges of a plan, each once.
pub(crate) fn edges_of(plan: &Plan) -> Vec<EdgeKey> {
    let mut edges = BTreeSet::new();
    for planned in &plan.tasks {
        let task = &planned.task;
        let Some(to_tool) = &task.tool else { continue };
        let list = task.for_each.as_ref().and_then(Value::as_str).and_then(reference);
        for (argument, value) in &task.arguments {
            let Some(text) = value.as_str() else { continue };
            let from = match item(text) {
                Some(inner) => {
                    list.map(|(id, field)| (id, if field.is_empty() { inner } else { field }))
                }
                None => reference(text),
            };
            let Some((id, field)) = from.filter(|(_, field)| !field.is_empty()) else { continue };
            let producer = plan.position(id).and_then(|place| plan.tasks[place].task.tool.as_ref());
            let Some(from_tool) = producer else { continue };
            let edge = EdgeKey {
                from_tool: unpinned(from_tool).to_owned(),
                from_field: field.to_owned(),
                to_tool: unpinned(to_tool).to_owned(),
                to_argument: argument.clone(),
            };
            let names = [&edge.from_tool, &edge.from_field, &edge.to_tool, &edge.to_argument];
            if names.iter().all(|name| name.len() <= MAX_NAME) {
                edges.insert(edge);
            }
        }
    }
    edges.into_iter().collect()
}

/// `server:tool@1` without its major.
fn unpinned(tool: &str) -> &str {
    tool.split_once('@').map_or(tool, |(id, _)| id)
}

fn expression(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let is_path = inner
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '[' | ']' | '"' | ' '));
    is_path.then_some(inner)
}

/// Task and field of `{{ tasks.ID.output.FIELD }}`, also without braces; the field is empty for the whole output.
fn reference(text: &str) -> Option<(&str, &str)> {
    let path = expression(text).unwrap_or(text.trim()).strip_prefix("tasks.")?;
    let (id, rest) = path.split_once(".output")?;
    let field = rest.strip_prefix('.').unwrap_or(rest);
    (!id.contains('.')).then_some((id, field))
}

/// The field of `{{ item.FIELD }}`, empty for the item itself.
fn item(text: &str) -> Option<&str> {
    let rest = expression(text)?.strip_prefix("item")?;
    if rest.is_empty() { Some("") } else { rest.strip_prefix('.') }
}
