//! The input schema of a tool that takes files: callers give ids, and the tool gets contents.

use std::collections::BTreeSet;

use proto::{FileArgs, FileRule, FileStrategy};
use schema::{Patterns, Schema, SchemaFault};
use serde_json::{Map, Value, json};

/// The most files of one call.
pub const MAX_FILES: usize = 32;

/// How a tool takes files: the arguments that callers give, and the ones that replace them.
#[derive(Debug)]
pub struct FilePlan {
    pub strategy: FileStrategy,
    pub slots: Vec<Slot>,
    /// The tool's own schema, for the input with the files in it.
    pub own: Schema,
    /// All arguments of the tool, if it takes no others.
    known: Option<BTreeSet<String>>,
}

/// A plan, and the input schemas that result from it.
#[derive(Debug)]
pub struct Planned {
    pub plan: FilePlan,
    /// The schema that callers see.
    pub shown: Value,
    /// The schema that calls are checked with: any argument for a reference may replace one for a file's id.
    pub accepted: Value,
}

/// The arguments for one file, or for a list of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The argument in which a caller names the file.
    pub id: String,
    /// The argument with the content.
    pub data: String,
    /// The argument with the media type.
    pub media_type: Option<String>,
    /// Whether it takes a list.
    pub many: bool,
    /// Whether the tool requires it.
    pub required: bool,
    /// Whether the tool gets the file's id as well.
    pub passes_id: bool,
    /// Whether the schema accepts any text as content, so that it need not be validated.
    pub plain: bool,
}

/// Why a file rule does not fit a tool.
#[derive(Debug, thiserror::Error)]
pub enum FilePlanError {
    #[error("the tool's schema takes no `{0}`, which the file would become")]
    UnknownArgument(String),
    #[error("`{0}` is used for two things")]
    UsedTwice(String),
    #[error("`file_args` has no effect: files are passed through as they are")]
    NoEffect,
    #[error("`file_args` names {0} files; at most {MAX_FILES} are taken")]
    TooMany(usize),
    #[error(transparent)]
    Schema(#[from] SchemaFault),
}

impl FilePlan {
    /// The plan of a rule for a tool with this input schema; none if the tool gets ids only.
    pub fn of(
        rule: &FileRule,
        schema: &Value,
        patterns: Patterns,
    ) -> Result<Option<Planned>, FilePlanError> {
        let Some(names) = rule.strategy.names() else {
            return if rule.args.is_empty() { Ok(None) } else { Err(FilePlanError::NoEffect) };
        };
        if rule.args.len() > MAX_FILES {
            return Err(FilePlanError::TooMany(rule.args.len()));
        }
        let input = InputSchema::of(schema);
        let args = if rule.args.is_empty() {
            input.default_args(rule.strategy, names)
        } else {
            rule.args.clone()
        };
        let slots: Vec<_> =
            args.iter().map(|args| input.slot(args, names)).collect::<Result<_, _>>()?;
        let mut taken = Vec::new();
        for slot in &slots {
            for name in [Some(&slot.id), Some(&slot.data), slot.media_type.as_ref()] {
                let Some(name) = name else { continue };
                if taken.contains(&name) {
                    return Err(FilePlanError::UsedTwice(name.clone()));
                }
                taken.push(name);
            }
        }
        let shown = input.shown(&slots);
        let accepted = input.accepted(&slots, shown.clone());
        let own = Schema::compile_with(schema, patterns)?;
        let names = || input.properties.into_iter().flat_map(Map::keys).cloned().collect();
        let known = (!input.open).then(names);
        let plan = Self { strategy: rule.strategy, slots, own, known };
        Ok(Some(Planned { plan, shown, accepted }))
    }

    /// Whether an argument is a reference that the tool itself does not take.
    pub fn is_reference_only(&self, argument: &str) -> bool {
        is_reference(argument) && self.known.as_ref().is_some_and(|known| !known.contains(argument))
    }

    /// The slot of a reference: the one with the same prefix, or else the first that is not filled.
    pub fn slot_for(&self, argument: &str, filled: impl Fn(&Slot) -> bool) -> Option<&Slot> {
        let prefix = argument.trim_end_matches('s').strip_suffix("ref_id")?;
        let same = |slot: &&Slot| {
            !prefix.is_empty() && (slot.id.starts_with(prefix) || slot.data.starts_with(prefix))
        };
        self.slots
            .iter()
            .find(same)
            .or_else(|| self.slots.iter().find(|slot| !filled(slot)))
            .or(self.slots.first())
    }
}

/// The parts of an input schema that a plan needs.
struct InputSchema<'a> {
    schema: &'a Value,
    properties: Option<&'a Map<String, Value>>,
    /// Whether it takes arguments that it does not name.
    open: bool,
}

impl<'a> InputSchema<'a> {
    fn of(schema: &'a Value) -> Self {
        let closed = |key: &str| schema.get(key) == Some(&Value::Bool(false));
        Self {
            schema,
            properties: schema.get("properties").and_then(Value::as_object),
            open: !closed("additionalProperties") && !closed("unevaluatedProperties"),
        }
    }

    fn property(&self, name: &str) -> Option<&'a Value> {
        self.properties?.get(name)
    }

    fn requires(&self, name: &str) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|known| known == name))
    }

    /// The slots by the names of the tool's arguments: `file_data`, and also `resume_file_data`.
    fn default_args(
        &self,
        strategy: FileStrategy,
        (data, media_type): (&'static str, Option<&'static str>),
    ) -> Vec<FileArgs> {
        // A `html_content` is most likely no file; an `old_file_data` is.
        let prefixed =
            !matches!(strategy, FileStrategy::PlainTextContent | FileStrategy::PlainTextText);
        let prefix = |name: &'a String| {
            let prefix = name.strip_suffix(data)?;
            (prefix.is_empty() || (prefixed && prefix.ends_with('_'))).then_some(prefix)
        };
        let prefixes: Vec<_> =
            self.properties.into_iter().flat_map(Map::keys).filter_map(prefix).collect();
        if prefixes.is_empty() {
            return vec![FileArgs::default()];
        }
        prefixes
            .into_iter()
            .map(|prefix| FileArgs {
                id: (!prefix.is_empty()).then(|| self.id(prefix, &format!("{prefix}{data}"))),
                data: Some(format!("{prefix}{data}")),
                // A closed schema without a media type takes none.
                media_type: media_type
                    .map(|media_type| format!("{prefix}{media_type}"))
                    .filter(|name| self.open || self.property(name).is_some()),
            })
            .collect()
    }

    fn id(&self, prefix: &str, data: &str) -> String {
        let plural = if self.is_list(data) { "s" } else { "" };
        format!("{prefix}file_id{plural}")
    }

    fn is_list(&self, data: &str) -> bool {
        self.property(data).is_some_and(allows_lists)
    }

    fn slot(
        &self,
        args: &FileArgs,
        (data, media_type): (&'static str, Option<&'static str>),
    ) -> Result<Slot, FilePlanError> {
        let data = args.data.clone().unwrap_or_else(|| data.to_owned());
        let property = self.property(&data);
        if property.is_none() && !self.open {
            return Err(FilePlanError::UnknownArgument(data));
        }
        let id = args.id.clone().unwrap_or_else(|| self.id("", &data));
        let media_type = match &args.media_type {
            Some(named) if self.property(named).is_none() && !self.open => {
                return Err(FilePlanError::UnknownArgument(named.clone()));
            }
            Some(named) => Some(named.clone()),
            // A closed schema without a media type takes none.
            None => media_type
                .filter(|usual| self.open || self.property(usual).is_some())
                .map(str::to_owned),
        };
        Ok(Slot {
            many: self.is_list(&data),
            required: self.requires(&data),
            passes_id: self.open || self.property(&id).is_some(),
            plain: property.is_none_or(is_plain),
            id,
            data,
            media_type,
        })
    }

    /// The schema with ids instead of contents.
    fn shown(&self, slots: &[Slot]) -> Value {
        let mut shown = self.schema.clone();
        let Some(schema) = shown.as_object_mut() else { return shown };
        let by_reference =
            self.properties.into_iter().flat_map(Map::keys).any(|name| is_reference(name));
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        let Some(properties) = properties.as_object_mut() else { return shown };
        for slot in slots {
            properties.remove(&slot.data);
            if let Some(media_type) = &slot.media_type {
                properties.remove(media_type);
            }
            if !properties.contains_key(&slot.id) {
                properties.insert(slot.id.clone(), described(slot));
            }
        }
        let mut required: Vec<Value> =
            schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for slot in slots {
            let put_in = |name: &Value| {
                *name == slot.data
                    || slot.media_type.as_deref().is_some_and(|media_type| name == media_type)
            };
            required.retain(|name| !put_in(name));
            // Either the id or a reference is required, which not every model's API can express.
            if slot.required && !by_reference && !required.iter().any(|name| *name == slot.id) {
                required.push(json!(slot.id));
            }
        }
        if required.is_empty() {
            schema.remove("required");
        } else {
            schema.insert("required".to_owned(), Value::Array(required));
        }
        shown
    }

    /// The schema that calls are checked with. Missing files are found when the input is filled.
    fn accepted(&self, slots: &[Slot], mut accepted: Value) -> Value {
        let Some(schema) = accepted.as_object_mut() else { return accepted };
        if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| {
                let put_in = slots.iter().any(|slot| slot.required && *name == slot.id);
                !put_in || self.requires(name.as_str().unwrap_or_default())
            });
        }
        if !self.open {
            let patterns = schema.entry("patternProperties").or_insert_with(|| json!({}));
            if let Some(patterns) = patterns.as_object_mut() {
                patterns.insert("ref_ids?$".to_owned(), json!({}));
            }
        }
        accepted
    }
}

/// Whether an argument is for a reference.
fn is_reference(argument: &str) -> bool {
    argument.ends_with("ref_id") || argument.ends_with("ref_ids")
}

/// Whether a schema accepts any text, or lists of any texts.
fn is_plain(schema: &Value) -> bool {
    let is_annotation = |key: &String| {
        matches!(
            key.as_str(),
            "type"
                | "title"
                | "description"
                | "contentEncoding"
                | "contentMediaType"
                | "items"
                | "examples"
        )
    };
    let Some(schema) = schema.as_object() else { return *schema == Value::Bool(true) };
    schema.keys().all(is_annotation)
        && match schema.get("type").and_then(Value::as_str) {
            Some("array") | None => schema.get("items").is_none_or(is_plain),
            Some("string") => true,
            Some(_) => false,
        }
}

/// A list that may be left out has the type `["array", "null"]`.
fn allows_lists(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        Some(kind) => kind == "array",
        None => false,
    }
}

fn described(slot: &Slot) -> Value {
    let one = json!({"type": "string", "minLength": 1, "maxLength": 200});
    if slot.many {
        json!({"type": "array", "items": one, "minItems": 1, "maxItems": MAX_FILES,
            "description": "The files, by their ids (`file_…`), or references of earlier answers (`ref_…`)."})
    } else {
        json!({"type": "string", "minLength": 1, "maxLength": 200,
            "description": "The file, by its id (`file_…`), or a reference of an earlier answer (`ref_…`)."})
    }
}

#[cfg(test)]
mod tests;
