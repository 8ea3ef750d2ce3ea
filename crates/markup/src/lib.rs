//! One document model: Markdown and JSON in; Markdown, HTML and DOCX out. Pure: knows neither files nor the network.
//!
//! Reading never fails: what the model cannot hold is flattened to text. Markdown that was read and written once is stable:
//! reading and writing it again gives the same bytes.

mod docx;
mod html;
mod inline;
mod json;
mod model;
mod normalize;
mod read;
mod text;
mod tidy;
mod url;
mod write;

pub use docx::{DocxError, DocxOptions, PageSize, Template, fill_template, to_docx};
pub use html::{escape_html, to_html, to_html_body};
pub use inline::{Style, Token, end_of_label, parse as parse_inline, plain_text};
pub use json::from_json;
pub use model::{Alignment, Block, Document, Item, MAX_BYTES, MAX_DEPTH, Reference, Section};
pub use normalize::{MAX_COLUMNS, MAX_PARTS};
pub use read::{from_markdown, split_front_matter};
pub use text::{Parts, count_parts, to_text};
pub use tidy::{Change, OutlineEntry, Tidied, TidyOptions, TidyStyle, source_changes, tidy};
pub use url::{PictureData, is_safe_url, picture_data};
pub use write::{escape_line, line_of as reference_line, to_markdown};

#[cfg(test)]
mod tests;
