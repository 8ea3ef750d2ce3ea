//! The page of one approval.

use approvals::{
    ApprovalRow, ApprovalState, Damage, inert as laid_out, shown_files, stored_arguments,
};
use auth::scope;
use http::StatusCode;
use maud::{Markup, html};
use proto::diff::changes;
use serde_json::Value;

use super::query::pending_approvals;
use super::row::state;
use crate::diff::changed_parts;
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::state::Dashboard;
use crate::time;
use crate::unreadable::Unreadable;
use crate::viewer::Viewer;
use crate::words::{approval_page, inert, run_page, short, size, tool_page};

/// One approval: everything about the call, and a form to decide while it is pending.
pub(super) async fn page(
    dashboard: &Dashboard,
    viewer: &Viewer,
    row: &ApprovalRow,
    before: &Result<Option<ApprovalRow>, Unreadable>,
    notice: Option<&str>,
    status: StatusCode,
) -> PageResult {
    let rest = pending_approvals(dashboard, viewer.tenant()).await;
    let unread = rest.as_ref().err();
    let rest = rest.as_deref().unwrap_or_default();
    let at = rest.iter().position(|other| other.id == row.id);
    let next = match at {
        Some(at) => rest.get(at + 1),
        None => rest.first(),
    };
    let previous = at.and_then(|at| rest.get(at.checked_sub(1)?));
    let files = shown_files(row);
    let run = run_of(dashboard, viewer, row).await;
    let below = html! {
        @if let Some(agent) = &row.agent { strong { (inert(agent)) } " for " }
        strong { (inert(&row.owner)) } " requested this call · " (time::ago(row.created_unix_ms, viewer.now_ms))
    };
    let actions = html! {
        @if let Some((id, name)) = &run { a href=(run_page(id)) { "Run " (short(name, 40)) } }
        @if let Some(previous) = previous { a href=(approval_page(&previous.id)) data-step="k" { "Previous" } }
        @if let Some(next) = next { a href=(approval_page(&next.id)) data-step="j" { "Next" } }
        a href="/dashboard/approvals" { "All approvals" }
    };
    let arguments = stored_arguments(row);
    let body = html! {
        (heading(html! { code { (inert(&row.tool)) } }, below, actions))
        @if let Some(notice) = notice { p.fault role="alert" { (notice) } }
        @if let Some(unread) = unread { (unread.show()) }
        div #verdict data-swap data-version=(row.state) {
            @if row.state == ApprovalState::Pending {
                p.verdict { (state(row.state)) (time::left(row.deadline_unix_ms, viewer.now_ms)) }
            } @else { (decided(row, next, run.as_ref(), viewer)) }
        }
        @if let Some(reason) = &row.request_reason {
            p { "The workflow asks for approval because:" }
            blockquote #request-reason { (inert(reason)) }
        }
        div.columns {
            section aria-labelledby="arguments-of" {
                h2 #arguments-of { "Arguments " span.soft { (size(row.arguments_bytes)) } }
                @match &arguments {
                    Ok(arguments) => pre.code.arguments #arguments tabindex="0" { (laid_out(arguments)) },
                    Err(damage) => p.fault role="alert" { (damage) },
                }
                @match &files {
                    Ok(files) if files.is_empty() => {},
                    Ok(files) => {
                        h2 { "Files" }
                        ul.rows { @for file in files { li { div.row {
                            span.row-name { (inert(&file.name)) }
                            span.row-more { code { (file.sha256) } }
                            span { (size(file.size)) }
                        } } } }
                    },
                    Err(damage) => { h2 { "Files" } p.fault role="alert" { (damage) } },
                }
                @if let Some(key) = &row.idempotency_key {
                    h2 { "Idempotency key" }
                    p { code #idempotency-key { (laid_out(&Value::from(key.as_str()))) } " " span.soft { "sent to the tool" } }
                }
                (difference(arguments.as_ref(), before, viewer))
            }
            section aria-labelledby="decide" {
                h2 #decide { "Decision" }
                div #decision data-swap data-version=(row.state) { (decision(row, viewer)) }
                h2 { "About the call" }
                (facts(row, run.as_ref(), viewer))
            }
        }
    };
    let page = Page::new("Approval", Section::Approvals, body);
    Page { live: "approvals", ..page }.show_as(viewer, status)
}

/// The run of the call: its id and its name, if the viewer may open it.
async fn run_of(
    dashboard: &Dashboard,
    viewer: &Viewer,
    row: &ApprovalRow,
) -> Option<(String, String)> {
    let run = row.run.as_ref().filter(|_| viewer.may(scope::RUNS_READ))?;
    let found = dashboard.parts.strip.runs().show(viewer.tenant().as_deref(), run).await.ok()?.run;
    let name = found.name.unwrap_or_else(|| found.id.clone());
    Some((found.id, name))
}

fn decided(
    row: &ApprovalRow,
    next: Option<&ApprovalRow>,
    run: Option<&(String, String)>,
    viewer: &Viewer,
) -> Markup {
    html! {
        p.verdict {
            (state(row.state))
            @if let Some(by) = row.decided_by.as_deref().filter(|_| row.state != ApprovalState::Expired) {
                span { "by " (inert(by)) @if let Some(via) = &row.decided_via { span.soft { " (" (inert(via)) ")" } } }
            }
            @if let Some(at) = row.decided_unix_ms { span.soft { (time::ago(at, viewer.now_ms)) } }
            @if let Some((id, name)) = run { a.button.primary href=(run_page(id)) { "Back to " (short(name, 60)) } }
            @if let Some(next) = next { a href=(approval_page(&next.id)) { "Next pending" } }
        }
        @if let Some(reason) = &row.reason { blockquote { (inert(reason)) } }
    }
}

fn decision(row: &ApprovalRow, viewer: &Viewer) -> Markup {
    if row.state != ApprovalState::Pending {
        return html! { p.soft { "Decided. A new call needs a new decision." } };
    }
    if !viewer.may(scope::APPROVALS_DECIDE) {
        return html! { p.soft { "You need the scope " code { (scope::APPROVALS_DECIDE) } "." } };
    }
    html! {
        form.decide method="post" action=(approval_page(&row.id)) {
            (csrf(viewer))
            div.field {
                label for="reason" { "Comment for the caller" }
                textarea #reason name="reason" rows="3" maxlength="2000" placeholder="Why, or what to do instead" {}
            }
            div.field {
                label for="standing" { "Approve" }
                select #standing name="standing" {
                    option value="once" { "this call only" }
                    option value="these-hour" { "these arguments, one hour" }
                    option value="these-month" { "these arguments, 30 days" }
                    option value="any-hour" { "any arguments, one hour" }
                    @if row.run.is_some() {
                        option value="these-run" { "these arguments, in this run" }
                        option value="any-run" { "any arguments, in this run" }
                    }
                }
            }
            div.buttons {
                button.primary type="submit" name="decision" value="approve" data-decide="a" { "Approve" }
                button.danger type="submit" name="decision" value="reject" data-decide="r" { "Reject" }
            }
        }
    }
}

/// The differences from the last approved call of this tool.
fn difference(
    arguments: Result<&Value, &Damage>,
    before: &Result<Option<ApprovalRow>, Unreadable>,
    viewer: &Viewer,
) -> Markup {
    let before = match before {
        Ok(before) => before.as_ref(),
        Err(unread) => return html! { h2 { "Changes since the last approval" } (unread.show()) },
    };
    let Some(before) = before else {
        return html! { h2 { "Changes since the last approval" } p.soft { "No call of this tool has been approved before." } };
    };
    let (Ok(old), Ok(new)) = (stored_arguments(before), arguments) else {
        return html! { h2 { "Changes since the last approval" } p.fault { "The stored arguments cannot be compared." } };
    };
    let (found, left_out) = changes(&old, new);
    html! {
        h2 { "Changes since the last approval" }
        p.soft {
            "The " a href=(approval_page(&before.id)) { "last approved call" } " was "
            @if let Some(at) = before.decided_unix_ms { (time::ago(at, viewer.now_ms)) } @else { "earlier" } "."
        }
        @if found.is_empty() { p { "The arguments are the same." } }
        (changed_parts(&found, left_out))
    }
}

fn facts(row: &ApprovalRow, run: Option<&(String, String)>, viewer: &Viewer) -> Markup {
    html! {
        dl.facts {
            div { dt { "Tool" } dd { a href=(tool_page(&row.tool)) { code { (inert(&row.tool)) } } " " span.soft { (inert(&row.version)) } } }
            div { dt { "Caller" } dd { @if let Some(agent) = &row.agent { (inert(agent)) " for " } (inert(&row.owner))
                @if row.tenant != viewer.principal().tenant.as_str() { span.soft { " · " (inert(&row.tenant)) } } } }
            div { dt { "Door" } dd { (inert(&row.door)) } }
            div { dt { "Deadline" } dd { (time::exact(row.deadline_unix_ms)) } }
            div { dt { "Trace" } dd { a href=(format!("/dashboard/calls/{}", row.trace)) { code { (inert(&row.trace)) } } } }
            @if let Some((id, name)) = run { div { dt { "Run" } dd { a href=(run_page(id)) { (inert(name)) } } } }
            @else if let Some(run) = &row.run { div { dt { "Run" } dd { code { (inert(run)) } } } }
            div { dt { "Arguments" } dd { code.digest title="SHA-256 of the canonical arguments" { (row.arguments_digest) } } }
            div { dt { "Definition" } dd { code.digest title="SHA-256 of the tool's definition" { (row.definition) } } }
            @if let Some(code) = &row.code {
                div { dt { "Code" } dd { code.digest title="SHA-256 of the program, its interpreter and the pack's files" { (code) } } }
            }
        }
    }
}
