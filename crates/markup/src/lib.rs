//! One document model: Markdown and JSON in; Markdown and HTML out. Pure: knows neither files nor the network.
//!
//! Reading never fails: what the model cannot hold is flattened to text. Markdown that was read and written once is stable:
//! reading and writing it again gives the same bytes.

mod html;
mod inline;
mod model;
mod normalize;
mod read;
mod url;
mod write;

pub use html::{escape_html, to_html, to_html_body};
pub use model::{Alignment, Block, Document, Item, MAX_BYTES, MAX_DEPTH, Reference, Section};
pub use read::from_markdown;
pub use url::is_safe_url;
pub use write::{escape_line, to_markdown};

#[cfg(test)]
mod tests;
