use serde_json::{Map, Value};

/// The most schemas that one node is made of.
const MAX_PARTS: usize = 64;

type Node = Map<String, Value>;

/// A node of a schema together with what its `$ref` and `allOf` add to it. Of a keyword that several parts have, the
/// first counts.
pub(super) struct Flat<'a> {
    parts: Vec<&'a Node>,
    /// The references that were followed.
    pub(super) followed: Vec<&'a str>,
    /// Whether a reference leads back to a node that is being rewritten.
    pub(super) is_recursive: bool,
}

impl<'a> Flat<'a> {
    /// `open` are the references that lead to this node.
    pub(super) fn of(node: &'a Node, root: &'a Value, open: &[&str]) -> Self {
        let mut flat = Self { parts: vec![node], followed: Vec::new(), is_recursive: false };
        let mut next = 0;
        while let Some(part) = flat.parts.get(next).copied() {
            next += 1;
            if let Some(target) = part.get("$ref").and_then(Value::as_str) {
                if open.contains(&target) || flat.followed.contains(&target) {
                    flat.is_recursive = true;
                } else {
                    flat.followed.push(target);
                    flat.add(resolve(root, target));
                }
            }
            for member in part.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                flat.add(Some(member));
            }
        }
        flat
    }

    fn add(&mut self, part: Option<&'a Value>) {
        if let Some(Value::Object(part)) = part
            && self.parts.len() < MAX_PARTS
        {
            self.parts.push(part);
        }
    }

    /// The same node with the parts of another one.
    pub(super) fn extend(&mut self, other: Self) {
        self.followed.extend(other.followed);
        let room = MAX_PARTS.saturating_sub(self.parts.len());
        self.parts.extend(other.parts.into_iter().take(room));
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.parts.iter().find_map(|part| part.get(keyword))
    }

    pub(super) fn list(&self, keyword: &str) -> Option<&'a Vec<Value>> {
        self.get(keyword)?.as_array().filter(|list| !list.is_empty())
    }

    /// The properties of all parts, by name.
    pub(super) fn properties(&self) -> Vec<(&'a str, &'a Value)> {
        let maps = self.parts.iter().filter_map(|part| part.get("properties")?.as_object());
        let mut found: Vec<(&str, &Value)> = Vec::new();
        for (name, schema) in maps.flatten() {
            if let Err(at) = found.binary_search_by_key(&name.as_str(), |(known, _)| known) {
                found.insert(at, (name, schema));
            }
        }
        found
    }

    /// The names that any part requires.
    pub(super) fn required(&self) -> Vec<&'a str> {
        let lists = self.parts.iter().filter_map(|part| part.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str).collect()
    }

    /// The types that the node allows, `null` included; none if it does not say.
    pub(super) fn types(&self) -> Vec<&'a str> {
        let mut types: Vec<&str> = match self.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => self.implied_types(),
        };
        types.retain(|kind| super::TYPES.contains(kind));
        if types.contains(&"number") {
            types.retain(|kind| *kind != "integer");
        }
        types.sort_unstable();
        types.dedup();
        types
    }

    /// The types of its values, or the types that its keywords belong to.
    fn implied_types(&self) -> Vec<&'a str> {
        if let Some(values) = self.values() {
            return values.iter().map(type_of).collect();
        }
        let implied = [
            ("properties", "object"),
            ("additionalProperties", "object"),
            ("items", "array"),
            ("prefixItems", "array"),
            ("pattern", "string"),
            ("format", "string"),
            ("minLength", "string"),
            ("maxLength", "string"),
            ("minimum", "number"),
            ("maximum", "number"),
        ];
        let found = implied.iter().find(|(keyword, _)| self.get(keyword).is_some());
        found.map(|(_, kind)| vec![*kind]).unwrap_or_default()
    }

    /// The only values that it allows.
    pub(super) fn values(&self) -> Option<&'a [Value]> {
        match (self.list("enum"), self.get("const")) {
            (Some(values), _) => Some(values),
            (None, value) => value.map(std::slice::from_ref),
        }
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn resolve<'a>(root: &'a Value, target: &str) -> Option<&'a Value> {
    root.pointer(target.strip_prefix('#')?)
}
