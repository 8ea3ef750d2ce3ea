//! The list of calls with its filters.

use auth::scope;
use axum::extract::{Query, State};
use maud::{Markup, html};
use operations::OperationError;
use operations::calls::{CallPage, CallQuery};
use proto::Code;

use super::query::{ORDERS, Params, RANGES};
use super::table::{Shown, table};
use crate::layout::{Page, PageResult, Section, heading};
use crate::state::Dashboard;
use crate::unreadable::damaged_calls;
use crate::viewer::Viewer;
use crate::words::{Tone, empty, inert, mark, message};

/// How often a live list is redrawn, in seconds.
const LIVE_INTERVAL: u32 = 2;

pub(crate) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let found = load(&dashboard, &viewer, &params).await;
    let mut names: Vec<String> =
        dashboard.parts.console.servers().servers.into_iter().map(|server| server.name).collect();
    names.sort_unstable();
    let body = html! {
        (heading(html! { "Calls" }, html! { "Every call, with its caller and its outcome." }, live_switch(&params)))
        (filters(&params, &names))
        div #results data-swap {
            @match &found {
                Ok(page) => {
                    (damaged_calls(&page.damaged))
                    (results(page, &params, &viewer))
                },
                Err(error) => p.fault role="alert" { (message(&error.message)) },
            }
        }
    };
    let poll = if params.is_live() { LIVE_INTERVAL } else { 0 };
    Page { poll, ..Page::new("Calls", Section::Calls, body) }.show(&viewer)
}

/// Viewers who may not read messages cannot search in them either. An unknown cursor is ignored.
async fn load(
    dashboard: &Dashboard,
    viewer: &Viewer,
    params: &Params,
) -> Result<CallPage, OperationError> {
    let (console, caller) = (&dashboard.parts.console, viewer.caller());
    let mut query = params.query();
    if !viewer.may(scope::AUDIT_READ) {
        query.text = None;
    }
    match console.calls(&caller, query.clone()).await {
        Err(error) if error.code == Code::InvalidInput && query.cursor.is_some() => {
            console.calls(&caller, CallQuery { cursor: None, ..query }).await
        }
        found => found,
    }
}

fn live_switch(params: &Params) -> Markup {
    let to = |live: &str| Params { live: live.to_owned(), ..params.clone() }.url();
    html! {
        div.actions #live-switch data-swap {
        @if params.is_live() {
            (mark(Tone::Good, "live")) a.button href=(to("off")) { "Pause" }
        } @else if params.can_be_live() {
            (mark(Tone::Quiet, "paused")) a.button href=(to("")) { "Follow live" }
        } @else {
            a.button href=(Params { after: String::new(), to: String::new(), order: String::new(), live: String::new(), ..params.clone() }.url()) { "Follow live" }
        }
        }
    }
}

fn filters(params: &Params, servers: &[String]) -> Markup {
    let codes = Code::all().map(Code::as_str);
    let outcomes = [("", "any"), ("failed", "failed"), ("OK", "OK")]
        .into_iter()
        .chain(codes.map(|code| (code, code)))
        .chain([("CANCELLED", "CANCELLED")]);
    html! {
        form.filters method="get" action="/dashboard/calls" data-instant {
            @if !params.live.is_empty() { input type="hidden" name="live" value=(params.live); }
            label.span2 { "Search" input type="search" name="q" value=(params.q) placeholder="tool, caller, code or message" data-search autocomplete="off"; }
            label { "Server" (select("server", &params.server, [("", "any")].into_iter().chain(servers.iter().map(|name| (name.as_str(), name.as_str()))))) }
            label { "Outcome" (select("outcome", &params.outcome, outcomes)) }
            label { "Time" (select("range", &params.range, RANGES)) }
            label { "Sort" (select("order", &params.order, ORDERS)) }
            details.more-filters open[!params.tool.is_empty() || !params.caller.is_empty() || !params.from.is_empty() || !params.to.is_empty()] {
                summary { "More filters" }
                div.filters {
                    label { "Tool" input type="search" name="tool" value=(params.tool) placeholder="any" autocomplete="off"; }
                    label { "Caller" input type="search" name="caller" value=(params.caller) placeholder="person or agent" autocomplete="off"; }
                    label { "From" input type="date" name="from" value=(params.from); }
                    label { "To" input type="date" name="to" value=(params.to); }
                }
            }
            div.filter-buttons #filter-buttons data-swap {
                button type="submit" { "Filter" }
                @if params.narrows() { a href="/dashboard/calls" { "Clear" } }
            }
        }
    }
}

/// A list to choose from; a value that it does not have is added.
fn select<'a>(
    name: &str,
    chosen: &str,
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Markup {
    let options: Vec<_> = options.into_iter().collect();
    let unknown = !options.iter().any(|(value, _)| *value == chosen);
    html! {
        select name=(name) {
            @for (value, title) in &options {
                option value=(value) selected[*value == chosen] { (inert(title)) }
            }
            @if unknown { option value=(chosen) selected { (inert(chosen)) } }
        }
    }
}

fn results(page: &CallPage, params: &Params, viewer: &Viewer) -> Markup {
    if page.calls.is_empty() && page.damaged.is_empty() {
        return if params.narrows() || !params.after.is_empty() {
            empty("No results", html! { p { a href="/dashboard/calls" { "Show all calls" } } })
        } else {
            empty(
                "No calls yet",
                html! {
                    p { "Every call is listed here, with its caller and its outcome." }
                    p { a.button href="/dashboard/catalog" { "Open the catalog" } }
                },
            )
        };
    }
    html! {
        (table(&page.calls, viewer, Shown::Whole))
        @if let Some(next) = &page.next {
            p.more { a.button rel="next" href=(Params { after: next.clone(), ..params.clone() }.url()) { "More calls" } }
        }
    }
}
