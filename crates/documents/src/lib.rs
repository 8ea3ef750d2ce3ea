//! Documents: the media type of bytes, and the text that a person who opens the document would read.
//!
//! Pure: bytes in, text out, without files or network. [`Limits`] bounds what can be bounded in-process; callers run
//! untrusted documents in a child process, where memory and time can be limited too.

mod archive;
mod extract;
mod facts;
mod front_matter;
mod html;
pub mod main_content;
mod office;
mod plain;
mod sniff;
mod tables;
mod xml;

pub use extract::extract;
pub use extraction::facts::{Facts, FormField, OutlineItem};
pub use extraction::layout;
pub use extraction::table;
pub use extraction::{Extracted, Form, Limits, Metadata, Options, Unreadable};
pub use facts::facts;
pub use pdf::pages as pdf_pages;
pub use pdf::{ShownPage, ShownWord, shown_pages};
pub use sniff::{SNIFFED, sniff};
pub use tables::tables;
