use std::sync::{Arc, Weak};

use proto::{Blame, Code, Failure};
use strip::Strip;

/// The strip that owns a tool. A tool that outlives it fails.
pub(crate) fn upgrade(strip: &Weak<Strip>) -> Result<Arc<Strip>, Failure> {
    strip.upgrade().ok_or_else(|| {
        Failure::new(Code::Unavailable, "the gateway is shutting down").blame(Blame::Gateway)
    })
}
