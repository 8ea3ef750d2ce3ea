//! Text of files, for tools that take text. The binary implements the extraction of documents in a separate process:
//! document parsers are large, and documents are untrusted.

use std::path::Path;

use async_trait::async_trait;
use proto::{Blame, Code, Failure};

use super::picture::{Picture, PictureBounds};

/// The text of a file without control and invisible characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedText {
    /// Paragraphs with a blank line between them, table rows as lines with tabs.
    pub text: String,
    /// The media type, by the content.
    pub media_type: String,
    /// Pages, slides or sheets that were read; 1 where there are none.
    pub parts: usize,
    /// The title that the document gives itself.
    pub title: Option<String>,
    /// The number of invisible characters that were removed.
    pub removed: usize,
    /// Whether text beyond the limit was cut off.
    pub truncated: bool,
}

/// A file whose text is extracted.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub path: &'a Path,
    /// As detected from its bytes.
    pub media_type: &'a str,
    /// For messages.
    pub name: &'a str,
    /// The tenant whose file it is.
    pub tenant: &'a str,
}

/// Extracts the text of files.
#[async_trait]
pub trait ExtractText: Send + Sync {
    /// Extracts the text of a file.
    async fn extract(&self, source: Source<'_>) -> Result<ExtractedText, Failure>;

    /// A smaller copy of a picture; none if it cannot be made within the bounds.
    async fn smaller_picture(
        &self,
        _source: Source<'_>,
        _bounds: PictureBounds,
    ) -> Option<Picture> {
        None
    }
}

/// Extracts the text of plain text files.
pub struct PlainText;

#[async_trait]
impl ExtractText for PlainText {
    async fn extract(&self, source: Source<'_>) -> Result<ExtractedText, Failure> {
        let Source { path, media_type, .. } = source;
        let unread = |error: std::io::Error| {
            Failure::new(Code::Unavailable, "the file cannot be read now").caused_by(error)
        };
        let bytes = tokio::fs::read(path).await.map_err(unread)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            let message = format!("no text can be extracted of {media_type}");
            Failure::new(Code::Unsupported, message).blame(Blame::Caller)
        })?;
        let (text, removed) = proto::clean::text(&text);
        let media_type = media_type.to_owned();
        Ok(ExtractedText { text, media_type, parts: 1, removed, ..ExtractedText::default() })
    }
}

/// Distinguishes plain text from everything else, by the bytes alone.
pub fn sniff_plain_text(head: &[u8], _: &str) -> String {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A character may be cut where the head ends.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => "\0",
    };
    let binary = text.chars().any(|c| c.is_control() && !c.is_whitespace());
    if binary { "application/octet-stream" } else { "text/plain" }.to_owned()
}
