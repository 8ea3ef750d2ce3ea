//! The template engine of prompts, toolpacks and workflows. Values come from callers, and so do the templates of
//! workflows, so everything that a template does is bounded: its source, the depth and the bytes of its values, its CPU
//! time and its result.

mod budget;
mod compile;
mod data;
mod library;
mod measure;
mod nesting;
mod operators;
mod scopes;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use minijinja::machinery::{eval, make_string_output};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, Value, escape_formatter};

pub use budget::{Budget, MAX_CPU, MAX_VALUE_BYTES};
use compile::{Compiled, Language};
pub use data::{MAX_DEPTH, argument, is_shallow, record, value, weigh};
pub use library::Bound;
pub use minijinja::UndefinedBehavior;

/// The longest message of the engine that an error repeats.
const MAX_MESSAGE_CHARS: usize = 300;

/// A template engine whose work is bounded: see [`Budget`]. A template cannot load others: `include`, `import` and
/// `extends` find nothing.
pub struct Engine {
    environment: Environment<'static>,
    language: Language,
    escaping: AutoEscape,
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
    /// The values would take too many bytes, or one would be nested too deeply.
    TooLarge,
    /// The template takes more steps or more time than the engine allows.
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
        let mut environment = Environment::empty();
        environment.set_fuel(Some(fuel));
        environment.set_recursion_limit(50);
        environment.set_debug(false);
        environment.set_undefined_behavior(undefined);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        library::register(&mut environment);
        operators::register(&mut environment);
        environment.set_formatter(|out, state, value| {
            library::pay_for_output(state, value)?;
            escape_formatter(out, state, value)
        });
        Self { environment, language: Language::Full, escaping: AutoEscape::None }
    }

    /// Refuses statements (`{% … %}`).
    #[must_use]
    pub fn expressions_only(mut self) -> Self {
        self.language = Language::Expressions;
        self
    }

    /// Changes how templates are read.
    #[must_use]
    pub fn with_syntax(mut self, syntax: SyntaxConfig) -> Self {
        self.environment.set_syntax(syntax);
        self
    }

    /// Adds a filter, or replaces one.
    #[must_use]
    pub fn with_filter(mut self, name: &'static str, bound: Bound, filter: Value) -> Self {
        library::add_filter(&mut self.environment, name, bound, filter);
        self
    }

    #[must_use]
    pub fn without_filter(mut self, name: &str) -> Self {
        self.environment.remove_filter(name);
        self
    }

    /// Changes how values are written. `escaping` is the name that marks what is written as escaped.
    #[must_use]
    pub fn with_writer(
        mut self,
        escaping: &'static str,
        write: fn(&mut Output<'_>, &Value) -> Result<(), Error>,
    ) -> Self {
        self.escaping = AutoEscape::Custom(escaping.into());
        self.environment.set_auto_escape_callback(move |_| AutoEscape::Custom(escaping.into()));
        self.environment.set_formatter(move |out, state, value| {
            library::pay_for_output(state, value)?;
            write(out, value)
        });
        self
    }

    /// The variables that a template reads and the engine does not define; with `nested`, as paths (`input.a`).
    pub fn variables(&self, source: &str, nested: bool) -> Result<BTreeSet<String>, TemplateError> {
        let compiled = self.compile(source, nested).map_err(TemplateError::new)?;
        Ok(self.undefined_names(compiled))
    }

    /// The variables that an expression reads and the engine does not define.
    pub fn expression_variables(&self, source: &str) -> Result<BTreeSet<String>, TemplateError> {
        let compiled = compile::expression(source).map_err(TemplateError::new)?;
        Ok(self.undefined_names(compiled))
    }

    fn undefined_names(&self, compiled: Compiled<'_>) -> BTreeSet<String> {
        let mut names = compiled.names;
        for (global, _) in self.environment.globals() {
            names.remove(global);
        }
        names
    }

    fn compile<'s>(&self, source: &'s str, nested: bool) -> Result<Compiled<'s>, Error> {
        compile::template(source, self.environment.syntax(), self.language, nested)
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
        let result = self.evaluate_raw(expression, Value::UNDEFINED, &Budget::new());
        result.err().map(|error| error.kind())
    }

    /// The value of an expression, with its type.
    pub fn evaluate(
        &self,
        source: &str,
        values: Value,
        max_bytes: usize,
        budget: &Budget,
    ) -> Result<serde_json::Value, TemplateError> {
        let found = self.evaluate_raw(source, values, budget).map_err(TemplateError::new)?;
        json(&found, max_bytes)
    }

    /// Whether an expression is true, as templates see it: empty texts and lists, zero and `none` are not.
    pub fn test(
        &self,
        source: &str,
        values: Value,
        budget: &Budget,
    ) -> Result<bool, TemplateError> {
        let found = self.evaluate_raw(source, values, budget).map_err(TemplateError::new)?;
        if found.is_undefined() {
            return Err(TemplateError::undefined());
        }
        Ok(found.is_true())
    }

    fn evaluate_raw(&self, source: &str, values: Value, budget: &Budget) -> Result<Value, Error> {
        budget.check_time()?;
        let compiled = compile::expression(source)?;
        let (found, _) = self.run(&compiled, values, budget)?;
        found.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "the expression has no value"))
    }

    /// Fills a template in. Values are never evaluated as templates.
    pub fn render(
        &self,
        source: &str,
        values: Value,
        max_bytes: usize,
    ) -> Result<String, TemplateError> {
        self.render_within(source, values, max_bytes, &Budget::new())
    }

    /// Fills a template in, as a part of other work with the same budget.
    pub fn render_within(
        &self,
        source: &str,
        values: Value,
        max_bytes: usize,
        budget: &Budget,
    ) -> Result<String, TemplateError> {
        let rendered = budget.check_time().and_then(|()| {
            let compiled = self.compile(source, false)?;
            self.run(&compiled, values, budget)
        });
        let (_, text) = rendered.map_err(TemplateError::new)?;
        if text.len() > max_bytes {
            let message = format!("the text is longer than {max_bytes} bytes");
            return Err(TemplateError { line: None, kind: TemplateErrorKind::TooLong, message });
        }
        Ok(text)
    }

    /// Evaluates a template: the value of an expression, and the text that was written.
    fn run(
        &self,
        compiled: &Compiled<'_>,
        values: Value,
        budget: &Budget,
    ) -> Result<(Option<Value>, String), Error> {
        let run = || {
            let mut text = String::new();
            let (found, _) = eval(
                &self.environment,
                &compiled.instructions,
                budget.attach(values),
                &compiled.blocks,
                &mut make_string_output(&mut text),
                self.escaping.clone(),
            )?;
            Ok((found, text))
        };
        // The engine's arithmetic is not free of panics.
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::InvalidOperation, "the template cannot be evaluated"))
        })
    }
}

impl TemplateError {
    fn undefined() -> Self {
        let message = "undefined value".to_owned();
        Self { line: None, kind: TemplateErrorKind::Undefined, message }
    }

    fn new(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::WriteFailure => TemplateErrorKind::TooLarge,
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
            (TemplateErrorKind::TooSlow | TemplateErrorKind::TooLarge, Some(detail)) => {
                detail.to_owned()
            }
            (TemplateErrorKind::TooSlow, None) => "the template takes too many steps".to_owned(),
            (_, Some(detail)) => format!("{}: {detail}", error.kind()),
            (_, None) => error.kind().to_string(),
        };
        let message = message.chars().take(MAX_MESSAGE_CHARS).collect();
        Self { line: error.line(), kind, message }
    }
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
            spend(2)?;
            for item in value.try_iter().map_err(TemplateError::new)? {
                items.push(write_json(&item, left)?);
            }
            Ok(items.into())
        }
        ValueKind::Map => {
            spend(2)?;
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
