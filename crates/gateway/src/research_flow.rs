//! Sets up the research flow.

use std::sync::{Arc, Mutex, PoisonError};

use config::Config;
use corpus::Collections;
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
    /// Whether `knowledge:research_domain` was published.
    pub(super) knowledge: Mutex<Option<bool>>,
}

impl ResearchFlow {
    /// Follows the config. A server `knowledge` has the name of the tool that forwards to ours.
    pub(super) fn apply(&self, config: &Config) {
        let limits = collection_files::settings(config);
        self.collections.apply(limits, config.embeddings.path.clone());
        let knowledge = !config.servers.contains_key(flow::KNOWLEDGE_SERVER);
        let mut published = self.knowledge.lock().unwrap_or_else(PoisonError::into_inner);
        if *published == Some(knowledge) {
            return;
        }
        *published = Some(knowledge);
        let web_tools = Arc::clone(&self.web_tools);
        let tools = flow::tools(flow::Parts {
            strip: &self.strip,
            workflows: self.workflows.clone(),
            readers: self.readers.clone(),
            research: Arc::new(move || web_tools.research().map(|research| (*research).clone())),
            collections: Arc::clone(&self.collections),
            knowledge,
        });
        self.strip.catalog().publish_replaceable(flow::SOURCE, tools);
    }
}
