use std::collections::HashMap;
use std::sync::Arc;

use proto::{Code, Failure, TraceId, graph};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Progress;
use crate::Request;
use crate::catalog::Snapshot;
use crate::tool::Part;

/// The most calls of a batch.
pub const MAX_CALLS: usize = 100;

/// The longest id of a call, and the longest idempotency key.
const MAX_ID: usize = 100;
const MAX_KEY: usize = 255;

/// Calls that are asked for at once.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The run that they belong to; a new one if absent.
    #[serde(default)]
    pub run_id: Option<String>,
    pub calls: Vec<BatchCall>,
    /// Start no further call once one has failed.
    #[serde(default)]
    pub stop_on_error: bool,
}

/// One call of a batch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchCall {
    /// Its name in the answer and in `depends_on`; its position, counted from 1, if absent.
    #[serde(default)]
    pub id: Option<String>,
    pub tool: String,
    #[serde(default)]
    pub arguments: Option<Value>,
    /// The ids of calls that must have succeeded first.
    #[serde(default)]
    pub depends_on: Vec<String>,
    #[serde(default)]
    pub idempotency_key: Option<String>,
}

/// A batch that can be run.
pub(super) struct Plan {
    pub(super) calls: Vec<Planned>,
    pub(super) stop_on_error: bool,
}

pub(super) struct Planned {
    pub(super) id: String,
    pub(super) tool: String,
    arguments: Arc<Value>,
    pub(super) depends_on: Vec<usize>,
    idempotency_key: Option<String>,
    /// It ends the run, so all others come first.
    last: bool,
}

impl Planned {
    /// The request of this call.
    pub(super) fn within(&self, frame: &Request) -> Request {
        let mut call = frame.clone();
        call.tool.clone_from(&self.tool);
        call.input = Arc::clone(&self.arguments);
        call.idempotency_key.clone_from(&self.idempotency_key);
        call.trace = TraceId::random();
        call
    }
}

impl Plan {
    /// Reads a batch; fails with everything that is wrong with it.
    pub(super) fn of(batch: Batch, tools: &Snapshot) -> Result<Self, Failure> {
        let mut faults = Vec::new();
        if !(1..=MAX_CALLS).contains(&batch.calls.len()) {
            let count = batch.calls.len();
            faults.push(format!("a batch has 1 to {MAX_CALLS} calls, this one has {count}"));
            return Err(refused(faults));
        }
        let ids: Vec<String> = (batch.calls.iter().enumerate())
            .map(|(place, call)| call.id.clone().unwrap_or_else(|| (place + 1).to_string()))
            .collect();
        let mut places = HashMap::new();
        for (place, id) in ids.iter().enumerate() {
            if !(1..=MAX_ID).contains(&id.len()) {
                let at = place + 1;
                faults.push(format!("call {at}: `id` is a text of 1 to {MAX_ID} characters"));
            } else if places.contains_key(id.as_str()) {
                faults.push(format!("the id `{id}` is used twice"));
            } else {
                places.insert(id.as_str(), place);
            }
        }
        let mut calls = Vec::new();
        for (call, id) in batch.calls.iter().zip(&ids) {
            let shown: String = id.chars().take(MAX_ID).collect();
            if call.tool.is_empty() {
                faults.push(format!("call `{shown}`: `tool` is empty"));
            }
            let key = call.idempotency_key.as_ref();
            if key.is_some_and(|key| !(1..=MAX_KEY).contains(&key.len())) {
                let fault = format!(
                    "call `{shown}`: `idempotency_key` is a text of 1 to {MAX_KEY} characters"
                );
                faults.push(fault);
            }
            let mut depends_on = Vec::new();
            for other in &call.depends_on {
                match places.get(other.as_str()) {
                    Some(place) if !depends_on.contains(place) => depends_on.push(*place),
                    Some(_) => {}
                    None => {
                        let other: String = other.chars().take(MAX_ID).collect();
                        faults.push(format!(
                            "call `{shown}` depends on `{other}`, which is not in the batch"
                        ));
                    }
                }
            }
            let arguments = call.arguments.clone().unwrap_or_else(|| Value::Object(Map::new()));
            calls.push(Planned {
                id: id.clone(),
                tool: call.tool.clone(),
                last: ends(tools, &call.tool, &arguments),
                arguments: Arc::new(arguments),
                depends_on,
                idempotency_key: call.idempotency_key.clone(),
            });
        }
        let ends = calls.iter().filter(|call| call.last).count();
        if ends > 1 {
            faults.push(format!("complete_workflow is called {ends} times; a run ends once"));
        }
        for call in &calls {
            if call.depends_on.iter().any(|place| calls[*place].last) {
                let id = &call.id;
                faults.push(format!("call `{id}` depends on complete_workflow, which runs last"));
            }
        }
        let graph: Vec<_> = calls.iter().map(|call| call.depends_on.clone()).collect();
        if let Some(cycle) = graph::cycle(&graph) {
            let shown = graph::show_cycle(&cycle, |place| &calls[place].id);
            faults.push(format!("calls depend on each other in a cycle: {shown}"));
        }
        if faults.is_empty() {
            Ok(Self { calls, stop_on_error: batch.stop_on_error })
        } else {
            Err(refused(faults))
        }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = String> {
        self.calls.iter().map(|call| call.id.clone())
    }

    /// The next call that can begin, or must be skipped because of another.
    pub(super) fn next(
        &self,
        progress: &[Progress],
        stopped: Option<usize>,
    ) -> Option<(usize, Result<(), usize>)> {
        let waits = |place: &usize| matches!(progress[*place], Progress::Waits);
        let is_done = |place: usize| matches!(progress[place], Progress::Done(_));
        let failed = |place: &&usize| match &progress[**place] {
            Progress::Done(answer) => answer.result.is_err(),
            _ => false,
        };
        (0..self.calls.len()).filter(waits).find_map(|place| {
            let call = &self.calls[place];
            if let Some(because) = stopped {
                return Some((place, Err(because)));
            }
            if let Some(because) = call.depends_on.iter().find(failed) {
                return Some((place, Err(*because)));
            }
            let others_done =
                || (0..self.calls.len()).all(|other| other == place || is_done(other));
            let ready = if call.last {
                others_done()
            } else {
                call.depends_on.iter().all(|other| is_done(*other))
            };
            ready.then_some((place, Ok(())))
        })
    }
}

/// Whether a call ends the run, also through a tool that forwards to another.
fn ends(tools: &Snapshot, tool: &str, arguments: &Value) -> bool {
    let Ok(entry) = tools.resolve(tool) else { return false };
    let part = match entry.tool.forwards_to(arguments) {
        None => Ok(entry.tool.part()),
        Some((tool, _)) => tools.resolve(&tool).map(|entry| entry.tool.part()),
    };
    part.is_ok_and(|part| part == Part::End)
}

fn refused(faults: Vec<String>) -> Failure {
    Failure::new(Code::InvalidInput, format!("nothing was run: {}", faults.join("; ")))
        .details(json!({"faults": faults}))
}
