use proto::{Digest, canonical, digest};
use serde_json::Value;

/// What the guards need to know of a call's input, worked out once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    /// The length of the canonical bytes.
    pub(crate) size: usize,
    pub(crate) digest: Digest,
}

impl Arguments {
    pub(crate) fn of(input: &Value) -> Self {
        let bytes = canonical::bytes(input);
        Self { size: bytes.len(), digest: digest(&bytes) }
    }
}
