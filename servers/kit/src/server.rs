//! The description of a capability server.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{GetPromptResponse, Prompt, Resource, ResourceContents, ResourceTemplate};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::capability::Parts;
use crate::kept::Pantry;
use crate::prompt::RegisteredPrompt;
use crate::resource::{self, RegisteredTemplate};
use crate::tool::RegisteredTool;
use crate::{Answer, Capability, Ctx, Fault, Keeping, Limits, Locator, PromptArguments, ToolSpec};

/// Why a server's description cannot be served: a mistake of its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("`{0}` is no tool name: use 1 to 64 of A-Z a-z 0-9 _ -")]
    ToolName(String),
    #[error("the schema of tool `{tool}` cannot be used: {reason}")]
    Schema { tool: String, reason: String },
    #[error("tool `{0}` has `file_args` and no `file_strategy` that they could belong to")]
    FileArgs(String),
    #[error("`{0}` is no URI template with named variables")]
    UriTemplate(String),
    #[error("{kind} `{name}` is described twice")]
    Twice { kind: &'static str, name: String },
}

/// A capability server under construction: its name, its tools, and what else it offers.
pub struct Server {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    parts: Parts,
    faults: Vec<BuildError>,
}

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, parts: Parts::default(), faults: Vec::new() }
    }

    /// What a model should know before it uses the server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.parts.instructions = Some(text.into());
        self
    }

    /// The bounds of each call, where the defaults do not fit; flags beat them.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.parts.limits = limits;
        self
    }

    pub(crate) fn current_limits(&self) -> Limits {
        self.parts.limits
    }

    /// Adds a tool; its input schema comes from `I`, its output schema from `O`.
    pub fn tool<I, O, F, Fut>(mut self, spec: ToolSpec, handler: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Answer,
        F: Fn(I, Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, Fault>> + Send + 'static,
    {
        match RegisteredTool::new(spec, handler) {
            Ok(tool) => self.parts.tools.push(tool),
            Err(fault) => self.faults.push(fault),
        }
        self
    }

    /// Lets handlers keep bytes under references of the server's own ([`Ctx::keep`]), within these bounds.
    pub fn keeps(mut self, keeping: Keeping) -> Self {
        self.parts.pantry = Some(Arc::new(Pantry::new(self.name, keeping)));
        self
    }

    /// Adds a prompt; the handler sees only arguments that are strings, the required ones among them.
    pub fn prompt<R, F, Fut>(mut self, prompt: Prompt, handler: F) -> Self
    where
        R: Into<GetPromptResponse>,
        F: Fn(PromptArguments, Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Fault>> + Send + 'static,
    {
        self.parts.prompts.push(RegisteredPrompt::new(prompt, handler));
        self
    }

    /// Adds a resource at a fixed address.
    pub fn resource<F, Fut>(mut self, resource: Resource, handler: F) -> Self
    where
        F: Fn(Locator, Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ResourceContents, Fault>> + Send + 'static,
    {
        self.parts.resources.push((resource, resource::reader(handler)));
        self
    }

    /// Adds a family of resources; a fixed address wins over a template that fits it too.
    pub fn resource_template<F, Fut>(mut self, template: ResourceTemplate, handler: F) -> Self
    where
        F: Fn(Locator, Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ResourceContents, Fault>> + Send + 'static,
    {
        match RegisteredTemplate::new(template, resource::reader(handler)) {
            Ok(template) => self.parts.templates.push(template),
            Err(fault) => self.faults.push(fault),
        }
        self
    }

    /// Checks the description and makes it servable.
    pub fn build(self) -> Result<Capability, BuildError> {
        if let Some(fault) = self.faults.into_iter().next() {
            return Err(fault);
        }
        once("tool", self.parts.tools.iter().map(|tool| tool.listing.name.as_ref()))?;
        once("prompt", self.parts.prompts.iter().map(|prompt| prompt.listing.name.as_str()))?;
        once("resource", self.parts.resources.iter().map(|(resource, _)| resource.uri.as_str()))?;
        Ok(Capability::new(self.name, self.version, Arc::new(self.parts)))
    }
}

fn once<'a>(kind: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), BuildError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::Twice { kind, name: name.to_owned() });
        }
    }
    Ok(())
}
