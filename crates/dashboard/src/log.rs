//! Lines of a server's log.

use maud::{Markup, html};
use operations::servers::{LogLine, LogSource};

use crate::time;
use crate::words::inert;

/// Lines of a log; those of the gateway are marked.
pub(super) fn log_lines(lines: &[LogLine]) -> Markup {
    html! {
        @for line in lines {
            span class=(if line.source == LogSource::Gateway { "line gateway" } else { "line" }) {
                time datetime=(time::iso(line.at_unix_ms)) { (time::of_day(line.at_unix_ms)) }
                " " (inert(&line.line)) "\n"
            }
        }
    }
}
