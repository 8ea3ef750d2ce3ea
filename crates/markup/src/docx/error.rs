/// Why no DOCX file was written, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocxError {
    #[error("the template is protected by a password; save a copy without one and send that")]
    Encrypted,
    #[error("the template is damaged ({0}); open it in Word, save it as .docx and send that")]
    Damaged(String),
    #[error("{what} is too large, at most {limit} bytes; use less of it")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("the template has more than {limit} parts; save it again in Word and send that")]
    TooManyParts { limit: usize },
    #[error("the template {0}; save it as .docx in Word and send that")]
    Unsupported(String),
    #[error("the template has names without a value in `data`: {}", .names.join(", "))]
    MissingValues { names: Vec<String> },
    #[error("the placeholder `{name}` {why}")]
    Placeholder { name: String, why: &'static str },
}

impl DocxError {
    /// The kind as one word, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Damaged(_) => "damaged",
            Self::TooLarge { .. } => "too_large",
            Self::TooManyParts { .. } => "too_many_parts",
            Self::Unsupported(_) => "unsupported",
            Self::MissingValues { .. } => "missing_values",
            Self::Placeholder { .. } => "placeholder",
        }
    }

    pub(super) fn damaged(why: impl ToString) -> Self {
        Self::Damaged(why.to_string().chars().take(200).collect())
    }
}
