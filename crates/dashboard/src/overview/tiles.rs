//! Figures of the overview.

use auth::scope;
use maud::{Markup, html};
use operations::calls::Overview;
use operations::servers::ServerSummary;

use crate::viewer::Viewer;
use crate::words::{in_url, inert, short};
use crate::{chart, time};

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 10.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

pub(super) fn traffic(figures: &Overview, period: &str) -> Markup {
    let ms = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), time::ms);
    html! {
        div.tile {
            div.tile-head { h2 { "Calls" } span.soft { (period) @if figures.partial { ", newest only" } } }
            div.numbers {
                p.number { (figures.calls) span.unit { " calls" } }
                p class=(if figures.errors > 0 { "number small bad" } else { "number small" }) {
                    (percent(figures.error_rate)) span.unit { " failed (" (figures.errors) ")" }
                }
                p.number.small title="Half of the calls took no longer" { (ms(figures.p50_ms)) span.unit { " p50" } }
                p.number.small title="Of 100 calls, 95 took no longer" { (ms(figures.p95_ms)) span.unit { " p95" } }
            }
            (chart::bars(&figures.series, period))
            @if figures.damaged > 0 {
                p.fault { "Rows of the audit trail that are damaged and not counted: " (figures.damaged) ". " a href="/dashboard/calls" { "All calls" } }
            }
        }
    }
}

pub(super) fn servers(servers: &[ServerSummary], viewer: &Viewer) -> Markup {
    let link =
        if viewer.may(scope::METRICS_READ) { "/dashboard/servers" } else { "/dashboard/catalog" };
    let used = servers.iter().filter(|server| server.state.ended_by().is_none()).count();
    let broken = servers.iter().filter(|server| server.state.is_broken()).count();
    html! {
        a.tile.line href=(link) {
            h2 { "Servers" }
            p class=(if broken > 0 { "number bad" } else { "number" }) { (used - broken) span.unit { " of " (used) " working" } }
        }
    }
}

pub(super) fn approvals(viewer: &Viewer) -> Markup {
    html! {
        a.tile.line href="/dashboard/approvals" {
            h2 { "Approvals" }
            p.number { (number(viewer.pending)) span.unit { " pending" } }
        }
    }
}

/// A number, or a question mark if it could not be read.
fn number(known: Option<usize>) -> String {
    known.map_or_else(|| "?".to_owned(), |number| number.to_string())
}

pub(super) fn questions(asking: Option<usize>) -> Markup {
    html! {
        a.tile.line href="/dashboard/runs" {
            h2 { "Questions" }
            p.number { (number(asking)) span.unit { " open" } }
        }
    }
}

/// The tools with the most calls.
pub(super) fn top_tools(figures: &Overview, period: &str) -> Markup {
    html! {
        @if !figures.top_tools.is_empty() {
            div.section-head { h2 { "Top tools" } span.soft { (period) } }
            div.table {
                table.figures-table {
                    thead { tr {
                        th scope="col" { "Tool" }
                        th.number scope="col" { "Calls" }
                        th.number scope="col" { "Failed" }
                        th.number scope="col" { "p50" }
                        th.number scope="col" { "p95" }
                    } }
                    tbody {
                        @for tool in &figures.top_tools {
                            tr {
                                td { a href=(format!("/dashboard/calls?tool={}", in_url(&tool.tool))) title=(inert(&tool.tool)) { code { (short(&tool.tool, 60)) } } }
                                td.number data-name="calls" { (tool.calls) }
                                td.number data-name="failed" { @if tool.errors > 0 { span.bad { (tool.errors) } } @else { "0" } }
                                td.number data-name="p50" { (time::ms(tool.p50_ms)) }
                                td.number data-name="p95" { (time::ms(tool.p95_ms)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shares_have_a_decimal() {
        assert_eq!(
            [0.0, 0.004, 0.0999, 0.5, 1.0].map(percent),
            ["0 %", "0.4 %", "10.0 %", "50 %", "100 %"]
        );
    }
}
