//! Reads the text of a document with the reader for its media type.

use extraction::{Extracted, Form, Limits, Options, Unreadable};

use crate::sniff::{self, sniff};
use crate::{front_matter, html, office, plain};

/// Reads the text and the metadata of a document.
pub fn extract(
    bytes: Vec<u8>,
    options: &Options<'_>,
    limits: &Limits,
) -> Result<Extracted, Unreadable> {
    if bytes.len() > limits.input {
        return Err(Unreadable::TooLarge { what: "the file", limit: limits.input as u64 });
    }
    let bare = options.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // The beginning of an archive may not show what it is; a missing type is determined here as well.
    let media_type = match bare.as_str() {
        "" | sniff::ZIP | sniff::OLE | sniff::UNKNOWN => sniff(&bytes, None).to_owned(),
        _ => bare,
    };
    let mut extracted = match media_type.as_str() {
        sniff::PDF => pdf::read(bytes, options.form, limits)?,
        sniff::DOCX => office::docx::read(&bytes, options.form, limits)?,
        sniff::PPTX => office::pptx::read(&bytes, options.form, limits)?,
        sniff::XLSX => office::xlsx::read(&bytes, options.form, limits)?,
        sniff::HTML | "application/xhtml+xml" => html::read(&bytes, options, limits)?,
        sniff::OLE if sniff::is_encrypted_office(&bytes) => return Err(Unreadable::Encrypted),
        sniff::JSON | "application/xml" | "application/yaml" => {
            plain::read(&bytes, options.charset, limits)
        }
        "text/markdown" | "text/plain" => {
            let mut extracted = plain::read(&bytes, options.charset, limits);
            if let Some((meta, start)) = front_matter::read(&extracted.text) {
                extracted.meta = meta;
                // `Text` has everything that is written in the file.
                if options.form != Form::Text {
                    extracted.text.drain(..start);
                }
            }
            if extracted.meta.title.is_none() {
                extracted.meta.title = front_matter::first_heading(&extracted.text);
                extracted.meta = extracted.meta.tidy();
            }
            extracted
        }
        text if text.starts_with("text/") => plain::read(&bytes, options.charset, limits),
        _ => return Err(Unreadable::Unsupported { media_type }),
    };
    extracted.media_type = media_type;
    Ok(extracted)
}
