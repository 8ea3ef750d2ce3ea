//! Templates that a pack's author writes. What a caller sends is only ever a value in them, never a template.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use egress::http::{encode_component, has_dot_segment};
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Output, Value};
use prompts::template::{self, Bound, Engine, TemplateErrorKind, UndefinedBehavior};
use proto::{Code, Failure};

use crate::Fault;

/// Enough for any reasonable template; an endless one is stopped within milliseconds.
const FUEL: u64 = 50_000;

/// The names that a template may look up.
const KNOWN: [&str; 4] = ["input", "id", "version", "env"];

static ENGINE: LazyLock<Engine> = LazyLock::new(engine);

/// The engine for URLs. Each value is percent-encoded when it is written, so that it stays in its segment or query
/// value; only values of the environment, and those that `urlencode` has encoded, are written as they are.
static URL_ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let write_value = |out: &mut Output<'_>, value: &Value| {
        let text = value.to_string();
        let written = match &text[..] {
            "" => out.write_str(EMPTY),
            text if value.is_safe() => out.write_str(text),
            text => out.write_str(&encode_component(text)),
        };
        written.map_err(Error::from)
    };
    let tojson = Value::from_function(|value: &Value| {
        serde_json::to_string(value)
            .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
    });
    engine()
        .with_writer("url", write_value)
        // Their results would count as encoded.
        .without_filter("safe")
        .with_filter("tojson", Bound::Json, tojson)
});

/// Placeholder for an empty value until the path is checked. No other value contains it, since values are encoded.
const EMPTY: &str = "\0";

fn engine() -> Engine {
    // A byte becomes three.
    let filter = Value::from_function(urlencode);
    Engine::new(FUEL, UndefinedBehavior::Strict).with_filter("urlencode", Bound::Text(3), filter)
}

/// The engine's own filter leaves `/` as it is. A map becomes `key=value&…`.
fn urlencode(value: &Value) -> Result<Value, Error> {
    let encoded = |value: &Value| {
        let nothing = value.is_none() || value.is_undefined();
        if nothing { String::new() } else { encode_component(&value.to_string()) }
    };
    if value.kind() != ValueKind::Map {
        return Ok(Value::from_safe_string(encoded(value)));
    }
    let mut pairs = Vec::new();
    for key in value.try_iter()? {
        let item = value.get_item(&key)?;
        if !item.is_none() && !item.is_undefined() {
            pairs.push(format!("{}={}", encoded(&key), encoded(&item)));
        }
    }
    Ok(Value::from_safe_string(pairs.join("&")))
}

/// One text of a pack, checked when the pack is loaded; plain where nothing in it is to be filled in.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    source: String,
    names: BTreeSet<String>,
    filled: bool,
}

impl Template {
    /// Whether the text is the same for every call.
    pub(crate) fn is_plain(&self) -> bool {
        !self.filled
    }

    /// Checks the syntax and the names of a template that begins in this line.
    pub(crate) fn parse(source: String, line: usize) -> Result<Self, Fault> {
        if !source.contains("{{") && !source.contains("{%") && !source.contains("{#") {
            return Ok(Self { source, names: BTreeSet::new(), filled: false });
        }
        let names = ENGINE.variables(&source, true).map_err(|error| {
            let at = line + error.line.unwrap_or(1).saturating_sub(1);
            Fault::at(at, format!("the template cannot be read: {error}"))
        })?;
        for name in &names {
            let first = name.split('.').next().unwrap_or(name);
            if !KNOWN.contains(&first) {
                return Err(Fault::at(
                    line,
                    format!(
                        "the template uses `{first}`; it can use `input`, `id`, `version` and `env`"
                    ),
                ));
            }
        }
        Ok(Self { source, names, filled: true })
    }

    /// The text as the author wrote it.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Whether anything is filled in.
    pub(crate) fn is_filled(&self) -> bool {
        self.filled
    }

    /// Whether the result depends on the caller's input.
    pub(crate) fn uses_input(&self) -> bool {
        self.names.iter().any(|name| name == "input" || name.starts_with("input."))
    }

    /// The environment names that it reads.
    pub(crate) fn env_names(&self) -> impl Iterator<Item = &str> {
        self.names
            .iter()
            .filter_map(|name| name.strip_prefix("env."))
            .map(|name| name.split('.').next().unwrap_or(name))
    }

    /// Whether the result may contain a secret from the environment.
    pub(crate) fn uses_env(&self) -> bool {
        self.names.iter().any(|name| name == "env" || name.starts_with("env."))
    }

    /// Fills the template in; the result is never longer than `limit` bytes.
    pub(crate) fn render(&self, values: &Values, limit: usize) -> Result<String, Failure> {
        if !self.filled {
            return Ok(self.source.clone());
        }
        self.check_env(values)?;
        self.fill(&ENGINE, values, limit)
    }

    /// Fills in a URL. A value of the caller's cannot leave its segment or query value, unless the
    /// whole URL is such a value.
    pub(crate) fn render_url(&self, values: &Values, limit: usize) -> Result<String, Failure> {
        if !self.uses_input() || self.is_one_value() {
            return self.render(values, limit);
        }
        self.check_env(values)?;
        let url = self.fill(&URL_ENGINE, values, limit)?;
        let after_scheme = url.find("://").map_or(0, |at| at + 3);
        let path = &url[after_scheme..];
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let refused = |what: &str| {
            Failure::new(
                Code::InvalidInput,
                format!("{what} of `{}` would change the path", self.shown()),
            )
        };
        if path.split('/').skip(1).any(|segment| segment == EMPTY) {
            return Err(refused("an empty value"));
        }
        if has_dot_segment(path) {
            return Err(refused("a value with `.` or `..` segments"));
        }
        Ok(url.replace(EMPTY, ""))
    }

    /// Whether the template is one value of the input and nothing else.
    pub(crate) fn is_one_value(&self) -> bool {
        let inside = self.source.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        self.uses_input() && inside.is_some_and(|inside| !inside.contains("}}"))
    }

    fn fill(&self, engine: &Engine, values: &Values, limit: usize) -> Result<String, Failure> {
        let render = || engine.render(&self.source, values.root.clone(), limit);
        strip::run_blocking(self.work(), render).map_err(|error| {
            let message = match error.kind {
                TemplateErrorKind::TooLong => {
                    format!("a template's result exceeds {limit} bytes")
                }
                TemplateErrorKind::Undefined => {
                    format!("the template `{}` needs a value that the input lacks", self.shown())
                }
                _ => format!("the template `{}`: {error}", self.shown()),
            };
            Failure::new(Code::InvalidInput, message)
        })
    }

    /// How much the runtime must expect: little for plain values.
    fn work(&self) -> usize {
        let plain = !self.source.contains("{%") && !self.source.contains(['|', '~', '*', '+', '(']);
        if plain { 0 } else { usize::MAX }
    }

    fn check_env(&self, values: &Values) -> Result<(), Failure> {
        match self.env_names().find(|name| !values.env.contains(*name)) {
            Some(missing) => Err(Failure::new(
                Code::Unsupported,
                format!("the environment variable `{missing}` is not set"),
            )),
            None => Ok(()),
        }
    }

    fn shown(&self) -> String {
        self.source.chars().take(80).collect()
    }
}

/// Fills in one template with an input; for fuzzing.
pub fn render_template(source: &str, input: &serde_json::Value) -> Result<String, Failure> {
    const LIMIT: usize = 64 * 1024;
    let template = Template::parse(source.to_owned(), 1)
        .map_err(|fault| Failure::new(Code::InvalidInput, fault.message))?;
    template.render(&Values::new(input, "template", "0.0.0", &BTreeMap::new()), LIMIT)
}

/// What templates are filled in with, for one call.
pub(crate) struct Values {
    root: Value,
    env: BTreeSet<String>,
}

impl Values {
    pub(crate) fn new(
        input: &serde_json::Value,
        id: &str,
        version: &str,
        env: &BTreeMap<String, String>,
    ) -> Self {
        // Marked as safe: the operator's values are written into URLs as they are.
        let env_values =
            env.iter().map(|(name, value)| (name.as_str(), Value::from_safe_string(value.clone())));
        let root = template::record([
            ("input", template::value(input)),
            ("id", Value::from(id)),
            ("version", Value::from(version)),
            ("env", template::record(env_values)),
        ]);
        Self { root, env: env.keys().cloned().collect() }
    }
}

#[cfg(test)]
mod tests;
