//! The tasks of a workflow on a time axis, with a bar for each attempt.

use maud::{Markup, html};
use operations::workflows::WorkflowDetails;

use super::attempts::{Attempt, attempts};
use crate::runs::links::task_link;
use crate::time;
use crate::viewer::Viewer;
use crate::words::{count, short};

/// A shorter bar would not be seen, in percent.
const MIN_WIDTH: f64 = 0.5;

/// The time that all bars share.
struct Axis {
    first: u64,
    last: u64,
}

impl Axis {
    fn percent(&self, from: u64, to: u64) -> f64 {
        let whole = self.last.saturating_sub(self.first).max(1);
        to.saturating_sub(from) as f64 / whole as f64 * 100.0
    }
}

pub(super) fn show(details: &WorkflowDetails, viewer: &Viewer) -> Markup {
    let rows: Vec<_> = details.tasks.iter().map(|task| (task, attempts(details, task))).collect();
    let all = || rows.iter().flat_map(|(_, attempts)| attempts);
    let until = |attempt: &Attempt| attempt.ended_unix_ms.unwrap_or(viewer.now_ms);
    let Some(first) = all().map(|attempt| attempt.started_unix_ms).min() else {
        return html! {};
    };
    let axis = Axis { first, last: all().map(until).max().unwrap_or(first) };
    let whole = axis.last.saturating_sub(axis.first);
    html! {
        h2 { "Timeline" }
        p.soft { "From " (time::exact(axis.first)) ", " (time::span(whole.saturating_mul(1_000))) " in all" }
        ol.timeline {
            @for (task, attempts) in rows.iter().filter(|(_, attempts)| !attempts.is_empty()) {
                @let took: u64 = attempts.iter().map(|one| until(one).saturating_sub(one.started_unix_ms)).sum();
                li {
                    a href=(task_link(&details.workflow.run_id, &task.task_id)) { code { (short(&task.task_id, 40)) } }
                    svg role="img" width="100%" height="16" aria-label=(spoken(attempts, &axis, viewer.now_ms)) {
                        line.track x1="0" x2="100%" y1="8" y2="8" {}
                        @for one in attempts { (bar(one, &axis, viewer.now_ms)) }
                    }
                    span.number { (time::span(took.saturating_mul(1_000))) @if attempts.len() > 1 { " · " (count(attempts.len(), "attempt", "attempts")) } }
                }
            }
        }
    }
}

fn bar(attempt: &Attempt, axis: &Axis, now_ms: u64) -> Markup {
    let until = attempt.ended_unix_ms.unwrap_or(now_ms);
    let width = axis.percent(attempt.started_unix_ms, until).max(MIN_WIDTH);
    let from = axis.percent(axis.first, attempt.started_unix_ms).min(100.0 - MIN_WIDTH);
    html! {
        g class=(format!("bar {}", class(&attempt.status))) {
            title { (in_words(attempt, axis, now_ms)) }
            rect x=(format!("{from:.2}%")) y="2" width=(format!("{width:.2}%")) height="12" rx="3" {}
        }
    }
}

fn class(status: &str) -> &'static str {
    match status {
        "failed" => "failed",
        "running" => "running",
        "waiting" => "waiting",
        "skipped" | "pending" => "pending",
        _ => "done",
    }
}

fn in_words(attempt: &Attempt, axis: &Axis, now_ms: u64) -> String {
    let since = |at: u64| time::span(at.saturating_sub(axis.first).saturating_mul(1_000));
    let Attempt { number, started_unix_ms, ended_unix_ms, status, code } = attempt;
    let end = ended_unix_ms.map_or_else(|| format!("now ({})", since(now_ms)), since);
    let code = code.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
    format!("attempt {number}: {} to {end}, {status}{code}", since(*started_unix_ms))
}

fn spoken(attempts: &[Attempt], axis: &Axis, now_ms: u64) -> String {
    let words: Vec<_> = attempts.iter().map(|one| in_words(one, axis, now_ms)).collect();
    words.join("; ")
}
