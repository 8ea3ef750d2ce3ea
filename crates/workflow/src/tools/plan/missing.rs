//! The form by which a person gives the arguments that a plan lacks.

use dag::evaluate::literal;
use dag::{MissingArgument, Proposal};
use proto::clean;
use serde_json::{Map, Value, json};

/// The most fields of one form.
const MAX_FIELDS: usize = 12;

/// The longest text about a field or a task, in characters.
const MAX_TEXT: usize = 300;

/// The keywords of a schema that forms know.
const KEYWORDS: [&str; 6] = ["type", "enum", "minimum", "maximum", "minLength", "maxLength"];

/// A form for everything that is missing; `None` if nothing is, or if a form cannot ask for it.
pub(super) fn form(intent: &str, proposal: &Proposal) -> Option<Value> {
    let missing = &proposal.missing;
    if missing.is_empty() || missing.len() > MAX_FIELDS {
        return None;
    }
    let mut properties = Map::new();
    for argument in missing {
        properties.insert(name(argument, missing), field(argument)?);
    }
    let tasks: Vec<String> = proposal
        .tasks
        .iter()
        .map(|task| {
            let tool = task.tool.as_deref().unwrap_or_default();
            let arguments = shown(&Value::Object(task.arguments.clone()).to_string());
            format!("- {tool} {arguments}")
        })
        .collect();
    let message = format!(
        "To do this: \"{}\"\n\nthese tools will be called:\n\n{}\n\nSome of their arguments are missing. With them the plan runs.",
        shown(intent),
        tasks.join("\n")
    );
    let required: Vec<&String> = properties.keys().collect();
    Some(json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {"type": "object", "required": required, "properties": properties},
    }))
}

/// Puts the values of a form into the plan; what is not given stays missing.
pub(super) fn fill(proposal: &mut Proposal, values: &Map<String, Value>) {
    let all = proposal.missing.clone();
    proposal.missing.retain(|argument| {
        let task = proposal.tasks.iter_mut().find(|task| task.id == argument.task_id);
        let value = values.get(&name(argument, &all)).filter(|value| !value.is_null());
        let (Some(task), Some(value)) = (task, value) else { return true };
        !put(&mut task.arguments, &argument.argument, literal(value))
    });
}

/// Sets an argument whose path is separated by `.`; false if a part of it is no object.
fn put(arguments: &mut Map<String, Value>, path: &str, value: Value) -> bool {
    match path.split_once('.').filter(|_| !arguments.contains_key(path)) {
        None => {
            arguments.insert(path.to_owned(), value);
            true
        }
        Some((first, rest)) => {
            let inner = arguments.entry(first).or_insert_with(|| json!({}));
            inner.as_object_mut().is_some_and(|inner| put(inner, rest, value))
        }
    }
}

/// The argument, with its task where several tasks lack the same.
fn name(argument: &MissingArgument, all: &[MissingArgument]) -> String {
    let same = all.iter().filter(|other| other.argument == argument.argument).count();
    if same > 1 {
        format!("{}.{}", argument.task_id, argument.argument)
    } else {
        argument.argument.clone()
    }
}

/// A field for one argument; `None` if forms have no such field.
fn field(argument: &MissingArgument) -> Option<Value> {
    let schema = argument.schema.as_object()?;
    let kind = schema.get("type")?.as_str()?;
    if !matches!(kind, "string" | "number" | "integer" | "boolean") {
        return None;
    }
    let mut field: Map<String, Value> = KEYWORDS
        .iter()
        .filter_map(|keyword| Some(((*keyword).to_owned(), schema.get(*keyword)?.clone())))
        .collect();
    field.insert("title".to_owned(), argument.argument.as_str().into());
    if let Some(about) = schema.get("description").and_then(Value::as_str) {
        field.insert("description".to_owned(), shown(about).into());
    }
    Some(Value::Object(field))
}

/// A text as a person may see it.
fn shown(text: &str) -> String {
    let visible = clean::visible(text.trim());
    let mut short: String = visible.chars().take(MAX_TEXT).collect();
    if visible.chars().count() > MAX_TEXT {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
