//! The answers of a workflow, made from its state and the results of its tasks.

use std::sync::Arc;

use dag::MissingArgument;
use dag::core::{
    Address, Outcome, Pause, PauseKind, Phase, Stage, State, UndoStage, Verdict, has_failed,
};
use dag::paths;
use dag::plan::{Plan, PlannedTask};
use proto::{Failure, time};
use serde_json::{Map, Value, json};
use strip::Parked;
use uuid::Uuid;

use crate::checkpoint::QUARANTINED;
use crate::outage::read;
use crate::results::{ResultKey, Results, Status, TaskResult};

/// A workflow at one moment.
pub(crate) struct Moment<'a> {
    pub(crate) workflow: Uuid,
    pub(crate) plan: &'a Plan,
    pub(crate) state: &'a State,
    pub(crate) results: &'a Results,
}

impl Moment<'_> {
    /// What a caller is answered now.
    pub(crate) async fn answer(&self) -> Result<Value, Failure> {
        match &self.state.phase {
            Phase::Paused(pause) => self.paused(pause).await,
            Phase::Ended(outcome) => self.ended(outcome).await,
            Phase::Saving(then) => match &**then {
                Phase::Ended(outcome) => self.ended(outcome).await,
                _ => Ok(self.running()),
            },
            _ => Ok(self.running()),
        }
    }

    fn base(&self, status: &str) -> Map<String, Value> {
        Map::from_iter([
            ("status".to_owned(), status.into()),
            ("workflow_id".to_owned(), self.workflow.to_string().into()),
        ])
    }

    fn running(&self) -> Value {
        let layer = self.state.root.layer;
        let of_layer = || {
            let tasks = self.plan.tasks.iter().enumerate();
            tasks.filter(move |(_, task)| task.layer == layer)
        };
        let done = of_layer().filter(|(place, _)| {
            let result = self.results.task(&Address::task(*place));
            result.is_some_and(|result| matches!(result.status, Status::Ended(_)))
        });
        let mut answer = self.base("running");
        answer.insert("layer_index".to_owned(), layer.into());
        answer.insert("done".to_owned(), done.count().into());
        answer.insert("total".to_owned(), of_layer().count().into());
        Value::Object(answer)
    }

    async fn paused(&self, pause: &Pause) -> Result<Value, Failure> {
        if pause.kind == PauseKind::Planned {
            return Ok(self.planned(pause));
        }
        if pause.kind == PauseKind::Rejected {
            let mut answer = self.base("rejected");
            answer.insert("checkpoint_id".to_owned(), pause.checkpoint_id.as_str().into());
            if let Some(feedback) = &self.state.feedback {
                answer.insert("feedback".to_owned(), feedback.as_str().into());
            }
            return Ok(Value::Object(answer));
        }
        let layer = self.state.root.layer;
        let mut answer = self.base("layer_complete");
        answer.insert("checkpoint_id".to_owned(), pause.checkpoint_id.as_str().into());
        answer.insert("layer_index".to_owned(), layer.into());
        let results = self.results_where(|task| task.layer == layer).await?;
        answer.insert("layer_results".to_owned(), results);
        answer.insert("next_layer_preview".to_owned(), self.preview());
        answer.extend(self.fields(&pause.kind));
        Ok(Value::Object(answer))
    }

    /// A plan that waits for its caller.
    fn planned(&self, pause: &Pause) -> Value {
        let notes = self.state.planned.as_deref().cloned().unwrap_or_default();
        let mut answer = self.base("planned");
        let fields = json!({
            "checkpoint_id": pause.checkpoint_id,
            "tasks": self.plan.dag().tasks,
            "confidence": notes.confidence,
            "reasons": notes.reasons,
            "alternatives": notes.alternatives,
            "missing": self.missing(),
        });
        if let Value::Object(fields) = fields {
            answer.extend(fields);
        }
        answer.extend(self.fields(&pause.kind));
        Value::Object(answer)
    }

    /// The arguments that are still to be given.
    pub(crate) fn missing(&self) -> Vec<MissingArgument> {
        let tasks = self.plan.tasks.iter().zip(&self.state.root.tasks);
        let open = tasks.filter(|(_, state)| state.is_untouched()).flat_map(|(task, _)| {
            task.missing.iter().map(|open| MissingArgument {
                task_id: task.task.id.clone(),
                argument: open.argument.clone(),
                schema: open.schema.clone(),
            })
        });
        open.collect()
    }

    /// The type of a checkpoint, its fields and the commands that are possible.
    pub(crate) fn fields(&self, kind: &PauseKind) -> Map<String, Value> {
        let (name, fields, options): (_, Value, &[&str]) = match kind {
            PauseKind::Planned | PauseKind::Layer => {
                (None, json!({}), &["continue", "replan", "abort"])
            }
            PauseKind::Rejected => (None, json!({}), &["replan", "abort"]),
            PauseKind::TaskFailed => (
                Some("task_failed"),
                json!({"failed_tasks": self.failed_tasks(true)}),
                &["retry_task", "continue", "replan", "abort"],
            ),
            PauseKind::Approval => {
                let decisions = self.decisions();
                let fields = json!({
                    "decision_context": decision_context(&decisions),
                    "decisions": decisions,
                });
                (Some("approval_required"), fields, &["approval_response", "abort"])
            }
            PauseKind::Input => (
                Some("input_required"),
                json!({"questions": self.questions()}),
                &["continue", "abort"],
            ),
            PauseKind::OwnerGone { reason } => {
                (Some("owner_gone"), json!({"reason": reason}), &["abort"])
            }
            PauseKind::Quarantined { reason } => {
                (Some(QUARANTINED), json!({"reason": reason}), &["abort"])
            }
        };
        let mut all = Map::new();
        all.insert("options".to_owned(), json!(options));
        if let Some(name) = name {
            all.insert("checkpoint_type".to_owned(), name.into());
        }
        if let Value::Object(fields) = fields {
            all.extend(fields);
        }
        all
    }

    fn failed_tasks(&self, of_layer: bool) -> Vec<&str> {
        let tasks = self.plan.tasks.iter().enumerate();
        let failed = tasks.filter(|(place, task)| {
            has_failed(self.state, *place) && (!of_layer || task.layer == self.state.root.layer)
        });
        failed.map(|(_, task)| task.task.id.as_str()).collect()
    }

    /// The calls and compensations that wait for a person, and what for, which is known of each: the driver sets it with
    /// the status, and a row without it cannot be read.
    pub(crate) fn waiting(&self) -> Vec<(ResultKey, Parked)> {
        let mut found = Vec::new();
        self.state.root.each_cell(&Address::default(), &mut |address, _| {
            let key = ResultKey::call(address.clone());
            if let Some(result) = self.results.get(&key)
                && matches!(result.status, Status::Parked | Status::Asking)
            {
                found.extend(result.note.waits.map(|parked| (key, parked)));
            }
        });
        for undo in &self.state.compensations {
            let key = ResultKey { address: undo.cell.clone(), undo: true };
            if undo.stage == UndoStage::Parked
                && let Some(result) = self.results.get(&key)
            {
                found.extend(result.note.waits.map(|parked| (key, parked)));
            }
        }
        found
    }

    pub(crate) fn decisions(&self) -> Vec<Value> {
        let decision = |(key, parked): (ResultKey, Parked)| match parked {
            Parked::Approval { approval_id, tool, arguments, deadline_unix_ms } => Some(json!({
                "approval_id": approval_id,
                "task_id": self.name_of(&key.address),
                "tool": tool,
                "arguments": arguments,
                "deadline": time::rfc3339(deadline_unix_ms),
            })),
            Parked::Questions { .. } => None,
        };
        self.waiting().into_iter().filter_map(decision).collect()
    }

    pub(crate) fn questions(&self) -> Vec<Value> {
        let questions = |(key, parked): (ResultKey, Parked)| {
            let asked = match parked {
                Parked::Questions { questions, .. } => questions,
                Parked::Approval { .. } => Vec::new(),
            };
            let task = self.name_of(&key.address);
            asked.into_iter().map(move |question| {
                json!({
                    "question_id": question.question_id,
                    "task_id": task,
                    "slot_id": question.slot_id,
                    "prompt": question.prompt,
                })
            })
        };
        self.waiting().into_iter().flat_map(questions).collect()
    }

    pub(crate) fn name_of(&self, address: &Address) -> String {
        let path = paths::path_of(self.plan, address);
        match address.last() {
            Some(step) if step.item >= 0 => format!("{path}[{}]", step.item),
            _ => path,
        }
    }

    fn preview(&self) -> Value {
        let tasks = || self.plan.tasks.iter().zip(&self.state.root.tasks);
        let open = tasks().filter(|(task, state)| {
            task.layer > self.state.root.layer && !matches!(state.stage, Stage::Ended(_))
        });
        let Some(next) = open.map(|(task, _)| task.layer).min() else { return json!([]) };
        let of_next = tasks()
            .filter(|(task, state)| task.layer == next && !matches!(state.stage, Stage::Ended(_)));
        let shown = of_next.map(|(task, _)| {
            json!({
                "id": task.task.id,
                "tool": tool_of(task),
                "depends_on": self.depends_on(task),
            })
        });
        shown.collect()
    }

    pub(crate) fn depends_on(&self, task: &PlannedTask) -> Vec<&str> {
        let ids = task.depends_on.iter().filter_map(|place| self.plan.tasks.get(*place));
        ids.map(|task| task.task.id.as_str()).collect()
    }

    async fn ended(&self, outcome: &Outcome) -> Result<Value, Failure> {
        let mut answer = match outcome {
            Outcome::Complete => {
                let mut answer = self.base("complete");
                answer.insert("results".to_owned(), self.results_where(|_| true).await?);
                answer
            }
            Outcome::Failed => {
                let mut answer = self.base("failed");
                answer.insert("results".to_owned(), self.results_where(|_| true).await?);
                answer.insert("failed_tasks".to_owned(), json!(self.failed_tasks(false)));
                answer
            }
            Outcome::Aborted { reason, completed_layers } => {
                let mut answer = self.base("aborted");
                answer.insert("partial_results".to_owned(), self.results_where(|_| true).await?);
                answer.insert("completed_layers".to_owned(), (*completed_layers).into());
                answer.insert("reason".to_owned(), reason.as_str().into());
                answer
            }
        };
        let not_undone = self.not_undone(true);
        if !not_undone.is_empty() {
            answer.insert("not_undone".to_owned(), json!(not_undone));
        }
        if !self.state.compensations.is_empty() {
            let mut undone = Vec::new();
            for undo in &self.state.compensations {
                let key = ResultKey { address: undo.cell.clone(), undo: true };
                let mut result = self.results.get(&key).unwrap_or_default();
                let output = read(|| self.results.call_output(self.plan, &key)).await;
                let output = result.readable(output)?;
                undone.push(shape(self.name_of(&undo.cell), &result, output));
            }
            answer.insert("compensations".to_owned(), Value::Array(undone));
        }
        Ok(Value::Object(answer))
    }

    /// The results of those tasks that have ended.
    async fn results_where(
        &self,
        matches: impl Fn(&PlannedTask) -> bool,
    ) -> Result<Value, Failure> {
        let mut shown = Vec::new();
        for (place, task) in self.plan.tasks.iter().enumerate() {
            if matches(task) && matches!(self.state.root.tasks[place].stage, Stage::Ended(_)) {
                shown.push(self.result(place, task).await?);
            }
        }
        Ok(Value::Array(shown))
    }

    async fn result(&self, place: usize, task: &PlannedTask) -> Result<Value, Failure> {
        let address = Address::task(place);
        let mut result = self.results.task(&address).unwrap_or_default();
        let stage = self.state.root.tasks[place].stage;
        if let Stage::Ended(verdict) = stage {
            result.status = Status::Ended(verdict);
        }
        let has_output = match result.status {
            Status::Ended(Verdict::Success) => true,
            // The items that succeeded are there even if others failed.
            Status::Ended(Verdict::Failed) => result.note.items.is_some(),
            _ => false,
        };
        let output = if has_output {
            let output = read(|| self.results.output(self.plan, &address)).await;
            result.readable(output.map(Some))?
        } else {
            None
        };
        let items = result.note.items;
        if result.note.error.is_none() {
            result.note.error = self.first_error(&address);
        }
        let mut shown = shape(task.task.id.clone(), &result, output);
        if let Some(items) = items {
            shown["items"] = (0..i64::try_from(items).unwrap_or(0))
                .map(|item| {
                    let mut result = self.results.task(&address.item(item)).unwrap_or_default();
                    if !matches!(result.status, Status::Ended(_)) {
                        // The workflow was aborted before the item began.
                        result.status = Status::Ended(Verdict::Skipped);
                    }
                    let mut shown = shape(item.to_string(), &result, None);
                    if let Some(shown) = shown.as_object_mut() {
                        shown.remove("task_id");
                        shown.insert("index".to_owned(), item.into());
                    }
                    shown
                })
                .collect();
        }
        Ok(shown)
    }

    /// The error of the first item or task within that failed.
    fn first_error(&self, address: &Address) -> Option<Value> {
        let mut found = None;
        self.state.root.each_cell(&Address::default(), &mut |inner, _| {
            if found.is_none()
                && inner.root_task() == address.root_task()
                && let Some(result) = self.results.task(inner)
                && matches!(result.status, Status::Ended(Verdict::Failed | Verdict::Rejected))
            {
                found = result.note.error;
            }
        });
        found
    }
}

/// The tool of a task as answers name it.
pub(crate) fn tool_of(task: &PlannedTask) -> &str {
    task.task.tool.as_deref().unwrap_or("workflow")
}

fn shape(task_id: String, result: &TaskResult, output: Option<Arc<Value>>) -> Value {
    let ended = result.ended_unix_ms.unwrap_or(result.started_unix_ms);
    let mut shown = json!({
        "task_id": task_id,
        "status": result.status.shown(),
        "duration_ms": ended.saturating_sub(result.started_unix_ms),
        "attempt": result.attempt.max(1),
    });
    if let Some(output) = output {
        shown["output"] = Arc::unwrap_or_clone(output);
    }
    let failed = matches!(result.status, Status::Ended(Verdict::Failed | Verdict::Rejected));
    if let Some(error) = result.note.error.clone().filter(|_| failed) {
        shown["error"] = error;
    }
    shown
}

fn decision_context(decisions: &[Value]) -> String {
    match decisions {
        [only] => {
            let (task, tool) = (only["task_id"].as_str(), only["tool"].as_str());
            format!(
                "Task {} wants to call {}, which a person must approve.",
                task.unwrap_or_default(),
                tool.unwrap_or_default()
            )
        }
        several => format!("{} calls wait for a person's approval.", several.len()),
    }
}
