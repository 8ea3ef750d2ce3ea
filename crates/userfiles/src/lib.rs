//! Reads and writes files that people own or name: config files, files of MCP clients, files with secrets.
//!
//! Readers accept regular files only and count bytes while they read. Writers never write through a link that leads
//! elsewhere, and replace a file in one step.

mod locate;
mod read;
mod write;

pub use read::{open, read, read_all, read_text};
pub use write::{Access, UserFile, create_new, create_private_folder, open_private};
