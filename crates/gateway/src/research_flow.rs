//! Sets up the research flow.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwapOption;
use config::Config;
use corpus::Collections;
use llm::Model;
use reading::Readers;
use strip::Strip;
use webtools::WebTools;
use workflow::Workflows;

use super::collection_files;

/// Publishes the tools of the flow, which those of any other source may replace.
pub(super) struct ResearchFlow {
    pub(super) strip: Arc<Strip>,
    pub(super) workflows: Workflows,
    pub(super) collections: Arc<Collections>,
    pub(super) web_tools: Arc<WebTools>,
    pub(super) readers: Readers,
    /// The language model of this moment.
    pub(super) model: Arc<ArcSwapOption<Model>>,
    /// Whether tools were published, and of which kind.
    pub(super) published: Mutex<Option<Kind>>,
}

/// What published tools depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// Whether `knowledge:research_domain` is among them.
    knowledge: bool,
    /// Whether they ask a language model, and so are not deterministic.
    model: bool,
}

impl ResearchFlow {
    /// Follows the config. A server `knowledge` has the name of the tool that forwards to ours.
    pub(super) fn apply(&self, config: &Config, model: Option<Model>) {
        self.collections.use_model(model.clone());
        let limits = collection_files::settings(config);
        self.collections.apply(limits, config.embeddings.path.clone());
        let knowledge = !config.servers.contains_key(flow::KNOWLEDGE_SERVER);
        let kind = Kind { knowledge, model: model.is_some() };
        self.model.store(model.map(Arc::new));
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        if *published == Some(kind) {
            return;
        }
        *published = Some(kind);
        let (web_tools, model) = (Arc::clone(&self.web_tools), Arc::clone(&self.model));
        let tools = flow::tools(flow::Parts {
            strip: &self.strip,
            workflows: self.workflows.clone(),
            readers: self.readers.clone(),
            research: Arc::new(move || web_tools.research().map(|research| (*research).clone())),
            collections: Arc::clone(&self.collections),
            model: Arc::new(move || model.load().as_deref().cloned()),
            knowledge,
        });
        self.strip.catalog().publish_replaceable(flow::SOURCE, tools);
    }
}
