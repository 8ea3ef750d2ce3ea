//! A page that has been read, as the cache keeps it: sanitised, and before it is cut to the length that a caller asks for.

use search::dates::{Date, utc_date};
use serde::{Deserialize, Serialize};

use crate::citation::cite;
use crate::scrape::cut::{cut, preview};
use crate::tools::{
    Citation, CitationMetadata, ContentType, DocumentMetadata, ScrapeMode, ScrapePageOutput,
    SizeCategory,
};

/// A page with its text and all that is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Page {
    /// The address after redirects.
    pub(crate) url: String,
    pub(crate) content_type: ContentType,
    pub(crate) text: String,
    /// Bytes of the whole text, of which `text` may be the beginning.
    pub(crate) length: usize,
    /// Whether a limit of time or size left out a part of the page.
    pub(crate) incomplete: bool,
    pub(crate) title: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) site: Option<String>,
    /// When it was published, as far as known: `2024-05-03`, `2024-05` or `2024`.
    pub(crate) date: Option<String>,
    pub(crate) created_at: Option<String>,
    pub(crate) page_count: Option<usize>,
    pub(crate) file_size: Option<u64>,
    pub(crate) warnings: Vec<String>,
    /// What to ask the server later.
    pub(crate) validators: Option<Validators>,
    /// When it was read.
    pub(crate) read_unix_ms: u64,
}

/// How to ask a server whether a page has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Validators {
    /// The tier whose request was answered: another request may have another answer.
    pub(crate) tier: u8,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

impl Page {
    /// The day of publication.
    pub(crate) fn published(&self) -> Option<Date> {
        self.date.as_deref().and_then(Date::parse_iso)
    }

    /// The answer of `scrape_page`.
    pub(crate) fn output(&self, mode: ScrapeMode, offset: usize, max: usize) -> ScrapePageOutput {
        let rest = &self.text[self.text.floor_char_boundary(offset.min(self.text.len()))..];
        let content = match mode {
            ScrapeMode::Full => cut(rest, max),
            ScrapeMode::Preview => cut(&preview(rest), max).into_owned().into(),
        };
        let mut warnings = self.warnings.clone();
        if mode == ScrapeMode::Full && content.len() < rest.len() {
            let next = self.text.len() - rest.len() + taken(&content, rest);
            warnings.push(format!("The text goes on: `offset: {next}` has the next part."));
        }
        // A preview repeats the headings, and may be longer than a text of which it lacks a part.
        let is_whole = *content == self.text && self.text.len() == self.length;
        let truncated = self.incomplete || !is_whole;
        ScrapePageOutput {
            url: self.url.clone(),
            content_type: self.content_type,
            content_length: content.len(),
            truncated,
            estimated_tokens: content.len() / 4,
            size_category: SizeCategory::of(content.chars().count()),
            original_length: truncated.then_some(self.length),
            metadata: self.metadata(),
            citation: Some(self.citation()),
            warnings,
            content: content.into_owned(),
        }
    }

    fn metadata(&self) -> Option<DocumentMetadata> {
        let metadata = DocumentMetadata {
            title: self.title.clone(),
            author: self.author.clone(),
            page_count: self.page_count,
            created_at: self.created_at.clone().or_else(|| self.date.clone()),
            file_size: self.file_size,
        };
        (metadata != DocumentMetadata::default()).then_some(metadata)
    }

    pub(crate) fn citation(&self) -> Citation {
        let metadata = CitationMetadata {
            title: self.title.clone(),
            author: self.author.clone(),
            site: self.site.clone(),
            date: self.date.clone(),
        };
        cite(&self.url, &utc_date(self.read_unix_ms), metadata)
    }
}

/// The bytes of a text that its beginning has, which may end with a line that closes a code block.
fn taken(content: &str, text: &str) -> usize {
    content.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests;
