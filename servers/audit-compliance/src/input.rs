//! What callers give: texts, files, references.

use kit::{Ctx, Fault, GivenFile};
use serde_json::json;

/// The text of the caller, or of a file.
pub(crate) fn text(text: Option<String>, file_text: Option<String>) -> Result<String, Fault> {
    let given = match (text, file_text) {
        (Some(text), None) | (None, Some(text)) => text,
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input("/text: give a text or a file, not both"));
        }
        (None, None) => return Err(Fault::invalid_input("/text: give a text, or a file")),
    };
    with_words(given)
}

/// The longest text, in characters. It is no part of the schemas: their messages repeat what they refuse, and messages are
/// logged.
const MAX_CHARACTERS: usize = 2_000_000;

/// Refuses texts without a word, and those that are too long.
pub(crate) fn with_words(text: String) -> Result<String, Fault> {
    if text.len() > MAX_CHARACTERS && text.chars().count() > MAX_CHARACTERS {
        let message = format!(
            "/text: it has more than {MAX_CHARACTERS} characters; send it in several parts"
        );
        return Err(Fault::invalid_input(message).details(json!({"reason": "too_large"})));
    }
    if text.chars().any(char::is_alphanumeric) {
        Ok(text)
    } else {
        Err(Fault::invalid_input("/text: it has no words"))
    }
}

/// The text of a document, read in a confined process.
pub(crate) async fn read(ctx: &Ctx, file: &GivenFile) -> Result<kit::ReadDocument, Fault> {
    ctx.read(file.document()).await
}
