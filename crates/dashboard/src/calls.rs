//! The audit trail: every call that has ended, and the calls of one trace along the same time.

use auth::scope;
use axum::extract::{Path, Query, State};
use maud::{Markup, html};
use proto::{Code, Principal, TraceId};
use serde::Deserialize;
use serde_json::Value;
use strip::{AuditFilter, AuditPage, AuditPosition, AuditRow};

use crate::layout::{Page, PageResult, Section, heading};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{empty, in_url, inert, outcome, short, tool_page};
use crate::{chart, time};

const PAGE_ROWS: u32 = 50;

/// How many calls of a trace are shown.
const MAX_TRACE_ROWS: u32 = 200;

const DAY_MS: u64 = 86_400_000;

/// The filters of the list; empty ones are not applied.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    tool: String,
    outcome: String,
    caller: String,
    from: String,
    to: String,
    after: String,
}

impl Params {
    fn filter(&self, viewer: &Viewer) -> AuditFilter {
        let filter = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        AuditFilter {
            tenant: viewer.tenant(),
            tool: filter(&self.tool),
            outcome: filter(&self.outcome),
            caller: filter(&self.caller),
            since_unix_ms: time::of_date(&self.from),
            until_unix_ms: time::of_date(&self.to).map(|day| day + DAY_MS),
            after: position(&self.after),
            limit: PAGE_ROWS,
            ..AuditFilter::default()
        }
    }

    fn narrows(&self) -> bool {
        [&self.tool, &self.outcome, &self.caller, &self.from, &self.to]
            .iter()
            .any(|f| !f.is_empty())
    }

    /// The address of the next page.
    fn next(&self, after: AuditPosition) -> String {
        let pairs = [
            ("tool", &self.tool),
            ("outcome", &self.outcome),
            ("caller", &self.caller),
            ("from", &self.from),
            ("to", &self.to),
        ];
        let mut url = format!("/dashboard/calls?after={}-{}", after.key, after.number);
        for (name, value) in pairs.into_iter().filter(|(_, value)| !value.is_empty()) {
            url.push_str(&format!("&{name}={}", in_url(value)));
        }
        url
    }
}

fn position(text: &str) -> Option<AuditPosition> {
    let (at, number) = text.split_once('-')?;
    Some(AuditPosition { key: at.parse().ok()?, number: number.parse().ok()? })
}

pub(super) async fn page(
    State(dashboard): State<Dashboard>,
    Query(params): Query<Params>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let found = dashboard.parts.strip.calls(params.filter(&viewer)).await;
    let body = html! {
        (heading(html! { "Calls" }, html! { "All calls, newest first." }, html! {}))
        (filters(&params))
        div #results data-swap {
            @match &found {
                Ok(page) => (results(page, &params, &viewer)),
                Err(failure) => p.fault role="alert" { (failure.message) },
            }
        }
    };
    Page::new("Calls", Section::Calls, body).show(&viewer)
}

fn filters(params: &Params) -> Markup {
    html! {
        form.filters method="get" action="/dashboard/calls" {
            label { "Tool" input type="search" name="tool" value=(params.tool) placeholder="any" data-search autocomplete="off"; }
            label {
                "Outcome"
                select name="outcome" {
                    option value="" { "any" }
                    @for word in ["OK"].into_iter().chain(Code::all().map(Code::as_str)).chain(["CANCELLED"]) {
                        option value=(word) selected[params.outcome == word] { (word) }
                    }
                }
            }
            label { "Caller" input type="search" name="caller" value=(params.caller) placeholder="person or agent" autocomplete="off"; }
            label { "From" input type="date" name="from" value=(params.from); }
            label { "To" input type="date" name="to" value=(params.to); }
            button type="submit" { "Filter" }
            @if params.narrows() { a href="/dashboard/calls" { "Clear" } }
        }
    }
}

fn results(page: &AuditPage, params: &Params, viewer: &Viewer) -> Markup {
    if page.rows.is_empty() {
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
        (table(&page.rows, viewer))
        @if let Some(next) = page.next {
            p.more { a.button rel="next" href=(params.next(next)) { "Older calls" } }
        }
    }
}

/// A table of calls; narrow screens show fewer columns.
pub(super) fn table(rows: &[AuditRow], viewer: &Viewer) -> Markup {
    html! {
        div.table {
            table {
                thead { tr {
                    th scope="col" { "Tool" }
                    th scope="col" { "Outcome" }
                    th.wide scope="col" { "Caller" }
                    th.wide scope="col" { "Door" }
                    th.number scope="col" { "Took" }
                    th.number scope="col" { "When" }
                } }
                tbody {
                    @for row in rows {
                        tr {
                            td { a href=(format!("/dashboard/calls/{}", row.trace)) { code { (short(&row.tool, 60)) } } }
                            td { (outcome(&row.outcome)) }
                            td.wide { (caller(&row.caller, viewer)) }
                            td.wide { (inert(&row.door)) }
                            td.number { (time::span(row.duration_us)) }
                            td.number { (time::ago(row.at_unix_ms, viewer.now_ms)) }
                        }
                    }
                }
            }
        }
    }
}

/// The caller by agent and subject, with the tenant if it differs from the viewer's.
pub(super) fn caller(principal: &Principal, viewer: &Viewer) -> Markup {
    let foreign = viewer.principal().tenant != principal.tenant;
    html! {
        @if let Some(agent) = &principal.agent { (short(agent, 40)) " for " }
        (short(&principal.subject, 40))
        @if foreign { span.soft { " · " (short(principal.tenant.as_str(), 40)) } }
    }
}

pub(super) async fn trace(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    viewer.require(scope::TOOLS_READ)?;
    let none =
        "This trace does not exist or is not yours. A call is listed shortly after it has ended.";
    let Ok(trace) = serde_json::from_value::<TraceId>(Value::String(id)) else {
        return Err(viewer.missing(none));
    };
    let filter = AuditFilter {
        trace: Some(trace),
        tenant: viewer.tenant(),
        limit: MAX_TRACE_ROWS,
        ..AuditFilter::default()
    };
    let mut rows = match dashboard.parts.strip.calls(filter).await {
        Ok(page) => page.rows,
        Err(failure) => return Err(viewer.missing(&failure.message)),
    };
    if rows.is_empty() {
        return Err(viewer.missing(none));
    }
    rows.reverse();
    let below = html! { "Trace " code { (trace) } };
    let title = rows.first().map(|row| short(&row.tool, 80)).unwrap_or_default();
    let body = html! {
        (heading(html! { code { (title) } }, below, html! { a href="/dashboard/calls" { "All calls" } }))
        (chart::waterfall(&rows))
        @for row in &rows { (facts(row, &viewer)) }
    };
    Page::new("Trace", Section::Calls, body).show(&viewer)
}

fn facts(row: &AuditRow, viewer: &Viewer) -> Markup {
    html! {
        dl.facts {
            div { dt { "Tool" } dd { a href=(tool_page(&row.tool)) { code { (inert(&row.tool)) } } " " span.soft { (inert(&row.version)) } } }
            div { dt { "Outcome" } dd { (outcome(&row.outcome)) @if let Some(blame) = &row.blame { span.soft { " · blame: " (inert(blame)) } } } }
            div { dt { "Decision" } dd { (inert(&row.decision)) } }
            div { dt { "Caller" } dd { (caller(&row.caller, viewer)) } }
            div { dt { "Door" } dd { (inert(&row.door)) } }
            div { dt { "Started" } dd { (time::ago(row.at_unix_ms, viewer.now_ms)) " · " (time::exact(row.at_unix_ms)) } }
            div { dt { "Took" } dd { (time::span(row.duration_us)) } }
            div { dt { "Arguments" } dd { code.sum title="SHA-256 of the canonical arguments" { (row.arguments) } } }
            @if let Some(definition) = row.definition {
                div { dt { "Definition" } dd { code.sum title="SHA-256 of the tool's definition" { (definition) } } }
            }
        }
    }
}
