//! Reads untrusted documents, and scales pictures down, in confined child processes of this program: no network, no files,
//! limited memory and time.
//! A malicious document can crash its reader, but not the process that asked for its text.
//!
//! Readers stay alive between documents. A program that uses [`Readers`] calls [`maybe_run_reader`] at the start of its
//! `main`, after `egress::sandbox::maybe_run_launcher`; with functions of its own for untrusted bytes ([`Work`]) it calls
//! [`maybe_run_reader_with`].

mod bounds;
mod document;
mod failure;
mod frame;
mod page_starts;
mod picture;
mod pool;
mod reader;
mod serve;
mod work;

pub use bounds::Bounds;
pub use document::{Content, Document, ReadDocument, ScaledPicture};
pub use pool::Readers;
pub use serve::{maybe_run_reader, maybe_run_reader_with};
pub use work::{Done, Refused, Work};
