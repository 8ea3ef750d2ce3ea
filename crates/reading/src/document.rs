//! The documents that readers take, and the text that they return.

use std::path::PathBuf;

use bytes::Bytes;
use documents::{Form, Metadata};
use egress::sandbox::Tier;

/// The bytes of a document, or the file that has them.
#[derive(Clone, Debug)]
pub enum Content {
    /// The bytes themselves.
    Bytes(Bytes),
    /// A file that this process may open; the reader needs no right to it.
    File(PathBuf),
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<PathBuf> for Content {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// A document to read.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where its bytes are.
    pub content: Content,
    /// The media type by its bytes, from `documents::sniff`; empty if it is not known.
    pub media_type: String,
    /// The charset that the server named.
    pub charset: Option<String>,
    /// Where it was found, against which its links are resolved.
    pub url: Option<String>,
    /// The form of its text.
    pub form: Form,
    /// The tenant whose private file it is. None: anyone may read it.
    pub owner: Option<String>,
    /// Its name in messages.
    pub name: Option<String>,
}

impl Document {
    /// A public document, to be read whole as plain text.
    pub fn new(content: impl Into<Content>, media_type: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            media_type: media_type.into(),
            charset: None,
            url: None,
            form: Form::Text,
            owner: None,
            name: None,
        }
    }

    /// What messages call the document: its kind and, if known, its name.
    pub(crate) fn label(&self) -> String {
        let kind = match self.media_type.as_str() {
            "application/pdf" => "PDF",
            kind if kind.contains("wordprocessingml") => "DOCX",
            kind if kind.contains("presentationml") => "PPTX",
            kind if kind.contains("spreadsheetml") => "XLSX",
            "text/html" => "HTML page",
            kind if kind.starts_with("image/") => "picture",
            _ => "file",
        };
        match &self.name {
            Some(name) => format!("this {kind} (`{}`)", proto::clean::visible(name)),
            None => format!("this {kind}"),
        }
    }
}

/// The text of a document, without control and invisible characters.
#[derive(Clone, Debug)]
pub struct ReadDocument {
    /// The text in the form that was asked for.
    pub text: String,
    /// The media type by content.
    pub media_type: String,
    /// Pages, slides or sheets that were read; 1 where there are none.
    pub parts: usize,
    /// Where each page or slide begins, in bytes of the text; empty where there are none and for very many.
    pub pages: Vec<usize>,
    /// What the document says about itself.
    pub meta: Metadata,
    /// The number of characters that were removed because a person would not see them.
    pub removed: usize,
    /// The beginning of the text that the document has and does not show, as it is there.
    pub hidden_text: String,
    /// Whether text beyond the limit was cut off.
    pub truncated: bool,
    /// Pages, counted from 1, that show much text whose characters the file does not name.
    pub unreadable_pages: Vec<usize>,
    /// The sandbox in which it was read.
    pub sandbox: Tier,
}

/// A smaller copy of a picture.
#[derive(Clone, Debug)]
pub struct ScaledPicture {
    /// In the format that `media_type` names.
    pub bytes: Bytes,
    /// `image/png` or `image/jpeg`.
    pub media_type: String,
    /// Of the picture that it was made of.
    pub pixels: u64,
}
