//! Rate limit for wrong credentials, per source.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Clock, Digest, digest};

use crate::ApiKeys;

/// The most wrong credentials of a source that are checked within `WINDOW` at sign-in.
const MAX_FAILURES: usize = 10;

const WINDOW: Duration = Duration::from_secs(60);

/// Beyond this many sources, the one with the oldest failure is dropped.
const MAX_SOURCES: usize = 10_000;

/// The source of a credential: an address and the account that it claims. Both together, because many people may share an
/// address, and an attacker can claim any account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    address: Option<IpAddr>,
    account: Digest,
}

impl Source {
    /// The source of a credential. The account is the id of a key, or the claims of a signed token; all other texts count as
    /// one account.
    pub fn new(address: Option<IpAddr>, credential: &str) -> Self {
        let account =
            ApiKeys::id_of(credential).or_else(|| claims_of(credential)).unwrap_or_default();
        Self { address: address.map(network), account: digest(account.as_bytes()) }
    }

    /// All credentials of an address.
    pub fn of_address(address: Option<IpAddr>) -> Self {
        Self { address: address.map(network), account: digest(b"") }
    }
}

fn claims_of(credential: &str) -> Option<&str> {
    let mut parts = credential.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(claims)
}

/// The unit of counting for an address: a /64 network for IPv6, because one host usually has a whole one.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        address => address,
    }
}

/// The wrong credentials of the last minute.
pub struct Attempts {
    clock: Clock,
    limit: usize,
    failures: Mutex<HashMap<Source, VecDeque<u64>>>,
}

impl Attempts {
    /// The limit for people who sign in.
    pub fn new(clock: Clock) -> Self {
        Self::with_limit(clock, MAX_FAILURES)
    }

    /// A limit of wrong credentials per source and minute.
    pub fn with_limit(clock: Clock, limit: usize) -> Self {
        Self { clock, limit, failures: Mutex::default() }
    }

    /// Whether a source may try a credential now; if not, after how long.
    pub fn check(&self, source: &Source) -> Result<(), Duration> {
        let now = self.clock.unix_ms();
        let mut table = self.table();
        let Some(failures) = table.get_mut(source) else { return Ok(()) };
        failures.retain(|at| is_recent(*at, now));
        match failures.front() {
            Some(oldest) if failures.len() >= self.limit => {
                let wait =
                    WINDOW.saturating_sub(Duration::from_millis(now.saturating_sub(*oldest)));
                Err(wait.max(Duration::from_millis(1)))
            }
            _ => Ok(()),
        }
    }

    /// Records a wrong credential of this source.
    pub fn note_failure(&self, source: Source) {
        let now = self.clock.unix_ms();
        let mut table = self.table();
        if table.len() >= MAX_SOURCES && !table.contains_key(&source) {
            table.retain(|_, failures| failures.back().is_some_and(|last| is_recent(*last, now)));
            let oldest = table.iter().min_by_key(|(_, failures)| failures.back().copied());
            if table.len() >= MAX_SOURCES
                && let Some(oldest) = oldest.map(|(source, _)| *source)
            {
                table.remove(&oldest);
            }
        }
        let failures = table.entry(source).or_default();
        failures.push_back(now);
        if failures.len() > self.limit {
            failures.pop_front();
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Source, VecDeque<u64>>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_recent(at: u64, now: u64) -> bool {
    Duration::from_millis(now.saturating_sub(at)) < WINDOW
}

#[cfg(test)]
mod tests;
