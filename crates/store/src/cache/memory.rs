//! Entries in the order in which they came. Making room skips an entry that was read since the last time,
//! once: nearly the order of use, and a read costs nothing for it.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Clock, Digest, Principal};

use super::Recorded;

/// The size of an entry without its answer: key, expiry, and the overhead of the tables.
const ENTRY_OVERHEAD: u64 = 384;

/// Callers of different keys rarely meet.
const SHARDS: usize = 16;

/// Accounts of callers. Two callers who share one by chance share a budget; which ones is different in each process.
const ACCOUNTS: usize = 4_096;

/// The part of all bytes that one caller's answers may take.
const PARTS: u64 = 4;

#[derive(Debug)]
pub(super) struct Memory {
    shards: [Mutex<Shard>; SHARDS],
    /// The bytes of all shards together.
    bytes: AtomicU64,
    max_bytes: u64,
    /// The bytes of each caller, in all shards together.
    accounts: Box<[AtomicU64]>,
    hasher: RandomState,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Shard {
    entries: HashMap<Digest, Entry>,
    order: Order,
    /// The order of entries by account.
    of_caller: HashMap<usize, Order>,
    count: u64,
}

/// Keys as they came, each with the number of the entry it came with: a key that was put again has a newer one.
#[derive(Debug, Default)]
struct Order {
    keys: VecDeque<(Digest, u64)>,
    /// How many of them are current.
    live: usize,
}

#[derive(Debug)]
struct Entry {
    answer: Recorded,
    weight: u64,
    expires_ms: u64,
    number: u64,
    account: usize,
    /// Whether it was read since room was last made.
    used: bool,
}

impl Memory {
    pub(super) fn new(max_bytes: u64, clock: Clock) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            bytes: AtomicU64::new(0),
            max_bytes,
            accounts: (0..ACCOUNTS).map(|_| AtomicU64::new(0)).collect(),
            hasher: RandomState::new(),
            clock,
        }
    }

    pub(super) fn get(&self, key: &Digest) -> Option<Recorded> {
        let mut shard = self.shard(key);
        let entry = shard.entries.get_mut(key)?;
        if entry.expires_ms <= self.clock.unix_ms() {
            return None;
        }
        entry.used = true;
        Some(entry.answer.clone())
    }

    pub(super) fn put(
        &self,
        key: Digest,
        caller: &Principal,
        answer: Recorded,
        ttl: Duration,
    ) -> bool {
        let weight = answer.weight().saturating_add(ENTRY_OVERHEAD);
        if weight > self.max_bytes / PARTS {
            return false;
        }
        let now = self.clock.unix_ms();
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let expires_ms = now.saturating_add(ttl_ms);
        let account = self.account(caller);
        let mut shard = self.shard(&key);
        let shard = &mut *shard;
        self.remove(shard, &key);
        shard.count += 1;
        let number = shard.count;
        let entry = Entry { answer, weight, expires_ms, number, account, used: false };
        self.bytes.fetch_add(weight, Ordering::Relaxed);
        self.accounts[account].fetch_add(weight, Ordering::Relaxed);
        shard.entries.insert(key, entry);
        shard.order.push(&shard.entries, key, number);
        let of_caller = shard.of_caller.entry(account).or_default();
        of_caller.push(&shard.entries, key, number);
        self.make_room(shard, now, account);
        shard.entries.contains_key(&key)
    }

    /// Lets go of what has expired, and of what was not used lately while there is too much: first of this caller's, then
    /// of any owner. Keys are digests, so each shard holds its fair part and pays for its own.
    fn make_room(&self, shard: &mut Shard, now: u64, account: usize) {
        let of_caller = &self.accounts[account];
        let too_much = || of_caller.load(Ordering::Relaxed) > self.max_bytes / PARTS;
        while let Some(order) = shard.of_caller.get_mut(&account)
            && let Some(key) = order.next_to_go(&mut shard.entries, now, too_much)
        {
            self.remove(shard, &key);
        }
        let too_much = || self.bytes.load(Ordering::Relaxed) > self.max_bytes;
        while let Some(key) = shard.order.next_to_go(&mut shard.entries, now, too_much) {
            self.remove(shard, &key);
        }
    }

    fn remove(&self, shard: &mut Shard, key: &Digest) {
        let Some(gone) = shard.entries.remove(key) else { return };
        self.bytes.fetch_sub(gone.weight, Ordering::Relaxed);
        self.accounts[gone.account].fetch_sub(gone.weight, Ordering::Relaxed);
        shard.order.live -= 1;
        if let Some(of_caller) = shard.of_caller.get_mut(&gone.account) {
            of_caller.live -= 1;
            if of_caller.live == 0 {
                shard.of_caller.remove(&gone.account);
            }
        }
    }

    fn account(&self, caller: &Principal) -> usize {
        let caller = (&caller.tenant, &caller.subject, &caller.agent);
        usize::try_from(self.hasher.hash_one(caller) % ACCOUNTS as u64).unwrap_or(0)
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

    #[cfg(test)]
    pub(super) fn queued(&self) -> usize {
        let queued = self.shards.iter().map(|shard| {
            let shard = shard.lock().expect("a lock");
            let of_callers: usize = shard.of_caller.values().map(|order| order.keys.len()).sum();
            shard.order.keys.len() + of_callers
        });
        queued.sum()
    }
}

impl Order {
    fn push(&mut self, entries: &HashMap<Digest, Entry>, key: Digest, number: u64) {
        self.keys.push_back((key, number));
        self.live += 1;
        // Keys that are not current any more may lie behind one that is: they must not add up.
        if self.keys.len() > 2 * self.live + 64 {
            self.keys.retain(|(key, number)| is_current(entries, key, *number));
        }
    }

    /// The next key whose entry has expired or must make room.
    fn next_to_go(
        &mut self,
        entries: &mut HashMap<Digest, Entry>,
        now: u64,
        too_much: impl Fn() -> bool,
    ) -> Option<Digest> {
        while let Some((key, number)) = self.keys.front().copied() {
            match entries.get_mut(&key).filter(|entry| entry.number == number) {
                None => {}
                Some(entry) if entry.expires_ms <= now => return Some(key),
                Some(_) if !too_much() => return None,
                Some(entry) if entry.used => {
                    entry.used = false;
                    self.keys.push_back((key, number));
                }
                Some(_) => return Some(key),
            }
            self.keys.pop_front();
        }
        None
    }
}

fn is_current(entries: &HashMap<Digest, Entry>, key: &Digest, number: u64) -> bool {
    entries.get(key).is_some_and(|entry| entry.number == number)
}
