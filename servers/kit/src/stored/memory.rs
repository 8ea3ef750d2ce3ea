//! References that end with the process.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::{StorageLimits, StoredBytes, too_large};
use crate::Fault;

#[derive(Debug)]
pub(super) struct MemoryStore {
    limits: StorageLimits,
    /// The oldest first.
    entries: Mutex<VecDeque<Entry>>,
}

#[derive(Debug)]
struct Entry {
    stored: StoredBytes,
    expires: Instant,
}

impl MemoryStore {
    pub(super) fn new(limits: StorageLimits) -> Self {
        Self { limits, entries: Mutex::default() }
    }

    pub(super) fn store(&self, stored: StoredBytes) -> Result<(), Fault> {
        let StorageLimits { references, bytes: max_bytes, lifetime } = self.limits;
        if stored.bytes.len() > max_bytes || references == 0 {
            return Err(too_large(stored.bytes.len(), max_bytes));
        }
        let now = Instant::now();
        let entry = Entry { stored, expires: now.checked_add(lifetime).unwrap_or(now) };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.expires > now);
        entries.push_back(entry);
        let size = |entries: &VecDeque<Entry>| -> usize {
            entries.iter().map(|entry| entry.stored.bytes.len()).sum()
        };
        while entries.len() > references || size(&entries) > max_bytes {
            entries.pop_front();
        }
        Ok(())
    }

    pub(super) fn find(&self, ref_id: &str) -> Option<StoredBytes> {
        let now = Instant::now();
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.iter().find(|entry| entry.stored.reference.ref_id == ref_id);
        entry.filter(|entry| entry.expires > now).map(|entry| entry.stored.clone())
    }
}
