//! How often collections were changed by this process, which is the only one that changes them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::CollectionName;

/// Beyond so many names, all counts begin again under a new number.
const MAX_NAMES: usize = 10_000;

/// Counts changes by name for all tenants together: recorded answers are kept by caller anyway.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: u64,
    all: u64,
    by_name: HashMap<String, u64>,
}

impl Changes {
    /// Notes a change, after it was committed or has failed: an answer that is recorded under the new key has seen it.
    pub(super) fn note(&self, name: &CollectionName) {
        let mut counts = self.counts();
        counts.all += 1;
        if counts.by_name.len() >= MAX_NAMES && !counts.by_name.contains_key(name.as_str()) {
            counts.by_name.clear();
            counts.begun += 1;
        }
        *counts.by_name.entry(name.as_str().to_owned()).or_default() += 1;
    }

    /// The counts of these names, or that of all.
    pub(super) fn key<'a>(&self, names: Option<impl Iterator<Item = &'a str>>) -> String {
        let counts = self.counts();
        let Some(names) = names else { return counts.all.to_string() };
        let mut key = counts.begun.to_string();
        for name in names {
            let count = counts.by_name.get(name).copied().unwrap_or_default();
            let _ = write!(key, " {name}={count}");
        }
        key
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
