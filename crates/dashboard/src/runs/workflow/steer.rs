//! The commands that people give to a workflow on its page. They are calls of the workflow tools, with the same guards
//! and audit.

use auth::scope;
use axum::extract::{Path, State};
use maud::{Markup, html};
use operations::workflows::{WorkflowCommand, WorkflowDetails, WorkflowSummary, WorkflowTask};
use serde_json::Value;

use super::access::{QUARANTINED, console};
use crate::layout::{PageResult, csrf};
use crate::posted::{PostedForm, see_other};
use crate::runs::links::run_page;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::in_url;

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
    viewer.require(scope::RUNS_READ)?;
    viewer.require(scope::TOOLS_CALL)?;
    let Some(command) = command(&posted) else {
        return Err(viewer.missing(
            "A workflow can be continued and aborted here, and its tasks retried and skipped.",
        ));
    };
    match console(&dashboard, viewer)?.steer(&viewer.caller(), &id, command).await {
        Ok(()) => Ok(see_other(&format!("{}?did={}", run_page(&id), in_url(posted.text("do"))))),
        Err(error) => Err(viewer.failed("Not done", &error)),
    }
}

/// What was just done, in words.
pub(super) fn done(did: &str) -> Option<&'static str> {
    match did {
        "continue" | "release" => Some("The workflow continues."),
        "abort" => Some("The workflow is aborted."),
        "retry" => Some("The task is called again."),
        "skip" => Some("The task is skipped."),
        _ => None,
    }
}
