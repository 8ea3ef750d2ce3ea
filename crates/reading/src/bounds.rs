//! The limits of readers.

use std::thread::available_parallelism;
use std::time::Duration;

/// Limits of a reader process and of the pool.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The largest document, in bytes.
    pub input: u64,
    /// The largest text, in bytes.
    pub text: u64,
    /// Memory in bytes.
    pub memory: u64,
    /// The longest time for one document, with the wait for others and the start of its reader.
    pub time: Duration,
    /// The number of documents read at the same time; others wait.
    pub at_once: usize,
    /// The number of documents after which a reader is replaced.
    pub documents: u32,
    /// How long an unused reader is kept.
    pub idle: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            input: 64 << 20,
            text: 8 << 20,
            memory: 1 << 30,
            time: Duration::from_secs(30),
            at_once: available_parallelism().map_or(1, usize::from),
            documents: 500,
            idle: Duration::from_secs(60),
        }
    }
}
