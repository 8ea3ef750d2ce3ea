//! SVG charts, drawn on the server.

use maud::{Markup, html};
use operations::calls::{Bucket, CallSummary};

use crate::time;
use crate::words::{count, inert, short, tool_page};

/// Calls over time: one bar per bucket, with the failed calls at its foot.
pub(super) fn bars(series: &[Bucket], label: &str) -> Markup {
    const HEIGHT: u64 = 64;
    const STEP: usize = 10;
    let most = series.iter().map(|bucket| bucket.calls).max().unwrap_or(0).max(1);
    let total: u64 = series.iter().map(|bucket| bucket.calls).sum();
    let failed: u64 = series.iter().map(|bucket| bucket.errors).sum();
    let tall = |calls: u64| if calls == 0 { 0 } else { (calls * (HEIGHT - 4) / most).max(2) };
    let wide = series.len().max(1) * STEP;
    html! {
        svg.bars viewBox=(format!("0 0 {wide} {HEIGHT}")) preserveAspectRatio="none" role="img"
            aria-label=(format!("{total} calls in the {label}, {failed} of them failed")) {
            line x1="0" x2=(wide) y1=(HEIGHT) y2=(HEIGHT) class="axis" {}
            @for (at, bucket) in series.iter().enumerate().filter(|(_, bucket)| bucket.calls > 0) {
                @let (all, bad) = (tall(bucket.calls), tall(bucket.errors));
                g {
                    title { (time::exact(bucket.at_unix_ms)) ": " (bucket.calls) " calls, " (bucket.errors) " failed" }
                    rect.calls x=(at * STEP + 1) y=(HEIGHT - all) width=(STEP - 2) height=(all) rx="1" {}
                    @if bad > 0 {
                        rect.failed x=(at * STEP + 1) y=(HEIGHT - bad) width=(STEP - 2) height=(bad) rx="1" {}
                    }
                }
            }
        }
    }
}

/// A shorter bar would not be seen, in percent.
const MIN_WIDTH: f64 = 0.5;

/// The calls of one trace on a time axis: a bar for each.
pub(super) fn timeline(calls: &[CallSummary]) -> Markup {
    let begin = |call: &CallSummary| call.at_unix_ms.saturating_mul(1_000);
    let first = calls.iter().map(begin).min().unwrap_or(0);
    let last = calls.iter().map(|call| begin(call) + call.duration_us).max().unwrap_or(1);
    let whole = last.saturating_sub(first).max(1) as f64;
    let percent = |span: u64| span as f64 / whole * 100.0;
    html! {
        ol.timeline aria-label=(format!("{} in {}", count(calls.len(), "call", "calls"), time::span(whole as u64))) {
            @for call in calls {
                @let from = percent(begin(call).saturating_sub(first)).min(100.0 - MIN_WIDTH);
                @let width = percent(call.duration_us).clamp(MIN_WIDTH, 100.0 - from);
                @let name = html! { code { (short(&call.tool, 60)) } };
                li {
                    @if call.is_call() { a href=(tool_page(&call.tool)) { (name) } } @else { span { (name) } }
                    svg width="100%" height="16" role="img" aria-label=(inert(&call.code)) {
                        line.track x1="0" x2="100%" y1="8" y2="8" {}
                        g class=(if call.is_ok() { "bar" } else { "bar failed" }) {
                            rect x=(format!("{from:.2}%")) y="2" width=(format!("{width:.2}%")) height="12" rx="3" {}
                        }
                    }
                    span.number { (time::span(call.duration_us)) }
                }
            }
        }
    }
}
