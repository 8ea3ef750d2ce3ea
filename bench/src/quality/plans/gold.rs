//! The tools, requests and plans of a set.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use planner::ToolSpec;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A tool with its schemas.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input: Value,
    pub(super) output: Value,
}

/// A request and its plan.
pub(super) struct Gold {
    pub(super) request: String,
    pub(super) calls: Vec<Call>,
}

/// One call of a plan.
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Vec<(String, Given)>,
}

/// Where an argument comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given {
    Literal(Value),
    Output { tool: String, field: String },
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(value) => write!(f, "{value}"),
            Self::Output { tool, field } => write!(f, "${tool}.{field}$"),
        }
    }
}

impl Tool {
    pub(super) fn spec(&self) -> ToolSpec {
        ToolSpec::new(&self.name, "", &self.description, &self.input, Some(&self.output))
    }

    pub(super) fn parameters(&self) -> Vec<(&str, &str)> {
        let properties = self.input["properties"].as_object().into_iter().flatten();
        properties
            .map(|(name, schema)| {
                (name.as_str(), schema["description"].as_str().unwrap_or_default())
            })
            .collect()
    }
}

/// Reads the tools; of several with one name the first counts.
pub(super) fn tools(path: &Path) -> anyhow::Result<Vec<Tool>> {
    let rows: Vec<Map<String, Value>> = read(path)?;
    let mut names = HashSet::new();
    let tools = rows.iter().map(tool).filter(|tool| names.insert(tool.name.clone()));
    Ok(tools.collect())
}

fn tool(row: &Map<String, Value>) -> Tool {
    let mut inputs = Map::new();
    for (key, fields) in row {
        let is_input =
            key == "arguments" || key.ends_with("parameters") && key != "output_parameters";
        let fields = fields.get("properties").unwrap_or(fields).as_object();
        if let Some(fields) = fields.filter(|_| is_input) {
            inputs.extend(fields.clone());
        }
    }
    let none = Value::Null;
    let output = row.get("output_parameters").unwrap_or(&none);
    let output = output.get("properties").unwrap_or(output);
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Tool {
        name: text("name"),
        description: text("description"),
        input: schema(&inputs),
        output: schema(output.as_object().unwrap_or(&Map::new())),
    }
}

/// Adds tools of another file, one a line, until there are `count`.
pub(super) fn add_tools(tools: &mut Vec<Tool>, path: &Path, count: usize) -> anyhow::Result<()> {
    let mut names: HashSet<String> = tools.iter().map(|tool| tool.name.clone()).collect();
    let text = text(path)?;
    for line in text.lines() {
        if tools.len() >= count {
            break;
        }
        let row: Map<String, Value> = serde_json::from_str(line)
            .with_context(|| format!("{} is not understood", path.display()))?;
        let tool = tool(&row);
        if names.insert(tool.name.clone()) {
            tools.push(tool);
        }
    }
    Ok(())
}

/// The fields as a JSON Schema.
fn schema(fields: &Map<String, Value>) -> Value {
    let mut required = Vec::new();
    let mut properties = Map::new();
    for (name, field) in fields {
        let Value::Object(field) = field else { continue };
        let mut field = field.clone();
        if field.remove("required") == Some(Value::Bool(true)) {
            required.push(name.clone());
        }
        for (from, to) in
            [("allowed_values", "enum"), ("possible_values", "enum"), ("default_value", "default")]
        {
            if let Some(value) = field.remove(from)
                && value != json!([])
            {
                field.insert(to.to_owned(), value);
            }
        }
        properties.insert(name.clone(), Value::Object(field));
    }
    json!({"type": "object", "properties": properties, "required": required})
}

#[derive(Deserialize)]
struct Row {
    input: String,
    output: Vec<RowCall>,
}

#[derive(Deserialize)]
struct RowCall {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    label: Option<String>,
}

/// Reads the requests and their plans.
pub(super) fn plans(path: &Path) -> anyhow::Result<Vec<Gold>> {
    let rows: Vec<Row> = read(path)?;
    Ok(rows.into_iter().map(gold).collect())
}

fn gold(row: Row) -> Gold {
    let mut labels: HashMap<String, String> = HashMap::new();
    let mut calls = Vec::new();
    for call in row.output.into_iter().filter(|call| call.name != "var_result") {
        let arguments = call.arguments.into_iter().map(|(name, value)| {
            let given = reference(&value).and_then(|(label, field)| {
                Some(Given::Output { tool: labels.get(label)?.clone(), field: field.to_owned() })
            });
            (name, given.unwrap_or(Given::Literal(value)))
        });
        let arguments = arguments.collect();
        calls.push(Call { tool: call.name.clone(), arguments });
        labels.insert(call.label.unwrap_or_default(), call.name);
    }
    Gold { request: row.input, calls }
}

/// The label and field of `$var1.field$` within a text.
fn reference(value: &Value) -> Option<(&str, &str)> {
    let text = match value {
        Value::Array(items) => items.first()?.as_str()?,
        value => value.as_str()?,
    };
    let inner = text.split('$').nth(1)?;
    let (label, field) = inner.split_once('.').unwrap_or((inner, ""));
    label.starts_with("var").then_some((label, field))
}

fn text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    serde_json::from_str(&text(path)?)
        .with_context(|| format!("{} is not understood", path.display()))
}
