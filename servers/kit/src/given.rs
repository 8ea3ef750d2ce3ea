//! What callers give: files in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reading::Document;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Fault;

/// The largest document, in bytes.
pub(crate) const MAX_DOCUMENT: usize = 10 << 20;

/// A file of a call.
#[derive(Debug, Clone)]
pub struct GivenFile {
    pub bytes: Vec<u8>,
    /// As detected from the bytes.
    pub media_type: &'static str,
    /// Says so if the caller named another type.
    pub warnings: Vec<String>,
}

/// Work that a call left out, and how to make it possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    pub what: String,
    pub why: String,
    pub fix: String,
}

impl GivenFile {
    /// Decodes the base64 text of an argument, such as `file_data`. The bytes decide what the file is; a declared type
    /// decides between kinds of text only.
    pub fn decode(argument: &str, data: &str, declared: Option<&str>) -> Result<Self, Fault> {
        let refuse = |why: String| {
            let errors = json!([{"path": format!("/{argument}"), "reason": why}]);
            Fault::invalid_input(format!("/{argument}: {why}")).details(json!({"errors": errors}))
        };
        let clean: String = data.split_ascii_whitespace().collect();
        let bytes =
            STANDARD.decode(clean).map_err(|error| refuse(format!("it is not base64: {error}")))?;
        if bytes.is_empty() {
            return Err(refuse("the file is empty".to_owned()));
        }
        if bytes.len() > MAX_DOCUMENT {
            let why = format!(
                "it has {} bytes, at most {MAX_DOCUMENT} are read; send it in several smaller files",
                bytes.len()
            );
            let details =
                json!({"reason": "too_large", "size": bytes.len(), "limit": MAX_DOCUMENT});
            return Err(refuse(why).details(details));
        }
        Ok(Self::of_bytes(bytes, declared))
    }

    /// A file that is there already, such as a stored one.
    pub fn of_bytes(bytes: Vec<u8>, declared: Option<&str>) -> Self {
        let declared = declared.map(media_type).unwrap_or_default();
        let sniffed = documents::sniff(&bytes, name_of(&declared));
        let mut warnings = Vec::new();
        if !is_same(&declared, sniffed) {
            let declared = proto::clean::line(&declared);
            warnings.push(format!("the file is {sniffed} by its bytes and not {declared}"));
        }
        Self { bytes, media_type: sniffed, warnings }
    }

    /// A text that was taken out of a document before.
    pub fn of_text(text: String) -> Self {
        Self { bytes: text.into_bytes(), media_type: "text/plain", warnings: Vec::new() }
    }

    /// The file for a reader.
    pub fn document(&self) -> Document {
        Document::new(self.bytes.clone(), self.media_type)
    }

    /// Whether it is text that a person could read as it is.
    pub fn is_text(&self) -> bool {
        is_text(self.media_type)
    }
}

/// The media type without its parameters; an extension counts as well.
fn media_type(declared: &str) -> String {
    let bare = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if bare.contains('/') {
        return bare.chars().take(100).collect();
    }
    let known = match bare.trim_start_matches('.') {
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "html" | "htm" => "text/html",
        "md" | "markdown" => "text/markdown",
        "csv" => "text/csv",
        "txt" => "text/plain",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        _ => "",
    };
    known.to_owned()
}

/// A name with which the kind of a text can be found.
fn name_of(declared: &str) -> Option<&'static str> {
    match declared {
        "text/markdown" => Some("file.md"),
        "text/csv" => Some("file.csv"),
        "text/html" => Some("file.html"),
        _ => None,
    }
}

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/")
        || matches!(
            kind,
            "application/json" | "application/xml" | "application/yaml" | "application/x-yaml"
        )
}

/// Whether a declared type does not contradict the bytes.
fn is_same(declared: &str, sniffed: &str) -> bool {
    let is_vague = |kind: &str| matches!(kind, "" | "application/octet-stream");
    is_vague(declared)
        || is_vague(sniffed)
        || declared == sniffed
        || (is_text(declared) && is_text(sniffed) && sniffed != "text/html")
        || matches!(
            (declared, sniffed),
            ("application/xhtml+xml", "text/html")
                | ("text/rtf", "application/rtf")
                | ("image/jpg", "image/jpeg")
        )
        // A macro-enabled file is read like any other.
        || (declared.contains("macroenabled") && sniffed.contains("openxmlformats"))
}

/// Does long work on a thread of its own, so that other calls go on.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Fault::internal("the tool panicked on this input"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str, declared: Option<&str>) -> GivenFile {
        GivenFile::decode("file_data", &STANDARD.encode(text), declared).unwrap()
    }

    #[test]
    fn bytes_decide_and_another_declared_type_is_a_warning() {
        let pdf = "%PDF-1.7 and so on";
        assert!(decode(pdf, Some("application/pdf")).warnings.is_empty());
        let wrong = decode(pdf, Some("text/html; charset=utf-8"));
        assert_eq!(wrong.media_type, "application/pdf");
        assert!(wrong.warnings[0].contains("text/html"), "{:?}", wrong.warnings);
        assert_eq!(decode(pdf, Some(".docx")).warnings.len(), 1);
        assert!(decode(pdf, None).warnings.is_empty());
    }

    #[test]
    fn kinds_of_text_do_not_contradict_each_other() {
        let file = decode("# A heading\n\nand a text", Some("text/markdown"));
        assert_eq!((file.media_type, file.warnings.len()), ("text/markdown", 0));
        assert!(file.is_text());
    }

    #[test]
    fn bad_base64_files_are_refused_with_their_path() {
        let large = STANDARD.encode(vec![b'a'; MAX_DOCUMENT + 1]);
        for (data, why) in [("%", "not base64"), ("", "empty"), (&large, "smaller files")] {
            let fault = GivenFile::decode("old_file_data", data, None).unwrap_err().to_string();
            assert!(fault.contains("/old_file_data: ") && fault.contains(why), "{fault}");
        }
    }
}
