//! The answers to calls about jobs.

use std::marker::PhantomData;
use std::sync::Arc;

use rmcp::model::{CallToolResponse, CallToolResult, JsonObject};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::record::{JobError, JobState};
use crate::answer::schema_of_answers;
use crate::{Answer, Fault, Linked, StoredRef};

/// A job that goes on after its call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PendingJob {
    /// For `job_status` and `cancel_job`.
    pub job_id: String,
    pub state: JobState,
}

/// How far a job is, and its result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct JobStatus {
    pub job_id: String,
    pub state: JobState,
    /// From 0 to 1.
    pub progress: f64,
    /// What the job does now.
    pub step: String,
    /// What the tool of the same name answers, once the job is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The reference of a result that is too large for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_ref: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<JobError>,
    #[serde(skip)]
    pub(super) links: Vec<StoredRef>,
}

impl JobStatus {
    /// The answer with links to the references of the result.
    pub fn linked(mut self) -> Linked<Self> {
        let links = std::mem::take(&mut self.links);
        Linked::new(self, links)
    }

    /// The id and the state alone.
    pub fn pending(self) -> PendingJob {
        PendingJob { job_id: self.job_id, state: self.state }
    }
}

/// The answer of a tool that runs as a job: `T`, or the job if it takes longer than a call.
#[derive(Debug)]
pub struct OrJob<T> {
    value: Result<Value, PendingJob>,
    links: Vec<StoredRef>,
    answer: PhantomData<fn() -> T>,
}

impl<T> OrJob<T> {
    pub(super) fn done(value: Value, links: Vec<StoredRef>) -> Self {
        Self { value: Ok(value), links, answer: PhantomData }
    }

    pub(super) fn pending(job: PendingJob) -> Self {
        Self { value: Err(job), links: Vec::new(), answer: PhantomData }
    }
}

impl<T: JsonSchema + Send + 'static> Answer for OrJob<T> {
    /// All fields of both, of which those of one are there.
    fn output_schema() -> Option<Arc<JsonObject>> {
        let mut done = schema_of_answers::<T>().as_ref().clone();
        let mut job = schema_of_answers::<PendingJob>().as_ref().clone();
        let mut definitions = serde_json::Map::new();
        for schema in [&mut done, &mut job] {
            schema.remove("$schema");
            if let Some(Value::Object(own)) = schema.remove("$defs") {
                definitions.extend(own);
            }
        }
        let schema = json!({"type": "object", "anyOf": [done, job], "$defs": definitions});
        match schema {
            Value::Object(schema) => Some(Arc::new(schema)),
            _ => None,
        }
    }

    fn into_response(self) -> Result<CallToolResponse, Fault> {
        let value = match self.value {
            Ok(value) => value,
            Err(job) => serde_json::to_value(job)
                .map_err(|error| Fault::internal(format!("the answer is not JSON: {error}")))?,
        };
        let mut result = CallToolResult::structured(value);
        result.content.extend(self.links.into_iter().map(StoredRef::link));
        Ok(result.into())
    }
}
