//! Documents: the media type of bytes, and the text that a person who opens the document would read.
//!
//! Pure: bytes in, text out, without files or network. [`Limits`] bounds what can be bounded in-process; callers run
//! untrusted documents in a child process, where memory and time can be limited too.

mod archive;
mod extract;
mod extraction;
mod front_matter;
mod html;
pub mod main_content;
mod markdown;
mod metadata;
mod office;
mod options;
mod pdf;
mod plain;
mod sniff;
mod text;
mod xml;

pub use extract::extract;
pub use extraction::{Extracted, Limits, Unreadable};
pub use metadata::Metadata;
pub use options::{Form, Options};
pub use sniff::{SNIFFED, sniff};
