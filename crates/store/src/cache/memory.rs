//! Entries in the order in which they came. A recorded answer lives for one window however often it is read, so the
//! oldest is always the next to expire: order of use would cost every call and gain nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Clock, Digest};
use serde_json::Value;

/// What an entry costs beside its value: key, expiry, and the tables' own records.
const ENTRY_OVERHEAD: u64 = 256;

/// Callers of different keys rarely meet.
const SHARDS: usize = 16;

#[derive(Debug)]
pub(super) struct Memory {
    shards: [Mutex<Shard>; SHARDS],
    /// The bytes of all shards together.
    bytes: AtomicU64,
    max_bytes: u64,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Shard {
    entries: HashMap<Digest, Entry>,
    /// Keys as they came, each with the number of the entry it came with: a key that was put again has a newer one.
    order: VecDeque<(Digest, u64)>,
    count: u64,
}

#[derive(Debug)]
struct Entry {
    value: Arc<Value>,
    weight: u64,
    expires_ms: u64,
    number: u64,
}

impl Memory {
    pub(super) fn new(max_bytes: u64, clock: Clock) -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self { shards, bytes: AtomicU64::new(0), max_bytes, clock }
    }

    pub(super) fn get(&self, key: &Digest) -> Option<Arc<Value>> {
        let shard = self.shard(key);
        let entry = shard.entries.get(key)?;
        (self.clock.unix_ms() < entry.expires_ms).then(|| Arc::clone(&entry.value))
    }

    pub(super) fn put(&self, key: Digest, value: Arc<Value>, size: usize, ttl: Duration) {
        let weight = u64::try_from(size).unwrap_or(u64::MAX).saturating_add(ENTRY_OVERHEAD);
        if weight > self.max_bytes {
            return;
        }
        let now = self.clock.unix_ms();
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let mut shard = self.shard(&key);
        shard.count += 1;
        let number = shard.count;
        let entry = Entry { value, weight, expires_ms: now.saturating_add(ttl_ms), number };
        self.bytes.fetch_add(weight, Ordering::Relaxed);
        if let Some(replaced) = shard.entries.insert(key, entry) {
            self.bytes.fetch_sub(replaced.weight, Ordering::Relaxed);
        }
        shard.order.push_back((key, number));
        self.make_room(&mut shard, now);
    }

    /// Lets go of what has expired, and of the oldest while there is too much. Keys are sums, so each shard holds its
    /// fair part and pays for its own.
    fn make_room(&self, shard: &mut Shard, now: u64) {
        while let Some((key, number)) = shard.order.front().copied() {
            let current = shard.entries.get(&key).filter(|entry| entry.number == number);
            let goes = match current {
                Some(entry) => {
                    entry.expires_ms <= now || self.bytes.load(Ordering::Relaxed) > self.max_bytes
                }
                None => true,
            };
            if !goes {
                return;
            }
            if current.is_some()
                && let Some(gone) = shard.entries.remove(&key)
            {
                self.bytes.fetch_sub(gone.weight, Ordering::Relaxed);
            }
            shard.order.pop_front();
        }
    }

    fn shard(&self, key: &Digest) -> MutexGuard<'_, Shard> {
        let place = usize::from(key.as_bytes()[0]) % SHARDS;
        // Nothing that runs under the lock can leave a shard half changed.
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> (usize, u64) {
        let entries = self.shards.iter().map(|shard| shard.lock().expect("a lock").entries.len());
        (entries.sum(), self.bytes.load(Ordering::Relaxed))
    }
}
