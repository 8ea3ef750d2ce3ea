use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use proto::{Clock, Digest};

use super::{Caches, MAX_VALUE_BYTES};

/// The bytes of an entry besides its value.
const OVERHEAD: usize = 200;

/// A cache in memory. When it is full, what was used least recently is dropped.
pub struct MemoryCaches {
    clock: Clock,
    max_bytes: usize,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<[u8; 32], Entry>,
    by_use: BTreeMap<u64, [u8; 32]>,
    bytes: usize,
    uses: u64,
}

struct Entry {
    value: Bytes,
    expires_ms: u64,
    used: u64,
}

impl MemoryCaches {
    /// A cache for at most so many bytes.
    pub fn new(clock: Clock, max_bytes: usize) -> Self {
        Self { clock, max_bytes, entries: Mutex::default() }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.entries().bytes
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn remove(&mut self, key: &[u8; 32]) {
        if let Some(entry) = self.by_key.remove(key) {
            self.by_use.remove(&entry.used);
            self.bytes -= entry.value.len() + OVERHEAD;
        }
    }

    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

#[async_trait]
impl Caches for MemoryCaches {
    async fn get(&self, key: &Digest) -> Option<Bytes> {
        let now = self.clock.unix_ms();
        let mut entries = self.entries();
        let entries = &mut *entries;
        let used = entries.next_use();
        let entry = entries.by_key.get_mut(key.as_bytes())?;
        if entry.expires_ms <= now {
            entries.remove(key.as_bytes());
            return None;
        }
        entries.by_use.remove(&entry.used);
        entry.used = used;
        entries.by_use.insert(used, *key.as_bytes());
        Some(entry.value.clone())
    }

    async fn put(&self, key: &Digest, value: Bytes, ttl: Duration) {
        let size = value.len() + OVERHEAD;
        if value.len() > MAX_VALUE_BYTES || size > self.max_bytes {
            return;
        }
        let ttl = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let expires_ms = self.clock.unix_ms().saturating_add(ttl);
        let mut entries = self.entries();
        entries.remove(key.as_bytes());
        while entries.bytes + size > self.max_bytes {
            let Some((_, oldest)) = entries.by_use.first_key_value() else { break };
            let oldest = *oldest;
            entries.remove(&oldest);
        }
        let used = entries.next_use();
        entries.by_use.insert(used, *key.as_bytes());
        entries.by_key.insert(*key.as_bytes(), Entry { value, expires_ms, used });
        entries.bytes += size;
    }
}
