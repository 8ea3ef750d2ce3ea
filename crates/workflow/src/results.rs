//! What is known of each task and item of one workflow. Long outputs are only in the database once they are committed.

mod size;

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dag::check_depth;
use dag::core::{Address, Record, RecordStatus, Verdict, WHOLE};
use dag::paths;
use dag::plan::Plan;
use proto::{Code, Failure, canonical};
use serde::{Deserialize, Serialize, de};
use serde_json::{Map, Value, json};
use store::{Database, StoreError, WorkflowTaskRow};
use strip::Parked;
use uuid::Uuid;

use crate::failures;

/// Longer outputs are not kept in memory.
const SMALL_OUTPUT: usize = 4096;

/// How much of a longer output is shown, in bytes.
const SHOWN_START: usize = 1000;

/// Longer arguments are not stored with the result.
const SMALL_ARGUMENTS: usize = 2048;

/// The end of a path that means the compensation of a task.
const UNDO: &str = "~";

/// A task, an item or a compensation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResultKey {
    pub(crate) address: Address,
    pub(crate) undo: bool,
}

/// The result of one task or item.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskResult {
    pub(crate) status: Status,
    pub(crate) attempt: u32,
    pub(crate) started_unix_ms: u64,
    pub(crate) ended_unix_ms: Option<u64>,
    pub(crate) output: Slot,
    pub(crate) note: Note,
}

/// The part of a result that is stored as JSON next to its output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) items: Option<usize>,
    pub(crate) sequence: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<usize>,
    /// A preview of an output that is not kept in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) large: Option<Value>,
    /// The approval or question that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waits: Option<Parked>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Status {
    #[default]
    Pending,
    Running,
    Parked,
    Asking,
    Ended(Verdict),
}

/// A value of ours as it is stored. It cannot fail, because the keys of all maps in these types are texts; should it fail,
/// nothing is written.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("the keys of all maps in stored types are texts")
}

/// Where an output is.
#[derive(Clone, Debug, Default)]
pub(crate) enum Slot {
    #[default]
    Nothing,
    Here(Arc<Value>),
    /// Too long to be kept once it is committed.
    Uncommitted(Arc<Value>),
    Stored,
}

impl Status {
    /// The name in rows.
    fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "open",
            Self::Parked => "parked",
            Self::Asking => "asking",
            Self::Ended(Verdict::Success) => "success",
            Self::Ended(Verdict::Failed) => "failed",
            Self::Ended(Verdict::Rejected) => "rejected",
            Self::Ended(Verdict::Skipped) => "skipped",
        }
    }

    fn named(name: &str) -> serde_json::Result<Self> {
        Ok(match name {
            "pending" => Self::Pending,
            "open" => Self::Running,
            "parked" => Self::Parked,
            "asking" => Self::Asking,
            "success" => Self::Ended(Verdict::Success),
            "failed" => Self::Ended(Verdict::Failed),
            "rejected" => Self::Ended(Verdict::Rejected),
            "skipped" => Self::Ended(Verdict::Skipped),
            // As a pending task, one that has taken effect would run again.
            _ => return Err(de::Error::custom(format!("`{name}` is no status of a task"))),
        })
    }

    fn is_success(self) -> bool {
        self == Self::Ended(Verdict::Success)
    }

    /// The name in answers.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Parked | Self::Asking => "waiting",
            Self::Ended(Verdict::Success) => "success",
            Self::Ended(Verdict::Failed | Verdict::Rejected) => "failed",
            Self::Ended(Verdict::Skipped) => "skipped",
        }
    }
}

impl ResultKey {
    pub(crate) fn call(address: Address) -> Self {
        Self { address, undo: false }
    }
}

impl TaskResult {
    /// Keeps an output: in memory for good only if it is short.
    pub(crate) fn keep_output(&mut self, output: &Arc<Value>) {
        self.note.large = shorten(output, SMALL_OUTPUT);
        self.output = match self.note.large {
            None => Slot::Here(Arc::clone(output)),
            Some(_) => Slot::Uncommitted(Arc::clone(output)),
        };
    }

    /// The output that was read. With a damaged one the result is a failed one: a workflow must get its answer also then.
    pub(crate) fn readable(
        &mut self,
        output: Result<Option<Arc<Value>>, Failure>,
    ) -> Result<Option<Arc<Value>>, Failure> {
        match output {
            Err(failure) if failure.code == Code::Internal => {
                self.status = Status::Ended(Verdict::Failed);
                self.note.error = Some(error_of(&failure));
                Ok(None)
            }
            output => output,
        }
    }

    /// The output as people are shown it.
    pub(crate) fn shown_output(&self) -> Option<Value> {
        match &self.output {
            Slot::Nothing => None,
            Slot::Here(value) => Some((**value).clone()),
            Slot::Uncommitted(_) | Slot::Stored => {
                Some(self.note.large.clone().unwrap_or_else(|| json!({"large": true})))
            }
        }
    }
}

/// The size and the beginning of an output that is longer than `most`; none if it is not.
pub(crate) fn shorten(output: &Value, most: usize) -> Option<Value> {
    let bytes = canonical::len(output);
    if bytes <= most {
        return None;
    }
    let mut start = Start(Vec::new());
    // Ends with an error as soon as there is enough.
    let _ = serde_json::to_writer(&mut start, output);
    let preview = String::from_utf8_lossy(&start.0);
    let preview = preview.trim_end_matches(char::REPLACEMENT_CHARACTER);
    Some(json!({"large": true, "bytes": bytes, "preview": preview}))
}

/// The first bytes that are written to it.
struct Start(Vec<u8>);

impl io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(SHOWN_START - self.0.len());
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Note {
    /// Checks that what waits for a person names what for: it would be settled without a decision or wait for ever.
    fn check_waits(&self, status: Status) -> Result<(), &'static str> {
        match (status, &self.waits) {
            (Status::Parked, Some(Parked::Approval { .. }))
            | (Status::Asking, Some(Parked::Questions { .. })) => Ok(()),
            (Status::Parked, _) => Err("waits for an approval and does not name it"),
            (Status::Asking, _) => Err("waits for answers and does not name the questions"),
            _ => Ok(()),
        }
    }

    pub(crate) fn keep_arguments(&mut self, arguments: &Value) {
        let length = arguments.to_string().len();
        self.arguments = (length <= SMALL_ARGUMENTS).then(|| arguments.clone());
    }
}

/// The results of one workflow, shared by its driver and those who read them.
pub(crate) struct Results {
    workflow: Uuid,
    database: Database,
    known: Mutex<HashMap<ResultKey, TaskResult>>,
    /// Outputs of answers that were stored, by list, task and attempt.
    references: Mutex<HashMap<String, Value>>,
}

impl Results {
    pub(crate) fn new(workflow: Uuid, database: Database) -> Self {
        Self { workflow, database, known: Mutex::default(), references: Mutex::default() }
    }

    /// The results that are stored, and the records that the core needs of them.
    pub(crate) fn read(
        &self,
        plan: &Plan,
        rows: Vec<WorkflowTaskRow>,
    ) -> serde_json::Result<Vec<Record>> {
        let mut records = Vec::new();
        for row in rows {
            let (path, undo) = match row.task.strip_suffix(UNDO) {
                Some(path) => (path, true),
                None => (row.task.as_str(), false),
            };
            // Tasks are only added to a DAG, which is written before their rows. Without its row, a task would run again.
            let address = paths::address_of(plan, path, row.item)
                .ok_or_else(|| damaged_row(path, "is not part of the DAG"))?;
            let note: Note = serde_json::from_str(&row.result)?;
            let status = Status::named(&row.status)?;
            note.check_waits(status).map_err(|problem| damaged_row(path, problem))?;
            let items = || note.items.ok_or_else(|| damaged_row(path, "has no number of items"));
            let output = match &row.output {
                Some(text) => Slot::Here(Arc::new(serde_json::from_str(text)?)),
                None if row.output_bytes > 0 => Slot::Stored,
                // A tool that answers nothing has the output `null`.
                None if !undo && status.is_success() && is_call(plan, &address) => {
                    return Err(damaged_row(path, "has succeeded and has no output"));
                }
                None => Slot::Nothing,
            };
            records.push(Record {
                address: address.clone(),
                undo,
                status: match status {
                    Status::Pending => RecordStatus::Reset,
                    Status::Running => RecordStatus::Open { items: items()? },
                    Status::Parked => RecordStatus::Parked,
                    Status::Asking => RecordStatus::Asking,
                    Status::Ended(verdict) => RecordStatus::Ended(verdict),
                },
                attempt: row.attempt,
                sequence: note.sequence,
                because: note.because,
            });
            let result = TaskResult {
                status,
                attempt: row.attempt,
                started_unix_ms: row.started_unix_ms,
                ended_unix_ms: row.ended_unix_ms,
                output,
                note,
            };
            self.lock().insert(ResultKey { address, undo }, result);
        }
        Ok(records)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ResultKey, TaskResult>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reference(&self, name: &str) -> Option<Value> {
        self.references.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn keep_reference(&self, name: &str, reference: &Value) {
        let mut references = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        references.insert(name.to_owned(), reference.clone());
    }

    pub(crate) fn get(&self, key: &ResultKey) -> Option<TaskResult> {
        self.lock().get(key).cloned()
    }

    pub(crate) fn task(&self, address: &Address) -> Option<TaskResult> {
        self.get(&ResultKey::call(address.clone()))
    }

    pub(crate) fn update(&self, key: &ResultKey, change: impl FnOnce(&mut TaskResult)) {
        change(self.lock().entry(key.clone()).or_default());
    }

    /// The row of a record.
    pub(crate) fn row(&self, plan: &Plan, record: &Record, now: u64) -> WorkflowTaskRow {
        let key = ResultKey { address: record.address.clone(), undo: record.undo };
        let mut known = self.lock();
        let result = known.entry(key).or_default();
        result.attempt = record.attempt;
        result.note.sequence = record.sequence;
        result.note.because = record.because;
        if result.started_unix_ms == 0 {
            result.started_unix_ms = now;
        }
        match record.status {
            RecordStatus::Open { items } => {
                result.status = Status::Running;
                result.note.items = Some(items);
            }
            RecordStatus::Ended(verdict) => {
                result.status = Status::Ended(verdict);
                result.ended_unix_ms = Some(now);
                result.note.waits = None;
            }
            RecordStatus::Cancelled => {
                result.status = Status::Ended(Verdict::Failed);
                result.ended_unix_ms = Some(now);
                result.note.waits = None;
                result.note.error = Some(error_of(&failures::cancelled()));
            }
            RecordStatus::Parked => result.status = Status::Parked,
            RecordStatus::Asking => result.status = Status::Asking,
            RecordStatus::Reset => {
                *result = TaskResult { attempt: record.attempt, ..TaskResult::default() };
            }
        }
        let (task, item) = row_name(plan, &record.address, record.undo);
        WorkflowTaskRow {
            workflow: self.workflow,
            task,
            item,
            status: result.status.as_str().to_owned(),
            attempt: result.attempt,
            result: to_json(&result.note),
            output: match &result.output {
                Slot::Here(value) | Slot::Uncommitted(value) => Some(value.to_string()),
                Slot::Nothing | Slot::Stored => None,
            },
            output_bytes: 0,
            started_unix_ms: result.started_unix_ms,
            ended_unix_ms: result.ended_unix_ms,
        }
    }

    /// Everything so far is committed: long outputs can be read from the database.
    pub(crate) fn committed(&self) {
        for result in self.lock().values_mut() {
            if let Slot::Uncommitted(_) = result.output {
                result.output = Slot::Stored;
            }
        }
    }

    /// The output of a task: a list for `for_each`, an object for a sub-workflow, null if there is none.
    pub(crate) async fn output(
        &self,
        plan: &Plan,
        address: &Address,
    ) -> Result<Arc<Value>, StoreError> {
        let Some((_, task)) = paths::find(plan, address) else { return Ok(Arc::default()) };
        let item = address.last().map_or(WHOLE, |step| step.item);
        if task.task.for_each.is_some() && item == WHOLE {
            let result = self.task(address).unwrap_or_default();
            let Some(items) = result.note.items else {
                return match result.status {
                    Status::Ended(Verdict::Success) => Err(damaged_output("no number of items")),
                    // The list was not made.
                    _ => Ok(Arc::default()),
                };
            };
            let mut outputs = Vec::with_capacity(items);
            for item in 0..i64::try_from(items).unwrap_or(0) {
                let output = Box::pin(self.output(plan, &address.item(item))).await?;
                outputs.push(Arc::unwrap_or_clone(output));
            }
            return Ok(Arc::new(Value::Array(outputs)));
        }
        let result = self.task(address);
        if let Some(inner) = &task.workflow {
            let ended = result.map(|result| result.status);
            if ended != Some(Status::Ended(Verdict::Success)) {
                return Ok(Arc::default());
            }
            let mut outputs = Map::new();
            for (place, task) in inner.tasks.iter().enumerate() {
                let output = Box::pin(self.output(plan, &address.child(place))).await?;
                outputs.insert(task.task.id.clone(), Arc::unwrap_or_clone(output));
            }
            return Ok(Arc::new(Value::Object(outputs)));
        }
        let output = self.call_output(plan, &ResultKey::call(address.clone())).await?;
        Ok(output.unwrap_or_default())
    }

    /// The output of one call or compensation, if it has one.
    pub(crate) async fn call_output(
        &self,
        plan: &Plan,
        key: &ResultKey,
    ) -> Result<Option<Arc<Value>>, StoreError> {
        match self.get(key).map(|result| result.output) {
            Some(Slot::Here(value) | Slot::Uncommitted(value)) => Ok(Some(value)),
            Some(Slot::Stored) => {
                let (path, item) = row_name(plan, &key.address, key.undo);
                let text = self.database.task_output(self.workflow, &path, item).await?;
                let text = text.ok_or_else(|| damaged_output("no text"))?;
                let value = strip::run_blocking(text.len(), || serde_json::from_str(&text));
                Ok(Some(Arc::new(value.map_err(|_| damaged_output("a text that is not JSON"))?)))
            }
            Some(Slot::Nothing) | None => Ok(None),
        }
    }
}

/// An output that is in the database and cannot be read: null in its place would be taken for what the tool answered.
fn damaged_output(found: &str) -> StoreError {
    StoreError::Unreadable { column: "output", value: found.to_owned() }
}

/// A row of a task that cannot be read.
fn damaged_row(task: &str, problem: &str) -> serde_json::Error {
    de::Error::custom(format!("the task `{task}` {problem}"))
}

/// Whether a tool runs at this address: neither a whole list of items nor a sub-workflow, whose outputs are composed.
fn is_call(plan: &Plan, address: &Address) -> bool {
    let item = address.last().map_or(WHOLE, |step| step.item);
    paths::find(plan, address).is_some_and(|(_, task)| {
        task.workflow.is_none() && (task.task.for_each.is_none() || item != WHOLE)
    })
}

/// The task and the item that name a row.
fn row_name(plan: &Plan, address: &Address, undo: bool) -> (String, i64) {
    let path = paths::path_of(plan, address);
    let item = address.last().map_or(WHOLE, |step| step.item);
    (if undo { path + UNDO } else { path }, item)
}

/// A failure as results show it. Details that are nested too deeply are left out: they could not be read again.
pub(crate) fn error_of(failure: &Failure) -> Value {
    let mut error = json!({
        "code": failure.code,
        "message": failure.message,
        "retryable": failure.retryable,
    });
    if let Some(details) = &failure.details {
        error["details"] = match check_depth(details) {
            Ok(()) => details.clone(),
            Err(error) => json!({"omitted": true, "reason": error.to_string()}),
        };
    }
    error
}

#[cfg(test)]
mod tests;
