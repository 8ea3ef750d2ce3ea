//! Limits of one call.

use std::time::Duration;

/// The limits of every call of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest request, in bytes: an HTTP body or a line on stdin.
    pub body_bytes: usize,
    /// The largest answer, in bytes of JSON.
    pub output_bytes: usize,
    /// How long a call may run; a tool may name its own.
    pub timeout: Duration,
}

impl Default for Limits {
    /// Room for a 10 MB document in base64, and two minutes to read it.
    fn default() -> Self {
        Self { body_bytes: 16 << 20, output_bytes: 16 << 20, timeout: Duration::from_secs(120) }
    }
}
