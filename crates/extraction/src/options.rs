//! How a document is to be read.

use serde::{Deserialize, Serialize};

/// What is known about a document before it is read, and the form of the text to write.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// The result of `documents::sniff` on the beginning; where that was not conclusive, the whole document is examined.
    pub media_type: &'a str,
    /// The charset that the sender declared, such as in an HTTP `Content-Type`.
    pub charset: Option<&'a str>,
    /// The address of the document, against which links are resolved.
    pub url: Option<&'a str>,
    /// The form of the text.
    pub form: Form,
}

impl<'a> Options<'a> {
    /// Options for the whole document as plain text.
    pub fn new(media_type: &'a str) -> Self {
        Self { media_type, ..Self::default() }
    }

    /// The same options with another form.
    pub fn with_form(self, form: Form) -> Self {
        Self { form, ..self }
    }
}

/// The form of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Everything that a reader sees, as plain text.
    #[default]
    Text,
    /// Everything that a reader sees, as Markdown.
    Markdown,
    /// Plain text of the main content: HTML without navigation and the like, PDF without running heads and feet.
    MainText,
    /// The main content as Markdown, with the heading of an HTML page and the captions of its figures.
    MainMarkdown,
}

impl Form {
    /// Whether the text is Markdown.
    pub fn is_markdown(self) -> bool {
        matches!(self, Self::Markdown | Self::MainMarkdown)
    }

    /// Whether only the main content is written.
    pub fn is_main(self) -> bool {
        matches!(self, Self::MainText | Self::MainMarkdown)
    }
}
