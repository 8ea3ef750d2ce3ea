//! The rows of the table, group by group. A group that fails does not stop the others.

mod calls;
mod catalog;
pub(crate) mod chain;
pub(crate) mod collections;
pub(crate) mod files;
pub(crate) mod gateway;
mod packs;
mod python;
mod report;
pub(crate) mod scrape;
pub(crate) mod workflows;

use std::path::Path;

use crate::cli::{Group, StripRun};
use report::close;

pub(crate) use report::{Report, say};

/// Measures the requested groups.
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
