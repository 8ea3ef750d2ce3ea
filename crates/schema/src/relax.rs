//! Patterns that our engine cannot run, taken out of a schema whose owner checks them itself.
//!
//! The schema without them accepts every value that the whole schema accepts: where fewer checks would refuse more, under
//! `not`, `if` and `oneOf`, the keyword goes or is loosened as well.

use serde_json::{Map, Value, json};

use super::document::{applies_to, is_keyed};

/// A schema in which every pattern can be run.
pub(super) struct Relaxed {
    pub(super) schema: Value,
    /// The patterns that were taken out, as JSON Pointers.
    pub(super) unchecked: Vec<String>,
}

impl Relaxed {
    /// The schema without the patterns for which `runs` is false.
    pub(super) fn of(schema: &Value, runs: impl Fn(&str) -> bool) -> Self {
        let mut schema = schema.clone();
        let mut relaxing = Relaxing { runs, unchecked: Vec::new() };
        relaxing.relax(&mut schema, "");
        Self { schema, unchecked: relaxing.unchecked }
    }
}

struct Relaxing<F> {
    runs: F,
    unchecked: Vec<String>,
}

impl<F: Fn(&str) -> bool> Relaxing<F> {
    /// Takes the patterns out of a schema and its subschemas.
    fn relax(&mut self, schema: &mut Value, at: &str) {
        let Value::Object(keywords) = schema else { return };
        self.relax_pattern(keywords, at);
        self.relax_names(keywords, at);
        let mut loosened = Vec::new();
        for (keyword, value) in keywords.iter_mut() {
            if applies_to(keyword).is_none() {
                continue;
            }
            // A reference may lead to a pattern that was taken out.
            let refers = matches!(keyword.as_str(), "not" | "if" | "oneOf") && has_reference(value);
            if self.relax_keyword(keyword, value, at) || refers {
                loosened.push(keyword.clone());
            }
        }
        for keyword in loosened {
            match keyword.as_str() {
                "not" | "if" => drop(keywords.remove(&keyword)),
                "oneOf" => accept_any(keywords),
                _ => {}
            }
        }
    }

    fn relax_pattern(&mut self, keywords: &mut Map<String, Value>, at: &str) {
        if keywords.get("pattern").and_then(Value::as_str).is_some_and(|one| !(self.runs)(one)) {
            keywords.remove("pattern");
            self.unchecked.push(format!("{at}/pattern"));
        }
    }

    fn relax_names(&mut self, keywords: &mut Map<String, Value>, at: &str) {
        let Some(Value::Object(named)) = keywords.get_mut("patternProperties") else { return };
        let bad: Vec<_> = named.keys().filter(|name| !(self.runs)(name)).cloned().collect();
        for name in &bad {
            named.remove(name);
            self.unchecked.push(format!("{at}/patternProperties/{}", step(name)));
        }
        if !bad.is_empty() {
            // Fits every name: any member may be one that the pattern allowed.
            named.entry("").or_insert(Value::Bool(true));
        }
    }

    /// Takes the patterns out of a keyword's subschemas; returns whether there were any.
    fn relax_keyword(&mut self, keyword: &str, value: &mut Value, at: &str) -> bool {
        let at = format!("{at}/{keyword}");
        let before = self.unchecked.len();
        match value {
            Value::Object(named) if is_keyed(keyword) => {
                for (name, schema) in named.iter_mut() {
                    self.relax(schema, &format!("{at}/{}", step(name)));
                }
            }
            Value::Array(schemas) => {
                for (index, schema) in schemas.iter_mut().enumerate() {
                    self.relax(schema, &format!("{at}/{index}"));
                }
            }
            schema => self.relax(schema, &at),
        }
        self.unchecked.len() > before
    }
}

/// Makes `oneOf` an `anyOf`: without their patterns, several branches may fit.
fn accept_any(keywords: &mut Map<String, Value>) {
    let Some(branches) = keywords.remove("oneOf") else { return };
    let all = keywords.entry("allOf").or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.push(json!({"anyOf": branches}));
    }
}

fn has_reference(value: &Value) -> bool {
    let is_reference = |key: &str| matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef");
    match value {
        Value::Array(items) => items.iter().any(has_reference),
        Value::Object(map) => {
            map.iter().any(|(key, item)| is_reference(key) || has_reference(item))
        }
        _ => false,
    }
}

/// A name as a step of a JSON Pointer.
fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
