//! Which fields the output of a task can have.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::evaluate::scan::Step;

/// How many schemas are looked at for one path: `$ref` may lead in circles, and `anyOf` in many directions.
const MAX_SCHEMAS: usize = 200;

/// The known shape of an output.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Any,
    Schema(Arc<Value>),
    /// An object with exactly these fields.
    Fields(HashMap<String, Shape>),
    List(Box<Shape>),
}

impl Shape {
    /// The number of steps that can be taken before one that leads nowhere, if there is one.
    pub(super) fn excludes(&self, steps: &[Step]) -> Option<usize> {
        let (first, rest) = steps.split_first()?;
        let next = match (self, first) {
            (Self::Any, _) => return None,
            (Self::Schema(schema), _) => {
                return (0..steps.len()).find(|taken| {
                    let mut left = MAX_SCHEMAS;
                    excludes(schema, schema, &steps[..=*taken], &mut left)
                });
            }
            (Self::Fields(fields), Step::Field(name)) => fields.get(name),
            (Self::List(item), Step::Index(_)) => Some(&**item),
            (Self::Fields(_), Step::Index(_)) | (Self::List(_), Step::Field(_)) => None,
        };
        match next {
            None => Some(0),
            Some(next) => next.excludes(rest).map(|taken| taken + 1),
        }
    }

    /// Whether there can be a list at the path, which is not excluded.
    pub(super) fn can_be_list(&self, steps: &[Step]) -> bool {
        let mut first_item = steps.to_vec();
        first_item.push(Step::Index(0));
        self.excludes(&first_item).is_none()
    }

    /// The fields that are known, for a hint.
    pub(super) fn fields(&self) -> Vec<String> {
        match self {
            Self::Any | Self::List(_) => Vec::new(),
            Self::Fields(fields) => fields.keys().cloned().collect(),
            Self::Schema(schema) => {
                let named = schema.get("properties").and_then(Value::as_object);
                named.into_iter().flat_map(|named| named.keys().cloned()).collect()
            }
        }
    }
}

/// Whether no value that fits the schema has something at the path.
fn excludes(root: &Value, schema: &Value, steps: &[Step], left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    let Value::Object(keywords) = schema else { return *schema == Value::Bool(false) };
    let Some((step, later)) = steps.split_first() else { return false };
    let kinds: Vec<&str> = match keywords.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec!["object", "array"],
    };
    let kind = match step {
        Step::Field(_) => "object",
        Step::Index(_) => "array",
    };
    if !kinds.contains(&kind) {
        return true;
    }
    if let Some(target) = keywords.get("$ref").and_then(Value::as_str)
        && let Some(target) = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
        && excludes(root, target, steps, left)
    {
        return true;
    }
    let list = |name: &str| keywords.get(name).and_then(Value::as_array);
    if list("allOf").is_some_and(|all| all.iter().any(|one| excludes(root, one, steps, left))) {
        return true;
    }
    for name in ["anyOf", "oneOf"] {
        let every = |any: &Vec<Value>, left: &mut usize| {
            !any.is_empty() && any.iter().all(|one| excludes(root, one, steps, left))
        };
        if list(name).is_some_and(|any| every(any, left)) {
            return true;
        }
    }
    match step {
        Step::Field(name) => {
            let named = keywords.get("properties").and_then(|fields| fields.get(name));
            let others = || keywords.get("additionalProperties");
            match named {
                Some(field) => excludes(root, field, later, left),
                None if keywords.contains_key("patternProperties") => false,
                None => match others() {
                    Some(Value::Bool(false)) => true,
                    Some(field) => excludes(root, field, later, left),
                    None => false,
                },
            }
        }
        Step::Index(at) => {
            let first = keywords.get("prefixItems").and_then(|items| items.get(at));
            match first.or_else(|| keywords.get("items")) {
                Some(item) => excludes(root, item, later, left),
                None => false,
            }
        }
    }
}
