//! Documents: what kind of file some bytes are, and the text that a person who opens it would read.
//!
//! This room stands on the ground: bytes go in, text comes out. It opens no file and no connection and knows nothing of
//! tenants, tools or protocols. Whoever feeds it bytes of strangers runs it in a process of its own, for a limit on
//! memory and time holds only there; what can be bounded from within is bounded by [`Limits`].

mod archive;
mod extract;
mod html;
mod office;
mod pdf;
mod plain;
mod sniff;
mod text;
mod xml;

pub use extract::{Extracted, Limits, Unreadable, extract};
pub use sniff::{SNIFFED, sniff};
