//! The catalog of tools, grouped by their sources, with a search.

mod search;

use std::collections::HashMap;
use std::sync::Arc;

use auth::scope;
use axum::extract::{Query, State};
use maud::{Markup, html};
use serde::Deserialize;
use strip::agents::ApprovalRule;
use strip::catalog::{Entry, Snapshot};

use crate::layout::{Page, PageResult, Section, heading};
use crate::state::Dashboard;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, in_url, inert, mark, message, short, tool_page};
use search::search;

/// How many results are listed; further ones are only counted.
const MAX_SHOWN: usize = 400;

/// How many tools of one source are listed next to those of others.
const MAX_OF_SOURCE: usize = 40;

#[derive(Deserialize)]
pub(super) struct Params {
    #[serde(default)]
    q: String,
    /// The name of a server, or of another source.
    #[serde(default)]
    server: String,
}

/// When tools were last called, by id.
type LastUses = HashMap<String, u64>;

/// The tools of one source that were found.
struct Group<'a> {
    source: &'a str,
    entries: Vec<&'a Arc<Entry>>,
}

/// The name of a source in addresses: that of a server, or of another source.
fn source_of(entry: &Entry) -> &str {
    entry.server().unwrap_or(&entry.source)
}

/// The name of a source for people.
fn title(source: &str) -> &str {
    match source {
        "built-in" => "Built-in tools",
        "built-in web research" => "Web research",
        "built-in research flow" => "Research reports",
        "built-in results" => "Stored results",
        "toolpacks" => "Tool packs",
        "control" => "Control flow",
        "powerstrip" => "Gateway tools",
        name => name,
    }
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let view = dashboard.parts.strip.view(viewer.principal());
    let tools = view.tools();
    let found = search(tools, &params.q);
    let found: Vec<_> = found
        .into_iter()
        .filter(|entry| params.server.is_empty() || source_of(entry) == params.server)
        .collect();
    let waiting: Vec<_> = tools
        .quarantined()
        .iter()
        .filter(|held| params.server.is_empty() || held.server == params.server)
        .filter(|held| params.q.is_empty() || held.id.as_str().contains(&params.q.to_lowercase()))
        .collect();
    let last_uses = dashboard.last_uses(&viewer).await;
    let below = html! {
        (count(tools.entries().len(), "tool", "tools"))
        @if !tools.quarantined().is_empty() { " · " (tools.quarantined().len()) " in quarantine" }
    };
    let body = html! {
        (heading(html! { "Catalog" }, below, html! {}))
        form.search method="get" action="/dashboard/catalog" role="search" data-instant {
            @if !params.server.is_empty() { input type="hidden" name="server" value=(params.server); }
            label.hidden for="q" { "Search tools" }
            input #q type="search" name="q" value=(params.q) placeholder="Search tools by name or description" data-search autocomplete="off";
            kbd { "/" }
        }
        (sources(tools, &params))
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
            }
            @if found.is_empty() { (nothing(&params, tools)) }
            @for group in groups(&found[..found.len().min(MAX_SHOWN)]) {
                (show_group(&dashboard, &viewer, &params, &group, &last_uses))
            }
            @if found.len() > MAX_SHOWN {
                p.soft { (found.len() - MAX_SHOWN) " more. Refine your search." }
            }
        }
    };
    Page { live: "catalog", ..Page::new("Catalog", Section::Catalog, body) }.show(&viewer)
}

/// One chip for each source, to show only its tools.
fn sources(tools: &Snapshot, params: &Params) -> Markup {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for entry in tools.entries() {
        let source = source_of(entry);
        match counts.iter_mut().find(|(name, _)| *name == source) {
            Some((_, count)) => *count += 1,
            None => counts.push((source, 1)),
        }
    }
    counts.sort_by_key(|(name, _)| (title(name) != *name, *name));
    let link = |source: &str| {
        let mut url = format!("/dashboard/catalog?q={}", in_url(&params.q));
        if !source.is_empty() {
            url.push_str(&format!("&server={}", in_url(source)));
        }
        url
    };
    html! {
        @if counts.len() > 1 {
            nav.chips aria-label="Sources" {
                a.chip href=(link("")) aria-current=[params.server.is_empty().then_some("page")] { "All" }
                @for (source, count) in counts {
                    a.chip href=(link(source)) aria-current=[(params.server == source).then_some("page")] {
                        (inert(title(source))) " " span.soft { (count) }
                    }
                }
            }
        }
    }
}

/// The entries by source, in the order of the best entry of each.
fn groups<'a>(found: &[&'a Arc<Entry>]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for entry in found {
        let source = source_of(entry);
        match groups.iter_mut().find(|group| group.source == source) {
            Some(group) => group.entries.push(entry),
            None => groups.push(Group { source, entries: vec![entry] }),
        }
    }
    groups
}

fn show_group(
    dashboard: &Dashboard,
    viewer: &Viewer,
    params: &Params,
    group: &Group<'_>,
    last_uses: &LastUses,
) -> Markup {
    let is_server = group.entries.iter().any(|entry| entry.source.starts_with("server "));
    let most = if params.server.is_empty() { MAX_OF_SOURCE } else { MAX_SHOWN };
    html! {
        div.section-head {
            h2 { (inert(title(group.source))) }
            @if is_server && viewer.may(scope::METRICS_READ) {
                a href=(format!("/dashboard/servers/{}", in_url(group.source))) { "Server" }
            }
        }
        ul.rows {
            @for entry in group.entries.iter().take(most) {
                (row(dashboard, viewer, entry, last_uses))
            }
        }
        @if group.entries.len() > most {
            p.more {
                a.button href=(format!("/dashboard/catalog?q={}&server={}", in_url(&params.q), in_url(group.source))) {
                    "Show all " (group.entries.len())
                }
            }
        }
    }
}

fn row(dashboard: &Dashboard, viewer: &Viewer, entry: &Entry, last_uses: &LastUses) -> Markup {
    let descriptor = &entry.descriptor;
    let gated = dashboard.parts.strip.approval_rule(&descriptor.id) != ApprovalRule::Free;
    let id = descriptor.id.as_str();
    html! {
        li {
            a.row.tool href=(tool_page(id)) {
                span.row-name { code { (inert(id)) } }
                span.row-more { (message(&short(&descriptor.description, 140))) }
                span.tags {
                    @if gated { span.tag { "approval" } }
                    @if descriptor.annotations.destructive_hint == Some(true) { span.tag.bad { "destructive" } }
                    @else if descriptor.annotations.read_only_hint == Some(true) { span.tag { "read-only" } }
                    @if entry.hidden_characters > 0 { span.tag.bad title="Invisible characters were removed from its definition" { "hidden text" } }
                    @if entry.superseded_by.is_some() { span.tag { "deprecated" } }
                    @if let Some(at) = last_uses.get(id) { span.used.soft { "used " (time::ago(*at, viewer.now_ms)) } }
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
    let what = if params.q.is_empty() { &params.server } else { &params.q };
    empty(
        "No results",
        html! {
            p { "No tools match " strong { (short(what, 80)) } "." }
            p { a href="/dashboard/catalog" { "Show all tools" } }
        },
    )
}
