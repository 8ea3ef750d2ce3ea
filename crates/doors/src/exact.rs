//! Refuses messages with integers that would be rounded: reviewers and tools would get another value than was sent.

mod lines;
mod unreadable;

use proto::{Code, Failure, big_integers};
use serde_json::json;

pub(crate) use lines::{MarkedLines, ROUNDED};
pub(crate) use unreadable::{Unreadable, UnreadableLines};

/// How many integers one refusal lists.
const MAX_SHOWN: usize = 20;

/// Checks that all integers of a JSON text fit into 64 bits.
pub(crate) fn check_integers(json: &[u8]) -> Result<(), Failure> {
    let paths = big_integers(json);
    if paths.is_empty() { Ok(()) } else { Err(rounded(&paths)) }
}

/// The failure of a message with integers at these paths.
pub(crate) fn rounded(paths: &[String]) -> Failure {
    let first = paths.first().map(String::as_str).unwrap_or_default();
    let shown: String = proto::clean::visible(first).chars().take(200).collect();
    let message = format!(
        "the integer at `{shown}` does not fit into 64 bits and would be rounded; send it as text, or as a number with \
         an exponent"
    );
    let violations: Vec<_> = paths
        .iter()
        .take(MAX_SHOWN)
        .map(|path| json!({"path": path, "message": "does not fit into 64 bits"}))
        .collect();
    Failure::new(Code::InvalidInput, message).details(json!({"violations": violations}))
}
