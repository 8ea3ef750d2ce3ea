//! What a server wrote to its log during one call, and the rest of its log.

use maud::{Markup, html};
use operations::calls::{CallOrder, CallQuery, CallSummary};
use operations::servers::{LogLine, LogQuery};

use crate::log::log_lines;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{count, in_url, inert};

/// How much later the last lines of a process in a call may be read.
const SETTLE_MS: u64 = 500;

/// Calls that began up to this long before may still have run.
const LONGEST_CALL_MS: u64 = 10 * 60 * 1_000;

const MAX_NEARBY: u32 = 500;

/// How many lines before and after the call are shown.
const MAX_REST: usize = 100;

/// A server's log, divided by one call.
pub(super) struct CallLog {
    server: String,
    own: Vec<LogLine>,
    before: Vec<LogLine>,
    after: Vec<LogLine>,
    /// Other calls of the server ran at the same time, and may have caused lines; none if they could not be read.
    shared: Option<bool>,
}

/// When a call ran, and whether others ran with it.
struct Window {
    first_ms: u64,
    last_ms: u64,
    shared: bool,
}

impl Window {
    /// The time of a call among the other calls of its server. What is written shortly after its end is its own, unless
    /// another call has begun by then.
    fn of(call: &CallSummary, others: &[CallSummary]) -> Self {
        let end = |call: &CallSummary| call.at_unix_ms + call.duration_us / 1_000;
        let (first_ms, ended_ms) = (call.at_unix_ms, end(call));
        let others = || others.iter().filter(|other| other.number != call.number);
        let next = others().map(|other| other.at_unix_ms).filter(|at| *at >= ended_ms).min();
        let settled = ended_ms + SETTLE_MS;
        let last_ms = next.map_or(settled, |next| settled.min(next.saturating_sub(1)));
        let shared = others().any(|other| other.at_unix_ms < ended_ms && end(other) > first_ms);
        Self { first_ms, last_ms: last_ms.max(ended_ms), shared }
    }
}

/// The log of the server of a failed call; `None` if there is no such server, or the viewer may not read its log.
pub(super) async fn read(
    dashboard: &Dashboard,
    viewer: &Viewer,
    call: &CallSummary,
) -> Option<CallLog> {
    let server = call.tool.split_once(':').map(|(server, _)| server)?;
    if call.is_ok() || !viewer.may(auth::scope::METRICS_READ) {
        return None;
    }
    let console = &dashboard.parts.console;
    let query = LogQuery { name: server.to_owned(), after: None, limit: None };
    let lines = console.logs(&query).ok()?.lines;
    let query = CallQuery {
        server: Some(server.to_owned()),
        since_unix_ms: Some(call.at_unix_ms.saturating_sub(LONGEST_CALL_MS)),
        until_unix_ms: Some(call.at_unix_ms + call.duration_us / 1_000 + SETTLE_MS + 1),
        order: CallOrder::Newest,
        limit: Some(MAX_NEARBY),
        ..CallQuery::default()
    };
    // The gateway logs why it could not read them.
    let others = console.calls(&viewer.caller(), query).await.ok();
    let window = Window::of(call, others.as_ref().map_or(&[][..], |page| &page.calls));
    let shared = others.map(|_| window.shared);
    Some(CallLog { shared, ..divide(server, lines, &window) })
}

fn divide(server: &str, lines: Vec<LogLine>, window: &Window) -> CallLog {
    let (mut own, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        if line.at_unix_ms < window.first_ms {
            before.push(line);
        } else if line.at_unix_ms <= window.last_ms {
            own.push(line);
        } else {
            after.push(line);
        }
    }
    before.drain(..before.len().saturating_sub(MAX_REST));
    after.truncate(MAX_REST);
    CallLog { server: server.to_owned(), own, before, after, shared: Some(window.shared) }
}

impl CallLog {
    /// The lines of the call, marked, and then the rest.
    pub(super) fn show(&self, number: i64) -> Markup {
        let rest = self.before.len() + self.after.len();
        html! {
            div.section-head {
                h2 { "Standard error of " (inert(&self.server)) " during this call" }
                a href=(format!("/dashboard/servers/{}", in_url(&self.server))) { "Server" }
            }
            @if self.own.is_empty() { p.soft { "The server wrote nothing during this call." } }
            @else {
                pre.code.log.own #{ "log-" (number) } tabindex="0" { (log_lines(&self.own)) }
                @match self.shared {
                    Some(false) => {},
                    Some(true) => p.hint { "Other calls of this server ran at the same time: some of these lines may be theirs." },
                    None => p.fault { "The other calls of this server could not be read: some of these lines may be theirs." },
                }
            }
            @if rest > 0 {
                details.block #{ "log-rest-" (number) } open[self.own.is_empty()] {
                    summary { "The rest of its log: " (count(rest, "line", "lines")) }
                    @if !self.before.is_empty() { p.soft { "Before this call" } pre.code.log data-tail tabindex="0" { (log_lines(&self.before)) } }
                    @if !self.after.is_empty() { p.soft { "After this call" } pre.code.log tabindex="0" { (log_lines(&self.after)) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use operations::servers::LogSource;
    use proto::TraceId;

    use super::*;

    fn call(number: i64, at_unix_ms: u64, duration_ms: u64) -> CallSummary {
        CallSummary {
            number,
            trace_id: TraceId::random(),
            at_unix_ms,
            tenant: String::new(),
            subject: String::new(),
            agent: None,
            door: String::new(),
            tool: "notes:read".to_owned(),
            version: String::new(),
            decision: "failed".to_owned(),
            code: "INTERNAL".to_owned(),
            blame: None,
            duration_us: duration_ms * 1_000,
            message: None,
            answered_by: None,
        }
    }

    fn lines(times: &[u64]) -> Vec<LogLine> {
        let line = |at: &u64| LogLine {
            number: *at,
            at_unix_ms: *at,
            source: LogSource::Stderr,
            pid: Some(7),
            line: format!("at {at}"),
        };
        times.iter().map(line).collect()
    }

    #[test]
    fn lines_belong_to_the_call_that_ran_when_they_were_written() {
        let failed = call(2, 1_000, 50);
        let others = [call(1, 900, 40), call(2, 1_000, 50), call(3, 1_200, 20)];
        let window = Window::of(&failed, &others);
        assert!(!window.shared);
        let log = divide("notes", lines(&[930, 1_010, 1_049, 1_060, 1_205, 2_000]), &window);
        let times =
            |lines: &[LogLine]| lines.iter().map(|line| line.at_unix_ms).collect::<Vec<_>>();
        assert_eq!(times(&log.own), [1_010, 1_049, 1_060], "not those of the next call");
        assert_eq!((times(&log.before), times(&log.after)), (vec![930], vec![1_205, 2_000]));
        let shown = log.show(2).into_string();
        assert!(shown.find("at 1010") < shown.find("The rest of its log: 3 lines"), "{shown}");
    }

    #[test]
    fn calls_at_the_same_time_are_mentioned() {
        let failed = call(2, 1_000, 50);
        let window = Window::of(&failed, &[call(1, 990, 30)]);
        assert!(window.shared);
        assert_eq!((window.first_ms, window.last_ms), (1_000, 1_550));
    }
}
