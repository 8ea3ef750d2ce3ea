//! Tables that documents describe as such.

use extraction::table::Table;
use extraction::{Limits, Options, Unreadable};

use crate::{html, office, sniff};

/// The tables of a DOCX, PPTX, XLSX or HTML document, and its number of slides or sheets.
pub fn tables(
    bytes: &[u8],
    options: &Options<'_>,
    limits: &Limits,
) -> Result<(Vec<Table>, usize), Unreadable> {
    match options.media_type {
        sniff::DOCX => Ok((office::cells::of_docx(bytes, limits)?, 1)),
        sniff::PPTX => office::cells::of_pptx(bytes, limits),
        sniff::XLSX => office::xlsx::tables(bytes, limits),
        sniff::HTML | "application/xhtml+xml" => {
            Ok((html::cells::tables(bytes, options, limits)?, 1))
        }
        other => Err(Unreadable::Unsupported { media_type: other.to_owned() }),
    }
}
