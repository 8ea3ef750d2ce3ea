//! The page of standing rules.

use approvals::{ApprovalRuleRow, DamagedRow, inert as laid_out};
use auth::scope;
use axum::extract::State;
use http::StatusCode;
use maud::html;
use serde_json::Value;

use super::query::approvals_for;
use crate::layout::{Page, PageResult, Section, csrf, error_page, heading};
use crate::posted::{PostedForm, see_other};
use crate::state::Dashboard;
use crate::time;
use crate::unreadable::damaged_rows;
use crate::viewer::Viewer;
use crate::words::{count, empty, inert, short, tool_page};

pub(crate) async fn rules(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    let listed = approvals_for(&dashboard, &viewer)?.rules(viewer.tenant().as_deref());
    let rules = &listed.rows;
    let actions = html! { a href="/dashboard/approvals" { "All approvals" } };
    let body = html! {
        (heading(html! { "Standing rules" }, html! { (count(rules.len(), "rule", "rules")) " approve calls automatically" }, actions))
        @for row in &listed.damaged { (damaged(row, &viewer)) }
        @if rules.is_empty() {
            (empty("No standing rules", html! {
                p { "Every call of a gated tool needs a decision. When you approve one, you can let the approval apply to later calls." }
            }))
        }
        @for rule in rules { (shown(rule, &viewer)) }
    };
    Page { live: "approvals", ..Page::new("Standing rules", Section::Approvals, body) }
        .show(&viewer)
}

/// A rule that cannot be read: it allows nothing, and can be deleted.
fn damaged(row: &DamagedRow, viewer: &Viewer) -> maud::Markup {
    html! {
        article.rule {
            (damaged_rows("rule", std::slice::from_ref(row)))
            @if viewer.may(scope::APPROVALS_DECIDE) { (delete_button(&row.id, viewer)) }
        }
    }
}

fn delete_button(id: &str, viewer: &Viewer) -> maud::Markup {
    html! {
        form method="post" action="/dashboard/rules" {
            (csrf(viewer))
            input type="hidden" name="rule" value=(id);
            button type="submit" { "Delete rule" }
        }
    }
}

fn shown(rule: &ApprovalRuleRow, viewer: &Viewer) -> maud::Markup {
    html! {
        article.rule {
            div.rule-head {
                h2 { a href=(tool_page(&rule.tool)) { code { (inert(&rule.tool)) } } }
                @if viewer.may(scope::APPROVALS_DECIDE) { (delete_button(&rule.id, viewer)) }
            }
            p {
                "For " @if let Some(agent) = &rule.agent { (short(agent, 40)) " for " } (short(&rule.owner, 40))
                ", " @if rule.arguments_digest.is_some() { "with exactly these arguments" } @else { "with any arguments" }
                @if rule.run.is_some() { ", in one run" } ". "
                span.soft {
                    "Created by " (short(&rule.created_by, 40)) " " (time::ago(rule.created_unix_ms, viewer.now_ms))
                    " · " (time::left(rule.expires_unix_ms, viewer.now_ms))
                    " · used " (count(usize::try_from(rule.uses).unwrap_or(usize::MAX), "time", "times"))
                }
            }
            @match rule.arguments.as_deref().map(serde_json::from_str::<Value>) {
                Some(Ok(arguments)) => pre.code tabindex="0" { (laid_out(&arguments)) },
                Some(Err(_)) => p.fault { "The stored arguments of this rule cannot be read. Delete the rule." },
                None => {},
            }
        }
    }
}

/// Deletes a rule.
pub(crate) async fn delete(State(dashboard): State<Dashboard>, posted: PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::APPROVALS_DECIDE)?;
    let approvals = approvals_for(&dashboard, viewer)?;
    match approvals.remove_rule(viewer.tenant().as_deref(), posted.text("rule")).await {
        Ok(true) => Ok(see_other("/dashboard/rules")),
        Ok(false) => Err(viewer.missing("This rule does not exist or was already deleted.")),
        Err(error) => {
            tracing::warn!(%error, "cannot delete a standing rule");
            let text = "The rule no longer applies, but its deletion could not be stored: it may return after a restart.";
            Err(error_page(viewer, StatusCode::SERVICE_UNAVAILABLE, "Deletion failed", text))
        }
    }
}
