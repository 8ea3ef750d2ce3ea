//! Operations on runs: list them, show one, answer a question.

use std::sync::Arc;

use ::operations::scope::{RUNS_ANSWER, RUNS_READ};
use ::operations::{Caller, Operation, OperationError, Route, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{DamagedRow, RunFilter};

use super::{QuestionView, RunDetails, RunSummary};
use crate::Strip;

const STATES: [&str; 7] =
    ["open", "waiting", "completed", "aborted", "rejected", "failed", "expired"];

/// The operations on runs.
pub fn table(strip: &Arc<Strip>) -> Table {
    Table::default().with::<ListRuns>(strip).with::<ShowRun>(strip).with::<AnswerQuestion>(strip)
}

/// Which runs to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    /// Only runs in this state.
    #[schemars(extend("enum" = STATES))]
    pub state: Option<String>,
    /// The most runs to list.
    #[schemars(range(max = 500))]
    pub limit: Option<u32>,
    /// How many runs to skip.
    #[serde(default)]
    pub offset: u32,
}

/// Runs, the last touched first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    pub runs: Vec<RunSummary>,
    /// Runs whose stored rows cannot be read, with the column that is damaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub damaged: Vec<DamagedRow>,
}

pub struct ListRuns;

impl Operation for ListRuns {
    const NAME: &'static str = "powerstrip.runs.list";
    const SUMMARY: &'static str = "List the runs of the caller's tenant, the last touched first";
    const ROUTE: Option<Route> = Some(Route::get("/v1/runs", RUNS_READ, "gateway.listRuns"));
    type Service = Strip;
    type Input = RunQuery;
    type Output = RunList;

    async fn run(
        strip: Arc<Strip>,
        caller: Caller,
        query: RunQuery,
    ) -> Result<RunList, OperationError> {
        let RunQuery { state, limit, offset } = query;
        if state.as_deref().is_some_and(|state| !STATES.contains(&state)) {
            let states = STATES.join(", ");
            return Err(OperationError::invalid(format!("`state` is one of {states}")));
        }
        let tenant = caller.tenant().map(str::to_owned);
        let filter = RunFilter { tenant, state, kind: None, limit, offset };
        let listed = strip.runs().list(&filter).await?;
        Ok(RunList { runs: listed.rows, damaged: listed.damaged })
    }
}

/// Names one run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunId {
    /// The run's id, or the name that its caller gave it.
    pub id: String,
}

pub struct ShowRun;

impl Operation for ShowRun {
    const NAME: &'static str = "powerstrip.runs.show";
    const SUMMARY: &'static str = "Show a run with its questions and calls";
    const ROUTE: Option<Route> = Some(Route::get("/v1/runs/{id}", RUNS_READ, "gateway.getRun"));
    type Service = Strip;
    type Input = RunId;
    type Output = RunDetails;

    async fn run(
        strip: Arc<Strip>,
        caller: Caller,
        RunId { id }: RunId,
    ) -> Result<RunDetails, OperationError> {
        let (runs, tenant) = (strip.runs(), caller.tenant());
        let id = runs.id_of(&caller.principal, tenant, &id).await?;
        Ok(runs.show(tenant, &id).await?)
    }
}

/// An answer to a question of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerInput {
    /// The run's id, or the name that its caller gave it.
    pub id: String,
    pub slot_id: String,
    /// A value of the slot's type: a text, a number, true or false, or a list of options.
    pub value: Value,
}

pub struct AnswerQuestion;

impl Operation for AnswerQuestion {
    const NAME: &'static str = "powerstrip.runs.answer";
    const SUMMARY: &'static str = "Answer a question of a run";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/runs/{id}/answers", RUNS_ANSWER, "gateway.answerRun"));
    type Service = Strip;
    type Input = AnswerInput;
    type Output = QuestionView;

    async fn run(
        strip: Arc<Strip>,
        caller: Caller,
        input: AnswerInput,
    ) -> Result<QuestionView, OperationError> {
        let runs = strip.runs();
        let id = runs.id_of(&caller.principal, caller.tenant(), &input.id).await?;
        let question = (id.as_str(), input.slot_id.as_str());
        Ok(runs.answer(&caller.principal, caller.tenant(), question, &input.value).await?)
    }
}
