//! What the gateway has acknowledged to the client of one workflow.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::spec::{Kind, Spec};

/// Everything here was in an answer that arrived; none of it may be lost or change.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) id: Option<String>,
    /// The last answer.
    pub(crate) last: Value,
    /// Status of each task that was reported as finished.
    pub(crate) statuses: BTreeMap<String, String>,
    /// Outputs of tasks that were reported as successful.
    outputs: BTreeMap<String, Value>,
    /// How often each idempotency key had run when its result was reported.
    pub(crate) runs: BTreeMap<String, u64>,
    layer: i64,
    /// Approvals that were requested.
    pub(crate) approvals: BTreeMap<String, Requested>,
    /// Questions that were asked.
    pub(crate) questions: BTreeMap<String, AskedQuestion>,
    /// Whether an abort was sent, which cancels its approvals even if the answer was lost.
    pub(crate) aborting: bool,
    pub(crate) ended: bool,
    /// How often it was quarantined and released.
    pub(crate) quarantined: u64,
}

/// An approval that was requested.
#[derive(Clone, Debug)]
pub(crate) struct Requested {
    /// As the ledger names it.
    task: String,
    deadline: Value,
    /// Whether an approval was sent. It counts even if its answer was lost.
    pub(crate) approved: bool,
    /// Whether any decision was sent.
    pub(crate) decided: bool,
    /// As the list of approvals shows it.
    pub(crate) listed_deadline: Option<u64>,
}

/// A question that was asked.
#[derive(Clone, Debug)]
pub(crate) struct AskedQuestion {
    task: String,
    slot: Value,
    prompt: Value,
    /// Whether an answer was sent. It counts even if the gateway was killed before it replied.
    pub(crate) answered: bool,
}

impl Record {
    /// Compares an answer with what was acknowledged before, and notes what is new.
    pub(crate) fn observe(&mut self, spec: &Spec, answer: &Value) -> Result<(), String> {
        let name = &spec.name;
        let id = answer["workflow_id"].as_str().ok_or(format!("{name}: no id in {answer}"))?;
        if self.id.as_deref().is_some_and(|known| known != id) {
            return Err(format!("{name}: the workflow {:?} became {id}", self.id));
        }
        self.id = Some(id.to_owned());
        if let Some(layer) = answer["layer_index"].as_i64() {
            if layer < self.layer {
                return Err(format!(
                    "{name}: layer {} was acknowledged, and now {layer}",
                    self.layer
                ));
            }
            self.layer = layer;
        }
        for list in ["layer_results", "results", "partial_results"] {
            for result in answer[list].as_array().into_iter().flatten() {
                self.observe_result(spec, result)?;
            }
        }
        for decision in answer["decisions"].as_array().into_iter().flatten() {
            self.observe_decision(name, decision)?;
        }
        for question in answer["questions"].as_array().into_iter().flatten() {
            self.observe_question(name, question)?;
        }
        let ended = ["complete", "failed", "aborted"];
        self.ended = answer["status"].as_str().is_some_and(|status| ended.contains(&status));
        if self.ended {
            self.observe_end(spec, answer)?;
        }
        self.last = answer.clone();
        Ok(())
    }

    fn observe_result(&mut self, spec: &Spec, result: &Value) -> Result<(), String> {
        let name = &spec.name;
        let (Some(task), Some(status)) = (result["task_id"].as_str(), result["status"].as_str())
        else {
            return Err(format!("{name}: not a result: {result}"));
        };
        let before = self.statuses.insert(task.to_owned(), status.to_owned());
        if before.is_some_and(|before| before != status) {
            return Err(format!("{name}: the result of {task} changed: {result}"));
        }
        let Some(known) = spec.tasks.iter().find(|known| known.id == task) else {
            return Err(format!("{name}: an unknown task: {result}"));
        };
        // After a crash it is unknown whether a call that must not run twice has run.
        let expected = match known.kind {
            Kind::Skip => &["skipped"][..],
            Kind::Once => &["success", "failed", "skipped"],
            _ if self.stopped(spec) => &["success", "failed", "skipped"],
            _ => &["success"],
        };
        if !expected.contains(&status) {
            return Err(format!("{name}: {task} should be {}: {result}", expected.join(" or ")));
        }
        if status != "success" {
            return Ok(());
        }
        let output = &result["output"];
        if let Some(before) = self.outputs.insert(task.to_owned(), output.clone())
            && before != *output
        {
            return Err(format!("{name}: the output of {task} was {before} and is {output}"));
        }
        let outputs = outputs_of_calls(output);
        let calls = known.parts.as_ref().map_or(1, Vec::len);
        if outputs.len() != calls {
            return Err(format!("{name}: {task} has {calls} calls: {output}"));
        }
        if known.kind == Kind::Ask && output["reply"] != known.reply() {
            return Err(format!("{name}: the answer to {task} is lost: {output}"));
        }
        for output in outputs {
            let (Some(key), Some(runs)) = (output["key"].as_str(), output["runs"].as_u64()) else {
                return Err(format!("{name}: {task} has no output of the ledger: {output}"));
            };
            self.runs.insert(key.to_owned(), runs);
        }
        Ok(())
    }

    /// Whether its client aborts it or rejects a call, so that tasks may fail or be skipped.
    fn stopped(&self, spec: &Spec) -> bool {
        spec.abort_at.is_some() || (spec.reject && self.approvals.values().any(|it| it.decided))
    }

    fn observe_decision(&mut self, name: &str, decision: &Value) -> Result<(), String> {
        let (Some(id), Some(task)) =
            (decision["approval_id"].as_str(), decision["arguments"]["task"].as_str())
        else {
            return Err(format!("{name}: not a decision: {decision}"));
        };
        let deadline = decision["deadline"].clone();
        let requested = self.approvals.entry(id.to_owned()).or_insert_with(|| Requested {
            task: task.to_owned(),
            deadline: deadline.clone(),
            approved: false,
            decided: false,
            listed_deadline: None,
        });
        if requested.deadline != deadline {
            return Err(format!(
                "{name}: the deadline of {id} was {} and is {deadline}",
                requested.deadline
            ));
        }
        Ok(())
    }

    fn observe_question(&mut self, name: &str, question: &Value) -> Result<(), String> {
        let (Some(id), Some(task)) =
            (question["question_id"].as_str(), question["task_id"].as_str())
        else {
            return Err(format!("{name}: not a question: {question}"));
        };
        let (slot, prompt) = (&question["slot_id"], &question["prompt"]);
        let asked = self.questions.entry(id.to_owned()).or_insert_with(|| AskedQuestion {
            task: task.to_owned(),
            slot: slot.clone(),
            prompt: prompt.clone(),
            answered: false,
        });
        if (asked.task.as_str(), &asked.slot, &asked.prompt) != (task, slot, prompt) {
            return Err(format!("{name}: the question {id} was {asked:?} and is {question}"));
        }
        let again = self.questions.values().filter(|asked| asked.task == task).count();
        if again > 1 {
            return Err(format!("{name}: {task} asked {again} times: {question}"));
        }
        Ok(())
    }

    fn observe_end(&mut self, spec: &Spec, answer: &Value) -> Result<(), String> {
        let name = &spec.name;
        let complete = answer["status"] == "complete";
        if answer["status"] == "failed" && !self.stopped(spec) {
            return Err(format!("{name} failed: {answer}"));
        }
        let missing = spec.tasks.iter().find(|task| !self.statuses.contains_key(&task.id));
        if let (true, Some(task)) = (complete, missing) {
            return Err(format!("{name}: {} is not in the results: {answer}", task.id));
        }
        let failed = answer["compensations"].as_array().into_iter().flatten();
        if let Some(failed) = failed.into_iter().find(|result| result["status"] != "success") {
            return Err(format!("{name}: a compensation failed: {failed}"));
        }
        Ok(())
    }

    /// Whether what it did was undone.
    pub(crate) fn is_undone(&self) -> bool {
        ["aborted", "failed"].iter().any(|status| self.last["status"] == *status)
    }

    /// The approvals that wait for a decision, by id.
    pub(crate) fn pending(&mut self) -> impl Iterator<Item = (&String, &mut Requested)> {
        let open = !self.ended && !self.aborting;
        self.approvals.iter_mut().filter(move |(_, requested)| open && !requested.decided)
    }

    /// The questions that wait for an answer, by id.
    pub(crate) fn unanswered(&self) -> Vec<String> {
        let open = !self.ended && !self.aborting;
        let asked = self.questions.iter().filter(|(_, asked)| open && !asked.answered);
        asked.map(|(id, _)| id.clone()).collect()
    }

    /// How many approvals a task was given.
    pub(crate) fn approvals_of(&self, task: &str) -> u64 {
        self.approvals.values().filter(|it| it.task == task && it.approved).count() as u64
    }
}

/// The outputs of the calls of a task: one, those of its items, or those of its sub-workflow.
fn outputs_of_calls(output: &Value) -> Vec<&Value> {
    match output {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) if !fields.contains_key("key") => {
            fields.values().flat_map(outputs_of_calls).collect()
        }
        one => vec![one],
    }
}
