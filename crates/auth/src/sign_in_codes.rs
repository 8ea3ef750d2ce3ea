//! One-time codes that sign the operator in to the dashboard, for the link that `serve` prints.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{Clock, Digest, Secret, digest};

use crate::random::random_text;
use crate::sessions::NoRandomness;

/// Beyond this many, the oldest code becomes invalid.
const MAX_CODES: usize = 16;

/// The codes that were not used yet. Held in memory only, as digests.
pub struct SignInCodes {
    clock: Clock,
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    digest: Digest,
    expires_ms: u64,
}

impl SignInCodes {
    /// How long a code is valid.
    pub const LIFETIME: Duration = Duration::from_secs(10 * 60);

    /// No codes yet.
    pub fn new(clock: Clock) -> Self {
        Self { clock, entries: Mutex::default() }
    }

    /// A new code: 256 random bits, valid once.
    pub fn issue(&self) -> Result<Secret, NoRandomness> {
        let code = random_text().ok_or(NoRandomness)?;
        let lifetime = u64::try_from(Self::LIFETIME.as_millis()).unwrap_or(u64::MAX);
        let expires_ms = self.clock.unix_ms().saturating_add(lifetime);
        let mut entries = self.entries();
        if entries.len() >= MAX_CODES {
            entries.remove(0);
        }
        entries.push(Entry { digest: digest(code.as_bytes()), expires_ms });
        Ok(Secret::new(code))
    }

    /// Uses a code up; false if it is unknown, was used before or has expired.
    pub fn redeem(&self, code: &str) -> bool {
        // Comparing digests does not reveal how much of a guess was right.
        let (given, now) = (digest(code.as_bytes()), self.clock.unix_ms());
        let mut entries = self.entries();
        entries.retain(|entry| now < entry.expires_ms);
        let before = entries.len();
        entries.retain(|entry| entry.digest != given);
        entries.len() < before
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_valid_once_and_for_ten_minutes() {
        let clock = Clock::manual(1_000_000);
        let codes = SignInCodes::new(clock.clone());
        let (first, second) = (codes.issue().unwrap(), codes.issue().unwrap());
        assert_eq!(first.expose().len(), 43, "256 bits");
        assert!(!codes.redeem("") && !codes.redeem(&first.expose()[1..]));
        assert!(codes.redeem(first.expose()));
        assert!(!codes.redeem(first.expose()), "it was used");
        clock.advance(SignInCodes::LIFETIME);
        assert!(!codes.redeem(second.expose()), "it has expired");
    }

    #[test]
    fn only_the_newest_codes_are_kept() {
        let codes = SignInCodes::new(Clock::default());
        let first = codes.issue().unwrap();
        let later: Vec<_> = (0..MAX_CODES).map(|_| codes.issue().unwrap()).collect();
        assert!(!codes.redeem(first.expose()));
        assert!(later.iter().all(|code| codes.redeem(code.expose())));
    }
}
