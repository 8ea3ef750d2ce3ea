//! Functions on untrusted bytes, run in confined readers.

use kit::{Done, Refused, Work};
use ocr::prepare::{Prepared, Report, prepare, prepare_picture};
use ocr::searchable::{self, Searchable};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Makes a picture ready to be read.
pub(crate) const PREPARE: Work = Work::new("prepare", run_prepare);

/// Draws a page of a PDF and makes it ready to be read.
pub(crate) const DRAW: Work = Work::new("draw", run_draw);

/// Makes a PDF that can be searched.
pub(crate) const SEARCHABLE: Work = Work::new("searchable", run_searchable);

/// All of them.
pub(crate) const ALL: [Work; 3] = [PREPARE, DRAW, SEARCHABLE];

/// How a picture is made ready.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Preparation {
    /// Whether text is brought to the size that tesseract reads best.
    pub(crate) scaled: bool,
    /// The page of a PDF, from 0.
    pub(crate) page: usize,
}

fn run_prepare(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let options: Preparation = parse(options)?;
    done(prepare(&bytes, options.scaled)?)
}

fn run_draw(options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let options: Preparation = parse(options)?;
    let page = ocr::pages::draw(bytes, options.page)?;
    done(prepare_picture(page, options.scaled))
}

/// The bytes for [`SEARCHABLE`]: one line with the words, which are too many for options, then the document.
pub(crate) fn with_words(layer: &Searchable, document: &[u8]) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(layer)?;
    bytes.push(b'\n');
    bytes.extend_from_slice(document);
    Ok(bytes)
}

fn run_searchable(_options: Value, mut bytes: Vec<u8>) -> Result<Done, Refused> {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let layer: Searchable = serde_json::from_slice(&bytes[..end])
        .map_err(|error| Refused::new("options", error.to_string()))?;
    bytes.drain(..bytes.len().min(end + 1));
    Ok(Done { value: Value::Null, bytes: searchable::write(bytes, &layer)? })
}

fn parse<T: for<'de> Deserialize<'de>>(options: Value) -> Result<T, Refused> {
    serde_json::from_value(options).map_err(|error| Refused::new("options", error.to_string()))
}

fn done(prepared: Prepared) -> Result<Done, Refused> {
    let value = serde_json::to_value(&prepared.report)
        .map_err(|error| Refused::new("report", error.to_string()))?;
    Ok(Done { value, bytes: prepared.picture.to_pgm() })
}

/// The picture that [`PREPARE`] or [`DRAW`] made.
pub(crate) fn prepared(done: Done) -> Option<Prepared> {
    // may fail: the reader is another process
    let report: Report = serde_json::from_value(done.value).ok()?;
    Some(Prepared { picture: ocr::grey::Grey::from_pgm(&done.bytes)?, report })
}
