//! Tools from typed functions: descriptor, input and output come from Rust types.

use std::sync::Arc;

use async_trait::async_trait;
use files::Reference;
use proto::{Annotations, Caps, Code, Descriptor, Failure, RequestedLimits};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use semver::Version;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool::{EmptyTexts, Part};
use crate::{Job, Output, Reply, Tool};

/// What a tool's types do not say.
#[derive(Clone, Debug)]
pub struct About {
    pub id: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Whether equal inputs have equal outputs.
    pub deterministic: bool,
    pub read_only: bool,
    /// Whether repeating a call has no further effect.
    pub idempotent: bool,
    /// Whether it reaches beyond this gateway, such as the web.
    pub open_world: bool,
    pub limits: RequestedLimits,
}

impl About {
    /// A tool that only reads.
    pub fn reader(id: &'static str, title: &'static str, description: &'static str) -> Self {
        Self {
            id,
            title,
            description,
            deterministic: false,
            read_only: true,
            idempotent: false,
            open_world: false,
            limits: RequestedLimits::default(),
        }
    }

    /// A tool whose equal inputs have equal outputs.
    pub fn deterministic(self) -> Self {
        Self { deterministic: true, idempotent: true, ..self }
    }

    /// The descriptor of a tool with these types.
    pub fn descriptor<I: JsonSchema, O: JsonSchema>(self) -> Descriptor {
        Descriptor { output_schema: Some(schema_of::<O>(false)), ..self.without_output::<I>() }
    }

    /// The descriptor of a tool whose output has no schema.
    pub fn without_output<I: JsonSchema>(self) -> Descriptor {
        Descriptor {
            unprefixed: false,
            id: self.id.parse().expect("ids of built-in tools are well formed"),
            version: Version::new(1, 0, 0),
            title: Some(self.title.to_owned()),
            description: self.description.to_owned(),
            input_schema: schema_of::<I>(true),
            output_schema: None,
            deterministic: self.deterministic,
            limits: self.limits,
            caps: Caps::default(),
            files: None,
            annotations: Annotations {
                title: None,
                read_only_hint: Some(self.read_only),
                destructive_hint: Some(false),
                idempotent_hint: Some(self.idempotent),
                open_world_hint: Some(self.open_world),
            },
            implementation: None,
            meta: None,
            extra: serde_json::Map::new(),
        }
    }
}

/// A tool whose input and output are Rust types. [`typed`] makes a [`Tool`] of it.
#[async_trait]
pub trait TypedTool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema;

    fn about(&self) -> About;

    /// What the tool is to a run.
    fn part(&self) -> Part {
        Part::Data
    }

    /// Whether it asks people questions of its run; see [`Tool::asks_people`].
    fn asks_people(&self) -> bool {
        false
    }

    /// Whether a caller's key names what it has started; see [`Tool::owns_keys`].
    fn owns_keys(&self) -> bool {
        self.part() == Part::Workflow
    }

    /// Whether it finds what a call with the same key has done; see [`Tool::repeats_calls`].
    fn repeats_calls(&self) -> bool {
        self.part() == Part::Workflow
    }

    /// The optional properties in which an empty text means something; in others it counts as absent.
    fn keeps_empty(&self) -> &'static [&'static str] {
        &[]
    }

    /// The failed result as MCP doors show it; see [`Tool::native_failure`].
    fn native_failure(&self, _failure: &Failure) -> Option<Value> {
        None
    }

    async fn run(
        &self,
        input: Self::Input,
        job: &Job,
    ) -> Result<TypedOutput<Self::Output>, Failure>;
}

/// The output of a typed tool.
#[derive(Clone, Debug)]
pub struct TypedOutput<T> {
    pub data: T,
    pub reply: Reply,
    /// The result for MCP doors if it is not made from the data.
    pub native: Option<Arc<Value>>,
    /// Files that MCP doors link to.
    pub references: Vec<Reference>,
}

impl<T> From<T> for TypedOutput<T> {
    fn from(data: T) -> Self {
        Self { data, reply: Reply::Done, native: None, references: Vec::new() }
    }
}

/// Makes a tool of a typed one.
pub fn typed<T: TypedTool>(tool: T) -> Arc<dyn Tool> {
    let descriptor = tool.about().descriptor::<T::Input, T::Output>();
    Arc::new(Typed { descriptor, tool })
}

struct Typed<T> {
    descriptor: Descriptor,
    tool: T,
}

#[async_trait]
impl<T: TypedTool> Tool for Typed<T> {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn part(&self) -> Part {
        self.tool.part()
    }

    fn asks_people(&self) -> bool {
        self.tool.asks_people()
    }

    fn owns_keys(&self) -> bool {
        self.tool.owns_keys()
    }

    fn repeats_calls(&self) -> bool {
        self.tool.repeats_calls()
    }

    fn empty_texts(&self) -> EmptyTexts {
        EmptyTexts::Drop { except: self.tool.keeps_empty() }
    }

    fn native_failure(&self, failure: &Failure) -> Option<Value> {
        self.tool.native_failure(failure)
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let input = serde::Deserialize::deserialize(&*job.input).map_err(|error| {
            Failure::new(Code::InvalidInput, format!("the input does not fit the tool: {error}"))
        })?;
        let TypedOutput { data, reply, native, references } = self.tool.run(input, job).await?;
        let data = serde_json::to_value(data).map_err(|error| {
            Failure::new(Code::Internal, "the output is not JSON").caused_by(error)
        })?;
        Ok(Output { reply, native, references, ..Output::new(data) })
    }
}

/// The schema of a type as clients see it, without Rust's names and number formats; `input` if optional fields are left
/// out and never null.
pub fn schema_of<T: JsonSchema>(input: bool) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema, input);
    schema
}

fn tidy(schema: &mut Value, input: bool) {
    let Value::Object(keywords) = schema else { return };
    keywords.remove("title");
    if keywords.get("additionalProperties") == Some(&Value::Bool(true)) {
        keywords.remove("additionalProperties");
    }
    let number = |format: &Value| {
        let format = format.as_str().unwrap_or_default();
        ["int", "uint", "float", "double"].iter().any(|prefix| format.starts_with(prefix))
    };
    if keywords.get("format").is_some_and(number) {
        keywords.remove("format");
    }
    let required = keywords.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        required.as_array().is_some_and(|names| names.iter().any(|known| known == name))
    };
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            tidy(property, input);
            if input && !is_required(name) {
                remove_null(property);
            }
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = keywords.get_mut(key) {
            tidy(inner, input);
        }
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(Value::Array(forms)) = keywords.get_mut(key) {
            forms.iter_mut().for_each(|form| tidy(form, input));
        }
    }
}

/// An optional argument is left out, not `null`.
fn remove_null(property: &mut Value) {
    let Value::Object(keywords) = property else { return };
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            keywords.insert("type".to_owned(), only);
        }
    }
    if keywords.get("default") == Some(&Value::Null) {
        keywords.remove("default");
    }
}

#[cfg(test)]
mod tests;
