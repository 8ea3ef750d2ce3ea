//! The catalog of tools, with a search.

use std::sync::Arc;

use auth::scope;
use axum::extract::{Query, State};
use maud::{Markup, html};
use serde::Deserialize;
use strip::agents::ApprovalRule;
use strip::catalog::{Entry, Snapshot};

use crate::layout::{Page, PageResult, Section, heading};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, inert, mark, short, tool_page};

/// How many results are listed; further ones are only counted.
const MAX_SHOWN: usize = 200;

#[derive(Deserialize)]
pub(super) struct Params {
    #[serde(default)]
    q: String,
    #[serde(default)]
    server: String,
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let view = dashboard.parts.strip.view(viewer.principal());
    let tools = view.tools();
    let found = search(tools, &params);
    let waiting: Vec<_> = tools
        .quarantined()
        .iter()
        .filter(|held| params.server.is_empty() || held.server == params.server)
        .filter(|held| params.q.is_empty() || held.id.as_str().contains(&params.q.to_lowercase()))
        .collect();
    let below = html! {
        (count(tools.entries().len(), "tool", "tools"))
        @if !tools.quarantined().is_empty() { " · " (tools.quarantined().len()) " in quarantine" }
        @if !params.server.is_empty() {
            " · of server " strong { (inert(&params.server)) } " · " a href="/dashboard/catalog" { "show all" }
        }
    };
    let body = html! {
        (heading(html! { "Catalog" }, below, html! {}))
        form.search method="get" action="/dashboard/catalog" role="search" data-instant {
            @if !params.server.is_empty() { input type="hidden" name="server" value=(params.server); }
            label.hidden for="q" { "Search tools" }
            input #q type="search" name="q" value=(params.q) placeholder="Search tools by name or description" data-search autocomplete="off";
            kbd { "/" }
        }
        div #results data-swap {
            @if !waiting.is_empty() {
                h2 { "In quarantine" }
                ul.rows {
                    @for held in waiting {
                        li { a.row href=(tool_page(held.id.as_str())) {
                            span.row-name { code { (inert(held.id.as_str())) } }
                            span.row-more { (inert(&held.reason())) }
                            (mark(Tone::Doubtful, "not trusted"))
                        } }
                    }
                }
                h2 { "Served" }
            }
            @if found.is_empty() { (nothing(&params, tools)) } @else {
                ul.rows {
                    @for entry in found.iter().take(MAX_SHOWN) { (row(&dashboard, entry)) }
                }
                @if found.len() > MAX_SHOWN {
                    p.soft { (found.len() - MAX_SHOWN) " more. Refine your search." }
                }
            }
        }
    };
    Page { live: "catalog", ..Page::new("Catalog", Section::Catalog, body) }.show(&viewer)
}

fn row(dashboard: &Dashboard, entry: &Entry) -> Markup {
    let descriptor = &entry.descriptor;
    let gated = dashboard.parts.strip.approval_rule(&descriptor.id) != ApprovalRule::Free;
    html! {
        li {
            a.row href=(tool_page(descriptor.id.as_str())) {
                span.row-name { code { (inert(descriptor.id.as_str())) } }
                span.row-more { (short(&descriptor.description, 140)) }
                span.tags {
                    @if gated { span.tag { "approval" } }
                    @if descriptor.annotations.destructive_hint == Some(true) { span.tag.bad { "destructive" } }
                    @else if descriptor.annotations.read_only_hint == Some(true) { span.tag { "read-only" } }
                    @if entry.superseded_by.is_some() { span.tag { "deprecated" } }
                }
            }
        }
    }
}

fn nothing(params: &Params, tools: &Snapshot) -> Markup {
    if tools.entries().is_empty() {
        return empty(
            "No tools yet",
            html! {
                p { "Add a " code { "*.tool.yaml" } " file to the tools folder, or a server to the config." }
                pre { code { "powerstrip new tool my.tool" } }
            },
        );
    }
    empty(
        "No results",
        html! {
            p { "No tools match " strong { (short(&params.q, 80)) } "." }
            p { a href="/dashboard/catalog" { "Show all tools" } }
        },
    )
}

/// The tools that contain every word; those with the words in their names first.
fn search<'a>(tools: &'a Snapshot, params: &Params) -> Vec<&'a Arc<Entry>> {
    let words: Vec<String> = params.q.split_whitespace().take(16).map(str::to_lowercase).collect();
    let mut found: Vec<_> = tools
        .entries()
        .iter()
        .filter(|entry| {
            params.server.is_empty() || entry.descriptor.id.server() == Some(params.server.as_str())
        })
        .filter_map(|entry| Some((rank(entry, &words)?, entry)))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// The rank of a tool for the words, lower is better; `None` if it lacks one of them.
fn rank(entry: &Entry, words: &[String]) -> Option<usize> {
    let descriptor = &entry.descriptor;
    let id = descriptor.id.as_str().to_lowercase();
    let title = descriptor.title.as_deref().unwrap_or_default().to_lowercase();
    let description = descriptor.description.to_lowercase();
    words.iter().try_fold(0, |far, word| {
        let step = if id.contains(word) {
            0
        } else if title.contains(word) {
            1
        } else if description.contains(word) {
            2
        } else {
            return None;
        };
        Some(far + step)
    })
}
