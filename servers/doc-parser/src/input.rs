//! The file of a call.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kit::{Document, Fault};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

/// The largest document, in bytes.
const MAX_DOCUMENT: usize = 10 << 20;

/// What could not be done, and how to make it possible.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Skipped {
    pub(crate) what: String,
    pub(crate) why: String,
    pub(crate) fix: String,
}

/// A decoded file.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    /// By the bytes.
    pub(crate) media_type: String,
    pub(crate) warnings: Vec<String>,
}

impl File {
    /// Decodes a file. Its bytes decide what it is; a declared type decides between kinds of text only.
    pub(crate) fn decode(data: &str, declared: Option<&str>) -> Result<Self, Fault> {
        let clean: String = data.split_ascii_whitespace().collect();
        let bytes = STANDARD
            .decode(clean)
            .map_err(|error| Fault::invalid_input(format!("/file_data: not base64: {error}")))?;
        if bytes.is_empty() {
            return Err(Fault::invalid_input("/file_data: the file is empty"));
        }
        if bytes.len() > MAX_DOCUMENT {
            let message = format!(
                "/file_data: the document is larger than {MAX_DOCUMENT} bytes; send it in smaller parts"
            );
            return Err(Fault::invalid_input(message).details(json!({"reason": "too_large"})));
        }
        let declared = declared.map(media_type).unwrap_or_default();
        let sniffed = documents::sniff(&bytes, name_of(&declared));
        let mut file = Self { bytes, media_type: sniffed.to_owned(), warnings: Vec::new() };
        if !is_same(&declared, sniffed) {
            file.warnings.push(format!(
                "the file is {sniffed} by its bytes and not {}",
                proto::clean::line(&declared)
            ));
        }
        Ok(file)
    }

    /// A text that was taken out of a document before.
    pub(crate) fn of_text(text: String) -> Self {
        let media_type = "text/plain".to_owned();
        Self { bytes: text.into_bytes(), media_type, warnings: Vec::new() }
    }

    pub(crate) fn document(&self) -> Document {
        Document::new(self.bytes.clone(), self.media_type.clone())
    }
}

/// The media type without its parameters; an extension counts as well.
fn media_type(declared: &str) -> String {
    let bare = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if bare.contains('/') {
        return bare;
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

/// Whether a declared type does not contradict the bytes.
fn is_same(declared: &str, sniffed: &str) -> bool {
    let is_text = |kind: &str| {
        kind.starts_with("text/")
            || matches!(kind, "application/json" | "application/xml" | "application/yaml")
    };
    let is_vague = |kind: &str| matches!(kind, "" | "application/octet-stream");
    is_vague(declared)
        || is_vague(sniffed)
        || declared == sniffed
        || (is_text(declared) && is_text(sniffed) && sniffed != "text/html")
        || (declared == "application/xhtml+xml" && sniffed == "text/html")
        || (declared == "text/rtf" && sniffed == "application/rtf")
        // A macro-enabled file is read like any other.
        || (declared.contains("macroenabled") && sniffed.contains("openxmlformats"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_and_another_declared_type_is_a_warning() {
        let pdf = STANDARD.encode("%PDF-1.7 and so on");
        let right = File::decode(&pdf, Some("application/pdf")).expect("it is base64");
        assert!(right.warnings.is_empty());
        let wrong = File::decode(&pdf, Some("text/html; charset=utf-8")).expect("it is base64");
        assert_eq!(wrong.media_type, "application/pdf");
        assert!(wrong.warnings[0].contains("text/html"), "{:?}", wrong.warnings);
        let by_name = File::decode(&pdf, Some(".docx")).expect("it is base64");
        assert_eq!(by_name.warnings.len(), 1);
        let unknown = File::decode(&pdf, None).expect("it is base64");
        assert!(unknown.warnings.is_empty());
    }

    #[test]
    fn kinds_of_text_do_not_contradict_each_other() {
        let text = STANDARD.encode("# A heading\n\nand a text");
        let file = File::decode(&text, Some("text/markdown")).expect("it is base64");
        assert_eq!((file.media_type.as_str(), file.warnings.len()), ("text/markdown", 0));
    }
}
