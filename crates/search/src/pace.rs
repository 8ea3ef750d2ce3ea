//! How many requests one provider or host gets at once: more while it answers, half as many when it is overloaded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The fewest and the most requests at once.
const LEAST: f64 = 1.0;
const MOST: f64 = 8.0;
/// The first limit.
const FIRST: f64 = 4.0;

/// The most hosts that are remembered.
const MAX_HOSTS: usize = 1_024;

/// How a request ended, as far as the limit is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    /// HTTP 429, or a timeout.
    Overloaded,
    /// Anything else, which says nothing about the load.
    Other,
}

/// The limit of one provider or host.
#[derive(Debug, Default)]
pub struct Pace {
    window: Mutex<Window>,
    freed: Notify,
}

impl Pace {
    /// Waits until another request may be sent.
    pub async fn take(&self) -> Turn<'_> {
        loop {
            let freed = self.freed.notified();
            if let Some(cuts) = self.window().enter() {
                return Turn { pace: self, cuts, outcome: Outcome::Other };
            }
            freed.await;
        }
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is under way; dropping it makes room for the next.
#[derive(Debug)]
pub struct Turn<'a> {
    pace: &'a Pace,
    /// How often the limit had been halved when the request was sent.
    cuts: u64,
    outcome: Outcome,
}

impl Turn<'_> {
    /// Says how the request ended.
    pub fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let room = self.pace.window().leave(self.cuts, self.outcome);
        for _ in 0..room {
            self.pace.freed.notify_one();
        }
    }
}

/// The limit and what is under way: additive increase, multiplicative decrease.
#[derive(Clone, Debug, PartialEq)]
struct Window {
    limit: f64,
    under_way: usize,
    cuts: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { limit: FIRST, under_way: 0, cuts: 0 }
    }
}

impl Window {
    fn enter(&mut self) -> Option<u64> {
        let room = self.under_way < self.limit as usize;
        self.under_way += usize::from(room);
        room.then_some(self.cuts)
    }

    /// Ends a request, and returns for how many others there is room.
    fn leave(&mut self, cuts: u64, outcome: Outcome) -> usize {
        self.under_way = self.under_way.saturating_sub(1);
        match outcome {
            Outcome::Answered => self.limit = (self.limit + 1.0 / self.limit).min(MOST),
            // Requests that were sent before the last cut say nothing about the new limit.
            Outcome::Overloaded if cuts == self.cuts => {
                self.limit = (self.limit / 2.0).max(LEAST);
                self.cuts += 1;
            }
            Outcome::Overloaded | Outcome::Other => {}
        }
        (self.limit as usize).saturating_sub(self.under_way)
    }
}

/// The limits of all hosts.
#[derive(Debug, Default)]
pub struct Hosts(Mutex<HashMap<String, Arc<Pace>>>);

impl Hosts {
    /// The limit of a host.
    pub fn of(&self, host: &str) -> Arc<Pace> {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pace) = hosts.get(host) {
            return Arc::clone(pace);
        }
        if hosts.len() >= MAX_HOSTS {
            // Those that no request uses.
            hosts.retain(|_, pace| Arc::strong_count(pace) > 1);
        }
        Arc::clone(hosts.entry(host.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests;
