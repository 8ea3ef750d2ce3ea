//! Lines of a document with their places.

/// A line of a résumé, and where it begins in the document, in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub text: String,
    pub start: Option<usize>,
}
