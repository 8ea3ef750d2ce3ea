//! Configuration files of MCP clients: reads the servers of Claude Code and Desktop, Cursor, VS Code, Windsurf, Zed,
//! Cline, Codex, Gemini, OpenCode, Amp and others, and edits those files.

mod edit;
mod entry;
mod env_file;
mod import;
mod jsonc;
mod literals;
mod reserved;
mod sections;
mod template;
mod toml;

pub use edit::{ClientFile, Replacement, Written, format_of};
pub(crate) use import::secret_name;
pub use import::{Imported, Importer, Literals};
pub(crate) use literals::{contains_secret, is_written_out, scheme_of, secret_in_argument};

use std::path::Path;

use serde_json::Value;

use crate::clients::Format;

/// The largest file. Claude Code keeps its history in the same file.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Reads the text of a client's file.
fn read_text(path: &Path) -> Result<String, String> {
    userfiles::read_text(path, MAX_FILE_BYTES).map_err(|error| format!("cannot be read: {error}"))
}

/// Reads JSON with comments, or TOML where the file's name says so.
fn parse(text: &str, format: Format) -> Result<Value, String> {
    match format {
        Format::Toml => toml::parse(text).map_err(|error| format!("is not TOML: {error}")),
        Format::Json if text.trim().is_empty() => Ok(Value::Null),
        Format::Json => serde_json::from_str(&jsonc::to_json(text))
            .map_err(|error| format!("is not JSON: {error}")),
    }
}
