//! Which tools there are, and a search among them.

use std::sync::Arc;

use auth::scope;
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use strip::agents::ApprovalRule;
use strip::catalog::{Entry, Snapshot};

use crate::layout::{Page, Room, heading};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{count, empty, inert, short, tool_page};

/// More results than this are only counted.
const MAX_SHOWN: usize = 200;

#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    q: String,
    #[serde(default)]
    server: String,
}

pub(super) async fn page(
    State(board): State<Dashboard>,
    Query(wanted): Query<Wanted>,
    viewer: Viewer,
) -> Response {
    if !viewer.may(scope::TOOLS_READ) {
        return viewer.refused(scope::TOOLS_READ);
    }
    let view = board.parts.strip.view(viewer.principal());
    let tools = view.tools();
    let found = search(tools, &wanted);
    let waiting: Vec<_> = tools
        .quarantined()
        .iter()
        .filter(|held| wanted.server.is_empty() || held.server == wanted.server)
        .filter(|held| wanted.q.is_empty() || held.id.as_str().contains(&wanted.q.to_lowercase()))
        .collect();
    let below = html! {
        (count(tools.entries().len(), "tool", "tools"))
        @if !tools.quarantined().is_empty() { " · " (tools.quarantined().len()) " in quarantine" }
        @if !wanted.server.is_empty() {
            " · of server " strong { (inert(&wanted.server)) } " · " a href="/dashboard/catalog" { "show all" }
        }
    };
    let body = html! {
        (heading(html! { "Catalog" }, below, html! {}))
        form.search method="get" action="/dashboard/catalog" role="search" data-instant {
            @if !wanted.server.is_empty() { input type="hidden" name="server" value=(wanted.server); }
            label.hidden for="q" { "Search tools" }
            input #q type="search" name="q" value=(wanted.q) placeholder="Search tools by name or what they do" data-search autocomplete="off";
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
                            (super::words::mark(super::words::Tone::Doubtful, "waits for trust"))
                        } }
                    }
                }
                h2 { "Served" }
            }
            @if found.is_empty() { (nothing(&wanted, tools)) } @else {
                ul.rows {
                    @for entry in found.iter().take(MAX_SHOWN) { (row(&board, entry)) }
                }
                @if found.len() > MAX_SHOWN {
                    p.soft { "And " (found.len() - MAX_SHOWN) " more: search for what you need." }
                }
            }
        }
    };
    Page { live: "catalog", ..Page::new("Catalog", Room::Catalog, body) }.show(&viewer)
}

fn row(board: &Dashboard, entry: &Entry) -> Markup {
    let descriptor = &entry.descriptor;
    let gated = board.parts.strip.approval_rule(&descriptor.id) != ApprovalRule::Free;
    html! {
        li {
            a.row href=(tool_page(descriptor.id.as_str())) {
                span.row-name { code { (inert(descriptor.id.as_str())) } }
                span.row-more { (short(&descriptor.description, 140)) }
                span.tags {
                    @if gated { span.tag { "approval" } }
                    @if descriptor.annotations.destructive_hint == Some(true) { span.tag.bad { "destructive" } }
                    @else if descriptor.annotations.read_only_hint == Some(true) { span.tag { "read-only" } }
                    @if entry.superseded_by.is_some() { span.tag { "old major" } }
                }
            }
        }
    }
}

fn nothing(wanted: &Wanted, tools: &Snapshot) -> Markup {
    if tools.entries().is_empty() {
        return empty(
            "No tools yet",
            html! {
                p { "Drop a " code { "*.tool.yaml" } " into the tools folder, or name a server in the config." }
                pre { code { "powerstrip new tool my.tool" } }
            },
        );
    }
    empty(
        "Nothing fits",
        html! {
            p { "No tool is called or described like " strong { (short(&wanted.q, 80)) } "." }
            p { a href="/dashboard/catalog" { "Show all tools" } }
        },
    )
}

/// The tools in which every word stands, those with the words in their names first.
fn search<'a>(tools: &'a Snapshot, wanted: &Wanted) -> Vec<&'a Arc<Entry>> {
    let words: Vec<String> = wanted.q.split_whitespace().take(16).map(str::to_lowercase).collect();
    let mut found: Vec<_> = tools
        .entries()
        .iter()
        .filter(|entry| {
            wanted.server.is_empty() || entry.descriptor.id.server() == Some(wanted.server.as_str())
        })
        .filter_map(|entry| Some((rank(entry, &words)?, entry)))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// How far a tool is from the words; none if one of them does not stand in it.
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
