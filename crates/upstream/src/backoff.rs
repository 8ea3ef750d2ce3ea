use std::time::Duration;

use crate::random;

/// Waits that double, with jitter, so that many failures do not strike at once.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
}

impl Backoff {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, failures: 0 }
    }

    /// The wait after one more failure: between half and all of the doubled time.
    pub(crate) fn next(&mut self) -> Duration {
        let full = self.first.saturating_mul(1 << self.failures.min(16)).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        let share = u32::try_from(random::number() % 512).unwrap_or(0) + 512;
        full.saturating_mul(share) / 1024
    }

    /// Sets the longest wait.
    pub(crate) fn limit_to(&mut self, longest: Duration) {
        self.longest = longest;
    }

    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests;
