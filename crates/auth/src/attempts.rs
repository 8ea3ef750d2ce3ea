//! Wrong credentials at a sign-in: only their sender has to wait.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Clock, Digest, digest};

use crate::KeyRing;

/// So many wrong credentials within `WINDOW` are looked at; a secret of 256 bits is not guessed in more, either.
const MAX_FAILURES: usize = 10;

const WINDOW: Duration = Duration::from_secs(60);

/// Beyond this many sources, the one that has been quiet for longest is forgotten.
const MAX_SOURCES: usize = 10_000;

/// Where a credential comes from: an address, and the account that it claims to be of. Both count, because many people may
/// share one address, and anybody can name somebody else's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    address: Option<IpAddr>,
    account: Digest,
}

impl Source {
    /// The source of a credential as it was shown. The account is the id of a key, or the claims of a signed token; all
    /// other texts count as one account.
    pub fn new(address: Option<IpAddr>, credential: &str) -> Self {
        let account =
            KeyRing::id_of(credential).or_else(|| claims_of(credential)).unwrap_or_default();
        Self { address: address.map(network), account: digest(account.as_bytes()) }
    }
}

fn claims_of(credential: &str) -> Option<&str> {
    let mut parts = credential.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(claims)
}

/// What counts as one address: of IPv6 a /64 network, because one host usually has a whole one to choose from.
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
    failures: Mutex<HashMap<Source, VecDeque<u64>>>,
}

impl Attempts {
    pub fn new(clock: Clock) -> Self {
        Self { clock, failures: Mutex::default() }
    }

    /// Whether a source may try a credential now; if not, after how long.
    pub fn check(&self, source: &Source) -> Result<(), Duration> {
        let now = self.clock.unix_ms();
        let mut table = self.table();
        let Some(failures) = table.get_mut(source) else { return Ok(()) };
        failures.retain(|at| is_recent(*at, now));
        match failures.front() {
            Some(oldest) if failures.len() >= MAX_FAILURES => {
                let wait =
                    WINDOW.saturating_sub(Duration::from_millis(now.saturating_sub(*oldest)));
                Err(wait.max(Duration::from_millis(1)))
            }
            _ => Ok(()),
        }
    }

    /// Notes that a credential of this source was wrong.
    pub fn note_failure(&self, source: Source) {
        let now = self.clock.unix_ms();
        let mut table = self.table();
        if table.len() >= MAX_SOURCES && !table.contains_key(&source) {
            table.retain(|_, failures| failures.back().is_some_and(|last| is_recent(*last, now)));
            let quiet = table.iter().min_by_key(|(_, failures)| failures.back().copied());
            if table.len() >= MAX_SOURCES
                && let Some(quiet) = quiet.map(|(source, _)| *source)
            {
                table.remove(&quiet);
            }
        }
        let failures = table.entry(source).or_default();
        failures.push_back(now);
        if failures.len() > MAX_FAILURES {
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
