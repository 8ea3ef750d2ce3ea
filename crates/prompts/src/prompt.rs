use std::sync::Arc;

use proto::{Digest, canonical};
use schema::yaml::nearest;
use schema::{Schema, Violation};
use serde_json::{Map, Value};

use super::error::PromptError;
use super::render::{self, MAX_RENDERED_BYTES};
use super::spec::{Constraints, Spec};
use super::template::{Budget, TemplateErrorKind};

/// The largest arguments of one request, as for a tool.
const MAX_ARGUMENT_BYTES: usize = 65_536;

/// As many completions as one MCP answer may carry.
const MAX_COMPLETIONS: usize = 100;

/// One prompt in one major version, checked and ready to be rendered.
#[derive(Clone, Debug)]
pub struct Prompt {
    pub domain: String,
    pub name: String,
    pub major: u64,
    pub title: Option<String>,
    pub description: String,
    /// The template as it is served: the file without its invisible characters.
    pub body: String,
    /// The spec file as JSON.
    pub spec: Value,
    /// Required ones first, in the order in which the spec requires them.
    pub arguments: Vec<Argument>,
    /// The SHA-256 of the body's file, which the registry pins.
    pub digest: Digest,
    /// The major that replaced this one.
    pub superseded_by: Option<u64>,
    input: Arc<Schema>,
    constraints: Constraints,
    /// Whether the schema accepts arguments that `properties` does not name.
    open: bool,
}

/// One argument of a prompt, as MCP lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
    /// All values that the argument can have, if the spec names them.
    pub completions: Vec<String>,
    /// The schema of the argument, with local references followed.
    pub(super) schema: Value,
}

impl PartialEq for Prompt {
    fn eq(&self, other: &Self) -> bool {
        self.domain == other.domain
            && self.name == other.name
            && self.major == other.major
            && self.digest == other.digest
            && self.spec == other.spec
            && self.superseded_by == other.superseded_by
    }
}

impl Prompt {
    pub(super) fn new(
        domain: &str,
        name: &str,
        major: u64,
        body: String,
        digest: Digest,
        spec: &Spec,
    ) -> Self {
        Self {
            domain: domain.to_owned(),
            name: name.to_owned(),
            major,
            title: spec.title.clone(),
            description: spec.description.clone(),
            body,
            spec: spec.json.clone(),
            arguments: spec.arguments.clone(),
            digest,
            superseded_by: None,
            input: Arc::clone(&spec.input),
            constraints: spec.constraints,
            open: spec.open,
        }
    }

    /// `<domain>/<name>`, without the major.
    pub fn id(&self) -> String {
        format!("{}/{}", self.domain, self.name)
    }

    /// The name in MCP's list: the id, with `@N` for a major that is not the newest.
    pub fn wire_name(&self) -> String {
        match self.superseded_by {
            None => self.id(),
            Some(_) => format!("{}@{}", self.id(), self.major),
        }
    }

    /// Renders the prompt. Numbers, booleans and JSON may be given as text, because MCP sends every argument as text.
    pub fn render(&self, arguments: &Value) -> Result<String, PromptError> {
        self.render_within(arguments, &Budget::new())
    }

    /// Renders the prompt as a part of a template with this budget.
    pub fn render_within(&self, arguments: &Value, budget: &Budget) -> Result<String, PromptError> {
        let arguments = self.accept(arguments)?;
        let text = render::render(&self.body, &arguments, budget).map_err(|error| {
            let too_long = error.kind == TemplateErrorKind::TooLong;
            PromptError::Template {
                prompt: format!("{}@{}", self.id(), self.major),
                limit: too_long.then_some(MAX_RENDERED_BYTES),
                line: error.line,
                message: error.message,
            }
        })?;
        if let Some(limit) = self.constraints.max_rendered_chars {
            let size = text.chars().count();
            if size > limit {
                return Err(PromptError::TooLong { size, limit });
            }
        }
        Ok(text)
    }

    /// The values of an argument with this prefix, ignoring case.
    pub fn complete(&self, argument: &str, prefix: &str) -> Vec<String> {
        let prefix = prefix.to_lowercase();
        self.arguments
            .iter()
            .filter(|known| known.name == argument)
            .flat_map(|known| &known.completions)
            .filter(|value| value.to_lowercase().starts_with(&prefix))
            .take(MAX_COMPLETIONS)
            .cloned()
            .collect()
    }

    /// The arguments with their types and defaults, or all violations of the spec.
    fn accept(&self, arguments: &Value) -> Result<Value, PromptError> {
        let given = match arguments {
            Value::Null => &Map::new(),
            Value::Object(given) => given,
            _ => {
                let violation = violation("", "arguments are an object".to_owned());
                return Err(PromptError::InvalidArguments(vec![violation]));
            }
        };
        let size = canonical::len(arguments);
        if size > MAX_ARGUMENT_BYTES {
            return Err(PromptError::ArgumentsTooLarge { size, limit: MAX_ARGUMENT_BYTES });
        }
        let mut accepted = given.clone();
        let mut violations = Vec::new();
        for argument in &self.arguments {
            argument.convert(&mut accepted);
            if let (Some(limit), Some(Value::String(text))) =
                (self.constraints.max_argument_chars, accepted.get(&argument.name))
            {
                let size = text.chars().count();
                if size > limit {
                    violations.push(violation(
                        &argument.name,
                        format!("has {size} characters; the spec allows {limit}"),
                    ));
                }
            }
        }
        if !self.open {
            violations.extend(given.keys().filter_map(|name| self.unknown_argument(name)));
        }
        let accepted = Value::Object(accepted);
        violations.extend(self.input.violations(&accepted));
        if violations.is_empty() {
            Ok(accepted)
        } else {
            Err(PromptError::InvalidArguments(violations))
        }
    }

    fn unknown_argument(&self, name: &str) -> Option<Violation> {
        let names = || self.arguments.iter().map(|argument| argument.name.as_str());
        if names().any(|known| known == name) {
            return None;
        }
        let shown: String = name.chars().take(100).collect();
        let hint = nearest(&shown, names())
            .map(|nearest| format!("; did you mean `{nearest}`?"))
            .unwrap_or_default();
        Some(violation(&shown, format!("there is no argument `{shown}`{hint}")))
    }
}

impl Argument {
    /// Converts text to the type in the spec; an empty optional argument counts as not given.
    fn convert(&self, arguments: &mut Map<String, Value>) {
        let given = arguments.get(&self.name);
        if !self.required && given.is_some_and(|value| value == "") {
            arguments.remove(&self.name);
        }
        match arguments.get_mut(&self.name) {
            Some(value) => {
                if let Some(read) = value.as_str().and_then(|text| self.read(text)) {
                    *value = read;
                }
            }
            None => {
                if let Some(default) = self.schema.get("default") {
                    arguments.insert(self.name.clone(), default.clone());
                }
            }
        }
    }

    /// The JSON value of a text, if the spec does not expect a string.
    fn read(&self, text: &str) -> Option<Value> {
        let types: Vec<&str> = match self.schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if types.contains(&"string") {
            return None;
        }
        let read: Value = serde_json::from_str(text.trim()).ok()?;
        let expected = match &read {
            Value::Null => types.contains(&"null"),
            Value::Bool(_) => types.contains(&"boolean"),
            Value::Number(_) => types.contains(&"integer") || types.contains(&"number"),
            Value::Array(_) => types.contains(&"array"),
            Value::Object(_) => types.contains(&"object"),
            Value::String(_) => false,
        };
        let listed =
            || {
                types.is_empty()
                    && self.schema.get("enum").and_then(Value::as_array).is_some_and(|values| {
                        values.contains(&read) && !values.contains(&text.into())
                    })
            };
        (expected || listed()).then_some(read)
    }
}

fn violation(argument: &str, message: String) -> Violation {
    let path = match argument {
        "" => String::new(),
        name => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
    };
    Violation { path, message }
}
