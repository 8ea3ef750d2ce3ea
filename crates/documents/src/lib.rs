//! Documents: the media type of bytes, and the text that a person who opens the document would read.
//!
//! Pure: bytes in, text out, without files or network. [`Limits`] bounds what can be bounded in-process; callers run
//! untrusted documents in a child process, where memory and time can be limited too.

mod archive;
mod extract;
mod front_matter;
mod html;
pub mod main_content;
mod office;
mod plain;
mod sniff;
mod xml;

pub use extract::extract;
pub use extraction::layout;
pub use extraction::{Extracted, Form, Limits, Metadata, Options, Unreadable};
pub use pdf::pages as pdf_pages;
pub use sniff::{SNIFFED, sniff};
