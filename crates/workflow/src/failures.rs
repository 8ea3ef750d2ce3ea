//! The failures of workflow tools, and the error object that MCP clients get for them.

use std::time::Duration;

use dag::MissingArgument;
use dag::core::{Overflow, Refusal};
use dag::plan::{Fault, MAX_TASKS};
use proto::{Blame, Code, Failure};
use serde_json::{Value, json};
use store::StoreError;
use uuid::Uuid;

/// How many faults of a DAG are listed.
const MAX_FAULTS: usize = 500;

/// Unknown, expired, ended, or another caller's: a caller cannot tell which.
pub(crate) fn not_found(workflow: Uuid) -> Failure {
    Failure::new(Code::NotFound, "Workflow not found or expired").details(ids(workflow))
}

pub(crate) fn no_checkpoint(workflow: Uuid) -> Failure {
    Failure::new(Code::NotFound, "No checkpoints found for workflow").details(ids(workflow))
}

pub(crate) fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(Code::InvalidInput, message)
}

pub(crate) fn bad_dag(faults: &[Fault]) -> Failure {
    let first = faults
        .first()
        .map_or_else(String::new, |fault| format!("{}: {}", fault.path, fault.message));
    let message = match faults.len() {
        1 => format!("the DAG has a fault: {first}"),
        count if count > MAX_FAULTS => {
            format!(
                "the DAG has {count} faults, of which {MAX_FAULTS} are listed; the first: {first}"
            )
        }
        count => format!("the DAG has {count} faults; the first: {first}"),
    };
    let listed = &faults[..faults.len().min(MAX_FAULTS)];
    invalid(message).details(json!({"faults": listed}))
}

/// Arguments of a plan are still to be given.
pub(crate) fn missing(workflow: Uuid, checkpoint_id: &str, missing: &[MissingArgument]) -> Failure {
    let names: Vec<String> = missing
        .iter()
        .map(|missing| format!("`{}` of `{}`", missing.argument, missing.task_id))
        .collect();
    let message =
        format!("give the missing arguments with modify_args first: {}", names.join(", "));
    let mut details = ids(workflow);
    details["checkpoint_id"] = checkpoint_id.into();
    details["missing"] = json!(missing);
    invalid(message).details(details)
}

/// The failure of a task whose list is too long.
pub(crate) fn too_many_items(overflow: Overflow) -> Failure {
    let Overflow { items, weight, free } = overflow;
    let each = if weight > 1 { format!(" of {weight} tasks each") } else { String::new() };
    let message = format!(
        "/for_each: there are {items} items{each}, but only {free} more tasks fit into the workflow ({MAX_TASKS} with items and sub-workflows)"
    );
    invalid(message).details(json!({"path": "/for_each"}))
}

pub(crate) fn refused(workflow: Uuid, checkpoint_id: Option<&str>, refusal: Refusal) -> Failure {
    let message = match refusal {
        Refusal::NotPaused => {
            "the workflow is running, and only a paused one can be changed: call continue to wait for its next pause"
        }
        Refusal::Rejected => {
            "a person rejected a call of this workflow: inject_tasks, replan or abort remain"
        }
        Refusal::Waits => {
            "the workflow waits for a person, so it cannot be changed now: call continue to wait, or abort"
        }
        Refusal::NotFailed => "only a failed task can be retried",
        Refusal::Completed => {
            "complete_workflow has ended the run of this workflow, so nothing can follow: call continue or abort"
        }
        Refusal::Quarantined => {
            "the workflow is quarantined because gateway processes died while it was active: abort it, or have an operator \
             run `powerstrip workflows continue ID --force`"
        }
        Refusal::Started => "the task has begun or ended, so it cannot be changed any more",
    };
    let mut details = ids(workflow);
    if let Some(id) = checkpoint_id {
        details["checkpoint_id"] = id.into();
    }
    invalid(message).details(details)
}

/// A command names a checkpoint that is not the current one.
pub(crate) fn wrong_checkpoint(workflow: Uuid, current: Option<&str>, given: &str) -> Failure {
    let given: String = given.chars().take(100).collect();
    let message = match current {
        Some(current) => format!("`{given}` is not the current checkpoint, which is `{current}`"),
        None => format!(
            "`{given}` is no checkpoint of this workflow, which is running: call continue without checkpoint_id to wait for it"
        ),
    };
    at_checkpoint(workflow, current, message)
}

/// A refusal that names the current checkpoint.
pub(crate) fn at_checkpoint(
    workflow: Uuid,
    current: Option<&str>,
    message: impl Into<String>,
) -> Failure {
    let mut details = ids(workflow);
    details["checkpoint_id"] = json!(current);
    invalid(message).details(details)
}

pub(crate) fn too_many(workflow: Uuid, most: u32, wait: Duration) -> Failure {
    let seconds = wait.as_secs_f64().ceil();
    let message = format!(
        "a workflow takes {most} control calls per minute; wait {seconds} s. workflow_status, waiting and abort are free"
    );
    let mut details = ids(workflow);
    details["retry_after_ms"] = json!(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    Failure::new(Code::RateLimit, message).retry_after(wait).details(details)
}

pub(crate) fn queue_full(workflow: Uuid) -> Failure {
    let wait = Duration::from_secs(1);
    let mut details = ids(workflow);
    details["retry_after_ms"] = json!(1_000);
    let message = "16 commands of this workflow are waiting already; try again when they are done";
    Failure::new(Code::RateLimit, message).retry_after(wait).details(details)
}

/// The same words as for other tools.
pub(crate) fn key_reused(workflow: Uuid) -> Failure {
    let message =
        "this idempotency key was used with other arguments; choose a new key for a new workflow";
    invalid(message).details(ids(workflow))
}

pub(crate) fn too_many_active(most: usize) -> Failure {
    let message = format!(
        "{most} workflows of this tenant have not ended, and no more may start: abort those that are abandoned"
    );
    Failure::new(Code::RateLimit, message).details(json!({"retry_after_ms": 60_000}))
}

const DAMAGED: &str =
    "what is stored of the workflow is damaged and cannot be read; start the workflow again";

pub(crate) fn unavailable(error: StoreError) -> Failure {
    let failure = if is_damage(&error) {
        Failure::new(Code::Internal, DAMAGED)
    } else {
        Failure::new(Code::Unavailable, "workflows cannot be stored or read at present; try again")
    };
    failure.blame(Blame::Gateway).caused_by(error)
}

/// The output of a task that another one needs cannot be read.
pub(crate) fn output_unreadable(task: &str, error: StoreError) -> Failure {
    let mut failure = unavailable(error);
    failure.message =
        format!("the output of the task `{task}` cannot be used: {}", failure.message);
    failure
}

/// Whether the database works, and what it contains cannot be read: it never helps to try again.
pub(crate) fn is_damage(error: &StoreError) -> bool {
    matches!(error, StoreError::Unreadable { .. })
}

/// Something that is stored of a workflow cannot be read.
pub(crate) fn damaged(workflow: Uuid, error: serde_json::Error) -> Failure {
    Failure::new(Code::Internal, DAMAGED).details(ids(workflow)).caused_by(error)
}

/// Why a task failed that an abort interrupted.
pub(crate) fn cancelled() -> Failure {
    Failure::new(Code::Unavailable, "the workflow was aborted before the task ended")
        .retryable(false)
        .details(json!({"cancelled": true}))
}

pub(crate) fn only_operators(workflow: Uuid) -> Failure {
    let message = "only an operator may continue a quarantined workflow: `powerstrip workflows continue ID --force`";
    Failure::new(Code::Denied, message).details(ids(workflow))
}

pub(crate) fn stopping() -> Failure {
    let message = "the gateway is shutting down; the workflow continues at its next start";
    Failure::new(Code::Unavailable, message).blame(Blame::Gateway)
}

pub(crate) fn unsupported(message: &str) -> Failure {
    Failure::new(Code::Unsupported, message)
}

fn ids(workflow: Uuid) -> Value {
    json!({"workflow_id": workflow.to_string()})
}

/// The number by which MCP clients know a code.
fn number(code: Code) -> i64 {
    match code {
        Code::InvalidInput => -32602,
        Code::NotFound => -32004,
        Code::RateLimit => -32029,
        Code::Denied => -32003,
        Code::Unsupported => -32005,
        Code::Unavailable | Code::Internal | Code::Timeout | Code::Nondeterministic => -32603,
    }
}

/// The failed result for MCP clients: the envelope's code in the text, and the error object of the control protocol.
pub(crate) fn native(failure: &Failure) -> Value {
    let mut data = failure.details.clone().unwrap_or_else(|| json!({}));
    if let Some(data) = data.as_object_mut() {
        data.insert("retryable".to_owned(), failure.retryable.into());
        if let Some(wait) = failure.retry_after {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            data.entry("retry_after_ms").or_insert(wait.into());
        }
    }
    let error = json!({
        "code": number(failure.code),
        "message": failure.message,
        "data": data,
    });
    json!({
        "content": [{"type": "text", "text": format!("{}: {}", failure.code, failure.message)}],
        "structuredContent": {"error": error},
        "isError": true,
    })
}
