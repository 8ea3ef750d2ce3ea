//! A page as blocks of visible text, in reading order, with the elements around them.

use extraction::markdown::Marker;

use super::tree::Id;

/// What a block is to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A heading of level 1 to 6.
    Heading(u8),
    Paragraph,
    /// The first block of a list item.
    Item(Marker),
    /// A row of a table of data; its cells are separated by tabs.
    Row,
    /// Text whose white space counts.
    Code,
}

/// How a part of a line is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A link; the element holds the target.
    Link(Id),
    Strong,
    Emphasis,
    Code,
    Superscript,
}

/// A formatted part of a line, as byte offsets. Spans are nested, never crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) format: Format,
}

/// A piece of text on its own.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// The visible text, white space collapsed except in code.
    pub(crate) text: String,
    pub(crate) spans: Vec<Span>,
    /// The innermost element around it, an index into [`Blocks::containers`].
    pub(crate) container: usize,
    /// The element of the code or table; rows of one table follow each other.
    pub(crate) origin: Id,
    /// Bytes of the text that are in links.
    pub(crate) linked: usize,
    /// The number of lists around it.
    pub(crate) level: usize,
    /// The number of quotations around it.
    pub(crate) quotes: usize,
}

/// An element that contains blocks.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) node: Id,
    /// Another container; the outermost is its own parent.
    pub(crate) parent: usize,
    pub(crate) depth: usize,
    /// Its blocks, as a range.
    pub(crate) first: usize,
    pub(crate) end: usize,
}

/// The blocks of a page.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) blocks: Vec<Block>,
    pub(crate) containers: Vec<Container>,
    /// Characters that a reader would not see.
    pub(crate) hidden: usize,
    /// The beginning of those.
    pub(crate) hidden_text: String,
    /// Whether blocks were left out because of the limit.
    pub(crate) truncated: bool,
}
