use std::path::{Path, PathBuf};

use proto::{Finding, Severity};
use schema::yaml::YamlError;

/// Why a pack cannot be used, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The file at fault where it is not the pack itself, such as a schema that it refers to.
    pub file: Option<PathBuf>,
    pub line: Option<usize>,
    pub message: String,
    /// The file that does not exist.
    pub(crate) missing: Option<PathBuf>,
}

impl From<YamlError> for Fault {
    fn from(error: YamlError) -> Self {
        Self { line: error.line, ..Self::new(error.message) }
    }
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { file: None, line: None, message: message.into(), missing: None }
    }

    pub(crate) fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(message) }
    }

    pub(crate) fn in_file(file: &Path, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { file: Some(file.to_owned()), line, ..Self::new(message) }
    }

    /// Adds the missing file: the pack is read again when it appears.
    pub(crate) fn missing(mut self, file: PathBuf) -> Self {
        self.missing = Some(file);
        self
    }

    /// Adds a line to a fault of the pack itself that has none.
    pub(crate) fn or_line(mut self, line: usize) -> Self {
        if self.file.is_none() && self.line.is_none() {
            self.line = Some(line);
        }
        self
    }

    /// The fault as a finding about a pack.
    pub fn finding(&self, pack: &Path) -> Finding {
        Finding {
            severity: Severity::Error,
            file: self.file.clone().unwrap_or_else(|| pack.to_owned()),
            line: self.line,
            message: self.message.clone(),
        }
    }
}
