//! The limits, the result and the errors of an extraction.

use crate::metadata::Metadata;

/// Limits on a document and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the document itself.
    pub input: usize,
    /// Bytes of a document that is an archive; decompressed it may be far larger.
    pub archive: usize,
    /// Bytes of all decompressed parts together.
    pub inflated: u64,
    /// Files within an archive.
    pub parts: usize,
    /// Nesting depth of elements.
    pub depth: usize,
    /// Bytes of text; the rest is cut and [`Extracted::truncated`] is set.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input: 64 << 20,
            archive: 10 << 20,
            inflated: 64 << 20,
            parts: 2000,
            depth: 512,
            text: 16 << 20,
        }
    }
}

/// The text of a document. Control and invisible characters are still in it and must be removed before a model sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// In the form that was asked for. Plain text has a blank line between paragraphs, and table rows as lines with tabs.
    pub text: String,
    /// The media type by content.
    pub media_type: String,
    /// Pages, slides or sheets that were read; 1 where there are none.
    pub parts: usize,
    /// Where each page or slide begins, in bytes of the text; empty where there are none. A paragraph that goes on over the
    /// end of a page belongs to the page where it begins.
    pub pages: Vec<usize>,
    /// What the document says about itself.
    pub meta: Metadata,
    /// The number of characters that were left out because a reader of the document would not see them.
    pub hidden: usize,
    /// The beginning of the text that was left out for that reason.
    pub hidden_text: String,
    /// Whether the text was cut at the limit.
    pub truncated: bool,
    /// Pages, counted from 1, that show much text whose characters the file does not name.
    pub unreadable_pages: Vec<usize>,
}

/// Why a document could not be read, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It cannot be opened without a password.
    #[error("it is protected by a password; save a copy without one and send that")]
    Encrypted,
    /// It violates its format.
    #[error(
        "it is damaged ({why}); open it in the program that made it, save it again and send that"
    )]
    Damaged {
        /// What is wrong with it.
        why: String,
    },
    /// It is larger than the limit, as it is or decompressed.
    #[error("it is too large ({what}, at most {limit} bytes); send it in several smaller files")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// It is an archive of very many files.
    #[error("it holds more than {limit} parts; send it in several smaller files")]
    TooManyParts {
        /// The limit.
        limit: usize,
    },
    /// Its format has no text, or none that is supported.
    #[error(
        "no text is read from {media_type}; send it as PDF, DOCX, PPTX, XLSX, HTML or plain text"
    )]
    Unsupported {
        /// The media type by content.
        media_type: String,
    },
}

impl Unreadable {
    /// The kind as one word, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Damaged { .. } => "damaged",
            Self::TooLarge { .. } => "too_large",
            Self::TooManyParts { .. } => "too_many_parts",
            Self::Unsupported { .. } => "unsupported",
        }
    }

    /// The error of a document that violates its format.
    pub fn damaged(why: impl ToString) -> Self {
        Self::Damaged { why: why.to_string() }
    }
}
