//! The text of a file, for tools that take text. How it is read is the binary's business, which does so in a process of
//! its own: readers of documents are large, and what they read is a stranger's.

use std::path::Path;

use async_trait::async_trait;

use crate::Failure;

/// The text of a file, ready for a model: without control and invisible characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedText {
    /// Paragraphs with a blank line between them, table rows as lines with tabs.
    pub text: String,
    /// What the file is by its content.
    pub media_type: String,
    /// Pages, slides or sheets that were read; 1 where there are none.
    pub parts: usize,
    /// The title that the document gives itself.
    pub title: Option<String>,
    /// Characters that nobody would have seen, which were removed.
    pub removed: usize,
    /// Whether there was more text than is taken.
    pub truncated: bool,
}

/// Reads the text of files.
#[async_trait]
pub trait TextOf: Send + Sync {
    /// The text of the file at `source`. `media_type` is what its bytes were found to be; `name` is what its owner
    /// calls it, for messages.
    async fn text(
        &self,
        source: &Path,
        media_type: &str,
        name: Option<&str>,
    ) -> Result<ExtractedText, Failure>;
}
