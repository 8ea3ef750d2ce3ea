//! What a reviewer is shown of the files that a call names.

use proto::{FileId, Principal};
use serde_json::Value;

use super::{Files, hex};
use crate::approval::ShownFile;

/// More files than this are not looked up for one call.
const MAX_SHOWN: usize = 32;

impl Files {
    /// The files of this caller that a call's arguments name.
    pub(crate) async fn shown(&self, principal: &Principal, input: &Value) -> Vec<ShownFile> {
        let mut shown = Vec::new();
        for id in named(input) {
            // One that is not there is refused when the call runs; the reviewer still sees its id.
            let Ok(file) = self.find(principal, &id).await else { continue };
            let (name, sha256) = (file.name, hex(&file.sha256));
            shown.push(ShownFile { id, name, size: file.size, sha256 });
        }
        shown
    }
}

/// Every id of a file in the arguments, once.
fn named(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![input];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text)
                if text.parse::<FileId>().is_ok()
                    && found.len() < MAX_SHOWN
                    && !found.contains(text) =>
            {
                found.push(text.clone());
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            _ => {}
        }
    }
    found
}
