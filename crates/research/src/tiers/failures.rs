//! Failures of documents.

use egress::http::Cut;
use proto::{Blame, Code, Failure};

/// The failure for a document that did not arrive whole.
pub(super) fn check_whole(cut: Option<Cut>, limit: u64) -> Result<(), Failure> {
    let failure = match cut {
        None => return Ok(()),
        Some(Cut::Deadline) => Failure::new(Code::Timeout, "the document did not arrive in time"),
        Some(Cut::Broken) => Failure::new(
            Code::Unavailable,
            "the connection broke off before the whole document arrived",
        ),
        Some(Cut::TooLarge) => Failure::new(
            Code::InvalidInput,
            format!("the document is larger than {limit} bytes, the most that is downloaded"),
        )
        .details(serde_json::json!({"reason": "too_large", "limit": limit})),
    };
    Err(failure.blame(Blame::Tool))
}

/// The failure for a file without text.
pub(super) fn no_text(declared: &str) -> Failure {
    let what = if declared.is_empty() { "this file" } else { declared };
    let message = format!(
        "no text is read from {}; web pages, PDF, DOCX, PPTX, XLSX, text and JSON are",
        proto::clean::line(what)
    );
    Failure::new(Code::Unsupported, message).blame(Blame::Caller)
}
