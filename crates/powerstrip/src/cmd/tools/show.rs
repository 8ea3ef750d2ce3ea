//! `tools show`: everything about one tool.

use std::process::ExitCode;

use clap::Args;
use serde_json::{Map, Value, json};
use strip::agents::DESCRIBE_TOOL;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::context::Context;
use crate::exit::FAILED;
use remote::Invocation;
use terminal::table::{Cell, Record, Table};
use terminal::{Style, Tone, shown};

/// How many references and levels of a schema are followed.
const MAX_DEPTH: usize = 8;

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The tool: an id (`demo.echo`), pinned (`demo.echo@1`) or a wire name.
    #[arg(value_name = "ID")]
    tool: String,
}

impl Show {
    pub(super) async fn run(self, access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
        let discovery = access.discovery().await?;
        let listed = discovery.tools.iter().find(|tool| tool.name == self.tool);
        let invocation = Invocation {
            tool: DESCRIBE_TOOL.to_owned(),
            input: json!({"id": self.tool}),
            verify: false,
            idempotency_key: None,
            timeout: None,
            run: None,
        };
        let envelope = access.invoke(&invocation, CancellationToken::new()).await?;
        if !envelope.ok {
            for error in &envelope.errors {
                terminal::note(format_args!("powerstrip: {}", error.message));
            }
            terminal::note("`powerstrip tools` lists what can be called.");
            return Ok(FAILED);
        }
        let mut tool = (*envelope.data).clone();
        if let (Value::Object(tool), Some(listed)) = (&mut tool, listed) {
            tool.insert("caps".to_owned(), serde_json::to_value(&listed.caps)?);
        }
        if context.global.json {
            terminal::json(&tool)?;
        } else {
            print(&tool, Style::stdout(&context.environment))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(tool: &Value, style: Style) -> anyhow::Result<()> {
    let text = |key: &str| tool[key].as_str();
    let id = text("id").unwrap_or_default();
    let mut record = Record::new();
    record.field("id", Cell::new(id).tone(Tone::Strong));
    record.maybe("name", text("name").filter(|name| *name != id));
    record.maybe("title", text("title"));
    record.maybe("version", text("version"));
    if tool["deprecated"] == true {
        record.field(
            "deprecated",
            Cell::new("yes: a newer major version exists").tone(Tone::Doubtful),
        );
    }
    record.maybe("server", text("server"));
    if let Some(state) = text("health").filter(|_| text("server").is_some()) {
        record.field("state", Cell::state(state));
    }
    let hints = tool["annotations"].as_object().into_iter().flatten();
    let hints: Vec<_> =
        hints.filter(|(_, value)| **value == true).map(|(name, _)| name.as_str()).collect();
    record.maybe("hints", (!hints.is_empty()).then(|| hints.join(", ")));
    if let Some(ms) = tool["caps"]["timeoutMs"].as_u64() {
        record.field("timeout", Cell::new(format_args!("{ms} ms")));
    }
    record.maybe("description", text("description"));
    record.print(style)?;
    fields("INPUT", &tool["inputSchema"], style)?;
    fields("OUTPUT", &tool["outputSchema"], style)?;
    terminal::line("")?;
    let input = Value::Object(example(&tool["inputSchema"])).to_string();
    // A server chooses these values; the quotes must hold when the line is pasted into a shell.
    let input = shown(&input).replace('\'', "'\\''");
    terminal::line(style.faint(format_args!("powerstrip call {id} --input '{input}'")))?;
    terminal::line(style.faint(format_args!("powerstrip tools show {id} --json   its schemas")))?;
    Ok(())
}

/// A table of an object's fields; nothing if the schema names none.
fn fields(title: &'static str, schema: &Value, style: Style) -> anyhow::Result<()> {
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else {
        return Ok(());
    };
    let mut table = Table::new([title, "TYPE", "REQUIRED", "DESCRIPTION"]);
    for (name, property) in properties {
        let required = if is_required(schema, name) {
            Cell::new("yes")
        } else {
            Cell::new("no").tone(Tone::Faint)
        };
        let (own, referred) = (&property["description"], &resolve(schema, property)["description"]);
        let description = own.as_str().or_else(|| referred.as_str()).unwrap_or_default();
        table.row([
            Cell::new(name).tone(Tone::Strong),
            Cell::new(kind(schema, property, MAX_DEPTH)),
            required,
            Cell::new(description),
        ]);
    }
    terminal::line("")?;
    Ok(table.print(style)?)
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name))
}

/// The schema that a local `$ref` leads to, or the property itself.
fn resolve<'a>(root: &'a Value, property: &'a Value) -> &'a Value {
    let mut resolved = property;
    for _ in 0..MAX_DEPTH {
        let pointer = resolved["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        match pointer.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => resolved = target,
            None => break,
        }
    }
    resolved
}

/// The branches of a union, if a property is one.
fn branches(property: &Value) -> Option<&Vec<Value>> {
    property["anyOf"].as_array().or_else(|| property["oneOf"].as_array())
}

/// The type of a property in a few words.
fn kind(root: &Value, property: &Value, depth: usize) -> String {
    let property = resolve(root, property);
    let Some(depth) = depth.checked_sub(1) else { return "any".to_owned() };
    if let Some(values) = property["enum"].as_array() {
        return values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    }
    match &property["type"] {
        Value::String(name) if name == "array" => {
            format!("array of {}", kind(root, &property["items"], depth))
        }
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        }
        _ => match branches(property) {
            Some(branches) => {
                let mut kinds: Vec<_> =
                    branches.iter().map(|branch| kind(root, branch, depth)).collect();
                kinds.dedup();
                kinds.join(" | ")
            }
            None => "any".to_owned(),
        },
    }
}

/// An input with a value of the right type for each required field.
fn example(schema: &Value) -> Map<String, Value> {
    example_object(schema, schema, MAX_DEPTH)
}

fn example_object(root: &Value, schema: &Value, depth: usize) -> Map<String, Value> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let required = properties.filter(|(name, _)| is_required(schema, name));
    required.map(|(name, property)| (name.clone(), example_value(root, property, depth))).collect()
}

fn example_value(root: &Value, property: &Value, depth: usize) -> Value {
    let property = resolve(root, property);
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    let listed = property["examples"].get(0).or_else(|| property["enum"].get(0));
    if let Some(value) = listed.or_else(|| property.get("const")) {
        return value.clone();
    }
    match property["type"].as_str() {
        Some("integer" | "number") => json!(property["minimum"].as_i64().unwrap_or(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => Value::Object(example_object(root, property, depth)),
        Some(_) => json!("…"),
        None => match branches(property).and_then(|branches| branches.first()) {
            Some(first) => example_value(root, first, depth),
            None => json!("…"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_references_are_shown_as_what_they_refer_to() {
        let schema = json!({
            "type": "object",
            "$defs": {
                "Shrimp": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                "Tank": {
                    "type": "object",
                    "properties": {"shrimp": {"type": "array", "items": {"$ref": "#/$defs/Shrimp"}},
                        "first": {"$ref": "#/$defs/Shrimp"}, "size": {"type": "integer"}},
                    "required": ["shrimp", "first"],
                },
            },
            "properties": {"tank": {"$ref": "#/$defs/Tank"},
                "level": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "required": ["tank", "level"],
        });
        let kind_of = |pointer: &str| kind(&schema, schema.pointer(pointer).unwrap(), MAX_DEPTH);
        assert_eq!(kind_of("/properties/tank"), "object");
        assert_eq!(kind_of("/properties/level"), "integer | null");
        assert_eq!(kind_of("/$defs/Tank/properties/shrimp"), "array of object");
        assert_eq!(
            Value::Object(example(&schema)),
            json!({"tank": {"shrimp": [], "first": {"name": "…"}}, "level": 1})
        );
    }

    #[test]
    fn references_in_a_circle_end() {
        let schema = json!({
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"},
                "n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}},
            "properties": {"a": {"$ref": "#/$defs/a"}, "n": {"$ref": "#/$defs/n"}},
            "required": ["a", "n"],
        });
        assert_eq!(kind(&schema, &schema["properties"]["a"], MAX_DEPTH), "any");
        assert_eq!(example(&schema)["a"], "…");
        assert!(example(&schema)["n"].is_object());
    }
}
