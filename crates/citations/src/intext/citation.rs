//! A citation as it is found.

use std::ops::Range;

/// A citation in the text. One marker may name several references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InTextCitation {
    /// In bytes of the whole text.
    pub(crate) range: Range<usize>,
    /// The position of the reference; none if it is missing.
    pub(crate) reference: Option<usize>,
    /// The cited work, for messages.
    pub(crate) shown: String,
    pub(crate) kind: Kind,
    /// Whether it is reported if its reference is missing.
    pub(crate) certain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Footnote,
    AuthorYear,
    /// An author and a page, as in MLA.
    Page,
}
