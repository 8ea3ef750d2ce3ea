//! Operations of the research flow. Each calls a tool through all guards, so that an operator's tool of the same id is used.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use ::operations::scope::TOOLS_CALL;
use ::operations::{Caller, IDEMPOTENCY_KEY, Operation, OperationError, Route, Table};
use proto::TraceId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use strip::{Door, Request, Strip};

use crate::graph::Graph;
use crate::outline::{Perspective, Question};
use crate::perspectives::tool::PlanInput;
use crate::search_tool;

/// The largest body of these routes, as for the tools.
const MAX_BYTES: usize = 1 << 20;

const SEARCH: &str = "web.search.query";
const PLAN: &str = "planner.multi_perspective";
const EXECUTE: &str = "research.execute";

/// What the operations work on.
pub struct FlowService {
    pub strip: Arc<Strip>,
}

impl FlowService {
    /// Calls a tool for the caller of an operation.
    async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        input: Map<String, Value>,
    ) -> Result<Value, OperationError> {
        let door = if caller.trace.is_some() { Door::Http } else { Door::Cli };
        let principal = Arc::clone(&caller.principal);
        let mut request = Request::new(tool, Value::Object(input), principal, door);
        request.trace = caller.trace.unwrap_or_else(TraceId::random);
        request.idempotency_key.clone_from(&caller.idempotency_key);
        let answer = self.strip.call(request).await;
        answer.result.map(Arc::unwrap_or_clone).map_err(OperationError::of_call)
    }
}

/// The operations of the research flow.
pub fn table(service: &Arc<FlowService>) -> Table {
    Table::default()
        .with::<SearchWeb>(service)
        .with::<PlanQuestions>(service)
        .with::<StartResearch>(service)
        .with::<DiffResearch>(service)
}

/// What a tool takes. The tool reads it, so that all faults are reported alike.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent, bound = "")]
pub struct ToolInput<I> {
    pub fields: Map<String, Value>,
    #[serde(skip)]
    of: PhantomData<fn() -> I>,
}

impl<I> From<Map<String, Value>> for ToolInput<I> {
    fn from(fields: Map<String, Value>) -> Self {
        Self { fields, of: PhantomData }
    }
}

impl<I: JsonSchema> JsonSchema for ToolInput<I> {
    fn schema_name() -> Cow<'static, str> {
        I::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        I::json_schema(generator)
    }
}

pub struct SearchWeb;

impl Operation for SearchWeb {
    const NAME: &'static str = "powerstrip.research.search";
    const SUMMARY: &'static str = "Search the web, as `web.search.query`";
    const ROUTE: Option<Route> = Some(
        Route::post("/v1/search", TOOLS_CALL, "gateway.searchWeb").enveloped().calling(SEARCH),
    );
    type Service = FlowService;
    type Input = ToolInput<search_tool::Input>;
    type Output = Value;

    async fn run(
        service: Arc<FlowService>,
        caller: Caller,
        input: ToolInput<search_tool::Input>,
    ) -> Result<Value, OperationError> {
        service.call(&caller, SEARCH, input.fields).await
    }
}

/// The questions about a topic.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResearchPlan {
    // Values, because an operator's tool may answer with more.
    #[schemars(with = "Vec<Question>")]
    pub questions: Value,
    #[schemars(with = "Vec<Perspective>")]
    pub perspectives: Value,
    #[schemars(with = "Graph")]
    pub graph: Value,
}

pub struct PlanQuestions;

impl Operation for PlanQuestions {
    const NAME: &'static str = "powerstrip.research.plan";
    const SUMMARY: &'static str =
        "Plan the questions about a topic, as `planner.multi_perspective`";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/plan", TOOLS_CALL, "gateway.planResearch").enveloped().calling(PLAN));
    type Service = FlowService;
    type Input = ToolInput<PlanInput>;
    type Output = ResearchPlan;

    async fn run(
        service: Arc<FlowService>,
        caller: Caller,
        input: ToolInput<PlanInput>,
    ) -> Result<ResearchPlan, OperationError> {
        let mut plan = service.call(&caller, PLAN, input.fields).await?;
        let mut take = |field: &str| plan.get_mut(field).map(Value::take).unwrap_or_default();
        Ok(ResearchPlan {
            questions: take("questions"),
            perspectives: take("perspectives"),
            graph: take("graph"),
        })
    }
}

/// A topic to research: what `research.execute` takes, and a key.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResearchInput {
    pub fields: Map<String, Value>,
}

impl JsonSchema for ResearchInput {
    fn schema_name() -> Cow<'static, str> {
        "ResearchInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = crate::execute::Input::json_schema(generator);
        let properties = schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
        properties[IDEMPOTENCY_KEY] = json!({
            "type": ["string", "null"],
            "description": "A repeated request with the same key attaches to the first workflow. The header \
                            `Idempotency-Key` has the same effect.",
        });
        schema
    }
}

pub struct StartResearch;

impl Operation for StartResearch {
    const NAME: &'static str = "powerstrip.research.start";
    const SUMMARY: &'static str =
        "Research a topic and write a cited report, as `research.execute`";
    const ROUTE: Option<Route> = Some(
        Route::post("/v1/research", TOOLS_CALL, "gateway.research")
            .enveloped()
            .calling(EXECUTE)
            .with_key()
            .with_max_body(MAX_BYTES),
    );
    type Service = FlowService;
    type Input = ResearchInput;
    type Output = Value;

    async fn run(
        service: Arc<FlowService>,
        mut caller: Caller,
        mut input: ResearchInput,
    ) -> Result<Value, OperationError> {
        caller.take_key(&mut input.fields)?;
        service.call(&caller, EXECUTE, input.fields).await
    }
}

/// The workflows whose mind maps are compared.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffInput {
    /// The id of the earlier workflow.
    pub a: String,
    /// The id of the later workflow.
    pub b: String,
}

/// For the command: over HTTP, `research.diff` is called as every tool.
pub struct DiffResearch;

impl Operation for DiffResearch {
    const NAME: &'static str = "powerstrip.research.diff";
    const SUMMARY: &'static str = "Compare the mind maps of two reports, as `research.diff`";
    type Service = FlowService;
    type Input = DiffInput;
    type Output = Value;

    async fn run(
        service: Arc<FlowService>,
        caller: Caller,
        DiffInput { a, b }: DiffInput,
    ) -> Result<Value, OperationError> {
        let fields = Map::from_iter([("a".to_owned(), a.into()), ("b".to_owned(), b.into())]);
        service.call(&caller, "research.diff", fields).await
    }
}
