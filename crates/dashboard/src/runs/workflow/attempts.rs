//! The attempts of tasks, from the tasks and the last events of their workflow.

use std::collections::BTreeMap;

use operations::workflows::{WorkflowDetails, WorkflowEvent, WorkflowTask};
use serde_json::Value;

/// One attempt of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) number: u32,
    pub(super) started_unix_ms: u64,
    /// None while it runs or waits.
    pub(super) ended_unix_ms: Option<u64>,
    pub(super) status: String,
    /// The code of its failure.
    pub(super) code: Option<String>,
}

/// The attempts of a task that are known, oldest first. A call that waited for approval is one attempt.
pub(super) fn attempts(details: &WorkflowDetails, task: &WorkflowTask) -> Vec<Attempt> {
    let mut found: BTreeMap<u32, Attempt> = BTreeMap::new();
    for event in details.events.iter().filter(|event| is_about(event, &task.task_id)) {
        let Some(number) = event.data["attempt"].as_u64() else { continue };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let text = |name: &str| event.data[name].as_str().map(str::to_owned);
        let took = event.data["duration_ms"].as_u64().unwrap_or(0);
        let ended = event.kind == "task_done";
        let started_unix_ms =
            if ended { event.at_unix_ms.saturating_sub(took) } else { event.at_unix_ms };
        let attempt = found.entry(number).or_insert_with(|| Attempt {
            number,
            started_unix_ms,
            status: "running".to_owned(),
            ..Attempt::default()
        });
        if ended {
            attempt.ended_unix_ms = Some(event.at_unix_ms);
            attempt.status = text("status").unwrap_or_default();
            attempt.code = text("code");
        }
    }
    // The task itself knows its last attempt, also where the events begin later.
    if let Some(started_unix_ms) = task.started_unix_ms {
        let code = task.error.as_ref().and_then(|error| error["code"].as_str());
        let last = Attempt {
            number: task.attempt,
            started_unix_ms,
            ended_unix_ms: task.ended_unix_ms,
            status: task.status.clone(),
            code: code.map(str::to_owned),
        };
        found.insert(task.attempt, last);
    }
    found.into_values().collect()
}

/// Whether an event is the start or the end of the task, rather than of an item or a compensation.
fn is_about(event: &WorkflowEvent, task: &str) -> bool {
    let part = |name: &str| event.data.get(name).unwrap_or(&Value::Null);
    matches!(event.kind.as_str(), "task_started" | "task_done")
        && part("task_id") == task
        && part("item").is_null()
        && part("compensation").is_null()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn earlier_attempts_come_from_the_events() {
        let event = |at_unix_ms, kind: &str, data| WorkflowEvent {
            at_unix_ms,
            kind: kind.to_owned(),
            data,
            ..WorkflowEvent::default()
        };
        let done = json!({"task_id": "a", "attempt": 1, "status": "failed", "code": "TIMEOUT", "duration_ms": 10});
        let events = vec![
            event(100, "task_started", json!({"task_id": "a", "attempt": 1})),
            event(105, "task_started", json!({"task_id": "a", "attempt": 1, "item": 0})),
            event(110, "task_done", done),
            event(200, "task_started", json!({"task_id": "a", "attempt": 2})),
            event(300, "task_started", json!({"task_id": "b", "attempt": 1})),
        ];
        let task = WorkflowTask {
            task_id: "a".to_owned(),
            attempt: 2,
            status: "success".to_owned(),
            started_unix_ms: Some(200),
            ended_unix_ms: Some(230),
            ..WorkflowTask::default()
        };
        let details = WorkflowDetails { events, ..WorkflowDetails::default() };
        let found = attempts(&details, &task);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].started_unix_ms, found[0].ended_unix_ms), (100, Some(110)));
        assert_eq!(found[0].code.as_deref(), Some("TIMEOUT"));
        assert_eq!((found[1].number, found[1].ended_unix_ms), (2, Some(230)));
    }
}
