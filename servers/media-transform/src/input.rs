//! What callers give: texts, files and references.

use kit::{Ctx, Fault, GivenFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The longest text, in characters.
const MAX_CHARACTERS: usize = 2_000_000;

/// What a text is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notation {
    #[default]
    Markdown,
    Html,
    /// A document in the form of this server, or any data.
    Json,
}

/// What a tool works on.
#[derive(Debug)]
pub(crate) enum Source {
    Text(String, Notation),
    File(GivenFile),
}

/// The arguments that name it.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) source_ref_id: Option<String>,
    pub(crate) file_data: Option<String>,
    pub(crate) file_type: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) from: Option<Notation>,
}

impl Given {
    pub(crate) fn is_empty(&self) -> bool {
        self.source_ref_id.is_none() && self.file_data.is_none() && self.text.is_none()
    }

    /// Exactly one of a text, a file and a reference.
    pub(crate) async fn source(self, ctx: &Ctx) -> Result<Source, Fault> {
        if self.file_type.is_some() && self.file_data.is_none() {
            return Err(Fault::invalid_input("/file_type: it goes with `file_data`"));
        }
        let file = match (self.source_ref_id, self.file_data, self.text) {
            (None, None, Some(text)) => {
                return Ok(Source::Text(checked(text)?, self.from.unwrap_or_default()));
            }
            (Some(reference), None, None) => stored(ctx, &reference).await?,
            (None, Some(data), None) => {
                GivenFile::decode("file_data", &data, self.file_type.as_deref())?
            }
            _ => {
                return Err(Fault::invalid_input(
                    "/text: give exactly one of `text`, `file_data` and `source_ref_id`",
                ));
            }
        };
        let is_html = file.media_type == "text/html";
        let notation = match self.from {
            Some(from) => Some(from),
            None if is_html => Some(Notation::Html),
            None if file.media_type == "application/json" => Some(Notation::Json),
            None if matches!(file.media_type, "text/markdown" | "text/plain") => {
                Some(Notation::Markdown)
            }
            None => None,
        };
        // HTML keeps its bytes: they may have a charset of their own.
        match notation {
            Some(notation) if file.is_text() && !is_html => {
                let text = String::from_utf8(file.bytes).map_err(|_| {
                    Fault::invalid_input("the text is not UTF-8; save it as UTF-8 and send that")
                        .details(json!({"reason": "damaged"}))
                })?;
                Ok(Source::Text(checked(text)?, notation))
            }
            _ => Ok(Source::File(file)),
        }
    }
}

/// The file of a reference of this server.
pub(crate) async fn stored(ctx: &Ctx, reference: &str) -> Result<GivenFile, Fault> {
    let stored = ctx.load(reference).await?;
    Ok(GivenFile::of_bytes(stored.bytes.to_vec(), Some(&stored.reference.media_type)))
}

/// Refuses texts without a word, and those that are too long. This is no part of the schemas: their messages repeat what they
/// refuse, and messages are logged.
pub(crate) fn checked(text: String) -> Result<String, Fault> {
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
