//! Answers that are kept for a while.

mod memory;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use proto::{Digest, canonical, digest};
use serde::Serialize;
use serde_json::json;

pub use memory::MemoryCaches;

/// Larger values are not kept.
pub const MAX_VALUE_BYTES: usize = 1_000_000;

/// Part of every key, so that answers of an older extractor or parser are not used.
const VERSION: u32 = 1;

/// A store of bytes with a time to live.
#[async_trait]
pub trait Caches: Send + Sync {
    /// The value, unless it has expired.
    async fn get(&self, key: &Digest) -> Option<Bytes>;

    /// Keeps a value for `ttl`; values above [`MAX_VALUE_BYTES`] are not kept.
    async fn put(&self, key: &Digest, value: Bytes, ttl: Duration);
}

/// The key of a request: SHA-256 over what it asks for. `tenant` is set for what only one tenant may see.
pub fn key(kind: &str, tenant: Option<&str>, request: &impl Serialize) -> Digest {
    let parts = json!({"kind": kind, "version": VERSION, "tenant": tenant, "request": request});
    digest(&canonical::bytes(&parts))
}

#[cfg(test)]
mod tests;
