use proto::{Digest, Failure};
use runs::{CallRole, Completion, Member, RunOf, Runs};
use serde_json::Value;
use store::RunCallRow;

use crate::catalog::Entry;
use crate::guard::audit::Decision;
use crate::tool::Part;
use crate::{Job, Output, Reply};

/// How many references of one call are recorded, and how deep they are looked for.
const MAX_REFERENCES: usize = 32;
const MAX_DEPTH: usize = 4;

/// A call's membership in its run; dropped when the call is over.
pub(crate) struct Ticket {
    member: Member,
    part: Part,
}

impl Ticket {
    /// Joins a call to its run. A call without a run that neither controls one nor asks people needs none.
    pub(crate) async fn enter(
        runs: &Runs,
        job: &mut Job,
        entry: &Entry,
    ) -> Result<Option<Self>, Failure> {
        let (part, asks) = (entry.tool.part(), entry.tool.asks_people());
        if matches!(job.run, RunOf::Alone) {
            if asks {
                job.run = RunOf::Current;
            } else if !part.is_control() {
                return Ok(None);
            }
        }
        let request = job.request();
        let role = match part {
            _ if request.park.as_ref().is_some_and(|park| park.compensates) => {
                CallRole::Compensation
            }
            Part::End => CallRole::End,
            _ => CallRole::Plain,
        };
        let tool = entry.descriptor.id.shared();
        let principal = &request.principal;
        let member =
            runs.enter(&job.run, principal, &tool, role, asks || part.is_control()).await?;
        job.run = RunOf::Joined(member.run().clone());
        Ok(Some(Self { member, part }))
    }

    /// Records how the call ended. A data tool that answered counts; failures and repeated answers do not.
    pub(crate) fn close(
        self,
        job: &Job,
        entry: &Entry,
        decision: Decision,
        key: Option<Digest>,
        result: &Result<Output, Failure>,
    ) {
        let run = self.member.run();
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
            self.member.note(RunCallRow {
                run: run.id().to_owned(),
                trace: job.request().trace,
                tool: entry.descriptor.id.as_str().to_owned(),
                started_unix_ms: self.member.started_ms(),
                ended_unix_ms: self.member.now(),
                outcome: match result {
                    Ok(_) if decision == Decision::Asked => "ASKED".to_owned(),
                    Ok(_) => "OK".to_owned(),
                    Err(failure) => failure.code.as_str().to_owned(),
                },
                made: output.map(|output| references(&output.data)).unwrap_or_default(),
                used: references(&job.input),
            });
        }
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
