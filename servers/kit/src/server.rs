//! The description of a capability server.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{GetPromptResponse, Prompt, Resource, ResourceContents, ResourceTemplate};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::capability::Parts;
use crate::fetch::{FetchOptions, Fetcher};
use crate::jobs::{JobCtx, JobResult, Jobs, Operations};
use crate::program::Program;
use crate::programs::Programs;
use crate::prompt::RegisteredPrompt;
use crate::resource::{self, RegisteredTemplate};
use crate::stored::ReferenceStore;
use crate::tool::RegisteredTool;
use crate::{
    Answer, BuildError, Capability, Ctx, Fault, Limits, Locator, PromptArguments, StorageLimits,
    ToolSpec,
};

/// A capability server under construction: its name, tools, prompts and resources.
pub struct Server {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    parts: Parts,
    storage: Option<StorageLimits>,
    folder: Option<PathBuf>,
    fetching: Option<FetchOptions>,
    gateway: Option<String>,
    operations: Option<Operations>,
    faults: Vec<BuildError>,
}

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: &'static str, version: &'static str) -> Self {
        let (parts, faults) = (Parts::default(), Vec::new());
        Self {
            name,
            version,
            parts,
            storage: None,
            folder: None,
            fetching: None,
            gateway: None,
            operations: None,
            faults,
        }
    }

    /// Instructions for models that use the server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.parts.instructions = Some(text.into());
        self
    }

    /// The limits of each call; flags override them.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.parts.limits = limits;
        self
    }

    pub(crate) fn current_limits(&self) -> Limits {
        self.parts.limits
    }

    pub(crate) fn programs(&self) -> Programs {
        Programs { list: self.parts.programs.clone(), base: Arc::clone(&self.parts.base) }
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

    /// Lets handlers store bytes under references ([`Ctx::store`]), within these limits.
    pub fn stores(mut self, limits: StorageLimits) -> Self {
        self.storage = Some(limits);
        self
    }

    /// Keeps what is stored in a folder, with the limits of folders; in memory without one.
    pub(crate) fn keep_in(mut self, folder: Option<PathBuf>) -> Self {
        self.folder = folder;
        self
    }

    /// Lets handlers and jobs download files ([`Ctx::fetch`]) under these rules.
    pub fn fetches(mut self, options: FetchOptions) -> Self {
        self.fetching = Some(options);
        self
    }

    /// The gateway of the server, from which downloads are allowed even if it is in a private network.
    pub(crate) fn gateway_at(mut self, url: Option<String>) -> Self {
        self.gateway = url;
        self
    }

    /// Runs jobs with this function, whose first argument is the name of the operation; see [`crate::jobs`].
    pub fn jobs<F, Fut>(mut self, run: F) -> Self
    where
        F: Fn(String, serde_json::Value, JobCtx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<JobResult, Fault>> + Send + 'static,
    {
        self.operations = Some(Operations::new(run));
        self
    }

    /// Names a program that the server uses, for health reports.
    pub fn program(mut self, program: &Program) -> Self {
        self.parts.programs.push(program.clone());
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

    /// Adds a resource template; a fixed address takes precedence over a matching template.
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

    /// Checks the description and builds the capability.
    pub fn build(mut self) -> Result<Capability, BuildError> {
        if let Some(options) = &self.fetching {
            let fetcher =
                Fetcher::new(options, self.gateway.as_deref()).map_err(BuildError::Flag)?;
            // The server is built once, so nothing is set yet.
            let _ = self.parts.base.fetcher.set(fetcher);
        }
        let folder = self.folder.clone();
        self.parts.references = match (self.storage, self.folder) {
            (Some(_), Some(folder)) => Some(open_folder(self.name, folder)?),
            (Some(limits), None) => Some(ReferenceStore::in_memory(self.name, limits)),
            (None, _) => None,
        };
        if let Some(operations) = self.operations {
            let references = self.parts.references.clone().ok_or(BuildError::JobsWithoutStorage)?;
            let base = Arc::clone(&self.parts.base);
            let jobs = Jobs::open(operations, references, base, folder.clone());
            self.parts.jobs = Some(jobs.map_err(|error| BuildError::Folder {
                folder: folder.unwrap_or_default().display().to_string(),
                reason: error.to_string(),
            })?);
        }
        if let Some(fault) = self.faults.into_iter().next() {
            return Err(fault);
        }
        check_unique("tool", self.parts.tools.iter().map(|tool| tool.listing.name.as_ref()))?;
        check_unique(
            "prompt",
            self.parts.prompts.iter().map(|prompt| prompt.listing.name.as_str()),
        )?;
        check_unique(
            "resource",
            self.parts.resources.iter().map(|(resource, _)| resource.uri.as_str()),
        )?;
        Ok(Capability::new(self.name, self.version, Arc::new(self.parts)))
    }
}

fn open_folder(name: &'static str, folder: PathBuf) -> Result<ReferenceStore, BuildError> {
    let shown = folder.display().to_string();
    ReferenceStore::in_folder(name, folder)
        .map_err(|error| BuildError::Folder { folder: shown, reason: error.to_string() })
}

fn check_unique<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), BuildError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::Duplicate { kind, name: name.to_owned() });
        }
    }
    Ok(())
}
