//! Why a document has no PDF.

use thiserror::Error;

/// Why a document has no PDF.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypesetError {
    /// The document exceeds a limit.
    #[error("it has more than {limit} {what}; split it")]
    TooLarge { what: &'static str, limit: usize },
    /// A mistake of ours: every document within the limits can be laid out.
    #[error("it cannot be laid out: {0}")]
    Layout(String),
}

impl TypesetError {
    /// One word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::Layout(_) => "layout",
        }
    }
}
