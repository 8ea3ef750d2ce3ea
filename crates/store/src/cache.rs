use std::sync::Arc;
use std::time::Duration;

use proto::{Clock, Digest};
use serde_json::Value;

mod memory;

use memory::Memory;

/// Answers that may be given again, for a while and up to a number of bytes.
#[derive(Clone, Debug)]
pub struct Cache(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Memory(Arc<Memory>),
}

impl Cache {
    /// A cache in this process's memory that holds at most so many bytes; the oldest goes first.
    pub fn memory(max_bytes: u64, clock: Clock) -> Self {
        Self(Kind::Memory(Arc::new(Memory::new(max_bytes, clock))))
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

#[cfg(test)]
mod tests;
