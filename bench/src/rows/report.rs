//! What all rows share: the report, progress on stderr, and rows about comparisons.

use std::io::Write as _;

use crate::load::Comparison;
use crate::table::{Row, Unit, Verdict};

/// All measured rows.
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
}

impl Report {
    /// Whether every row has its figure.
    pub(crate) fn is_whole(&self) -> bool {
        self.rows.iter().all(|row| row.verdict() != Verdict::NotMeasured)
    }
}

/// Ends a group; a failure becomes a row.
pub(super) fn close(name: &str, measured: anyhow::Result<()>, rows: &mut Vec<Row>) {
    if let Err(error) = measured {
        rows.push(Row::not_measured(format!("{name}: the rest"), format!("{error:#}")));
    }
}

/// Reports progress on stderr; only the figures go to stdout.
pub(crate) fn say(text: &str) {
    // Ignored: stderr may be closed.
    let _ = writeln!(std::io::stderr(), "powerstrip-bench: {text}");
}

/// A count with a thousands separator.
pub(super) fn shown(count: usize) -> String {
    if count < 1_000 {
        count.to_string()
    } else {
        format!("{},{:03}", count / 1_000, count % 1_000)
    }
}

/// A row about two sides that were loaded in turns.
pub(super) fn comparison_row(name: String, comparison: &Comparison, ours: &str, base: &str) -> Row {
    let mut row = Row::new(name, comparison.ratio, Unit::Ratio);
    for (side, figures) in [(ours, &comparison.ours), (base, &comparison.base)] {
        row = row
            .fact(side, figures.calls_per_second, Unit::PerSecond)
            .fact("p50", figures.p50_ms, Unit::Millis)
            .fact("p99", figures.p99_ms, Unit::Millis);
    }
    row
}
