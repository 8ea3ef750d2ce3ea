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

    use super::*;

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
