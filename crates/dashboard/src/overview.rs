//! The overview page.

use auth::scope;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use strip::{AuditCount, AuditFilter, AuditRow};

use crate::layout::{Page, PageResult, Section, heading};
use crate::paths::HOME;
use crate::posted::see_other;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{Tone, count, empty, inert, mark, short};
use crate::{approvals, calls, chart, runs, time};

/// The chart shows ten minutes, in buckets of ten seconds.
const STRETCHES: u64 = 60;
const STRETCH_MS: u64 = 10_000;

/// Rates are of the last minute.
const MINUTE_STRETCHES: u64 = 6;

/// Leads from the address that people type to this page.
pub(super) async fn redirect() -> Response {
    see_other(HOME)
}

pub(super) async fn page(State(dashboard): State<Dashboard>, viewer: Viewer) -> PageResult {
    let strip = &dashboard.parts.strip;
    let tenant = viewer.tenant();
    let since = (viewer.now_ms / STRETCH_MS + 1) * STRETCH_MS - STRETCHES * STRETCH_MS;
    let counts = strip.call_counts(tenant.as_deref(), since, STRETCH_MS).await;
    let filter = AuditFilter { tenant, limit: 8, ..AuditFilter::default() };
    let recent = strip.calls(filter).await;
    let health = strip.health();
    let snapshot = strip.catalog().snapshot();
    let pending = match viewer.may(scope::APPROVALS_READ) {
        true => approvals::pending_approvals(&dashboard, viewer.tenant()).await,
        false => Vec::new(),
    };
    let asking = runs::asking(&dashboard, &viewer).await;
    let below = html! {
        @if health.ready { (mark(Tone::Good, "healthy")) } @else { (mark(Tone::Bad, "not ready")) }
        " · up " (time::uptime(health.uptime.as_secs()))
        " · " (count(snapshot.entries().len(), "tool", "tools"))
    };
    let body = html! {
        (heading(html! { "Overview" }, below, html! {}))
        @for problem in &health.problems { p.fault role="alert" { (inert(problem)) } }
        div.tiles #tiles data-swap {
            (traffic(counts.unwrap_or_default()))
            (people(&viewer))
            (questions(asking))
        }
        div #pending-list data-swap {
            @if !pending.is_empty() {
                div.section-head { h2 { "Pending approvals" } a href="/dashboard/approvals" { "All approvals" } }
                ul.rows { @for one in pending.iter().take(5) { (approvals::row(one, &viewer)) } }
            }
        }
        section aria-labelledby="servers" {
            div.section-head { h2 #servers { "Servers" } }
            div #servers-list data-swap { (servers(&dashboard, &viewer)) }
        }
        section aria-labelledby="recent" {
            div.section-head { h2 #recent { "Recent calls" } a href="/dashboard/calls" { "All calls" } }
            div #recent-list data-swap { (latest(recent.map(|page| page.rows).unwrap_or_default(), &viewer)) }
        }
    };
    Page {
        poll: 5,
        live: "catalog approvals runs",
        ..Page::new("Overview", Section::Overview, body)
    }
    .show(&viewer)
}

fn traffic(counts: Vec<AuditCount>) -> Markup {
    let minute = counts.iter().filter(|count| count.stretch + MINUTE_STRETCHES >= STRETCHES);
    let (calls, failed) =
        minute.fold((0, 0), |(calls, failed), count| (calls + count.calls, failed + count.failed));
    let total: u64 = counts.iter().map(|count| count.calls).sum();
    html! {
        div.tile.wide {
            div.tile-head { h2 { "Calls" } span.soft { "last 10 minutes" } }
            div.numbers {
                p.number { (rate(calls)) span.unit { "/s" } }
                p.number.small title="calls in the last ten minutes" { (total) span.unit { " calls" } }
                p.number.small class=(if failed > 0 { "number small bad" } else { "number small" }) {
                    (failed) span.unit { " failed in the last minute" }
                }
            }
            (chart::bars(&counts, STRETCHES))
        }
    }
}

fn people(viewer: &Viewer) -> Markup {
    html! {
        a.tile href="/dashboard/approvals" {
            div.tile-head { h2 { "Approvals" } }
            p.number { (viewer.pending) span.unit { " pending" } }
            p.soft { @if viewer.pending == 0 { "No calls need a decision." } @else { "Calls wait for your decision." } }
        }
    }
}

fn questions(asking: usize) -> Markup {
    html! {
        a.tile href="/dashboard/runs" {
            div.tile-head { h2 { "Questions" } }
            p.number { (asking) span.unit { " open" } }
            p.soft { @if asking == 0 { "No run waits for an answer." } @else { "Runs wait for an answer." } }
        }
    }
}

/// Calls per second, from the calls of one minute.
fn rate(calls: u64) -> String {
    let rate = calls as f64 / 60.0;
    if rate >= 10.0 || calls == 0 { format!("{rate:.0}") } else { format!("{rate:.2}") }
}

fn servers(dashboard: &Dashboard, viewer: &Viewer) -> Markup {
    let report =
        dashboard.parts.servers.as_ref().map(|servers| servers.report()).unwrap_or_default();
    let servers = report.as_array().cloned().unwrap_or_default();
    if servers.is_empty() {
        return empty(
            "No MCP servers yet",
            html! {
                p { "Add one to " code { "powerstrip.yaml" } ", or use those of a client:" }
                pre { code { "powerstrip serve --mcp-json ~/.cursor/mcp.json" } }
                p { "The built-in tools and your tool packs work without servers." }
            },
        );
    }
    html! {
        ul.rows {
            @for server in &servers { (server_row(server, viewer)) }
        }
    }
}

fn server_row(server: &Value, viewer: &Viewer) -> Markup {
    let text = |key: &str| server[key].as_str().unwrap_or_default();
    let state = text("state");
    let tone = match state {
        "ready" => Tone::Good,
        "starting" => Tone::Doubtful,
        "down" | "faulty" => Tone::Bad,
        _ => Tone::Quiet,
    };
    let held = server["quarantined"].as_array().map_or(0, Vec::len);
    let tools = server["tools"].as_u64().unwrap_or(0);
    html! {
        li {
            a.row href=(format!("/dashboard/catalog?server={}", super::words::in_url(text("name")))) {
                span.row-name { (short(text("name"), 60)) }
                span.row-more {
                    (text("transport")) " · " (count(usize::try_from(tools).unwrap_or(0), "tool", "tools"))
                    @if held > 0 { " · " span.warn { (count(held, "tool", "tools")) " in quarantine" } }
                    // Errors of servers contain hosts and paths.
                    @if viewer.may(scope::METRICS_READ) && !text("lastError").is_empty() && state != "ready" {
                        " · " (short(text("lastError"), 120))
                    }
                }
                (mark(tone, state))
            }
        }
    }
}

fn latest(rows: Vec<AuditRow>, viewer: &Viewer) -> Markup {
    if rows.is_empty() {
        return empty(
            "No calls yet",
            html! {
                p { "Every call is listed here." }
                p { a.button href="/dashboard/tools/demo.echo" { "Try demo.echo" } }
            },
        );
    }
    calls::table(&rows, viewer)
}
