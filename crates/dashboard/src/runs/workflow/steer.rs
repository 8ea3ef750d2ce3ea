//! The commands that people give to a workflow on its page. They are calls of the workflow tools, with the same guards
//! and audit.

use auth::scope;
use axum::extract::{Path, State};
use maud::{Markup, html};
use operations::workflows::{WorkflowCommand, WorkflowDetails, WorkflowSummary, WorkflowTask};
use serde_json::Value;

use super::access::{QUARANTINED, steering_console};
use crate::layout::{PageResult, csrf};
use crate::posted::{PostedForm, see_other};
use crate::runs::links::run_page;
use crate::runs::params::Params;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{in_url, inert};

/// The reason in the journal if the person gives none.
const ABORTED_BY_PERSON: &str = "aborted on the dashboard";

/// Whether the viewer may give commands to a workflow: its owner and operators may.
fn may_steer(viewer: &Viewer, workflow: &WorkflowSummary) -> bool {
    let principal = viewer.principal();
    let owns = workflow.tenant == principal.tenant.as_str()
        && workflow.owner == principal.subject
        && workflow.agent == principal.agent;
    viewer.may(scope::TOOLS_CALL) && (owns || viewer.is_operator())
}

/// Whether the checkpoint offers a command.
fn offers(details: &WorkflowDetails, command: &str) -> bool {
    let options = details.checkpoint.as_ref().and_then(|answer| answer.get("options")?.as_array());
    options.is_some_and(|options| options.iter().any(|option| option == command))
}

fn action(workflow: &WorkflowSummary) -> String {
    format!("/dashboard/runs/{}/steer", in_url(&workflow.run_id))
}

/// The buttons of a workflow that has not ended. They are redrawn only when it is at another checkpoint, so that an open
/// form stays open.
pub(super) fn buttons(details: &WorkflowDetails, viewer: &Viewer) -> Markup {
    let workflow = &details.workflow;
    let checkpoint = details.checkpoint_id().and_then(Value::as_str).unwrap_or_default();
    let version = format!("{} {checkpoint}", workflow.state);
    html! {
        div #steer data-swap data-version=(version) {
            @if workflow.state == "ended" {}
            @else if may_steer(viewer, workflow) { (forms(details, checkpoint, viewer)) }
            @else { p.soft { "Only its owner and operators can continue or abort it." } }
        }
    }
}

fn forms(details: &WorkflowDetails, checkpoint: &str, viewer: &Viewer) -> Markup {
    let workflow = &details.workflow;
    let outcome = workflow.outcome.as_deref();
    // At a question, `continue` only waits for the answer.
    let continues = offers(details, "continue") && outcome != Some("input_required");
    let releases = outcome == Some(QUARANTINED) && viewer.is_operator();
    html! {
        (explain(details))
        div.steer {
            @if continues || releases {
                form method="post" action=(action(workflow)) {
                    (csrf(viewer))
                    input type="hidden" name="checkpoint" value=(checkpoint);
                    @if continues { button.primary type="submit" name="do" value="continue" { "Continue" } }
                    @else { button.primary type="submit" name="do" value="release" { "Continue anyway" } }
                }
            }
            details.confirm #confirm-abort {
                summary.button.danger { "Abort…" }
                form method="post" action=(action(workflow)) {
                    (csrf(viewer))
                    p { "Running calls are cancelled, and finished tasks are undone where they can be." }
                    div.field { label for="abort-reason" { "Reason" } input #abort-reason type="text" name="reason" maxlength="500" autocomplete="off"; }
                    button.danger type="submit" name="do" value="abort" { "Abort the workflow" }
                }
            }
        }
    }
}

/// What is possible after a failure, in words.
fn explain(details: &WorkflowDetails) -> Markup {
    let next = details.checkpoint.as_ref().and_then(|answer| answer.get("next_layer_preview"));
    let is_last = next.and_then(Value::as_array).is_none_or(Vec::is_empty);
    html! {
        @match details.workflow.outcome.as_deref() {
            Some("task_failed") if is_last => p.hint { strong { "Retry task" } " calls it again. " strong { "Continue" } " ends the workflow." },
            Some("task_failed") => p.hint {
                strong { "Retry task" } " calls it again. " strong { "Continue" } " runs the next layer: tasks that need a failed one are skipped, unless it has "
                code { "on_error: continue" } "."
            },
            Some("rejected") => p.hint {
                "A person rejected a call, or none decided in time. The workflow goes on with other tasks: "
                code { "powerstrip:replan" } " plans them, " code { "powerstrip:inject_tasks" } " adds yours. Or abort it."
            },
            _ => {},
        }
    }
}

/// The buttons of one task: a failed one can be called again, one that has not started can be skipped.
pub(super) fn task_buttons(
    details: &WorkflowDetails,
    task: &WorkflowTask,
    viewer: &Viewer,
) -> Markup {
    let workflow = &details.workflow;
    let retries = task.status == "failed" && offers(details, "retry_task");
    let changes =
        matches!(workflow.outcome.as_deref(), Some("layer_complete" | "task_failed" | "rejected"));
    let skips = task.status == "pending" && workflow.state == "paused" && changes;
    html! {
        @if (retries || skips) && may_steer(viewer, workflow) {
            form.steer method="post" action=(action(workflow)) {
                (csrf(viewer))
                input type="hidden" name="task" value=(task.task_id);
                @if retries { button type="submit" name="do" value="retry" { "Retry task" } }
                @if skips { button type="submit" name="do" value="skip" { "Skip task" } }
            }
        }
    }
}

/// The command of a posted form.
fn command(posted: &PostedForm) -> Option<WorkflowCommand> {
    let task_id = posted.text("task").to_owned();
    Some(match posted.text("do") {
        "continue" => {
            let checkpoint_id = Some(posted.text("checkpoint").to_owned());
            WorkflowCommand::Continue { checkpoint_id: checkpoint_id.filter(|id| !id.is_empty()) }
        }
        "release" => WorkflowCommand::Release,
        "abort" => {
            let reason = posted.text("reason").trim();
            let reason = if reason.is_empty() { ABORTED_BY_PERSON } else { reason };
            WorkflowCommand::Abort { reason: reason.to_owned() }
        }
        "retry" => WorkflowCommand::RetryTask { task_id },
        "skip" => WorkflowCommand::SkipTask { task_id },
        _ => return None,
    })
}

/// Gives a command to the workflow.
pub(crate) async fn change(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    let console = steering_console(&dashboard, viewer)?;
    let Some(command) = command(&posted) else {
        return Err(viewer.missing(
            "A workflow can be continued and aborted here, and its tasks retried and skipped.",
        ));
    };
    match console.steer(&viewer.caller(), &id, command).await {
        Ok(()) => {
            let (did, task) = (in_url(posted.text("do")), in_url(posted.text("task")));
            let task = if task.is_empty() { task } else { format!("&task={task}") };
            Ok(see_other(&format!("{}?did={did}{task}", run_page(&id))))
        }
        Err(error) => Err(viewer.failed("Not done", &error)),
    }
}

/// What was just done, in words.
pub(super) fn done(details: &WorkflowDetails, params: &Params) -> Markup {
    let text = match params.did.as_str() {
        "continue" | "release" => "The workflow was continued.".to_owned(),
        "abort" => "The workflow is aborted.".to_owned(),
        "skip" => "The task is skipped.".to_owned(),
        "retry" => return retried(details, &params.task),
        _ => return html! {},
    };
    html! { p.notice role="status" { (text) } }
}

/// How the retry of a task went.
fn retried(details: &WorkflowDetails, task: &str) -> Markup {
    let state = details.tasks.iter().find(|one| one.task_id == task).map(|one| one.status.as_str());
    html! {
        div #retried data-swap {
            @match state {
                Some("failed") => p.notice.warning role="status" { "Task " code { (inert(task)) } " was called again and failed again." },
                Some("success") => p.notice role="status" { "Task " code { (inert(task)) } " was called again and succeeded." },
                _ => p.notice role="status" { "The task is called again." },
            }
        }
    }
}
