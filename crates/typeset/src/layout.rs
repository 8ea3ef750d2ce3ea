//! How a document looks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a document looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    pub style: Style,
    pub page: PageSize,
    /// For the properties of the file; the document's own title if it is `None`.
    pub title: Option<String>,
    pub author: Option<String>,
    /// ISO 639, for hyphenation, quotation marks and screen readers; English if it is `None`.
    pub language: Option<String>,
    /// A table of contents after the title.
    pub toc: bool,
    pub number_headings: bool,
}

/// The look of pages.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// A title, coloured headings and numbered pages.
    #[default]
    Report,
    /// Wide margins, and numbers from the second page on.
    Letter,
    /// Justified text with indented paragraphs below a centred title.
    #[serde(rename = "paper")]
    Article,
    /// Black on white, without numbers of pages.
    Plain,
}

/// The size of a page.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PageSize {
    #[default]
    A4,
    Letter,
}

impl PageSize {
    /// Its name in typst.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::A4 => "a4",
            Self::Letter => "us-letter",
        }
    }
}

impl Layout {
    /// The width between the margins of the template, in points.
    pub(crate) fn text_width(&self) -> f64 {
        let page = match self.page {
            PageSize::A4 => 595.2,
            PageSize::Letter => 612.0,
        };
        let margin = if self.style == Style::Letter { 85.1 } else { 73.8 };
        page - 2.0 * margin
    }

    /// The language in the form that typst takes, which fails for others.
    pub(crate) fn language_code(&self) -> &str {
        let code = self.language.as_deref().unwrap_or_default();
        let fits = matches!(code.len(), 2 | 3) && code.bytes().all(|c| c.is_ascii_lowercase());
        if fits { code } else { "en" }
    }
}
