//! From bytes to text: which reader, within which bounds, and why there may be none.

use crate::sniff::{self, sniff};
use crate::{html, office, pdf, plain};

/// How much of a document is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the document itself.
    pub input: usize,
    /// Bytes of a document that is an archive: what is packed may become far more.
    pub archive: usize,
    /// Bytes that all compressed parts together may become.
    pub inflated: u64,
    /// Files within an archive.
    pub parts: usize,
    /// Elements within elements.
    pub depth: usize,
    /// Bytes of text; what comes after them is left out and the result says so.
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

/// The text of a document as it was written. Control and invisible characters are still in it: whoever shows it to a
/// model removes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Paragraphs with a blank line between them, table rows as lines with tabs.
    pub text: String,
    /// What the document is by its content.
    pub media_type: String,
    /// Pages, slides or sheets that were read; 1 where there are none.
    pub parts: usize,
    /// The title that the document gives itself.
    pub title: Option<String>,
    /// Characters that are in the document but that nobody sees who opens it; they were left out.
    pub hidden: usize,
    /// Whether text was left out because there was more than the limit.
    pub truncated: bool,
}

/// Why there is no text, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It cannot be opened without a password.
    #[error("it is protected by a password; save a copy without one and send that")]
    Encrypted,
    /// It does not keep to its own format.
    #[error(
        "it is damaged ({why}); open it in the program that made it, save it again and send that"
    )]
    Damaged {
        /// What is wrong with it.
        why: String,
    },
    /// It is, or would become, more than the limit.
    #[error("it is too large ({what}, at most {limit} bytes); send it in several smaller files")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How much is taken.
        limit: u64,
    },
    /// It is an archive of very many files.
    #[error("it holds more than {limit} parts; send it in several smaller files")]
    TooManyParts {
        /// How many are taken.
        limit: usize,
    },
    /// Its kind has no text, or none that is read here.
    #[error(
        "no text is read from {media_type}; send it as PDF, DOCX, PPTX, XLSX, HTML or plain text"
    )]
    Unsupported {
        /// What it is by its content.
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

    pub(crate) fn damaged(why: impl ToString) -> Self {
        Self::Damaged { why: why.to_string() }
    }
}

/// Reads the text of a document. `media_type` is what [`sniff`](crate::sniff) said of its beginning; where the beginning
/// did not tell, all of it is looked at.
pub fn extract(bytes: Vec<u8>, media_type: &str, limits: &Limits) -> Result<Extracted, Unreadable> {
    if bytes.len() > limits.input {
        return Err(Unreadable::TooLarge { what: "the file", limit: limits.input as u64 });
    }
    let bare = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // The beginning of an archive may not show what it is; a type that nobody worked out is worked out here.
    let media_type = match bare.as_str() {
        "" | sniff::ZIP | sniff::OLE | sniff::UNKNOWN => sniff(&bytes, None).to_owned(),
        _ => bare,
    };
    let mut extracted = match media_type.as_str() {
        sniff::PDF => pdf::read(bytes, limits)?,
        sniff::DOCX => office::docx::read(&bytes, limits)?,
        sniff::PPTX => office::pptx::read(&bytes, limits)?,
        sniff::XLSX => office::xlsx::read(&bytes, limits)?,
        sniff::HTML | "application/xhtml+xml" => html::read(&bytes, limits)?,
        sniff::OLE if sniff::is_encrypted_office(&bytes) => return Err(Unreadable::Encrypted),
        sniff::JSON | "application/xml" | "application/yaml" => plain::read(&bytes, limits),
        text if text.starts_with("text/") => plain::read(&bytes, limits),
        _ => return Err(Unreadable::Unsupported { media_type }),
    };
    extracted.media_type = media_type;
    Ok(extracted)
}
