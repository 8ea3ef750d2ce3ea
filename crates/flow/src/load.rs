//! Loads documents: pages of the web, stored files and given texts, cut into chunks.

mod cursor;
mod document;
mod pages;
mod tool;

pub use document::{Loaded, Loader, Origin};
pub use tool::{Input, LoadDocument, LoadedChunk, LoadedSource, Output, chunk_document};
