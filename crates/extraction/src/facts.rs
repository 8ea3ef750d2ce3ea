//! What a document is apart from its text.

use serde::{Deserialize, Serialize};

/// What a document is apart from its text; `None` where the format does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The program that wrote the file.
    pub producer: Option<String>,
    /// The date of the last change, `YYYY-MM-DD`.
    pub modified: Option<String>,
    /// Pages, as the file says; formats without pages may not.
    pub pages: Option<usize>,
    /// Whether it is encrypted, though it opens without a password.
    pub encrypted: bool,
    /// Whether its pages are pictures without text.
    pub scanned: bool,
    pub has_macros: bool,
    /// Whether it has a digital signature; its validity is not checked.
    pub signed: bool,
    pub outline: Vec<OutlineItem>,
    pub form_fields: Vec<FormField>,
}

/// An entry of a table of contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlineItem {
    /// 1 for the outermost.
    pub level: usize,
    pub title: String,
    /// Counted from 1.
    pub page: Option<usize>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormField {
    pub name: String,
    /// `text`, `checkbox`, `radio`, `button`, `choice` or `signature`.
    pub kind: String,
    pub value: Option<String>,
}
