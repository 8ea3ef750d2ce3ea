use auth::scope;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use maud::html;
use strip::ApprovalRuleRow;
use strip::approval::inert as laid_out;

use super::desk;
use crate::layout::{Page, Room, csrf, heading, trouble};
use crate::posted::{Posted, see_other};
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{count, empty, inert, short, tool_page};

/// The page of standing rules.
pub(crate) async fn rules(State(board): State<Dashboard>, viewer: Viewer) -> Response {
    let rules = match desk(&board, &viewer) {
        Ok(approvals) => approvals.rules(viewer.tenant().as_deref()),
        Err(refusal) => return refusal,
    };
    let actions = html! { a href="/dashboard/approvals" { "All approvals" } };
    let body = html! {
        (heading(html! { "Standing rules" }, html! { (count(rules.len(), "rule", "rules")) " let calls through without asking" }, actions))
        @if rules.is_empty() {
            (empty("No standing rules", html! {
                p { "Each call of a gated tool is asked about. When you approve one, you may let the approval stand for a while." }
            }))
        }
        @for rule in &rules { (shown(rule, &viewer)) }
    };
    Page { live: "approvals", ..Page::new("Standing rules", Room::Approvals, body) }.show(&viewer)
}

fn shown(rule: &ApprovalRuleRow, viewer: &Viewer) -> maud::Markup {
    html! {
        article.rule {
            div.rule-head {
                h2 { a href=(tool_page(&rule.tool)) { code { (inert(&rule.tool)) } } }
                @if viewer.may(scope::APPROVALS_DECIDE) {
                    form method="post" action="/dashboard/rules" {
                        (csrf(viewer))
                        input type="hidden" name="rule" value=(rule.id);
                        button type="submit" { "Take it out" }
                    }
                }
            }
            p {
                "For " @if let Some(agent) = &rule.agent { (short(agent, 40)) " for " } (short(&rule.owner, 40))
                ", " @if rule.arguments_sum.is_some() { "with exactly these arguments" } @else { "with any arguments" }
                @if rule.run.is_some() { ", in one run" } ". "
                span.soft {
                    "Given by " (short(&rule.created_by, 40)) " " (time::ago(rule.created_unix_ms, viewer.now_ms))
                    " · " (time::left(rule.expires_unix_ms, viewer.now_ms))
                    " · used " (count(usize::try_from(rule.uses).unwrap_or(usize::MAX), "time", "times"))
                }
            }
            @if let Some(arguments) = &rule.arguments { pre.code tabindex="0" { (laid_out(arguments)) } }
        }
    }
}

/// Takes a rule out.
pub(crate) async fn forget(State(board): State<Dashboard>, posted: Posted) -> Response {
    let viewer = &posted.viewer;
    if !viewer.may(scope::APPROVALS_DECIDE) {
        return viewer.refused(scope::APPROVALS_DECIDE);
    }
    let approvals = match desk(&board, viewer) {
        Ok(approvals) => approvals,
        Err(refusal) => return refusal,
    };
    match approvals.remove_rule(viewer.tenant().as_deref(), posted.text("rule")).await {
        Ok(true) => see_other("/dashboard/rules"),
        Ok(false) => viewer.missing("There is no such rule, or it is out already."),
        Err(error) => {
            tracing::warn!(%error, "a standing rule could not be removed");
            let text = "It no longer holds here, but that could not be written down.";
            trouble(viewer, StatusCode::SERVICE_UNAVAILABLE, "Not written down", text)
        }
    }
}
