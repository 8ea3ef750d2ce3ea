//! Files of callers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kit::{Document, Fault};
use serde_json::json;

/// A file as a caller sent it.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) bytes: Vec<u8>,
    /// By its content.
    pub(crate) media_type: &'static str,
    /// That the caller named another type.
    pub(crate) warning: Option<String>,
}

impl Sent {
    /// Decodes the base64 text of the argument `name`.
    pub(crate) fn new(name: &str, data: &str, named: Option<&str>) -> Result<Self, Fault> {
        let refuse = |reason: &str| {
            let errors = json!([{"path": format!("/{name}"), "reason": reason}]);
            Fault::invalid_input(format!("/{name}: {reason}")).details(json!({"errors": errors}))
        };
        let bytes = STANDARD.decode(data.trim()).map_err(|_| refuse("this is not base64"))?;
        if bytes.is_empty() {
            return Err(refuse("the file is empty"));
        }
        let media_type =
            ocr::decode::media_type(&bytes).unwrap_or_else(|| documents::sniff(&bytes, None));
        let differs = named.filter(|named| !same_type(named, media_type));
        let warning = differs
            .map(|named| format!("the file was sent as {named}, but its content is {media_type}"));
        Ok(Self { bytes, media_type, warning })
    }

    /// The file for a reader.
    pub(crate) fn document(&self) -> Document {
        Document::new(self.bytes.clone(), self.media_type)
    }
}

fn same_type(named: &str, found: &str) -> bool {
    let essence = named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let essence = if essence == "image/jpg" { "image/jpeg" } else { essence.as_str() };
    essence == found || essence.is_empty() || essence == "application/octet-stream"
}
