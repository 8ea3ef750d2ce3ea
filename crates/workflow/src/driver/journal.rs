use dag::core::{Outcome, PauseKind, Phase, Record, RecordStatus};
use dag::paths;
use operations::workflows::WorkflowTask;
use serde_json::{Value, json};
use store::WorkflowEventRow;

use super::Driver;
use crate::answer::tool_of;
use crate::results::ResultKey;

impl Driver {
    /// Adds a row to the journal, to be committed with the next change.
    pub(super) fn note(&mut self, kind: &str, data: Value) {
        self.workflow.last_event += 1;
        self.events.push(WorkflowEventRow {
            workflow: self.workflow.id,
            number: self.workflow.last_event,
            at_unix_ms: self.service.now(),
            kind: kind.to_owned(),
            data: data.to_string(),
        });
    }

    /// Keeps what is shown of a workflow after its end. Only the gateway reads this row.
    pub(super) fn note_snapshot(&mut self, tasks: &[WorkflowTask]) {
        let data = json!({
            "tasks": tasks,
            "not_undone": self.moment().not_undone(true),
            "dag": self.workflow.plan.dag(),
            "per_layer_validation": self.workflow.state.rules.per_layer,
            "layer": self.workflow.state.root.layer,
            "expires_unix_ms": self.workflow.expires_unix_ms,
        });
        self.note("snapshot", data);
    }

    pub(super) fn note_call(&mut self, key: &ResultKey, attempt: u32) {
        let Some((_, task)) = paths::find(&self.workflow.plan, &key.address) else { return };
        let tool = match (&task.task.compensate, key.undo) {
            (Some(undo), true) => undo.tool.as_str(),
            _ => tool_of(task),
        };
        let mut data = self.name(key);
        data["tool"] = tool.into();
        data["attempt"] = attempt.into();
        self.note("task_started", data);
    }

    fn name(&self, key: &ResultKey) -> Value {
        let mut data = json!({"task_id": paths::path_of(&self.workflow.plan, &key.address)});
        if key.undo {
            data["compensation"] = true.into();
        }
        if let Some(item) = key.address.last().map(|step| step.item).filter(|item| *item >= 0) {
            data["item"] = item.into();
            let whole = self.workflow.results.task(&key.address.whole());
            if let Some(items) = whole.and_then(|whole| whole.note.items) {
                data["items"] = items.into();
            }
        }
        data
    }

    pub(super) fn note_record(&mut self, record: &Record) {
        if !matches!(record.status, RecordStatus::Ended(_) | RecordStatus::Cancelled) {
            return;
        }
        let key = ResultKey { address: record.address.clone(), undo: record.undo };
        let result = self.workflow.results.get(&key).unwrap_or_default();
        let ended = result.ended_unix_ms.unwrap_or(result.started_unix_ms);
        let mut data = self.name(&key);
        data["status"] = result.status.shown().into();
        data["attempt"] = record.attempt.into();
        data["duration_ms"] = ended.saturating_sub(result.started_unix_ms).into();
        if let Some(code) = result.note.error.as_ref().and_then(|error| error.get("code")) {
            data["code"] = code.clone();
        }
        self.note("task_done", data);
    }

    /// The journal row of the phase that is about to be committed.
    pub(super) fn note_phase(&mut self, then: &Phase) {
        let layer = self.workflow.state.root.layer;
        let (kind, data) = match then {
            Phase::Paused(pause) => {
                let mut data = json!({"checkpoint_id": pause.checkpoint_id, "layer_index": layer});
                let fields = self.moment().fields(&pause.kind);
                let kind = match pause.kind {
                    PauseKind::Planned => "planned",
                    PauseKind::Approval => "decision_required",
                    PauseKind::Input => "input_required",
                    _ => "layer_complete",
                };
                if let Value::Object(data) = &mut data {
                    data.extend(fields);
                }
                (kind, data)
            }
            Phase::Ended(Outcome::Complete) => ("complete", json!({})),
            Phase::Ended(Outcome::Failed) => ("failed", json!({})),
            Phase::Ended(Outcome::Aborted { reason, .. }) => ("aborted", json!({"reason": reason})),
            _ if self.workflow.state.ending.is_some() => return,
            _ => {
                let done = self.workflow.state.completed_layers();
                ("layer_complete", json!({"layer_index": done.saturating_sub(1)}))
            }
        };
        self.note(kind, data);
    }
}
