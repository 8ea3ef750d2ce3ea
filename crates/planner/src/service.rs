//! The planner of a gateway: plans with the tools that a caller can see, and learns from complete workflows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use builtin::finder::{Finder, Searcher};
use dag::Proposal;
use dag::plan::Plan;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm::Model;
use proto::{Blame, Clock, Code, Failure, Principal};
use serde_json::{Value, json};
use store::{Database, PlanEdgeRow};
use strip::Strip;
use strip::catalog::Entry;
use workflow::{CatalogTools, PlanRequest, Planner, PresentTask};

use crate::draft::{Earlier, Intent, NothingFits};
use crate::edges::{EdgeKey, LearnedEdges, decayed};
use crate::given;
use crate::graph::Toolbox;
use crate::learn::edges_of;
use crate::model::ModelSource;
use crate::render::proposal;
use crate::repair::repair;
use crate::tool::ToolSpec;

/// The most edges that are kept for one tenant.
const MAX_EDGES: u64 = 10_000;

/// Edges are stored in thousandths of an observation.
const OBSERVATION: f64 = 1_000.0;

/// Which planner is asked before the plain one.
#[derive(Clone, Default)]
pub enum PlanBy {
    /// Nothing: words and schemas plan, and nothing leaves the machine.
    #[default]
    Plain,
    Model(Model),
    /// The model of the caller's own client.
    Client,
}

/// Plans, with a model if there is one.
pub struct PlanService {
    finder: Arc<Finder>,
    strip: Arc<Strip>,
    by: ArcSwap<PlanBy>,
    database: Database,
    clock: Clock,
    /// The graph of the tools that were searched last.
    graph: Mutex<Option<(Searcher, Arc<Toolbox>)>>,
    /// Held while edges are counted, so that no observation is lost.
    learning: tokio::sync::Mutex<()>,
}

impl PlanService {
    /// A planner of the tools that the finder knows.
    pub fn new(
        finder: Arc<Finder>,
        strip: &Arc<Strip>,
        database: &Database,
        clock: &Clock,
    ) -> Self {
        Self {
            finder,
            strip: Arc::clone(strip),
            by: ArcSwap::default(),
            database: database.clone(),
            clock: clock.clone(),
            graph: Mutex::default(),
            learning: Default::default(),
        }
    }

    /// Lets a model plan from now on; where it fails, the plain plan is used.
    pub fn plan_by(&self, by: PlanBy) {
        self.by.store(Arc::new(by));
    }

    /// The plan of a model. Without one, what to tell the caller about it.
    async fn by_model(
        &self,
        principal: &Arc<Principal>,
        request: &PlanRequest,
        searcher: &Searcher,
    ) -> Result<Proposal, Option<String>> {
        let asked = match (&**self.by.load(), &request.client) {
            (PlanBy::Plain, _) => return Err(None),
            (PlanBy::Model(model), _) => ModelSource::Configured(model.clone()),
            (PlanBy::Client, Some(client)) => ModelSource::Client(Arc::clone(client)),
            (PlanBy::Client, None) => {
                return Err(Some("The caller's client offers no model.".to_owned()));
            }
        };
        asked.plan(&self.strip, principal, request, searcher).await.map_err(|refused| {
            tracing::warn!(%refused, "the model's plan is not used");
            Some(format!("The model's plan is not used, because {refused}."))
        })
    }

    fn toolbox(&self, searcher: &Searcher) -> Arc<Toolbox> {
        let mut graph = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, toolbox)) = &*graph
            && before.has_tools_of(searcher)
        {
            return Arc::clone(toolbox);
        }
        let toolbox =
            Arc::new(Toolbox::new(searcher.entries().iter().map(|entry| spec(entry)).collect()));
        *graph = Some((searcher.clone(), Arc::clone(&toolbox)));
        toolbox
    }

    async fn learned(&self, tenant: &str) -> Result<LearnedEdges, Failure> {
        let rows = self.database.plan_edges(tenant).await.map_err(|error| {
            let message = "what the planner has learned cannot be read at present; try again";
            let failure = Failure::new(Code::Unavailable, message).retryable(true);
            failure.blame(Blame::Gateway).caused_by(error)
        })?;
        let now = self.clock.unix_ms();
        let mut learned = LearnedEdges::default();
        for row in rows {
            let weight = decayed(row.count as f64 / OBSERVATION, row.last_unix_ms, now);
            learned.insert(key(&row), weight);
        }
        Ok(learned)
    }
}

#[async_trait]
impl Planner for PlanService {
    async fn plan(
        &self,
        principal: &Arc<Principal>,
        request: PlanRequest,
    ) -> Result<Proposal, Failure> {
        let searcher = self.finder.searcher(principal).await?;
        let learned = self.learned(principal.tenant.as_str()).await?;
        let today = i64::try_from(self.clock.unix_ms()).unwrap_or_default();
        let today = Timestamp::from_millisecond(today).unwrap_or_default();
        let today = today.to_zoned(TimeZone::UTC).date();
        let plan = || {
            let toolbox = self.toolbox(&searcher);
            let earlier: Vec<Earlier> =
                request.present().iter().map(|task| earlier(task, &searcher)).collect();
            let intent = Intent {
                text: &request.intent,
                context: &request.context,
                earlier: &earlier,
                learned: &learned,
                visible: &|tool| searcher.sees(tool),
                today,
            };
            toolbox.draft(&intent, &|text, limit| searcher.find(text, limit))
        };
        let warning = match self.by_model(principal, &request, &searcher).await {
            Ok(mut proposal) => {
                given::check(&mut proposal, &request.intent, today);
                return Ok(proposal);
            }
            Err(warning) => warning,
        };
        match strip::run_blocking(usize::MAX, plan) {
            Ok(draft) => {
                let mut proposal = proposal(&draft, searcher.entries());
                let tools = CatalogTools::of(&self.strip, principal);
                strip::run_blocking(usize::MAX, || {
                    repair(&mut proposal, &request, &tools, searcher.entries());
                });
                proposal.reasons.extend(warning);
                Ok(proposal)
            }
            Err(nothing) => Err(nothing_fits(&nothing)),
        }
    }

    async fn learn(&self, tenant: &str, plan: &Plan) {
        let edges = edges_of(plan);
        if edges.is_empty() {
            return;
        }
        let _one = self.learning.lock().await;
        if let Err(error) = self.count(tenant, edges).await {
            tracing::warn!(%error, "the planner could not learn from a workflow");
        }
    }
}

impl PlanService {
    async fn count(&self, tenant: &str, edges: Vec<EdgeKey>) -> Result<(), store::StoreError> {
        let now = self.clock.unix_ms();
        let rows = self.database.plan_edges(tenant).await?;
        let known: BTreeMap<EdgeKey, &PlanEdgeRow> =
            rows.iter().map(|row| (key(row), row)).collect();
        let counted: Vec<PlanEdgeRow> = edges
            .into_iter()
            .map(|edge| {
                let before = known
                    .get(&edge)
                    .map_or(0.0, |row| decayed(row.count as f64, row.last_unix_ms, now));
                PlanEdgeRow {
                    count: (before + OBSERVATION).round() as u64,
                    last_unix_ms: now,
                    from_tool: edge.from_tool,
                    from_field: edge.from_field,
                    to_tool: edge.to_tool,
                    to_argument: edge.to_argument,
                }
            })
            .collect();
        self.database.save_plan_edges(tenant, &counted, MAX_EDGES).await
    }
}

fn key(row: &PlanEdgeRow) -> EdgeKey {
    EdgeKey {
        from_tool: row.from_tool.clone(),
        from_field: row.from_field.clone(),
        to_tool: row.to_tool.clone(),
        to_argument: row.to_argument.clone(),
    }
}

fn spec(entry: &Entry) -> ToolSpec {
    let descriptor = &entry.descriptor;
    let mut spec = ToolSpec::new(
        descriptor.id.as_str(),
        descriptor.title.as_deref().unwrap_or_default(),
        &descriptor.description,
        &descriptor.input_schema,
        descriptor.output_schema.as_ref(),
    );
    if descriptor.output_schema.is_none() && entry.server().is_some() {
        spec.returns_text();
    }
    spec
}

/// A task that is there already, with what is known of its output.
fn earlier(task: &PresentTask, searcher: &Searcher) -> Earlier {
    let tool = task.tool.as_deref().unwrap_or_default();
    let tool = tool.split_once('@').map_or(tool, |(id, _)| id);
    let entry = searcher.entries().iter().find(|entry| entry.descriptor.id.as_str() == tool);
    let spec = match (entry, &task.output) {
        (Some(entry), _) if entry.descriptor.output_schema.is_some() => spec(entry),
        (_, Some(output)) => {
            let none = Value::Null;
            ToolSpec::new(tool, "", "", &none, Some(&schema_of(output)))
        }
        (Some(entry), None) => spec(entry),
        (None, None) => ToolSpec::new(tool, "", "", &Value::Null, None),
    };
    Earlier { id: task.id.clone(), tool: spec, is_list: task.is_list }
}

/// The fields of a value as a schema.
pub(crate) fn schema_of(value: &Value) -> Value {
    let kind = match value {
        Value::Null => return json!({}),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(items) => {
            return json!({"type": "array", "items": items.first().map_or(json!({}), schema_of)});
        }
        Value::Object(fields) => {
            let properties: serde_json::Map<String, Value> = fields
                .iter()
                .take(64)
                .map(|(name, field)| (name.clone(), schema_of(field)))
                .collect();
            return json!({"type": "object", "properties": properties});
        }
    };
    json!({"type": kind})
}

fn nothing_fits(nothing: &NothingFits) -> Failure {
    let message = if nothing.forbids {
        "no tool fits this intent: what it forbids is not planned, and it asks for nothing else"
            .to_owned()
    } else if nothing.nearest.is_empty() {
        "no tool fits this intent: name what should be done, or give the tasks themselves"
            .to_owned()
    } else {
        let names: Vec<String> = nothing.nearest.iter().map(|name| format!("`{name}`")).collect();
        format!("no tool fits this intent; the nearest are {}", names.join(", "))
    };
    Failure::new(Code::InvalidInput, message).details(json!({"nearest": nothing.nearest}))
}
