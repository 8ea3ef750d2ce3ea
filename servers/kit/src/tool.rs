//! Tools: their listing and their handlers.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jsonschema::Validator;
use proto::{FILE_ARGS_META, FILE_STRATEGY_META, FileArgs, FileStrategy};
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{CallToolResponse, JsonObject, MetaObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Answer, BuildError, Ctx, Fault};

/// The longest message about one argument, in characters.
const MAX_BREACH: usize = 300;

/// The most breaches of one call that are listed.
const MAX_BREACHES: usize = 20;

/// Of arguments with more values, only the first breach is looked for: each breach that is found takes memory.
const MAX_VALUES: usize = 10_000;

/// The listing of a tool; a model chooses by its description.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    name: Cow<'static, str>,
    description: Cow<'static, str>,
    title: Option<String>,
    annotations: Option<ToolAnnotations>,
    input_schema: Option<JsonObject>,
    output_schema: Option<JsonObject>,
    timeout: Option<Duration>,
    file_strategy: Option<FileStrategy>,
    file_args: Vec<FileArgs>,
}

impl ToolSpec {
    /// A tool's name, 1–64 of `A-Za-z0-9_-`, and what it does.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            title: None,
            annotations: None,
            input_schema: None,
            output_schema: None,
            timeout: None,
            file_strategy: None,
            file_args: Vec::new(),
        }
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Hints: read-only, destructive, idempotent, open world.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// A schema written by hand in place of the one derived from the input type.
    pub fn input_schema(mut self, schema: JsonObject) -> Self {
        self.input_schema = Some(schema);
        self
    }

    /// A schema of the answers in place of the one derived from the output type.
    pub fn output_schema(mut self, schema: JsonObject) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// A time-out of the tool's own in place of the server's.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The form in which the tool takes files; callers of a gateway then name files by id.
    pub fn file_strategy(mut self, strategy: FileStrategy) -> Self {
        self.file_strategy = Some(strategy);
        self
    }

    /// The names of the arguments for one more file, where the usual ones do not fit.
    pub fn file_args(mut self, args: FileArgs) -> Self {
        self.file_args.push(args);
        self
    }

    /// The file strategy as `_meta` of the listing.
    fn meta(&self) -> Result<Option<MetaObject>, BuildError> {
        let Some(strategy) = self.file_strategy else {
            return if self.file_args.is_empty() {
                Ok(None)
            } else {
                Err(BuildError::FileArgs(self.name.to_string()))
            };
        };
        let mut meta = MetaObject::new();
        meta.0.insert(FILE_STRATEGY_META.to_owned(), json!(strategy));
        if !self.file_args.is_empty() {
            meta.0.insert(FILE_ARGS_META.to_owned(), json!(self.file_args));
        }
        Ok(Some(meta))
    }
}

pub(crate) type CallFuture = Pin<Box<dyn Future<Output = Result<CallToolResponse, Fault>> + Send>>;
type Handler = Arc<dyn Fn(JsonObject, Ctx) -> CallFuture + Send + Sync>;

/// A tool ready to be called.
pub(crate) struct RegisteredTool {
    pub(crate) listing: Tool,
    pub(crate) timeout: Option<Duration>,
    arguments: Validator,
    handler: Handler,
}

impl RegisteredTool {
    pub(crate) fn new<I, O, F, Fut>(spec: ToolSpec, handler: F) -> Result<Self, BuildError>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Answer,
        F: Fn(I, Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, Fault>> + Send + 'static,
    {
        if !is_tool_name(&spec.name) {
            return Err(BuildError::ToolName(spec.name.into_owned()));
        }
        let meta = spec.meta()?;
        let input_schema = match spec.input_schema {
            Some(schema) => Arc::new(schema),
            None => schema_for_input::<I>()
                .map_err(|reason| BuildError::Schema { tool: spec.name.to_string(), reason })?,
        };
        let arguments = jsonschema::draft202012::new(&Value::Object(input_schema.as_ref().clone()))
            .map_err(|error| BuildError::Schema {
                tool: spec.name.to_string(),
                reason: error.to_string(),
            })?;
        let mut listing = Tool::new(spec.name, spec.description, input_schema);
        listing.title = spec.title;
        listing.annotations = spec.annotations;
        listing.meta = meta;
        let output_schema = spec.output_schema.map(Arc::new).or_else(O::output_schema);
        listing.output_schema = object_schema(&listing.name, output_schema)?;

        let handler = Arc::new(handler);
        let erased: Handler = Arc::new(move |arguments, ctx| {
            let handler = Arc::clone(&handler);
            Box::pin(async move {
                let input = serde_json::from_value(Value::Object(arguments))
                    .map_err(|error| Fault::invalid_input(error.to_string()))?;
                handler(input, ctx).await?.into_response()
            })
        });
        Ok(Self { listing, timeout: spec.timeout, arguments, handler: erased })
    }

    /// Checks the arguments against the listed schema, and starts the handler.
    pub(crate) fn start(&self, arguments: JsonObject, ctx: Ctx) -> Result<CallFuture, Fault> {
        let arguments = Value::Object(arguments);
        if !self.arguments.is_valid(&arguments) {
            return Err(refusal(self.breaches(&arguments)));
        }
        let Value::Object(arguments) = arguments else { unreachable!("an object was put in") };
        Ok((self.handler)(arguments, ctx))
    }

    /// What is wrong with arguments, by path.
    fn breaches(&self, arguments: &Value) -> Vec<(String, String)> {
        let breach = |error: &jsonschema::ValidationError<'_>| {
            let path = error.instance_path().as_str().trim_start_matches('/');
            (format!("/{}", cut(path.to_owned())), shown(error))
        };
        let mut left = MAX_VALUES;
        if has_more_values(arguments, &mut left) {
            return self.arguments.validate(arguments).err().iter().map(breach).collect();
        }
        let errors = self.arguments.iter_errors(arguments).take(MAX_BREACHES);
        errors.map(|error| breach(&error)).collect()
    }
}

/// Whether a value has more values in it than are left, which it counts down.
fn has_more_values(value: &Value, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return true };
    *left = fewer;
    match value {
        Value::Array(items) => items.iter().any(|item| has_more_values(item, left)),
        Value::Object(members) => members.values().any(|member| has_more_values(member, left)),
        _ => false,
    }
}

/// A breach as the caller reads it. A long value is not repeated: messages are logged, and it is the caller's text.
fn shown(error: &jsonschema::ValidationError<'_>) -> String {
    let message = error.to_string();
    // Signed URLs are secrets.
    if message.len() > MAX_BREACH || message.contains("://") {
        // It still has the names of properties, which are the caller's text, too.
        cut(error.masked().to_string())
    } else {
        message
    }
}

/// The beginning of a long text.
fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_BREACH) {
        text.truncate(end);
        text.push('…');
    }
    text
}

fn refusal(breaches: Vec<(String, String)>) -> Fault {
    let lines: Vec<String> =
        breaches.iter().map(|(path, reason)| format!("{path}: {reason}")).collect();
    let details: Vec<Value> = breaches
        .into_iter()
        .map(|(path, reason)| json!({ "path": path, "reason": reason }))
        .collect();
    Fault::invalid_input(lines.join("\n")).details(json!({ "errors": details }))
}

/// Legacy revisions know structured answers as objects only.
fn object_schema(
    tool: &str,
    schema: Option<Arc<JsonObject>>,
) -> Result<Option<Arc<JsonObject>>, BuildError> {
    match schema {
        Some(schema) if schema.get("type").and_then(Value::as_str) != Some("object") => {
            Err(BuildError::Schema {
                tool: tool.to_owned(),
                reason: "structured answers are objects: wrap the value in a struct".to_owned(),
            })
        }
        other => Ok(other),
    }
}

/// Whether every client and model API accepts the name.
fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
