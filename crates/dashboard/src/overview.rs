//! The overview page: what needs attention, figures of a time range, servers and recent calls.

mod status;
mod tiles;

use auth::scope;
use axum::extract::{Query, State};
use axum::response::Response;
use maud::{Markup, html};
use operations::calls::{CallQuery, CallSummary, OverviewQuery};
use serde::Deserialize;

use crate::layout::{Page, PageResult, Section, heading};
use crate::paths::HOME;
use crate::posted::see_other;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{count, empty, message};
use crate::{approvals, calls, runs, servers, time};
use status::Status;

/// The ranges to choose from: the value, its name, and the name in a sentence.
const RANGES: [(&str, &str, &str); 4] = [
    ("15m", "15 min", "last 15 minutes"),
    ("1h", "1 hour", "last hour"),
    ("24h", "24 hours", "last 24 hours"),
    ("7d", "7 days", "last 7 days"),
];

/// How many recent calls and pending approvals are listed.
const RECENT_CALLS: u32 = 8;
const PENDING: usize = 5;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    range: String,
}

/// Leads from the address that people type to this page.
pub(super) async fn redirect() -> Response {
    see_other(HOME)
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    let (console, caller) = (&dashboard.parts.console, viewer.caller());
    let chosen = RANGES.iter().find(|(value, _, _)| *value == params.range);
    let (range, _, period) = *chosen.unwrap_or(&RANGES[1]);
    let query = OverviewQuery { range: Some(range.to_owned()), ..OverviewQuery::default() };
    let figures = console.overview(&caller, query).await;
    let recent = CallQuery { limit: Some(RECENT_CALLS), ..CallQuery::default() };
    let recent = console.calls(&caller, recent).await.map(|page| page.calls);
    let listed = console.servers().servers;
    let health = dashboard.parts.strip.health();
    let snapshot = dashboard.parts.strip.catalog().snapshot();
    let pending = if viewer.may(scope::APPROVALS_READ) {
        approvals::pending_approvals(&dashboard, viewer.tenant()).await
    } else {
        Ok(Vec::new())
    };
    let asking = runs::asking(&dashboard, &viewer).await;
    let status = Status {
        ready: health.ready,
        broken: listed.iter().filter(|server| server.state.is_broken()).collect(),
        quarantined: snapshot.quarantined().len(),
        figures: figures.as_ref().ok(),
        range,
        period,
    };
    let tools = dashboard.parts.strip.view(viewer.principal()).listed().count();
    let below = html! {
        span #status data-swap { (status.mark()) }
        " · up " (time::uptime(health.uptime.as_secs()))
        " · " (count(tools, "tool", "tools"))
    };
    let body = html! {
        (heading(html! { "Overview" }, below, ranges(range)))
        @for problem in &health.problems { p.fault role="alert" { (message(problem)) } }
        div #attention data-swap { (status.show(&viewer)) }
        div.board #tiles data-swap {
            @match &figures {
                Ok(figures) => (tiles::traffic(figures, period)),
                Err(error) => p.fault role="alert" { (message(&error.message)) },
            }
            div.stack {
                (tiles::servers(&listed, &viewer))
                (tiles::approvals(&viewer))
                (tiles::questions(asking))
            }
        }
        div #pending-list data-swap {
            @match &pending {
                Ok(pending) if pending.is_empty() => {},
                Ok(pending) => {
                    div.section-head { h2 { "Pending approvals" } a href="/dashboard/approvals" { "All approvals" } }
                    ul.rows { @for one in pending.iter().take(PENDING) { (approvals::row(one, &viewer)) } }
                },
                Err(unread) => (unread.show()),
            }
        }
        @if let Ok(figures) = &figures {
            div #top-tools data-swap { (tiles::top_tools(figures, period)) }
        }
        section aria-labelledby="servers" {
            div.section-head {
                h2 #servers { "Servers" }
                @if viewer.may(scope::METRICS_READ) { a href="/dashboard/servers" { "All servers" } }
            }
            div #servers-list data-swap { (servers::rows(&listed, &viewer)) }
        }
        section aria-labelledby="recent" {
            div.section-head { h2 #recent { "Recent calls" } a href="/dashboard/calls" { "All calls" } }
            div #recent-list data-swap {
                @match &recent {
                    Ok(recent) => (latest(recent, &viewer)),
                    Err(error) => p.fault role="alert" { (message(&error.message)) },
                }
            }
        }
    };
    Page {
        poll: 5,
        live: "catalog approvals runs",
        ..Page::new("Overview", Section::Overview, body)
    }
    .show(&viewer)
}

fn ranges(chosen: &str) -> Markup {
    html! {
        nav.chips.tight aria-label="Time range" {
            @for (value, name, _) in RANGES {
                a.chip href=(format!("/dashboard?range={value}")) aria-current=[(value == chosen).then_some("page")] { (name) }
            }
        }
    }
}

fn latest(recent: &[CallSummary], viewer: &Viewer) -> Markup {
    if recent.is_empty() {
        return empty(
            "No calls yet",
            html! {
                p { "Every call is listed here. Connect a client, or try a tool yourself." }
                p { a.button href="/dashboard/connect" { "Connect a client" } " " a.button href="/dashboard/tools/demo.echo" { "Try demo.echo" } }
            },
        );
    }
    calls::table(recent, viewer, calls::Shown::Whole)
}
