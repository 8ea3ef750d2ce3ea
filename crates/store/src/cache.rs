use std::sync::Arc;
use std::time::Duration;

use moka::ops::compute::Op;
use moka::policy::EvictionPolicy;
use proto::{Clock, Digest};
use serde_json::Value;

/// What an entry costs beside its value: key, expiry, and the table's own records.
const ENTRY_OVERHEAD: usize = 256;

/// Answers that may be given again, for a while and up to a number of bytes.
#[derive(Clone, Debug)]
pub struct Cache(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Memory(Memory),
}

#[derive(Clone, Debug)]
struct Memory {
    entries: moka::sync::Cache<Digest, Entry>,
    clock: Clock,
}

#[derive(Clone, Debug)]
struct Entry {
    value: Arc<Value>,
    weight: u32,
    expires_ms: u64,
}

impl Cache {
    /// A cache in this process's memory that holds at most so many bytes; what was not used longest goes first.
    pub fn memory(max_bytes: u64, clock: Clock) -> Self {
        let entries = moka::sync::Cache::builder()
            .max_capacity(max_bytes)
            .weigher(|_, entry: &Entry| entry.weight)
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self(Kind::Memory(Memory { entries, clock }))
    }

    /// The value under a key, unless it was never put, has expired, or had to make room.
    pub async fn get(&self, key: &Digest) -> Option<Arc<Value>> {
        let Kind::Memory(memory) = &self.0;
        memory.get(key)
    }

    /// Keeps a value of `size` bytes under a key until `ttl` has passed.
    pub async fn put(&self, key: Digest, value: Arc<Value>, size: usize, ttl: Duration) {
        let Kind::Memory(memory) = &self.0;
        memory.put(key, value, size, ttl);
    }
}

impl Memory {
    fn get(&self, key: &Digest) -> Option<Arc<Value>> {
        let entry = self.entries.get(key)?;
        if self.is_fresh(&entry) {
            return Some(entry.value);
        }
        // Looked at again under the entry's lock: a fresh value put meanwhile must stay.
        self.entries.entry_by_ref(key).and_compute_with(|entry| match entry {
            Some(entry) if !self.is_fresh(entry.value()) => Op::Remove,
            _ => Op::Nop,
        });
        None
    }

    fn put(&self, key: Digest, value: Arc<Value>, size: usize, ttl: Duration) {
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let entry = Entry {
            value,
            weight: u32::try_from(size.saturating_add(ENTRY_OVERHEAD)).unwrap_or(u32::MAX),
            expires_ms: self.clock.unix_ms().saturating_add(ttl_ms),
        };
        self.entries.insert(key, entry);
    }

    fn is_fresh(&self, entry: &Entry) -> bool {
        self.clock.unix_ms() < entry.expires_ms
    }
}

#[cfg(test)]
mod tests;
