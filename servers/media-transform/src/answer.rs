//! What the tools answer in common.

use kit::{Ctx, Engine, Fault, Linked, Skipped, StoredRef};
use schemars::JsonSchema;
use serde::Serialize;

/// A longer text is stored, and the answer has its reference instead.
const MAX_CONTENT: usize = 100_000;

/// A format of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    Markdown,
    Html,
    Text,
    Docx,
    Pdf,
    Csv,
}

impl Format {
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Text => "text/plain",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pdf => "application/pdf",
            Self::Csv => "text/csv",
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Self::Markdown => "document.md",
            Self::Html => "document.html",
            Self::Text => "document.txt",
            Self::Docx => "document.docx",
            Self::Pdf => "document.pdf",
            Self::Csv => "tables.csv",
        }
    }

    /// Stores a file of this format.
    pub(crate) async fn store(self, ctx: &Ctx, bytes: Vec<u8>) -> Result<StoredRef, Fault> {
        ctx.store_as("doc", bytes, self.media_type(), self.file_name()).await
    }
}

/// Whether a document looks as its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fidelity {
    /// As its source, or all that a text says.
    Exact,
    /// The text of its source in a new layout, or a part of it.
    Approximate,
}

/// The server itself as an engine.
pub(crate) fn embedded() -> Engine {
    let version = Some(env!("CARGO_PKG_VERSION").to_owned());
    Engine { name: "embedded".to_owned(), version }
}

/// A text in the answer, or a reference to it.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) text: Option<String>,
    pub(crate) stored: Option<StoredRef>,
}

impl Content {
    pub(crate) async fn new(ctx: &Ctx, format: Format, text: String) -> Result<Self, Fault> {
        if text.len() <= MAX_CONTENT {
            return Ok(Self { text: Some(text), stored: None });
        }
        Ok(Self { text: None, stored: Some(format.store(ctx, text.into_bytes()).await?) })
    }
}

/// A stored file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StoredFile {
    #[serde(flatten)]
    pub(crate) stored: StoredRef,
    pub(crate) format: Format,
    pub(crate) warnings: Vec<String>,
    pub(crate) skipped: Vec<Skipped>,
}

impl StoredFile {
    pub(crate) fn linked(self) -> Linked<Self> {
        let stored = self.stored.clone();
        Linked::new(self, [stored])
    }
}
