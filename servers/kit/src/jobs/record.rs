//! What is stored about a job.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{Code, Fault, StoredRef};

/// How long a job is kept.
pub(super) const LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// How often a job is begun again after its process has died. A job that ends the process each time must not do so for
/// ever.
pub(super) const MAX_RESTARTS: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    Queued,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl JobState {
    /// Whether nothing will change any more.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// Why a job failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobError {
    /// A code of the envelope, such as `INVALID_INPUT`.
    pub code: String,
    pub message: String,
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl From<Fault> for JobError {
    fn from(fault: Fault) -> Self {
        let (code, message, retryable, details) = fault.into_parts();
        Self { code: code.as_str().to_owned(), message, retryable, details }
    }
}

impl From<JobError> for Fault {
    fn from(error: JobError) -> Self {
        let code = error.code.parse().unwrap_or(Code::Internal);
        let fault = Self::new(code, error.message).retryable(error.retryable);
        match error.details {
            Some(details) => fault.details(details),
            None => fault,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) operation: String,
    /// The input, from which the job begins. It may have a signed URL: it is removed when the job has ended.
    pub(super) arguments: Value,
    /// In microseconds, so that jobs are run in the order in which they were added.
    pub(super) created_us: u64,
    pub(super) state: JobState,
    /// From 0 to 1.
    pub(super) progress: f64,
    pub(super) step: String,
    pub(super) restarts: u32,
    pub(super) result: Option<Value>,
    pub(super) result_ref: Option<String>,
    pub(super) links: Vec<StoredRef>,
    pub(super) error: Option<JobError>,
}

impl Record {
    pub(super) fn new(operation: &str, arguments: Value) -> Self {
        Self {
            // Random, so that it cannot be guessed.
            id: format!("job_{}", Uuid::new_v4().simple()),
            operation: operation.to_owned(),
            arguments,
            created_us: now_us(),
            state: JobState::Queued,
            progress: 0.0,
            step: "queued".to_owned(),
            restarts: 0,
            result: None,
            result_ref: None,
            links: Vec::new(),
            error: None,
        }
    }

    /// The job at its end. Its input is not needed any more.
    pub(super) fn ended(mut self, state: JobState) -> Self {
        self.state = state;
        self.arguments = Value::Null;
        self.step = match state {
            JobState::Done => "done",
            JobState::Cancelled => "cancelled",
            _ => "failed",
        }
        .to_owned();
        if state == JobState::Done {
            self.progress = 1.0;
        }
        self
    }

    pub(super) fn failed(mut self, fault: Fault) -> Self {
        self.error = Some(fault.into());
        self.ended(JobState::Failed)
    }

    pub(super) fn has_expired(&self) -> bool {
        let lifetime = u64::try_from(LIFETIME.as_micros()).unwrap_or(u64::MAX);
        self.created_us.saturating_add(lifetime) < now_us()
    }
}

fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Whether this is an id as [`Record::new`] makes them. Anything else may be a path.
pub(super) fn is_job_id(text: &str) -> bool {
    text.strip_prefix("job_").is_some_and(|digits| {
        digits.len() == 32
            && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
    })
}
