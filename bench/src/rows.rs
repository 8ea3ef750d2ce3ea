//! The rows of the table, group by group. A group that cannot be measured does not take the others with it.

mod calls;
mod catalog;
pub(crate) mod chain;
pub(crate) mod files;
pub(crate) mod gateway;
mod packs;
mod python;

use std::io::Write as _;
use std::path::Path;

use crate::cli::{Group, StripRun};
use crate::load::Duel;
use crate::table::{Row, Unit, Verdict};

/// Everything that was measured.
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
}

impl Report {
    /// Whether every row has its figure.
    pub(crate) fn is_whole(&self) -> bool {
        self.rows.iter().all(|row| row.verdict() != Verdict::NotMeasured)
    }
}

/// Measures the groups that were asked for.
pub(crate) async fn measure(run: &StripRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    for (group, name) in [
        (Group::Calls, "calls through the doors"),
        (Group::Python, "Python tools"),
        (Group::Tools, "many tools"),
    ] {
        if !run.wants(group) {
            continue;
        }
        let measured = match group {
            Group::Calls => calls::measure(run, binary, &mut rows).await,
            Group::Python => python::measure(run, binary, &mut rows).await,
            Group::Tools => catalog::measure(run, binary, &mut rows).await,
        };
        close(name, measured, &mut rows);
    }
    Report { rows }
}

/// Ends a group: what could not be measured is a row as well.
fn close(name: &str, measured: anyhow::Result<()>, rows: &mut Vec<Row>) {
    if let Err(error) = measured {
        rows.push(Row::not_measured(format!("{name}: the rest"), format!("{error:#}")));
    }
}

/// Tells the person who waits; the figures alone go to stdout.
pub(crate) fn say(text: &str) {
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "powerstrip-bench: {text}");
}

/// A count as people write it.
fn shown(count: usize) -> String {
    if count < 1_000 {
        count.to_string()
    } else {
        format!("{},{:03}", count / 1_000, count % 1_000)
    }
}

/// A row about two sides that took turns.
fn duel_row(name: String, duel: &Duel, ours: &str, base: &str) -> Row {
    let mut row = Row::new(name, duel.ratio, Unit::Ratio);
    for (side, figures) in [(ours, &duel.ours), (base, &duel.base)] {
        row = row
            .fact(side, figures.calls_per_second, Unit::PerSecond)
            .fact("p50", figures.p50_ms, Unit::Millis)
            .fact("p99", figures.p99_ms, Unit::Millis);
    }
    row
}
