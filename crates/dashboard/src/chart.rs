//! SVG charts, drawn on the server.

use maud::{Markup, html};
use strip::{AuditCount, AuditRow};

use crate::time;
use crate::words::{inert, short, tool_page};

/// Calls over time: one bar per bucket, with the failed calls at its foot.
pub(super) fn bars(counts: &[AuditCount], stretches: u64) -> Markup {
    const HEIGHT: u64 = 64;
    const STEP: u64 = 10;
    let most = counts.iter().map(|count| count.calls).max().unwrap_or(0).max(1);
    let total: u64 = counts.iter().map(|count| count.calls).sum();
    let failed: u64 = counts.iter().map(|count| count.failed).sum();
    let tall = |calls: u64| if calls == 0 { 0 } else { (calls * (HEIGHT - 4) / most).max(2) };
    html! {
        svg.bars viewBox=(format!("0 0 {} {HEIGHT}", stretches * STEP)) preserveAspectRatio="none" role="img"
            aria-label=(format!("{total} calls in the last minutes, {failed} of them failed")) {
            line x1="0" x2=(stretches * STEP) y1=(HEIGHT) y2=(HEIGHT) class="axis" {}
            @for count in counts.iter().filter(|count| count.stretch < stretches) {
                @let (all, bad) = (tall(count.calls), tall(count.failed));
                rect.calls x=(count.stretch * STEP + 1) y=(HEIGHT - all) width=(STEP - 2) height=(all) rx="1" {}
                @if bad > 0 {
                    rect.failed x=(count.stretch * STEP + 1) y=(HEIGHT - bad) width=(STEP - 2) height=(bad) rx="1" {}
                }
            }
        }
    }
}

/// The calls of one trace on a time axis.
pub(super) fn waterfall(rows: &[AuditRow]) -> Markup {
    const LINE: usize = 44;
    const WIDE: f64 = 1000.0;
    let begin = |row: &AuditRow| row.at_unix_ms.saturating_mul(1_000);
    let first = rows.iter().map(begin).min().unwrap_or(0);
    let last = rows.iter().map(|row| begin(row) + row.duration_us).max().unwrap_or(1);
    let whole = last.saturating_sub(first).max(1) as f64;
    let x = |at: u64| at.saturating_sub(first) as f64 / whole * WIDE;
    let height = rows.len() * LINE + 24;
    html! {
        svg.waterfall viewBox=(format!("0 0 {WIDE} {height}")) role="img"
            aria-label=(format!("{} along {}", rows.len(), time::span(whole as u64))) {
            @for quarter in 0..=4_u32 {
                @let at = f64::from(quarter) * WIDE / 4.0;
                line.grid x1=(at) x2=(at) y1="0" y2=(height - 20) {}
                text.scale x=(at) y=(height - 4)
                    text-anchor=(match quarter { 0 => "start", 4 => "end", _ => "middle" }) {
                    (time::span((whole / 4.0 * f64::from(quarter)) as u64))
                }
            }
            @for (line, row) in rows.iter().enumerate() {
                @let (from, width) = (x(begin(row)), (row.duration_us as f64 / whole * WIDE).max(3.0));
                @let y = line * LINE + 4;
                @let right = from > WIDE * 0.6;
                g class=(if row.outcome == "OK" { "bar" } else { "bar failed" }) {
                    title { (inert(&row.tool)) " · " (time::span(row.duration_us)) " · " (inert(&row.outcome)) }
                    rect x=(from) y=(y + 18) width=(width) height="14" rx="3" {}
                    a href=(tool_page(&row.tool)) {
                        text x=(if right { from + width } else { from }) y=(y + 12)
                            text-anchor=(if right { "end" } else { "start" }) {
                            (short(&row.tool, 60)) " · " (time::span(row.duration_us))
                        }
                    }
                }
            }
        }
    }
}
