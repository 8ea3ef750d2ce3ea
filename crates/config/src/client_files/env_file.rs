//! `envFile` of an entry: a file of variables that the client reads when it starts the server.

use std::path::Path;

use crate::dotenv::{self, MAX_BYTES, Parsed};

/// Reads the file. The error says what to do, since the server would run without these variables otherwise.
pub(super) fn read(path: &Path) -> Result<Parsed, String> {
    let unreadable = |why: &dyn std::fmt::Display| {
        format!(
            "envFile: {} cannot be read: {why}; create it, or remove `envFile` from the entry",
            path.display()
        )
    };
    let length = std::fs::metadata(path).map_err(|error| unreadable(&error))?.len();
    if length > MAX_BYTES {
        return Err(unreadable(&format_args!("it has more than {MAX_BYTES} bytes")));
    }
    std::fs::read_to_string(path)
        .map(|text| dotenv::parse(&text))
        .map_err(|error| unreadable(&error))
}
