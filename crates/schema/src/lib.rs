//! JSON Schema, compiled once per tool: no remote references, linear-time patterns, and work in proportion to the size of
//! the value. `$schema` names the draft; without it, it is 2020-12. Also the YAML reader of all files.

mod cost;
mod document;
mod empty_texts;
mod graph;
mod nulls;
mod pattern;
pub mod portable;
pub mod protocols;
mod relax;
pub mod yaml;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, ValidationOptions, Validator};
use proto::canonical;
use serde::Serialize;
use serde_json::{Value, json};

use cost::{Cost, Detail};
use relax::Relaxed;

pub use empty_texts::without_empty_texts;
pub use nulls::without_optional_nulls;

/// The most violations that are reported; a value may have thousands.
const MAX_VIOLATIONS: usize = 100;

/// The longest message of a violation, which may quote the value.
const MAX_MESSAGE_CHARS: usize = 300;

/// Bounds the memory of a compiled pattern, and with it the time to match a text.
const MAX_PATTERN_BYTES: usize = 1 << 19;

/// In how many patterns of a schema those that cannot be run are looked for; each is compiled for it.
const MAX_TRIED_PATTERNS: usize = 1_000;

/// Patterns of web addresses, whose violations say what to write.
const WEB_ADDRESSES: [&str; 2] = ["^[Hh][Tt][Tt][Pp][Ss]?://", "^https?://"];

const PATTERN_HINT: &str =
    "; look-around and back-references are not supported, and a pattern must not be too large";

/// The largest schema, in canonical form.
const MAX_SCHEMA_BYTES: usize = 256 * 1024;

/// How deep a schema may be nested.
const MAX_SCHEMA_DEPTH: usize = 64;

/// A schema ready to check values.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    cost: Cost,
    unchecked: Vec<String>,
}

/// How to treat a pattern that the engine cannot run: one with look-around or back-references, or a very large one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    /// The schema cannot be used.
    Required,
    /// The pattern is not checked; the owner of the schema does it.
    Optional,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SchemaFault {
    /// `path` is a JSON Pointer into the schema; empty for the schema itself.
    #[error("{message} (at `{path}` of the schema)")]
    Invalid { path: String, message: String },
}

/// One violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// A JSON Pointer into the value; empty for the value itself.
    pub path: String,
    pub message: String,
}

/// The parts of a value that are only known later, as JSON Pointers.
#[derive(Clone, Debug, Default)]
pub struct Unknowns {
    /// Any value may come here.
    pub values: BTreeSet<String>,
    /// Some text will come here.
    pub texts: BTreeSet<String>,
}

impl Unknowns {
    /// Whether a violation will remain, whatever comes in place of the unknown parts.
    fn allow(&self, error: &ValidationError<'_>) -> bool {
        let path = error.instance_path().as_str();
        let below =
            |pointer: &String| pointer.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        if self.values.iter().any(|pointer| at_or_below(path, pointer)) {
            return false;
        }
        let of_type = matches!(error.kind(), ValidationErrorKind::Type { .. });
        if self.texts.contains(path) {
            return of_type && !is_conditional(error);
        }
        if !self.values.iter().chain(&self.texts).any(below) {
            // A condition elsewhere may hold only because of an unknown part.
            let none = self.values.is_empty() && self.texts.is_empty();
            return none || !is_conditional(error);
        }
        let of_form = matches!(
            error.kind(),
            ValidationErrorKind::Required { .. }
                | ValidationErrorKind::AdditionalProperties { .. }
                | ValidationErrorKind::MinItems { .. }
                | ValidationErrorKind::MaxItems { .. }
                | ValidationErrorKind::MinProperties { .. }
                | ValidationErrorKind::MaxProperties { .. }
        );
        (of_type || of_form) && !is_conditional(error)
    }
}

/// Whether one JSON Pointer is the other or begins with it.
fn at_or_below(path: &str, pointer: &str) -> bool {
    path.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether other parts of the value decide if the violated keyword applies.
fn is_conditional(error: &ValidationError<'_>) -> bool {
    let path = error.evaluation_path().as_str();
    ["then", "else", "anyOf", "oneOf", "not"]
        .iter()
        .any(|keyword| path.split('/').rev().skip(1).any(|step| step == *keyword))
}

impl Schema {
    /// Compiles a schema whose patterns are all checked.
    pub fn compile(schema: &Value) -> Result<Self, SchemaFault> {
        Self::compile_with(schema, Patterns::Required)
    }

    /// Compiles a schema.
    pub fn compile_with(schema: &Value, patterns: Patterns) -> Result<Self, SchemaFault> {
        // Checked first, because the code below recurses.
        if deeper_than(schema, MAX_SCHEMA_DEPTH) {
            return Err(fault("", format!("it is nested deeper than {MAX_SCHEMA_DEPTH} levels")));
        }
        let size = canonical::len(schema);
        if size > MAX_SCHEMA_BYTES {
            let message = format!("it has {size} bytes; {MAX_SCHEMA_BYTES} are allowed");
            return Err(fault("", message));
        }
        let whole = Self::build(schema, Vec::new());
        if whole.is_ok() || patterns == Patterns::Required {
            return whole;
        }
        let tried = Cell::new(0);
        let runs = |pattern: &str| {
            tried.set(tried.get() + 1);
            tried.get() > MAX_TRIED_PATTERNS || can_run(pattern)
        };
        let Relaxed { schema, unchecked } = Relaxed::of(schema, runs);
        if unchecked.is_empty() { whole } else { Self::build(&schema, unchecked) }
    }

    fn build(schema: &Value, unchecked: Vec<String>) -> Result<Self, SchemaFault> {
        let cost = Cost::of(schema)?;
        let draft = draft_of(schema);
        let options = options().with_draft(draft);
        let validator = options.build(schema).map_err(|error| locate(draft, schema, &error))?;
        Ok(Self { validator, cost, unchecked })
    }

    /// The patterns that are not checked, as JSON Pointers into the schema.
    pub fn unchecked_patterns(&self) -> &[String] {
        &self.unchecked
    }

    /// Every violation of the schema; none if the value is valid.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        self.known_violations(value, &Unknowns::default())
    }

    /// The violations that remain whatever comes in place of the unknown parts.
    pub fn known_violations(&self, value: &Value, unknown: &Unknowns) -> Vec<Violation> {
        if let Err(reason) = self.cost.admit(value) {
            return vec![Violation { path: String::new(), message: reason.to_owned() }];
        }
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        match self.cost.detail(value) {
            Detail::All => {
                let errors = self.validator.iter_errors(value).filter(|error| unknown.allow(error));
                errors.take(MAX_VIOLATIONS).map(violation).collect()
            }
            Detail::First => {
                let error = self.validator.validate(value).err();
                error.filter(|error| unknown.allow(error)).map(violation).into_iter().collect()
            }
            Detail::Nothing if !unknown.values.is_empty() || !unknown.texts.is_empty() => {
                Vec::new()
            }
            Detail::Nothing => vec![Violation {
                path: String::new(),
                message: "it does not fit; the schema has too many branches to say where"
                    .to_owned(),
            }],
        }
    }
}

fn fault(path: &str, message: impl Into<String>) -> SchemaFault {
    SchemaFault::Invalid { path: path.to_owned(), message: message.into() }
}

fn options() -> ValidationOptions<'static> {
    let patterns =
        PatternOptions::regex().size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES);
    jsonschema::options().with_pattern_options(patterns).should_validate_formats(true).offline()
}

/// The draft that `$schema` names.
fn draft_of(schema: &Value) -> Draft {
    match Draft::default().detect(schema) {
        known @ (Draft::Draft4 | Draft::Draft6 | Draft::Draft7 | Draft::Draft201909) => known,
        _ => Draft::Draft202012,
    }
}

/// Whether the engine can run a pattern.
fn can_run(pattern: &str) -> bool {
    options().with_draft(Draft::Draft202012).build(&json!({"pattern": pattern})).is_ok()
}

/// The location in the schema: the violation of the meta-schema, or else the keyword that could not be compiled.
fn locate(draft: Draft, schema: &Value, error: &ValidationError<'_>) -> SchemaFault {
    let valid = match draft {
        Draft::Draft4 => jsonschema::draft4::meta::validate(schema),
        Draft::Draft6 => jsonschema::draft6::meta::validate(schema),
        Draft::Draft7 => jsonschema::draft7::meta::validate(schema),
        Draft::Draft201909 => jsonschema::draft201909::meta::validate(schema),
        _ => jsonschema::draft202012::meta::validate(schema),
    };
    match valid {
        Err(broken) => fault(broken.instance_path().as_str(), shorten(&broken)),
        Ok(()) => {
            let path = error.schema_path().as_str();
            let of_pattern = path.ends_with("/pattern") || path.contains("/patternProperties/");
            let hint = if of_pattern { PATTERN_HINT } else { "" };
            fault(path, format!("{}{hint}", shorten(error)))
        }
    }
}

fn violation(error: ValidationError<'_>) -> Violation {
    let message = match error.kind() {
        ValidationErrorKind::Enum { options } => match options.as_array() {
            Some(options) => describe_options(options),
            None => shorten(&error),
        },
        ValidationErrorKind::Pattern { pattern } if WEB_ADDRESSES.contains(&pattern.as_str()) => {
            "write an address that begins with http:// or https://".to_owned()
        }
        _ => shorten(&error),
    };
    Violation { path: error.instance_path().to_string(), message }
}

/// All values that are allowed; the library's message names three of them.
fn describe_options(options: &[Value]) -> String {
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    shorten(&format_args!("it is not one of {}", options.join(", ")))
}

/// The message up to the limit; the rest is never formatted.
fn shorten(message: &dyn fmt::Display) -> String {
    struct Capped {
        text: String,
        left: usize,
    }
    impl fmt::Write for Capped {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            for character in part.chars() {
                self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
                self.text.push(character);
            }
            Ok(())
        }
    }
    let mut capped = Capped { text: String::new(), left: MAX_MESSAGE_CHARS };
    if write!(capped, "{message}").is_err() {
        capped.text.push('…');
    }
    capped.text
}

/// Without recursion, because the value may be nested deeply.
fn deeper_than(value: &Value, limit: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
