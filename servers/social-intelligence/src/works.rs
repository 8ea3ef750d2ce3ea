//! Functions on untrusted pictures, run in confined readers.

use creatives::picture::{Measured, PictureReport, measure};
use kit::{Done, Refused, Work};
use ocr::grey::Grey;
use serde_json::Value;

/// Measures a picture and makes a small grey copy of it.
pub(crate) const MEASURE: Work = Work::new("measure", run_measure);

/// All of them.
pub(crate) const ALL: [Work; 1] = [MEASURE];

fn run_measure(_options: Value, bytes: Vec<u8>) -> Result<Done, Refused> {
    let measured = measure(&bytes)?;
    let value = serde_json::to_value(&measured.report)
        .map_err(|error| Refused::new("report", error.to_string()))?;
    Ok(Done { value, bytes: measured.grey.to_pgm() })
}

/// What [`MEASURE`] found.
pub(crate) fn measured(done: Done) -> Option<Measured> {
    // may fail: the reader is another process
    let report: PictureReport = serde_json::from_value(done.value).ok()?;
    Some(Measured { report, grey: Grey::from_pgm(&done.bytes)? })
}
