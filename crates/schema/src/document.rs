//! The subschemas of a schema document, and the targets of its references.

use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value};

/// What a subschema applies to, relative to the value of the schema that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AppliesTo<'a> {
    /// The same value.
    Same,
    /// The member of this name.
    Member(&'a str),
    /// Members without a subschema of their own.
    OtherMembers,
    /// Possibly any member.
    AnyMember,
    /// Every member's name.
    MemberName,
    /// The item at this index.
    Item(usize),
    /// Items without a subschema of their own.
    OtherItems,
    /// Possibly any item.
    AnyItem,
    /// Nothing, unless a reference points to it.
    Definition,
}

/// Visits every subschema under a known keyword, with its pointer below the schema. Keywords of all drafts count, because
/// `$schema` can enable them.
pub(super) fn each_subschema<'a>(
    schema: &'a Map<String, Value>,
    mut visit: impl FnMut(AppliesTo<'a>, String, &'a Value),
) {
    for (keyword, value) in schema {
        let Some(applies_to) = applies_to(keyword) else { continue };
        let keyed = is_keyed(keyword);
        match value {
            Value::Object(entries) if keyed => {
                for (name, item) in entries.iter().filter(|(_, item)| is_schema(item)) {
                    let applies_to =
                        if keyword == "properties" { AppliesTo::Member(name) } else { applies_to };
                    let step = name.replace('~', "~0").replace('/', "~1");
                    visit(applies_to, format!("/{keyword}/{step}"), item);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| is_schema(item)) {
                    let applies_to = match keyword.as_str() {
                        "prefixItems" | "items" => AppliesTo::Item(index),
                        _ => applies_to,
                    };
                    visit(applies_to, format!("/{keyword}/{index}"), item);
                }
            }
            item if is_schema(item) => visit(applies_to, format!("/{keyword}"), item),
            _ => {}
        }
    }
}

/// What the subschemas of a keyword apply to; none if the keyword has no subschemas.
pub(super) fn applies_to(keyword: &str) -> Option<AppliesTo<'static>> {
    Some(match keyword {
        "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
        | "dependencies" => AppliesTo::Same,
        "properties" => AppliesTo::Member(""),
        "additionalProperties" => AppliesTo::OtherMembers,
        "patternProperties" | "unevaluatedProperties" => AppliesTo::AnyMember,
        "propertyNames" => AppliesTo::MemberName,
        "prefixItems" => AppliesTo::Item(0),
        "items" | "additionalItems" => AppliesTo::OtherItems,
        "contains" | "unevaluatedItems" => AppliesTo::AnyItem,
        "$defs" | "definitions" | "contentSchema" => AppliesTo::Definition,
        _ => return None,
    })
}

/// Whether a keyword has its subschemas by name.
pub(super) fn is_keyed(keyword: &str) -> bool {
    matches!(
        keyword,
        "dependentSchemas"
            | "dependencies"
            | "properties"
            | "patternProperties"
            | "$defs"
            | "definitions"
    )
}

pub(super) fn is_schema(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Bool(_))
}

/// The identity of a value inside one document.
pub(super) fn address(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

struct Anchor<'a> {
    name: &'a str,
    schema: &'a Value,
    resource: usize,
    dynamic: bool,
}

/// The target of a reference.
pub(super) enum Target<'a> {
    /// All schemas that it may refer to; usually one.
    Local(Vec<&'a Value>),
    /// A meta-schema of JSON Schema itself, which is built in.
    Meta,
}

/// One schema document and the names within it.
pub(super) struct Document<'a> {
    root: &'a Value,
    ids: Vec<(&'a str, &'a Value)>,
    anchors: Vec<Anchor<'a>>,
    /// Schemas with `$recursiveAnchor`, which draft 2019-09 has.
    recursive: Vec<&'a Value>,
    /// Every schema under a known keyword: its pointer, and the nearest enclosing schema with an `$id`.
    schemas: HashMap<usize, (String, &'a Value)>,
}

impl<'a> Document<'a> {
    /// Finds all schemas, ids and anchors.
    pub(super) fn new(root: &'a Value) -> Self {
        let mut document = Self {
            root,
            ids: Vec::new(),
            anchors: Vec::new(),
            recursive: Vec::new(),
            schemas: HashMap::new(),
        };
        document.add(root, String::new(), root, Draft::default());
        document
    }

    fn add(&mut self, schema: &'a Value, pointer: String, resource: &'a Value, draft: Draft) {
        let Value::Object(map) = schema else {
            self.schemas.insert(address(schema), (pointer, resource));
            return;
        };
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        let draft = draft.detect(schema);
        // Before draft 2019-09, keywords next to a `$ref` have no effect.
        let is_ignored = map.contains_key("$ref") && draft < Draft::Draft201909;
        let id = text(draft.id_keyword());
        // An id that is only a fragment names an anchor, as drafts before 2019-09 wrote them.
        let (resource, fragment) = match id {
            Some(id) if is_ignored && !id.starts_with('#') => (resource, None),
            Some(id) if id.starts_with('#') => (resource, id.strip_prefix('#')),
            Some(id) => {
                self.ids.push((id.trim_end_matches('#'), schema));
                (schema, None)
            }
            None => (resource, None),
        };
        let anchors = [(text("$anchor"), false), (text("$dynamicAnchor"), true), (fragment, false)];
        for (name, dynamic) in anchors {
            let resource = address(resource);
            self.anchors.extend(name.map(|name| Anchor { name, schema, resource, dynamic }));
        }
        if map.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.recursive.push(schema);
        }
        self.schemas.insert(address(schema), (pointer.clone(), resource));
        each_subschema(map, |_, step, item| {
            self.add(item, format!("{pointer}{step}"), resource, draft);
        });
    }

    pub(super) fn root(&self) -> &'a Value {
        self.root
    }

    /// The pointer of a schema, if it is under a known keyword.
    pub(super) fn pointer(&self, schema: &Value) -> Option<&str> {
        self.schemas.get(&address(schema)).map(|(pointer, _)| pointer.as_str())
    }

    /// The target of a reference in a schema, or why it cannot be followed.
    pub(super) fn resolve(
        &self,
        schema: &Value,
        reference: &str,
        dynamic: bool,
    ) -> Result<Target<'a>, &'static str> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let here = self.schemas.get(&address(schema)).map_or(self.root, |(_, resource)| *resource);
        let resources = if uri.is_empty() { vec![here] } else { self.named(uri) };
        if resources.is_empty() {
            return if is_meta_schema(uri) {
                Ok(Target::Meta)
            } else {
                Err("leads out of the schema; only references within it are followed")
            };
        }
        let fragment = percent_decoded(fragment).ok_or("is not a reference")?;
        let found: Vec<_> = if fragment.is_empty() {
            resources
        } else if fragment.starts_with('/') {
            resources.iter().filter_map(|resource| resource.pointer(&fragment)).collect()
        } else {
            self.anchored(&fragment, &resources, dynamic)
        };
        if found.is_empty() || !found.iter().all(|target| is_schema(target)) {
            return Err("points at no schema");
        }
        // Implementations differ about `$id`s inside unknown keywords.
        let odd = found.iter().any(|target| self.pointer(target).is_none());
        let embedded = self.ids.iter().any(|(_, schema)| !std::ptr::eq(*schema, self.root));
        if odd && embedded {
            return Err("points into an unknown keyword, in a schema with embedded `$id`s");
        }
        Ok(Target::Local(found))
    }

    /// The targets of a `$recursiveRef`: the schema around it, or any that is marked as a target.
    pub(super) fn resolve_recursive(&self, schema: &Value) -> Target<'a> {
        let here = self.schemas.get(&address(schema)).map_or(self.root, |(_, resource)| *resource);
        let others = self.recursive.iter().copied().filter(|other| !std::ptr::eq(*other, here));
        Target::Local(std::iter::once(here).chain(others).collect())
    }

    fn named(&self, uri: &str) -> Vec<&'a Value> {
        let exact = self.ids.iter().filter(|(id, _)| *id == uri);
        let found: Vec<_> = exact.map(|(_, schema)| *schema).collect();
        if !found.is_empty() {
            return found;
        }
        // A relative reference is matched by its last step; if several ids match, all of them are targets.
        let last = |uri: &str| uri.rsplit('/').next().unwrap_or_default().to_owned();
        let target = last(uri);
        self.ids.iter().filter(|(id, _)| last(id) == target).map(|(_, schema)| *schema).collect()
    }

    fn anchored(&self, name: &str, resources: &[&'a Value], dynamic: bool) -> Vec<&'a Value> {
        let named = || self.anchors.iter().filter(|anchor| anchor.name == name);
        if dynamic {
            // Validation begins at the root, so a dynamic anchor there is always the outermost one.
            let root = address(self.root);
            let mut outermost = named().filter(|anchor| anchor.dynamic && anchor.resource == root);
            if let Some(anchor) = outermost.next() {
                return vec![anchor.schema];
            }
            return named().map(|anchor| anchor.schema).collect();
        }
        let inside = |anchor: &&Anchor<'_>| {
            resources.iter().any(|resource| address(resource) == anchor.resource)
        };
        named().filter(inside).map(|anchor| anchor.schema).collect()
    }
}

fn is_meta_schema(uri: &str) -> bool {
    ["https://json-schema.org/draft/", "http://json-schema.org/draft-"]
        .iter()
        .any(|prefix| uri.starts_with(prefix))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}
