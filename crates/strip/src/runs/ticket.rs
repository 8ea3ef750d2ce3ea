use std::sync::Arc;

use proto::Digest;
use serde_json::Value;
use store::RunCallRow;

use super::kind::Kind;
use super::run::{Completion, Run};
use super::{RunChange, RunOf, Runs, TRIES};
use crate::catalog::Entry;
use crate::guard::audit::Decision;
use crate::tool::Part;
use crate::{Failure, Output, Reply, Request};

/// How many references of one call are recorded, and how deep they are looked for.
const MAX_REFERENCES: usize = 32;
const MAX_DEPTH: usize = 4;

/// A call's membership in its run; dropped when the call is over.
pub(crate) struct Ticket {
    runs: Runs,
    run: Arc<Run>,
    number: u64,
    part: Part,
    started_ms: u64,
}

impl Runs {
    /// Joins a call to its run. A call without a run that is no control-flow tool needs none.
    pub(crate) async fn enter(
        &self,
        request: &mut Request,
        entry: &Entry,
    ) -> Result<Option<Ticket>, Failure> {
        let part = entry.tool.part();
        if matches!(request.run, RunOf::Alone) && !part.is_control() {
            return Ok(None);
        }
        let now = self.now();
        let tool = entry.descriptor.id.shared();
        let mut tries = TRIES;
        let (run, number) = loop {
            tries -= 1;
            let run = self.join(&request.run, &request.principal).await?;
            match run.admit(now, &tool, part == Part::End) {
                Ok(number) => break (run, number),
                // The current run was completed a moment ago: begin the next one.
                Err(_) if run.kind() == Kind::Current && tries > 0 => continue,
                Err(over) => return Err(over),
            }
        };
        if part.is_control() {
            run.keep_calls();
        }
        request.run = RunOf::Joined(Arc::clone(&run));
        Ok(Some(Ticket { runs: self.clone(), run, number, part, started_ms: now }))
    }
}

impl Ticket {
    /// Records how the call ended. A data tool that answered counts; failures and repeated answers do not.
    pub(crate) fn close(
        self,
        request: &Request,
        entry: &Entry,
        decision: Decision,
        key: Option<Digest>,
        result: &Result<Output, Failure>,
    ) {
        let run = &self.run;
        if self.part == Part::Data
            && result.as_ref().is_ok_and(|output| output.reply == Reply::Done)
        {
            match (decision, key) {
                (Decision::Ran, key) => run.count(Completion::Fresh(key)),
                (Decision::Replayed | Decision::Shared, Some(key)) => {
                    run.count(Completion::Recorded(key));
                }
                _ => {}
            }
        }
        if run.keeps_calls() {
            let output = result.as_ref().ok();
            self.runs.note(RunCallRow {
                run: run.id().to_owned(),
                trace: request.trace,
                tool: entry.descriptor.id.as_str().to_owned(),
                started_unix_ms: self.started_ms,
                ended_unix_ms: self.runs.now(),
                outcome: match result {
                    Ok(_) if decision == Decision::Asked => "ASKED".to_owned(),
                    Ok(_) => "OK".to_owned(),
                    Err(failure) => failure.code.as_str().to_owned(),
                },
                made: output.map(|output| references(&output.data)).unwrap_or_default(),
                used: references(&request.input),
            });
            self.runs.notify(run, RunChange::Called);
        }
        // The drop does the rest, also for a call whose caller has left.
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.run.leave(self.number, self.runs.now());
        self.runs.keep(&self.run);
    }
}

/// The ids of files and references that a value names.
fn references(value: &Value) -> Vec<String> {
    fn look(value: &Value, depth: usize, found: &mut Vec<String>) {
        let members: Box<dyn Iterator<Item = (&str, &Value)>> = match value {
            Value::Object(object) => Box::new(object.iter().map(|(key, value)| (&**key, value))),
            Value::Array(array) => Box::new(array.iter().map(|value| ("", value))),
            _ => return,
        };
        for (key, value) in members {
            if found.len() >= MAX_REFERENCES {
                return;
            }
            let names = key.ends_with("ref_id") || key.ends_with("file_id");
            match value.as_str().filter(|text| names && text.len() <= 200) {
                Some(text) if !found.iter().any(|known| known == text) => {
                    found.push(text.to_owned());
                }
                Some(_) => {}
                None if depth < MAX_DEPTH => look(value, depth + 1, found),
                None => {}
            }
        }
    }
    let mut found = Vec::new();
    look(value, 0, &mut found);
    found
}
