//! The résumé of a call: a file, a reference, or a text.

use careers::resumes::Month;
use kit::{Ctx, Document, Fault, Form, GivenFile};

/// The longest text, in characters.
const MAX_CHARACTERS: usize = 2_000_000;
/// The most pages of a résumé that are read.
pub(crate) const MAX_PAGES: usize = 2_000;

const PDF: &str = "application/pdf";

/// A résumé as text.
pub(crate) struct Resume {
    /// Markdown.
    pub text: String,
    pub media_type: String,
    pub page_count: usize,
    pub truncated: bool,
    pub warnings: Vec<String>,
}

impl Resume {
    /// Whether the document has pages but no text.
    pub(crate) fn is_scanned(&self) -> bool {
        !self.text.contains(char::is_alphabetic)
    }

    /// A résumé with words, or what to do about it.
    pub(crate) fn with_words(self) -> Result<Self, Fault> {
        if self.is_scanned() {
            let message = "/file_data: the document has no text; image-ocr-mcp:extract_document reads scanned pages";
            return Err(Fault::invalid_input(message));
        }
        Ok(self)
    }
}

/// Decodes and reads a file.
pub(crate) async fn read_file(
    data: &str,
    declared: Option<&str>,
    ctx: &Ctx,
) -> Result<Resume, Fault> {
    let file = GivenFile::decode("file_data", data, declared)?;
    // The lines of a PDF say more than its paragraphs: dates, titles and companies are lines of their own.
    let form = if file.media_type == PDF { Form::Text } else { Form::Markdown };
    let read = ctx.read(Document { form, ..file.document() }).await?;
    let text =
        if read.media_type == PDF { careers::resumes::markdown(&read.text) } else { read.text };
    Ok(Resume {
        text,
        media_type: read.media_type,
        page_count: read.parts,
        truncated: read.truncated,
        warnings: file.warnings,
    })
}

/// The résumé that a reference, a file or a text gives.
pub(crate) async fn resolve(given: Given, ctx: &Ctx) -> Result<Resume, Fault> {
    let Given { source_ref_id, file_data, file_type, text } = given;
    match (source_ref_id, file_data, text) {
        (Some(ref_id), None, None) => {
            let stored = ctx.load(&ref_id).await?;
            let text = String::from_utf8(stored.bytes.to_vec()).map_err(|_| {
                Fault::invalid_input("/source_ref_id: it is no document of `parse_document`")
            })?;
            of_text(text)?.with_words()
        }
        (None, Some(data), None) => read_file(&data, file_type.as_deref(), ctx).await?.with_words(),
        (None, None, Some(text)) => {
            if !text.contains(char::is_alphabetic) {
                return Err(Fault::invalid_input("/text: it has no words"));
            }
            of_text(text)
        }
        _ => Err(Fault::invalid_input(
            "/source_ref_id: give exactly one résumé: a reference, a file, a text or a profile",
        )),
    }
}

/// The alternatives of a call.
pub(crate) struct Given {
    pub source_ref_id: Option<String>,
    pub file_data: Option<String>,
    pub file_type: Option<String>,
    pub text: Option<String>,
}

impl Given {
    pub(crate) fn is_none(&self) -> bool {
        self.source_ref_id.is_none() && self.file_data.is_none() && self.text.is_none()
    }
}

fn of_text(text: String) -> Result<Resume, Fault> {
    if text.chars().count() > MAX_CHARACTERS {
        return Err(Fault::invalid_input(format!(
            "/text: it has more than {MAX_CHARACTERS} characters"
        )));
    }
    Ok(Resume {
        text,
        media_type: "text/markdown".to_owned(),
        page_count: 1,
        truncated: false,
        warnings: Vec::new(),
    })
}

/// The current month.
pub(crate) fn today() -> Month {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    Month::new(today.year(), today.month().unsigned_abs())
}
