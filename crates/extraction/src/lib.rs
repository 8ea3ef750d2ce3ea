//! What the readers of all formats share: the options, limits and result of reading a document, the growing text, Markdown,
//! encodings and metadata. Pure.

pub mod encoding;
mod extracted;
pub mod facts;
pub mod layout;
pub mod markdown;
pub mod metadata;
mod options;
pub mod table;
pub mod text;

pub use extracted::{Extracted, Limits, Unreadable};
pub use metadata::Metadata;
pub use options::{Form, Options};
