//! Why a document could not be read, as the caller sees it.

use proto::{Blame, Code, Failure};
use serde_json::json;

use crate::bounds::Bounds;

fn sentence(what: &str, why: &str) -> String {
    format!("{what} could not be read: {why}")
}

/// The document is at fault; `reason` is one word for programs.
pub(crate) fn refused(what: &str, reason: &str, why: &str) -> Failure {
    Failure::new(Code::InvalidInput, sentence(what, why)).details(json!({"reason": reason}))
}

pub(crate) fn too_large(what: &str, size: u64, limit: u64) -> Failure {
    let why =
        format!("it has {size} bytes, at most {limit} are read; send it in several smaller files");
    refused(what, "too_large", &why)
        .details(json!({"reason": "too_large", "size": size, "limit": limit}))
}

pub(crate) fn timed_out(what: &str, bounds: &Bounds) -> Failure {
    let seconds = bounds.time.as_secs();
    let why = format!("reading it takes longer than {seconds} s; send it in several smaller files");
    let failure = Failure::new(Code::Timeout, sentence(what, &why));
    failure.blame(Blame::Caller).retryable(false).details(json!({"reason": "time"}))
}

/// Other documents took the time.
pub(crate) fn busy(what: &str, bounds: &Bounds) -> Failure {
    let seconds = bounds.time.as_secs();
    let why = format!(
        "the readers of documents are busy with others, and {seconds} s were not enough to wait and read it; try again later"
    );
    Failure::new(Code::Unavailable, sentence(what, &why)).details(json!({"reason": "busy"}))
}

/// A reader that ended without an answer: out of memory, or crashed.
pub(crate) fn crashed(what: &str, stderr: &str, bounds: &Bounds) -> Failure {
    if stderr.contains("memory allocation") {
        let limit = bounds.memory >> 20;
        let why = format!(
            "reading it takes more than {limit} MB of memory; send it in several smaller files"
        );
        return refused(what, "memory", &why);
    }
    let why = "its content is not what its format allows; save it again and send that";
    refused(what, "crashed", why)
}

/// This program is at fault, not the document.
pub(crate) fn internal(why: &str) -> Failure {
    Failure::new(Code::Internal, why).blame(Blame::Gateway)
}
