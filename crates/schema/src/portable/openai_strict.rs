use serde_json::{Map, Value};

use super::{Breach, Report, child, has_type};
use crate::MAX_SCHEMA_DEPTH;

/// Keywords that may be next to `$ref`, because they do not constrain values.
const ANNOTATIONS: [&str; 15] = [
    "$anchor",
    "$comment",
    "$defs",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords with lists of schemas, and with maps of them.
const LISTS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
const MAPS: [&str; 3] = ["properties", "$defs", "definitions"];

/// How many schemas the conversion visits before it fails.
const MAX_NODES: usize = 100_000;

/// What the conversion to strict schemas of the OpenAI Agents SDK (`ensure_strict_json_schema`) fails at. The conversion
/// itself closes objects and makes all properties required, so free-form objects pass it but cannot be filled.
pub fn openai_strict(schema: &Value) -> Vec<Breach> {
    let mut checker =
        Checker { root: schema, open: Vec::new(), left: MAX_NODES, report: Report::default() };
    for keyword in ["anyOf", "oneOf"].iter().filter(|keyword| schema.get(**keyword).is_some()) {
        checker.report.add(&child("", keyword), format!("the root cannot have `{keyword}`"));
    }
    if schema.get("type").is_some_and(Value::is_array) {
        checker.report.add("/type", "the root must be an object and nothing else");
    }
    checker.check(schema, "", 0);
    checker.report.0
}

struct Checker<'a> {
    root: &'a Value,
    /// The references that are being followed.
    open: Vec<&'a str>,
    /// How many schemas may still be visited: references can multiply them.
    left: usize,
    report: Report,
}

impl<'a> Checker<'a> {
    fn check(&mut self, schema: &'a Value, path: &str, depth: usize) {
        if self.report.is_full() || self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            return self.report.add(path, "its references make it too large");
        }
        let Value::Object(node) = schema else {
            return self.report.add(path, "a schema must be an object");
        };
        if depth > MAX_SCHEMA_DEPTH {
            return self.report.add(path, "it is nested too deeply");
        }
        self.check_open(node, path);
        self.check_all_of(node, path);
        for keyword in MAPS {
            let members = node.get(keyword).and_then(Value::as_object);
            for (name, schema) in members.into_iter().flatten() {
                self.check(schema, &child(&child(path, keyword), name), depth + 1);
            }
        }
        for keyword in LISTS {
            let members = node.get(keyword).and_then(Value::as_array);
            for (at, schema) in members.into_iter().flatten().enumerate() {
                self.check(schema, &format!("{}/{at}", child(path, keyword)), depth + 1);
            }
        }
        if let Some(items @ Value::Object(_)) = node.get("items") {
            self.check(items, &child(path, "items"), depth + 1);
        }
        self.check_reference(node, path, depth);
    }

    fn check_open(&mut self, node: &Map<String, Value>, path: &str) {
        let is_object = has_type(node, "object") || !node.contains_key("type");
        let open = node.get("additionalProperties").filter(|more| **more != Value::Bool(false));
        if is_object && open.is_some() {
            let path = child(path, "additionalProperties");
            self.report.add(&path, "an object cannot allow properties that it does not list");
        }
    }

    /// One schema in `allOf` is merged with the node, which must not say something else.
    fn check_all_of(&mut self, node: &Map<String, Value>, path: &str) {
        let Some([Value::Object(only)]) =
            node.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
        else {
            return;
        };
        let differs = |(keyword, value): (&String, &Value)| {
            !ANNOTATIONS.contains(&keyword.as_str())
                && only.get(keyword).is_some_and(|other| other != value)
        };
        let hides = node.get("additionalProperties") == Some(&Value::Bool(false))
            && only.contains_key("properties")
            && !node.contains_key("properties");
        if hides || node.iter().any(differs) {
            self.report.add(&child(path, "allOf"), "it cannot be merged with its parent");
        }
    }

    /// A reference with anything next to it is replaced by its target; others stay as they are.
    fn check_reference(&mut self, node: &'a Map<String, Value>, path: &str, depth: usize) {
        let Some(target) = node.get("$ref") else { return };
        let at = child(path, "$ref");
        let allowed = |keyword: &String| {
            keyword == "$ref"
                || ANNOTATIONS.contains(&keyword.as_str())
                || (path.is_empty() && keyword == "$id")
        };
        if !node.keys().all(allowed) {
            return self.report.add(&at, "only annotations can be next to `$ref`");
        }
        if node.len() == 1 {
            return;
        }
        let Some(target) = target.as_str().filter(|target| target.starts_with("#/")) else {
            return self.report.add(&at, "only references that begin with `#/` are followed");
        };
        if self.open.contains(&target) {
            return self.report.add(&at, "the reference leads back to itself");
        }
        match self.root.pointer(&target[1..]) {
            Some(found @ Value::Object(_)) => {
                self.open.push(target);
                self.check(found, path, depth + 1);
                self.open.pop();
            }
            _ => self.report.add(&at, "the reference leads nowhere"),
        }
    }
}
