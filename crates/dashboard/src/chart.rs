//! SVG charts, drawn on the server.

use maud::{Markup, html};
use operations::calls::{Bucket, CallSummary};

use crate::time;
use crate::words::{inert, short, tool_page};

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

/// The calls of one trace on a time axis.
pub(super) fn waterfall(calls: &[CallSummary]) -> Markup {
    const LINE: usize = 44;
    const WIDE: f64 = 1000.0;
    let begin = |call: &CallSummary| call.at_unix_ms.saturating_mul(1_000);
    let first = calls.iter().map(begin).min().unwrap_or(0);
    let last = calls.iter().map(|call| begin(call) + call.duration_us).max().unwrap_or(1);
    let whole = last.saturating_sub(first).max(1) as f64;
    let x = |at: u64| at.saturating_sub(first) as f64 / whole * WIDE;
    let height = calls.len() * LINE + 24;
    html! {
        svg.waterfall viewBox=(format!("0 0 {WIDE} {height}")) role="group"
            aria-label=(format!("{} along {}", calls.len(), time::span(whole as u64))) {
            @for quarter in 0..=4_u32 {
                @let at = f64::from(quarter) * WIDE / 4.0;
                line.grid x1=(at) x2=(at) y1="0" y2=(height - 20) {}
                text.scale x=(at) y=(height - 4)
                    text-anchor=(match quarter { 0 => "start", 4 => "end", _ => "middle" }) {
                    (time::span((whole / 4.0 * f64::from(quarter)) as u64))
                }
            }
            @for (line, call) in calls.iter().enumerate() {
                @let (from, width) = (x(begin(call)), (call.duration_us as f64 / whole * WIDE).max(3.0));
                @let y = line * LINE + 4;
                @let right = from > WIDE * 0.6;
                g class=(if call.is_ok() { "bar" } else { "bar failed" }) {
                    title { (inert(&call.tool)) " · " (time::span(call.duration_us)) " · " (inert(&call.code)) }
                    rect x=(from) y=(y + 18) width=(width) height="14" rx="3" {}
                    a href=(tool_page(&call.tool)) {
                        text x=(if right { from + width } else { from }) y=(y + 12)
                            text-anchor=(if right { "end" } else { "start" }) {
                            (short(&call.tool, 60)) " · " (time::span(call.duration_us))
                        }
                    }
                }
            }
        }
    }
}
