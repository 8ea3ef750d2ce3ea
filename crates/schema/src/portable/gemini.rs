use serde_json::{Map, Value};

use super::{Breach, Report, TYPES, child, children};
use crate::MAX_SCHEMA_DEPTH;

/// The fields of `Schema` in Gemini's API, which refuses requests with any other.
const FIELDS: [&str; 22] = [
    "anyOf",
    "default",
    "description",
    "enum",
    "example",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "nullable",
    "pattern",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
];

/// What Gemini refuses in the `parameters` of a function declaration.
pub fn gemini(schema: &Value) -> Vec<Breach> {
    let mut report = Report::default();
    if schema.get("type").is_none_or(|kind| kind != "object") {
        report.add("", "the root needs `type: object`");
    }
    check(schema, "", 0, &mut report);
    report.0
}

fn check(schema: &Value, path: &str, depth: usize, report: &mut Report) {
    if report.is_full() {
        return;
    }
    let Value::Object(node) = schema else {
        return report.add(path, "a schema must be an object");
    };
    if depth > MAX_SCHEMA_DEPTH {
        return report.add(path, "it is nested too deeply");
    }
    for (keyword, value) in node.iter().filter(|(keyword, _)| !FIELDS.contains(&keyword.as_str())) {
        let reason = format!("`{keyword}` is not a field of Gemini's schemas");
        report.push(&child(path, keyword), reason, is_repaired(keyword, value));
    }
    check_type(node, path, report);
    check_members(node, path, report);
    check_enum(node, path, report);
    check_format(node, path, report);
    for (path, schema) in children(node, path, &["anyOf"]) {
        check(schema, &path, depth + 1, report);
    }
}

/// Keywords that clients of the API remove, and references, which they resolve.
fn is_repaired(keyword: &str, value: &Value) -> bool {
    matches!(keyword, "$schema" | "$defs" | "definitions" | "$ref")
        || (keyword == "additionalProperties" && *value == Value::Bool(false))
}

fn check_type(node: &Map<String, Value>, path: &str, report: &mut Report) {
    let at = || child(path, "type");
    match node.get("type") {
        Some(Value::String(kind)) if kind == "null" => {
            report.add(&at(), "`null` is written as `nullable: true`");
        }
        Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => {}
        Some(Value::String(kind)) => report.add(&at(), format!("there is no type `{kind}`")),
        Some(_) => report.add(&at(), "`type` must be one type, not a list"),
        None if node.contains_key("anyOf") || node.contains_key("$ref") => {}
        None => report.add(path, "`type` is missing"),
    }
    if let Some(variants) = node.get("anyOf") {
        if variants.as_array().is_none_or(Vec::is_empty) {
            report.add(&child(path, "anyOf"), "`anyOf` must list schemas");
        }
        if node.len() > 1 {
            report.add(path, "`anyOf` must be the only field of its schema");
        }
    }
}

/// Fields that belong to one type, and the names in `required`.
fn check_members(node: &Map<String, Value>, path: &str, report: &mut Report) {
    let is = |name: &str| node.get("type").is_some_and(|kind| kind == name);
    for (keyword, kind) in [("properties", "object"), ("required", "object"), ("items", "array")] {
        if node.contains_key(keyword) && !is(kind) {
            report.add(&child(path, keyword), format!("only allowed with `type: {kind}`"));
        }
    }
    if is("array") && !node.contains_key("items") {
        report.add(path, "an array needs `items`");
    }
    let properties = node.get("properties").and_then(Value::as_object);
    for name in node.get("required").and_then(Value::as_array).into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if properties.is_none_or(|properties| !properties.contains_key(name)) {
            let reason = format!("`{name}` is required but not among the properties");
            report.add(&child(path, "required"), reason);
        }
    }
}

fn check_enum(node: &Map<String, Value>, path: &str, report: &mut Report) {
    let Some(values) = node.get("enum") else { return };
    let at = child(path, "enum");
    if node.get("type").is_none_or(|kind| kind != "string") {
        report.add(&at, "`enum` needs `type: string`");
    }
    let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if values.is_empty() || !values.iter().all(is_text) {
        report.add(&at, "`enum` must list texts that are not empty");
    }
}

/// The formats that a type can have.
pub(super) fn formats(kind: &str) -> &'static [&'static str] {
    match kind {
        "string" => &["date-time", "enum"],
        "number" => &["float", "double"],
        "integer" => &["int32", "int64"],
        _ => &[],
    }
}

fn check_format(node: &Map<String, Value>, path: &str, report: &mut Report) {
    let Some(format) = node.get("format") else { return };
    let kind = node.get("type").and_then(Value::as_str).unwrap_or_default();
    if !format.as_str().is_some_and(|format| formats(kind).contains(&format)) {
        let reason = format!("the format {format} is not supported for this type");
        report.add(&child(path, "format"), reason);
    }
}
