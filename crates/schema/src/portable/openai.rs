use serde_json::Value;

use super::{Breach, Report, TYPES, child, children, has_type};
use crate::MAX_SCHEMA_DEPTH;

/// What the root of a function's parameters must not have.
const NOT_AT_ROOT: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

/// What OpenAI refuses in the `parameters` of a function that is not `strict`.
pub fn openai(schema: &Value) -> Vec<Breach> {
    let mut report = Report::default();
    if schema.get("type").is_none_or(|kind| kind != "object") {
        report.add("", "the root needs `type: object`");
    }
    if schema.get("properties").is_none_or(|properties| !properties.is_object()) {
        report.push("", "the root needs `properties`", true);
    }
    for keyword in NOT_AT_ROOT.iter().filter(|keyword| schema.get(**keyword).is_some()) {
        report.add(&child("", keyword), format!("the root cannot have `{keyword}`"));
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
    let kinds = match node.get("type") {
        Some(Value::Array(kinds)) => kinds.as_slice(),
        Some(kind) => std::slice::from_ref(kind),
        None => &[],
    };
    for kind in kinds {
        if !kind.as_str().is_some_and(|kind| TYPES.contains(&kind)) {
            report.add(&child(path, "type"), format!("there is no type {kind}"));
        }
    }
    if has_type(node, "array") && !node.contains_key("items") {
        report.add(path, "an array needs `items`");
    }
    if node.get("enum").is_some_and(|values| values.as_array().is_none_or(Vec::is_empty)) {
        report.add(&child(path, "enum"), "`enum` must list values");
    }
    for (path, schema) in children(node, path, &["anyOf", "oneOf", "allOf"]) {
        check(schema, &path, depth + 1, report);
    }
}
