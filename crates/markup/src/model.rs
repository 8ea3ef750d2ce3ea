//! The document: sections of blocks, and the works that it cites. Descriptions in its schema are few and short: every client
//! pays for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest Markdown that is read; the rest is cut.
pub const MAX_BYTES: usize = 16 << 20;
/// Lists within lists; deeper ones are flattened.
pub const MAX_DEPTH: u8 = 64;

/// A report, article or page.
///
/// Its JSON schema is flat: texts are inline Markdown (`*emphasis*`, `` `code` ``, `[links](https://…)`), not trees of spans, and
/// a list is a sequence of items with levels. Recursive schemas are refused by several model providers, and a text that a
/// person or model writes is more likely to be right as Markdown than as a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    #[serde(default)]
    pub title: String,
    pub sections: Vec<Section>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// A heading and what follows it, up to the next heading of any level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct Section {
    /// Empty for text before the first heading.
    #[serde(default)]
    pub heading: String,
    #[serde(default = "default_level")]
    #[schemars(range(min = 1, max = 6))]
    pub level: u8,
    #[serde(default)]
    pub blocks: Vec<Block>,
}

fn default_level() -> u8 {
    2
}

/// Its texts are inline Markdown, except in code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "FlatBlock", into = "FlatBlock")]
pub enum Block {
    Paragraph {
        text: String,
    },
    List {
        items: Vec<Item>,
    },
    /// Its paragraphs are separated by empty lines.
    Quote {
        text: String,
    },
    Code {
        language: String,
        text: String,
    },
    /// Every row has as many cells as the header.
    Table {
        header: Vec<String>,
        rows: Vec<Vec<String>>,
        alignments: Vec<Alignment>,
    },
    Image {
        url: String,
        /// The text for readers who do not see the image.
        alt: String,
    },
    Footnote {
        label: String,
        text: String,
    },
    Rule,
}

/// An item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub struct Item {
    pub text: String,
    /// 0 at the top.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 64))]
    pub level: u8,
    /// In an ordered list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
}

fn is_zero(level: &u8) -> bool {
    *level == 0
}

/// How a column of a table is aligned.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Alignment {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// A work that the document cites. Without `text`, its line is made of the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The id that citations name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// `Doe, Jane` for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Journal, book, site or publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    // When it was read, such as `2026-11-16`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accessed: Option<String>,
}

/// A block as JSON: one object with a kind instead of alternatives, which not every model provider accepts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Block", deny_unknown_fields)]
struct FlatBlock {
    kind: Kind,
    /// Of an image, what it shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
    // The items of a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    items: Vec<Item>,
    /// The header first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<Vec<String>>,
    // One for each column of a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    alignments: Vec<Alignment>,
    // The language of code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    language: String,
    // Where an image is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    url: String,
    // What citations of a footnote name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    label: String,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Paragraph,
    List,
    Quote,
    Code,
    Table,
    Image,
    Footnote,
    Rule,
}

impl From<FlatBlock> for Block {
    fn from(flat: FlatBlock) -> Self {
        let FlatBlock { kind, text, items, rows, alignments, language, url, label } = flat;
        match kind {
            Kind::Paragraph => Self::Paragraph { text },
            Kind::List => Self::List { items },
            Kind::Quote => Self::Quote { text },
            Kind::Code => Self::Code { language, text },
            Kind::Table => {
                let mut rows = rows.into_iter();
                let header = rows.next().unwrap_or_default();
                Self::Table { header, rows: rows.collect(), alignments }
            }
            Kind::Image => Self::Image { url, alt: text },
            Kind::Footnote => Self::Footnote { label, text },
            Kind::Rule => Self::Rule,
        }
    }
}

impl From<Block> for FlatBlock {
    fn from(block: Block) -> Self {
        match block {
            Block::Paragraph { text } => Self { kind: Kind::Paragraph, text, ..Self::default() },
            Block::List { items } => Self { kind: Kind::List, items, ..Self::default() },
            Block::Quote { text } => Self { kind: Kind::Quote, text, ..Self::default() },
            Block::Code { language, text } => {
                Self { kind: Kind::Code, language, text, ..Self::default() }
            }
            Block::Table { header, rows, alignments } => {
                let rows = std::iter::once(header).chain(rows).collect();
                Self { kind: Kind::Table, rows, alignments, ..Self::default() }
            }
            Block::Image { url, alt } => {
                Self { kind: Kind::Image, url, text: alt, ..Self::default() }
            }
            Block::Footnote { label, text } => {
                Self { kind: Kind::Footnote, label, text, ..Self::default() }
            }
            Block::Rule => Self { kind: Kind::Rule, ..Self::default() },
        }
    }
}
