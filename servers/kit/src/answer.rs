//! What a tool's handler may return.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, ResourceContents};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};

use crate::Fault;

/// The answer of a tool: any serialisable type with a schema, [`Blocks`], or [`Raw`].
pub trait Answer: Send + 'static {
    /// The schema that the tool lists for its answers, if they are structured.
    fn output_schema() -> Option<Arc<JsonObject>>;

    /// The answer on the wire.
    fn into_response(self) -> Result<CallToolResponse, Fault>;
}

impl<T: Serialize + JsonSchema + Send + 'static> Answer for T {
    fn output_schema() -> Option<Arc<JsonObject>> {
        Some(schema_of_answers::<T>())
    }

    fn into_response(self) -> Result<CallToolResponse, Fault> {
        let value = serde_json::to_value(self)
            .map_err(|error| Fault::internal(format!("the answer is not JSON: {error}")))?;
        Ok(CallToolResult::structured(value).into())
    }
}

/// The schema of what a type is written as: a field that may be skipped is not required.
pub(crate) fn schema_of_answers<T: JsonSchema>() -> Arc<JsonObject> {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    // The type's name and comment say nothing to a model.
    schema.remove("title");
    schema.remove("description");
    Arc::new(schema.ensure_object().clone())
}

/// Content blocks, for answers that a person or a model looks at.
#[derive(Debug, Default)]
pub struct Blocks(Vec<ContentBlock>);

impl Blocks {
    /// An answer without content yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(ContentBlock::text(text));
        self
    }

    /// Adds a picture.
    pub fn image(mut self, bytes: &[u8], mime_type: &str) -> Self {
        self.0.push(ContentBlock::image(STANDARD.encode(bytes), mime_type));
        self
    }

    /// Adds sound.
    pub fn audio(mut self, bytes: &[u8], mime_type: &str) -> Self {
        self.0.push(ContentBlock::audio(STANDARD.encode(bytes), mime_type));
        self
    }

    /// Adds a text document.
    pub fn document(mut self, uri: &str, mime_type: &str, text: impl Into<String>) -> Self {
        self.0.push(ContentBlock::resource(
            ResourceContents::text(text, uri).with_mime_type(mime_type),
        ));
        self
    }

    /// Adds a binary file.
    pub fn file(mut self, uri: &str, mime_type: &str, bytes: &[u8]) -> Self {
        let contents =
            ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(mime_type);
        self.0.push(ContentBlock::resource(contents));
        self
    }
}

impl Blocks {
    /// The blocks as a result, to which more can be added by hand.
    pub fn into_result(self) -> CallToolResult {
        CallToolResult::success(self.0)
    }
}

impl Answer for Blocks {
    fn output_schema() -> Option<Arc<JsonObject>> {
        None
    }

    fn into_response(self) -> Result<CallToolResponse, Fault> {
        Ok(self.into_result().into())
    }
}

/// Any answer that the protocol knows: a question to the person, a task, a result built by hand.
#[derive(Debug)]
pub struct Raw(CallToolResponse);

impl Raw {
    /// Takes a `CallToolResult`, an `InputRequiredResult` or a `CreateTaskResult`.
    pub fn new(response: impl Into<CallToolResponse>) -> Self {
        Self(response.into())
    }
}

impl From<Blocks> for Raw {
    fn from(blocks: Blocks) -> Self {
        Self::new(blocks.into_result())
    }
}

impl Answer for Raw {
    fn output_schema() -> Option<Arc<JsonObject>> {
        None
    }

    fn into_response(self) -> Result<CallToolResponse, Fault> {
        Ok(self.0)
    }
}

/// The input of a tool that takes no arguments.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub struct NoInput {}

#[cfg(test)]
mod tests;
