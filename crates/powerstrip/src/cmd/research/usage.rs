//! What is wrong with a command line.

use std::path::Path;

use crate::exit::Usage;

/// An error of usage about a path.
pub(super) fn unusable(path: &Path, why: &str) -> anyhow::Error {
    Usage(format!("{}: {why}", path.display())).into()
}
