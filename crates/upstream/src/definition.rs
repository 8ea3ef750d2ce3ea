//! Turns a tool as a server lists it into a descriptor.

use std::collections::HashSet;

use http::HeaderName;
use proto::{
    Annotations, Caps, Descriptor, FILE_ARGS_META, FILE_STRATEGY_META, FileRule, FileStrategy,
    RequestedLimits, ToolId, WrittenFileArgs, canonical,
};
use semver::Version;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::rpc::HeaderParam;
use crate::selection::Selection;

/// The largest definition of one tool.
const MAX_BYTES: usize = 128 * 1024;

/// The key of `_meta` by which the gateway marks a definition with a rounded integer: the path of it.
pub(crate) const ROUNDED: &str = "powerstrip/rounded";

/// How deep a schema is searched for header parameters.
const MAX_DEPTH: usize = 16;

/// A tool that can be offered.
#[derive(Debug)]
pub(crate) struct Definition {
    /// The server's own name for it.
    pub(crate) remote: String,
    pub(crate) descriptor: Descriptor,
    pub(crate) header_params: Vec<HeaderParam>,
    /// Whether a call that got no answer may be sent again.
    pub(crate) repeatable: bool,
    /// Whether the server runs it as a task only.
    pub(crate) requires_task: bool,
}

impl Definition {
    /// Reads one entry of `tools/list`; `None` if the config leaves it out, an error if it cannot be used.
    pub(crate) fn read(
        server: &str,
        tool: &Value,
        selection: Selection<'_>,
    ) -> Result<Option<Self>, String> {
        let name = tool["name"].as_str().ok_or("it has no name")?;
        if !selection.admits(name) {
            return Ok(None);
        }
        let size = canonical::len(tool);
        if size > MAX_BYTES {
            return Err(format!("its definition has {size} bytes; {MAX_BYTES} are allowed"));
        }
        if let Some(path) = tool["_meta"][ROUNDED].as_str() {
            let path = proto::clean::line(path);
            return Err(format!("the integer at `{path}` does not fit into 64 bits"));
        }
        let id: ToolId = format!("{server}:{}", selection.offered(name))
            .parse()
            .map_err(|why: proto::InvalidId| why.to_string())?;
        let input_schema = match &tool["inputSchema"] {
            Value::Null => json!({"type": "object"}),
            schema @ Value::Object(_) => schema.clone(),
            _ => return Err("its input schema is no object".to_owned()),
        };
        let output_schema = match &tool["outputSchema"] {
            Value::Null => None,
            schema @ Value::Object(_) => Some(schema.clone()),
            _ => return Err("its output schema is no object".to_owned()),
        };
        let annotations = annotations(&tool["annotations"]);
        let deterministic = selection.deterministic(name);
        let repeatable = deterministic
            || annotations.read_only_hint == Some(true)
            || annotations.idempotent_hint == Some(true);
        let descriptor = Descriptor {
            unprefixed: !selection.0.prefix,
            id,
            // Servers have versions, tools do not: a patch of the server must not look like another tool.
            version: Version::new(1, 0, 0),
            title: text(&tool["title"]),
            description: text(&tool["description"]).unwrap_or_default(),
            input_schema,
            output_schema,
            deterministic,
            limits: RequestedLimits { timeout: selection.0.timeout, ..RequestedLimits::default() },
            caps: Caps::default(),
            annotations,
            implementation: None,
            meta: meta(&tool["_meta"]),
            extra: extra(tool),
            files: files(&tool["_meta"])?,
        };
        let header_params = header_params(&descriptor.input_schema)?;
        let requires_task = tool["execution"]["taskSupport"] == "required";
        Ok(Some(Self {
            remote: name.to_owned(),
            descriptor,
            header_params,
            repeatable,
            requires_task,
        }))
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The known hints; one of the wrong type is ignored.
fn annotations(value: &Value) -> Annotations {
    let hint = |key: &str| value[key].as_bool();
    Annotations {
        title: text(&value["title"]),
        read_only_hint: hint("readOnlyHint"),
        destructive_hint: hint("destructiveHint"),
        idempotent_hint: hint("idempotentHint"),
        open_world_hint: hint("openWorldHint"),
    }
}

/// What the server lists about the tool, without keys that only the gateway writes.
fn meta(meta: &Value) -> Option<Map<String, Value>> {
    let mut meta = meta.as_object()?.clone();
    meta.retain(|key, _| !key.starts_with("powerstrip/"));
    (!meta.is_empty()).then_some(meta)
}

/// The fields of a tool that the gateway reads, and the hints among its annotations.
const FIELDS: [&str; 7] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"];
const HINTS: [&str; 5] =
    ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// The other fields, as the server lists them.
fn extra(tool: &Value) -> Map<String, Value> {
    let others = |value: &Value, known: &[&str]| -> Map<String, Value> {
        let fields = value.as_object().into_iter().flatten();
        let others = fields.filter(|(key, _)| !known.contains(&key.as_str()));
        others.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let mut extra = others(tool, &FIELDS);
    let hints = others(&tool["annotations"], &HINTS);
    if !hints.is_empty() {
        extra.insert("annotations".to_owned(), hints.into());
    }
    // The gateway runs such a tool as a task for clients that call it without one.
    if let Some(support) = extra.get_mut("execution").and_then(|run| run.get_mut("taskSupport"))
        && support == "required"
    {
        *support = "optional".into();
    }
    extra
}

/// How the tool takes files, where its server says so.
fn files(meta: &Value) -> Result<Option<FileRule>, String> {
    let unclear =
        |key: &str, why: serde_json::Error| format!("its `_meta[\"{key}\"]` is unclear: {why}");
    let strategy = match meta.get(FILE_STRATEGY_META) {
        None => return Ok(None),
        Some(strategy) => {
            FileStrategy::deserialize(strategy).map_err(|why| unclear(FILE_STRATEGY_META, why))?
        }
    };
    let args = match meta.get(FILE_ARGS_META) {
        None => Vec::new(),
        Some(args) => {
            WrittenFileArgs::deserialize(args).map_err(|why| unclear(FILE_ARGS_META, why))?.into()
        }
    };
    Ok(Some(FileRule { strategy, args }))
}

/// Properties marked `x-mcp-header`. By the protocol, an invalid mark makes the tool unusable.
fn header_params(schema: &Value) -> Result<Vec<HeaderParam>, String> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), schema)];
    while let Some((path, schema)) = open.pop() {
        let Some(properties) = schema["properties"].as_object() else { continue };
        for (name, property) in properties {
            let mut path: Vec<String> = path.clone();
            path.push(name.clone());
            if let Some(mark) = property.get("x-mcp-header") {
                found.push(header_param(path.clone(), mark, property)?);
            }
            if path.len() < MAX_DEPTH {
                open.push((path, property));
            }
        }
    }
    let mut seen = HashSet::new();
    match found.iter().find(|param| !seen.insert(param.header.clone())) {
        Some(twice) => Err(format!("two properties travel as the header {}", twice.header)),
        None => Ok(found),
    }
}

fn header_param(path: Vec<String>, mark: &Value, property: &Value) -> Result<HeaderParam, String> {
    let primitive = matches!(property["type"].as_str(), Some("string" | "integer" | "boolean"));
    let name = mark.as_str().filter(|name| !name.is_empty() && primitive);
    let header = name.and_then(|name| HeaderName::try_from(format!("mcp-param-{name}")).ok());
    match header {
        Some(header) => Ok(HeaderParam { path, header }),
        None => Err(format!("its property `{}` has an unusable x-mcp-header", path.join("."))),
    }
}

#[cfg(test)]
mod tests;
