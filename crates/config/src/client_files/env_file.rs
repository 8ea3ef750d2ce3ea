//! `envFile` of an entry: a file of variables that the client reads when it starts the server.

use std::path::Path;

use crate::dotenv::{self, MAX_BYTES, Parsed};

/// Reads the file. The error says what to do, since the server would run without these variables otherwise.
pub(super) fn read(path: &Path) -> Result<Parsed, String> {
    let unreadable = |why: std::io::Error| {
        format!(
            "envFile: {} cannot be read: {why}; create it, or remove `envFile` from the entry",
            path.display()
        )
    };
    userfiles::read_text(path, MAX_BYTES).map(|text| dotenv::parse(&text)).map_err(unreadable)
}
