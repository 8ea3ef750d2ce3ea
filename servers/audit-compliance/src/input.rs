//! What callers give: texts, files, references.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kit::{Ctx, Document, Fault};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// The largest document, in bytes.
const MAX_DOCUMENT: usize = 10 << 20;

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

/// The bytes of an argument in base64.
pub(crate) fn decoded(path: &str, data: &str) -> Result<Vec<u8>, Fault> {
    let bytes = STANDARD
        .decode(data.trim())
        .map_err(|error| Fault::invalid_input(format!("{path}: it is not base64: {error}")))?;
    if bytes.len() > MAX_DOCUMENT {
        let message = format!(
            "{path}: it is too large ({} bytes, at most {MAX_DOCUMENT}); send it in several smaller files",
            bytes.len()
        );
        return Err(Fault::invalid_input(message).details(json!({"reason": "too_large"})));
    }
    Ok(bytes)
}

/// A file, with the media type that its bytes have.
pub(crate) struct GivenFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) media_type: &'static str,
    pub(crate) warnings: Vec<String>,
}

impl GivenFile {
    pub(crate) fn new(path: &str, bytes: Vec<u8>, claimed: Option<&str>) -> Self {
        let media_type = documents::sniff(&bytes, None);
        let mut warnings = Vec::new();
        if let Some(claimed) = claimed
            && !agree(claimed, media_type)
        {
            let claimed: String = claimed.chars().take(100).collect();
            warnings.push(format!(
                "{path}: it is said to be {claimed}, but its bytes are {media_type}; they count"
            ));
        }
        Self { bytes, media_type, warnings }
    }

    pub(crate) fn document(&self) -> Document {
        Document::new(self.bytes.clone(), self.media_type)
    }
}

/// Types of plain text differ by name only.
fn agree(claimed: &str, found: &str) -> bool {
    let claimed = claimed.split(';').next().unwrap_or_default().trim();
    claimed.eq_ignore_ascii_case(found)
        || claimed == "application/octet-stream"
        || is_text(claimed) && is_text(found)
}

/// Whether a media type is text that a person could read as it is.
pub(crate) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || ["application/json", "application/xml", "application/yaml", "application/x-yaml"]
            .contains(&media_type)
}

/// The text of a document, read in a confined process.
pub(crate) async fn read(ctx: &Ctx, file: &GivenFile) -> Result<kit::ReadDocument, Fault> {
    ctx.read(file.document()).await
}

/// What could not be done, and how to make it work.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Skipped {
    pub(crate) what: String,
    pub(crate) why: String,
    pub(crate) fix: String,
}

/// Runs work on a thread of its own, so that long texts do not stop other calls.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Fault::internal("the analysis panicked on this text"))
}
