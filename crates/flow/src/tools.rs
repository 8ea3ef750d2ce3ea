//! All tools of the flow.

use std::sync::Arc;

use async_trait::async_trait;
use corpus::{CollectionName, Collections, Filter, Mode, Search};
use proto::Failure;
use reading::Readers;
use strip::typed::typed;
use strip::{Job, Strip, Tool};
use workflow::Workflows;

use crate::citations_tool::CheckCitations;
use crate::collection_tools;
use crate::compose::tool::Compose;
use crate::diff::tool::CompareMaps;
use crate::execute::Execute;
use crate::export::RenderDocument;
use crate::hitl;
use crate::knowledge::ResearchDomain;
use crate::load::{LoadDocument, Loader};
use crate::notes::tool::Summarize;
use crate::perspectives::tool::{PlanPerspectives, TopicChunks};
use crate::rerank::RerankResults;
use crate::search_tool::{CurrentResearch, QueryWeb};
use crate::writer::{CurrentModel, Writer};
use notes::Chunk;

/// The catalog's source of these tools. A toolpack of the same id replaces one of them.
pub const SOURCE: &str = "built-in research flow";

/// How many chunks of a caller's collections shape the plan.
const PLAN_CHUNKS: usize = 20;

/// What the tools work with.
pub struct Parts<'a> {
    pub strip: &'a Arc<Strip>,
    pub workflows: Workflows,
    pub readers: Readers,
    pub research: CurrentResearch,
    pub collections: Arc<Collections>,
    pub model: CurrentModel,
    /// Whether `knowledge:research_domain` is offered.
    pub knowledge: bool,
}

/// The tools, to be published under [`SOURCE`].
pub fn tools(parts: Parts<'_>) -> Vec<Arc<dyn Tool>> {
    let Parts { strip, workflows, readers, research, collections, model, knowledge } = parts;
    let asking = hitl::tools(strip.runs());
    let strip = Arc::downgrade(strip);
    let loader = Loader::new(Arc::clone(&research), readers, strip.clone());
    let chunks = Arc::new(BestChunks(Arc::clone(&collections)));
    let writer = Writer::new(model, strip.clone());
    let planning = PlanPerspectives { chunks, writer: writer.clone() };
    let mut tools = vec![
        typed(QueryWeb { research }),
        typed(LoadDocument { loader: loader.clone() }),
        typed(RerankResults),
        typed(CheckCitations { loader: loader.clone() }),
        Arc::new(RenderDocument::new(strip.clone())),
        collection_tools::reading(typed(planning), &collections),
        typed(Summarize { writer: writer.clone() }),
        typed(Compose { writer }),
        typed(CompareMaps { strip: strip.clone() }),
        typed(Execute::new(strip, workflows)),
    ];
    if knowledge {
        tools.push(Arc::new(ResearchDomain::default()));
    }
    tools.extend(collection_tools::tools(&collections, &loader));
    tools.extend(asking);
    tools
}

/// The chunks of a caller's collections that fit a topic.
struct BestChunks(Arc<Collections>);

#[async_trait]
impl TopicChunks for BestChunks {
    async fn best(
        &self,
        job: &Job,
        collections: &[String],
        topic: &str,
    ) -> Result<Vec<Chunk>, Failure> {
        let mut names = Vec::with_capacity(collections.len());
        for name in collections {
            let name: CollectionName = name.parse()?;
            name.check_readable(job.run.id())?;
            names.push(name);
        }
        let search = Search {
            query: topic.to_owned(),
            collections: names,
            limit: PLAN_CHUNKS,
            filter: Filter::default(),
            mode: Mode::default(),
        };
        let tenant = job.request().principal.tenant.as_str();
        let found = self.0.search(tenant, &search).await?.results.into_iter();
        Ok(found
            .map(|hit| Chunk {
                id: hit.id,
                text: hit.text,
                source: hit.source,
                score: Some(hit.score),
            })
            .collect())
    }
}
