//! The tools that each caller has used successfully of late, so that a search can rank them first. Only a hint: bounded,
//! and skipped under contention.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError, TryLockError};

use proto::{Principal, ToolId};

/// Beyond this many callers, the one that has been idle longest is forgotten.
const CALLERS: usize = 1024;

/// How many calls of each caller are remembered.
const CALLS: usize = 64;

#[derive(Default)]
pub(crate) struct History {
    hashes: RandomState,
    callers: Mutex<Callers>,
}

#[derive(Default)]
struct Callers {
    /// By the hash of the caller: a collision would only change an order.
    recent: HashMap<u64, Recent>,
    calls: u64,
}

#[derive(Default)]
struct Recent {
    tools: VecDeque<ToolId>,
    last: u64,
}

impl History {
    /// Remembers a successful call, unless the lock is taken.
    pub(crate) fn note(&self, principal: &Principal, tool: &ToolId) {
        let mut callers = match self.callers.try_lock() {
            Ok(callers) => callers,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        callers.calls += 1;
        let (caller, last) = (self.caller(principal), callers.calls);
        if callers.recent.len() >= CALLERS && !callers.recent.contains_key(&caller) {
            let oldest = callers.recent.iter().min_by_key(|(_, recent)| recent.last);
            if let Some(oldest) = oldest.map(|(caller, _)| *caller) {
                callers.recent.remove(&oldest);
            }
        }
        let recent = callers.recent.entry(caller).or_default();
        recent.last = last;
        if recent.tools.len() == CALLS {
            recent.tools.pop_front();
        }
        recent.tools.push_back(tool.clone());
    }

    /// The tools that a caller has used of late, each with its use relative to the most used one.
    pub(crate) fn recent(&self, principal: &Principal) -> Vec<(ToolId, f32)> {
        let mut counts: HashMap<ToolId, u16> = HashMap::new();
        let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = callers.recent.get(&self.caller(principal));
        for tool in recent.iter().flat_map(|recent| &recent.tools) {
            *counts.entry(tool.clone()).or_default() += 1;
        }
        drop(callers);
        let most = f32::from(counts.values().copied().max().unwrap_or(1));
        counts.into_iter().map(|(tool, count)| (tool, f32::from(count) / most)).collect()
    }

    fn caller(&self, principal: &Principal) -> u64 {
        self.hashes.hash_one((&principal.tenant, &principal.subject, &principal.agent))
    }
}

#[cfg(test)]
mod tests;
