//! The template engine of prompts and toolpacks. Values come from callers, so everything that a template does is bounded.

use std::collections::BTreeSet;
use std::io::{self, Write};

use minijinja::value::{Rest, Serde, ValueKind, ValueOrKwargs};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, Value, filters};

pub use minijinja::UndefinedBehavior;

/// The longest text that one of the filters makes.
const MAX_TEXT: usize = 16 << 20;

/// The most items that one of the filters makes.
const MAX_ITEMS: usize = 100_000;

/// The longest message of the engine that an error repeats.
const MAX_MESSAGE_CHARS: usize = 300;

/// The deepest indentation of JSON.
const MAX_INDENT: usize = 8;

/// A template engine whose work is bounded: steps, the length of a result, and what a single filter makes. A template
/// cannot load others: `include`, `import` and `extends` find nothing.
pub struct Engine {
    environment: Environment<'static>,
}

/// Why a template was not rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    pub line: Option<usize>,
    pub kind: TemplateErrorKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateErrorKind {
    /// The result is longer than the caller allowed.
    TooLong,
    /// A filter would make a value that is too large.
    FilterTooLarge,
    /// The template takes more steps than the engine allows.
    TooSlow,
    /// It prints a value that was not given.
    Undefined,
    /// It is no template, or names a filter, test, function or template that does not exist.
    Broken,
    /// Anything else, which may depend on the values.
    Other,
}

impl Engine {
    /// An engine that stops after `fuel` steps and writes values without escaping them.
    pub fn new(fuel: u64, undefined: UndefinedBehavior) -> Self {
        let mut environment = Environment::new();
        environment.set_fuel(Some(fuel));
        environment.set_recursion_limit(50);
        environment.set_debug(false);
        environment.set_undefined_behavior(undefined);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        bound_filters(&mut environment);
        Self { environment }
    }

    /// Changes filters or how values are written.
    pub fn customize(mut self, change: impl FnOnce(&mut Environment<'static>)) -> Self {
        change(&mut self.environment);
        self
    }

    /// The variables that a template reads and the engine does not define; with `nested`, as paths (`input.a`).
    pub fn variables(&self, source: &str, nested: bool) -> Result<BTreeSet<String>, TemplateError> {
        let template = self.environment.template_from_str(source).map_err(TemplateError::new)?;
        let mut names: BTreeSet<_> = template.undeclared_variables(nested).into_iter().collect();
        for (global, _) in self.environment.globals() {
            names.remove(global);
        }
        Ok(names)
    }

    /// The variables that an expression reads and the engine does not define.
    pub fn expression_variables(&self, source: &str) -> Result<BTreeSet<String>, TemplateError> {
        let expression = self.environment.compile_expression(source).map_err(TemplateError::new)?;
        let mut names: BTreeSet<_> = expression.undeclared_variables(false).into_iter().collect();
        for (global, _) in self.environment.globals() {
            names.remove(global);
        }
        Ok(names)
    }

    /// Whether there is a filter of this name.
    pub fn has_filter(&self, name: &str) -> bool {
        self.probe(&format!("0|{name}")) != Some(ErrorKind::UnknownFilter)
    }

    /// Whether there is a test of this name.
    pub fn has_test(&self, name: &str) -> bool {
        self.probe(&format!("0 is {name}")) != Some(ErrorKind::UnknownTest)
    }

    /// How an expression fails. The engine has no list of its filters and tests.
    fn probe(&self, expression: &str) -> Option<ErrorKind> {
        let expression = self.environment.compile_expression(expression);
        expression.and_then(|expression| expression.eval(())).err().map(|error| error.kind())
    }

    /// The value of an expression, with its type.
    pub fn evaluate(
        &self,
        source: &str,
        values: Value,
        max_bytes: usize,
    ) -> Result<serde_json::Value, TemplateError> {
        let found = self.evaluate_raw(source, values)?;
        json(&found, max_bytes)
    }

    /// Whether an expression is true, as templates see it: empty texts and lists, zero and `none` are not.
    pub fn test(&self, source: &str, values: Value) -> Result<bool, TemplateError> {
        let found = self.evaluate_raw(source, values)?;
        if found.is_undefined() {
            return Err(TemplateError::undefined());
        }
        Ok(found.is_true())
    }

    fn evaluate_raw(&self, source: &str, values: Value) -> Result<Value, TemplateError> {
        let expression = self.environment.compile_expression(source).map_err(TemplateError::new)?;
        expression.eval(values).map_err(TemplateError::new)
    }

    /// Fills a template in. Values are never evaluated as templates.
    pub fn render(
        &self,
        source: &str,
        values: Value,
        max_bytes: usize,
    ) -> Result<String, TemplateError> {
        let mut out = CappedWriter { bytes: Vec::new(), limit: max_bytes, full: false };
        let rendered = self
            .environment
            .template_from_str(source)
            .and_then(|template| template.render_captured_to(values, &mut out).map(drop));
        match rendered {
            Ok(()) => Ok(String::from_utf8_lossy(&out.bytes).into_owned()),
            Err(error) if out.full => Err(TemplateError {
                line: error.line(),
                kind: TemplateErrorKind::TooLong,
                message: format!("the text is longer than {max_bytes} bytes"),
            }),
            Err(error) => Err(TemplateError::new(error)),
        }
    }
}

impl TemplateError {
    fn undefined() -> Self {
        let message = "undefined value".to_owned();
        Self { line: None, kind: TemplateErrorKind::Undefined, message }
    }

    fn new(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::WriteFailure => TemplateErrorKind::FilterTooLarge,
            ErrorKind::OutOfFuel => TemplateErrorKind::TooSlow,
            ErrorKind::UndefinedError => TemplateErrorKind::Undefined,
            ErrorKind::SyntaxError
            | ErrorKind::BadEscape
            | ErrorKind::TemplateNotFound
            | ErrorKind::BadInclude
            | ErrorKind::UnknownFilter
            | ErrorKind::UnknownTest
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownBlock => TemplateErrorKind::Broken,
            _ => TemplateErrorKind::Other,
        };
        let message = match (kind, error.detail()) {
            (TemplateErrorKind::TooSlow, _) => "the template takes too many steps".to_owned(),
            (TemplateErrorKind::FilterTooLarge, Some(detail)) => detail.to_owned(),
            (_, Some(detail)) => format!("{}: {detail}", error.kind()),
            (_, None) => error.kind().to_string(),
        };
        let message = message.chars().take(MAX_MESSAGE_CHARS).collect();
        Self { line: error.line(), kind, message }
    }
}

/// A writer that stops at its limit: fuel bounds steps, not what one step writes.
struct CappedWriter {
    bytes: Vec<u8>,
    limit: usize,
    full: bool,
}

impl Write for CappedWriter {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + piece.len() > self.limit {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// JSON as a value of the engine.
pub fn value(json: &serde_json::Value) -> Value {
    Value::from(Serde(json))
}

/// A value of the engine as JSON of at most `max_bytes`. Undefined values are errors, also within lists and maps.
fn json(value: &Value, max_bytes: usize) -> Result<serde_json::Value, TemplateError> {
    let mut left = max_bytes;
    write_json(value, &mut left).map_err(|error| match error.kind {
        TemplateErrorKind::TooLong => TemplateError {
            message: format!("the value is larger than {max_bytes} bytes"),
            ..error
        },
        _ => error,
    })
}

fn write_json(value: &Value, left: &mut usize) -> Result<serde_json::Value, TemplateError> {
    let too_long =
        || TemplateError { line: None, kind: TemplateErrorKind::TooLong, message: String::new() };
    let mut spend = |bytes: usize| {
        *left = left.checked_sub(bytes).ok_or_else(too_long)?;
        Ok(())
    };
    match value.kind() {
        ValueKind::Undefined => Err(TemplateError::undefined()),
        ValueKind::String => {
            let text = value.to_string();
            spend(text.len() + 2)?;
            Ok(text.into())
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let mut items = Vec::new();
            for item in value.try_iter().map_err(TemplateError::new)? {
                items.push(write_json(&item, left)?);
            }
            Ok(items.into())
        }
        ValueKind::Map => {
            let mut fields = serde_json::Map::new();
            for key in value.try_iter().map_err(TemplateError::new)? {
                let item = value.get_item(&key).map_err(TemplateError::new)?;
                let name = key.to_string();
                *left = left.checked_sub(name.len() + 3).ok_or_else(too_long)?;
                fields.insert(name, write_json(&item, left)?);
            }
            Ok(fields.into())
        }
        _ => {
            spend(4)?;
            serde_json::to_value(value).map_err(|_| TemplateError {
                line: None,
                kind: TemplateErrorKind::Other,
                message: format!("a {} is no JSON value", value.kind()),
            })
        }
    }
}

/// Replaces filters whose results could be far larger than their input.
fn bound_filters(engine: &mut Environment<'static>) {
    // `debug` prints everything there is, and `format` takes widths of any size.
    engine.remove_global("debug");
    engine.remove_filter("format");
    bound(engine, "replace", Value::from_function(filters::replace), |value, arguments| {
        let text = |at: usize| arguments.get(at).map(ToString::to_string).unwrap_or_default();
        let value = value.to_string();
        let more = value.matches(&text(0)).count().checked_mul(text(1).len());
        fits(more.and_then(|more| more.checked_add(value.len())), MAX_TEXT)
    });
    bound(engine, "indent", Value::from_function(filters::indent), |value, arguments| {
        let lines = value.to_string().lines().count();
        fits(largest(arguments).checked_mul(lines.max(1)), MAX_TEXT)
    });
    bound(engine, "join", Value::from_function(filters::join), |value, arguments| {
        let joiner = arguments.iter().map(|argument| argument.to_string().len()).max();
        fits(value.len().unwrap_or(0).checked_mul(joiner.unwrap_or(0)), MAX_TEXT)
    });
    bound(engine, "tojson", Value::from_function(filters::tojson), |_, arguments| {
        fits(Some(largest(arguments)), MAX_INDENT)
    });
    for (name, filter) in [
        ("batch", Value::from_function(filters::batch)),
        ("slice", Value::from_function(filters::slice)),
    ] {
        bound(engine, name, filter, |_, arguments| fits(Some(largest(arguments)), MAX_ITEMS));
    }
}

/// Puts a check before a built-in filter.
fn bound(
    engine: &mut Environment<'static>,
    name: &'static str,
    filter: Value,
    check: fn(&Value, &[Value]) -> bool,
) {
    let bounded = move |state: &mut State<'_, '_>, value: Value, rest: Rest<ValueOrKwargs>| {
        let arguments = rest.into_values();
        if !check(&value, &arguments) {
            let message = format!("the result of `{name}` is too large");
            return Err(Error::new(ErrorKind::WriteFailure, message));
        }
        let all: Vec<_> = std::iter::once(value).chain(arguments).collect();
        filter.call(state, &all)
    };
    engine.add_filter(name, bounded);
}

fn fits(size: Option<usize>, limit: usize) -> bool {
    size.is_some_and(|size| size <= limit)
}

/// The largest number among the arguments, named ones included.
fn largest(arguments: &[Value]) -> usize {
    let number = |value: &Value| match value.kind() {
        ValueKind::Number => value.as_usize().unwrap_or(usize::MAX),
        _ => 0,
    };
    let named = |value: &Value| -> usize {
        let keys = (value.kind() == ValueKind::Map).then(|| value.try_iter().ok()).flatten();
        let values = keys.into_iter().flatten().filter_map(|key| value.get_item(&key).ok());
        values.map(|value| number(&value)).max().unwrap_or(0)
    };
    arguments.iter().map(|value| number(value).max(named(value))).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use minijinja::context;
    use serde_json::json;

    use super::*;

    #[test]
    fn expressions_keep_their_type_within_the_limit() {
        let engine = Engine::new(10_000, UndefinedBehavior::Strict);
        let given = || value(&json!({"a": {"n": 3, "list": [1, "x", null], "big": u64::MAX}}));
        for (source, made) in [
            ("a.n + 1", json!(4)),
            ("a.list", json!([1, "x", null])),
            ("a", json!({"n": 3, "list": [1, "x", null], "big": u64::MAX})),
            ("{'k': a.list | length, 'f': 1.5}", json!({"k": 3, "f": 1.5})),
            ("a.missing | default('none')", json!("none")),
            ("a.list | map('string') | list", json!(["1", "x", "None"])),
        ] {
            assert_eq!(engine.evaluate(source, given(), 1_000), Ok(made), "{source}");
        }
        for (source, kind) in [
            ("a.missing", TemplateErrorKind::Undefined),
            ("[a.missing]", TemplateErrorKind::Undefined),
            ("{'k': [a.missing]}", TemplateErrorKind::Undefined),
            ("a.missing.x", TemplateErrorKind::Undefined),
            ("range(100000) | list", TemplateErrorKind::TooLong),
            ("'x' * 2000", TemplateErrorKind::TooLong),
            ("a |", TemplateErrorKind::Broken),
            ("a | nothing", TemplateErrorKind::Broken),
        ] {
            let error = engine.evaluate(source, given(), 1_000).map_err(|error| error.kind);
            assert_eq!(error, Err(kind), "{source}");
        }
        assert!(engine.has_filter("length") && !engine.has_filter("lenght"));
        assert!(engine.has_test("defined") && !engine.has_test("defind"));
        assert_eq!(engine.test("a.list | length == 3", given()), Ok(true));
        assert!(engine.test("a.missing", given()).is_err());
    }

    #[test]
    fn filters_are_bounded() {
        let engine = Engine::new(10_000, UndefinedBehavior::Strict);
        let long = "ab".repeat(15_000);
        let list: Vec<_> = (0..10_000).collect();
        let given = context! { t => long, list => list, n => 2_000_000_000_u64 };
        for source in [
            "{{ t | replace('a', t) }}",
            "{{ t | replace('', t) }}",
            "{{ t | indent(n, true) }}",
            "{{ t | indent(width=n) }}",
            "{{ list | join(t) }}",
            "{{ list | tojson(n) }}",
            "{{ list | tojson(indent=n) }}",
            "{{ list | batch(n, 'x') | length }}",
            "{{ list | slice(n) | length }}",
            "{{ '%99999999d' | format(1) }}",
            "{{ t * n }}",
            "{{ range(n) | length }}",
        ] {
            assert!(engine.render(source, given.clone(), MAX_TEXT).is_err(), "{source}");
        }
        for (source, made) in [
            ("{{ 'a-b' | replace('-', '+') }}", "a+b"),
            ("{{ 'a\\nb' | indent(2) }}", "a\n  b"),
            ("{{ [1, 2] | join(', ') }}", "1, 2"),
            ("{{ [{'a': 1}, {'a': 2}] | join('+', attribute='a') }}", "1+2"),
            ("{{ [1] | tojson }}", "[1]"),
            ("{{ [1] | tojson(indent=2) }}", "[\n  1\n]"),
            ("{{ [1, 2, 3] | batch(2) | length }}", "2"),
        ] {
            assert_eq!(
                engine.render(source, Value::UNDEFINED, MAX_TEXT).as_deref(),
                Ok(made),
                "{source}"
            );
        }
    }
}
