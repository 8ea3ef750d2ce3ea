use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::{Value, json};

use super::template::bounded_engine;

/// The longest text that a prompt can become.
pub(super) const MAX_RENDERED_BYTES: usize = 256 * 1024;

/// Steps of the template engine: far more than a text of that length needs.
const FUEL: u64 = 500_000;

static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = bounded_engine(FUEL);
    engine.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    engine.set_auto_escape_callback(|_| AutoEscape::None);
    engine
});

/// Why a body could not be rendered.
#[derive(Debug)]
pub(super) struct RenderFault {
    pub(super) line: Option<usize>,
    pub(super) kind: FaultKind,
    pub(super) message: String,
}

/// What went wrong with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// The text grew past its limit.
    TooLong,
    /// It took more steps than any honest body does.
    TooSlow,
    /// It printed something that was not given.
    Undefined,
    /// It names a filter, test, function or template that does not exist, or is no template at all.
    Broken,
    /// Something else, which may depend on the arguments.
    Other,
}

impl RenderFault {
    fn new(error: &Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::WriteFailure => FaultKind::TooLong,
            ErrorKind::OutOfFuel => FaultKind::TooSlow,
            ErrorKind::UndefinedError => FaultKind::Undefined,
            ErrorKind::SyntaxError
            | ErrorKind::BadEscape
            | ErrorKind::TemplateNotFound
            | ErrorKind::BadInclude
            | ErrorKind::UnknownFilter
            | ErrorKind::UnknownTest
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownBlock => FaultKind::Broken,
            _ => FaultKind::Other,
        };
        let message = match kind {
            FaultKind::TooLong => format!("the text is longer than {MAX_RENDERED_BYTES} bytes"),
            FaultKind::TooSlow => "the template takes too many steps".to_owned(),
            _ => {
                let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
                format!("{}{detail}", error.kind()).chars().take(300).collect()
            }
        };
        Self { line: error.line(), kind, message }
    }
}

/// The text that a body becomes. Arguments are values, never templates: nothing in them is evaluated.
pub(super) fn render(body: &str, arguments: &Value) -> Result<String, RenderFault> {
    let mut text = Capped(Vec::with_capacity(body.len().min(MAX_RENDERED_BYTES)));
    ENGINE
        .template_from_str(body)
        .and_then(|template| template.render_captured_to(context(arguments), &mut text).map(|_| ()))
        .map_err(|error| RenderFault::new(&error))?;
    Ok(String::from_utf8_lossy(&text.0).into_owned())
}

/// The names that a body takes from its arguments, or why it is not a template.
pub(super) fn names(body: &str) -> Result<BTreeSet<String>, RenderFault> {
    let template = ENGINE.template_from_str(body).map_err(|error| RenderFault::new(&error))?;
    let given: BTreeSet<_> = ENGINE.globals().map(|(name, _)| name.to_owned()).collect();
    Ok(template
        .undeclared_variables(false)
        .into_iter()
        .filter(|name| !given.contains(name))
        .collect())
}

/// A value that fits a schema well enough to try a body with it.
pub(super) fn sample(schema: &Value) -> Value {
    let first = |key: &str| schema.get(key).and_then(|values| values.get(0)).cloned();
    let known = schema.get("default").or_else(|| schema.get("const")).cloned();
    if let Some(value) = known.or_else(|| first("enum")).or_else(|| first("examples")) {
        return value;
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first(),
        kind => kind,
    };
    match kind.and_then(Value::as_str) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("array") => json!([schema.get("items").map_or(json!("sample"), sample)]),
        Some("object") => schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|fields| fields.iter().map(|(name, field)| (name.clone(), sample(field))))
            .map_or(json!({}), |fields| Value::Object(fields.collect())),
        _ => json!("sample"),
    }
}

fn context(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().map(context).collect(),
        Value::Object(map) => minijinja::Value::from_pairs(
            map.iter().map(|(key, item)| (key.as_str(), context(item))),
        ),
    }
}

struct Capped(Vec<u8>);

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_RENDERED_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
