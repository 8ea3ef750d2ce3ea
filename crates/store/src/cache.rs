use std::sync::Arc;
use std::time::Duration;

use proto::{Clock, Digest, Principal};
use serde_json::Value;

mod memory;
mod weight;

use memory::Memory;

/// Answers that may be given again, for a while and up to a number of bytes.
#[derive(Clone, Debug)]
pub struct Cache(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Memory(Arc<Memory>),
}

/// An answer, and the arguments that it was given for.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub data: Arc<Value>,
    /// The result in an MCP server's own form.
    pub native: Option<Arc<Value>>,
    pub arguments: Digest,
}

impl Cache {
    /// A cache in this process's memory that holds at most so many bytes, a quarter of them for one caller; what was
    /// not used lately goes first.
    pub fn memory(max_bytes: u64, clock: Clock) -> Self {
        Self(Kind::Memory(Arc::new(Memory::new(max_bytes, clock))))
    }

    /// The answer under a key, unless it was never put, has expired, or had to make room.
    pub async fn get(&self, key: &Digest) -> Option<Recorded> {
        let Kind::Memory(memory) = &self.0;
        memory.get(key)
    }

    /// Keeps an answer under a key until `ttl` has passed, at this caller's expense; says no if there is no room.
    pub async fn put(
        &self,
        key: Digest,
        caller: &Principal,
        answer: Recorded,
        ttl: Duration,
    ) -> bool {
        let Kind::Memory(memory) = &self.0;
        memory.put(key, caller, answer, ttl)
    }
}

#[cfg(test)]
mod tests;
