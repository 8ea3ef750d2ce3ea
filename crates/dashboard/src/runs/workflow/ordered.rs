//! A DAG with the fields of its tasks in the order in which people write them.

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The fields that come first; the others follow by name.
const OF_DAG: [&str; 2] = ["name", "tasks"];
const OF_TASK: [&str; 8] =
    ["id", "tool", "workflow", "arguments", "depends_on", "when", "for_each", "approval"];

/// A DAG, or the DAG of a sub-workflow.
pub(super) struct OrderedDag<'a>(pub(super) &'a Value);

struct OrderedTasks<'a>(&'a [Value]);

struct OrderedTask<'a>(&'a Value);

/// The fields in this order, without an empty list of dependencies.
fn in_order<'a>(fields: &'a Map<String, Value>, first: &[&str]) -> Vec<(&'a str, &'a Value)> {
    let place = |name: &str| first.iter().position(|known| *known == name).unwrap_or(first.len());
    let fields = fields.iter().map(|(name, value)| (name.as_str(), value));
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    let shown = fields.filter(|(name, value)| !(*name == "depends_on" && is_empty(value)));
    let mut shown: Vec<_> = shown.collect();
    shown.sort_by_key(|(name, _)| (place(name), *name));
    shown
}

impl Serialize for OrderedDag<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.0.as_object() else { return self.0.serialize(serializer) };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in in_order(fields, &OF_DAG) {
            match value.as_array().filter(|_| name == "tasks") {
                Some(tasks) => map.serialize_entry(name, &OrderedTasks(tasks))?,
                None => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

impl Serialize for OrderedTasks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for task in self.0 {
            list.serialize_element(&OrderedTask(task))?;
        }
        list.end()
    }
}

impl Serialize for OrderedTask<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.0.as_object() else { return self.0.serialize(serializer) };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in in_order(fields, &OF_TASK) {
            match name {
                "workflow" => map.serialize_entry(name, &OrderedDag(value))?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_in_the_order_of_people() {
        let task = json!({"arguments": {"b": 1}, "depends_on": [], "id": "a", "tool": "x"});
        let inner = json!({"tasks": [task]});
        let outer = json!({"id": "w", "workflow": inner, "depends_on": ["a"], "arguments": {}});
        let dag = json!({"tasks": [outer], "name": "n"});
        let expected = r#"{"name":"n","tasks":[{"id":"w","workflow":{"tasks":[{"id":"a","tool":"x","arguments":{"b":1}}]},"arguments":{},"depends_on":["a"]}]}"#;
        assert_eq!(serde_json::to_string(&OrderedDag(&dag)).unwrap(), expected);
    }
}
