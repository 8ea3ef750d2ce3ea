//! The circuit breaker of one provider: pure, time comes in.

use std::time::Duration;

/// Failures in a row that open it.
const FAILURES: u32 = 5;
/// How long it stays open at first.
pub(super) const FIRST_WAIT: Duration = Duration::from_secs(30);
/// The longest that it stays open without a Retry-After.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// Opens when the provider limits us or fails five times in a row; then one request at a time probes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    /// Set while it is open or being probed.
    open_until: Option<u64>,
    wait: Option<Duration>,
    probing: bool,
    limited: bool,
    /// How often it has opened.
    openings: u64,
}

/// A request that was admitted. Its outcome is news only if the breaker has not opened since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    openings: u64,
}

/// Why no request may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) wait: Duration,
    /// Opened by the provider's own limit rather than by failures.
    pub(super) limited: bool,
}

impl Breaker {
    /// Admits a request. What it returned must be reported, or abandoned.
    pub(super) fn admit(&mut self, now: u64) -> Result<Admission, Open> {
        let admission = Admission { openings: self.openings };
        let Some(until) = self.open_until else { return Ok(admission) };
        if now < until || self.probing {
            let wait = Duration::from_millis(until.saturating_sub(now).max(1_000));
            return Err(Open { wait, limited: self.limited });
        }
        self.probing = true;
        Ok(admission)
    }

    /// The request had an answer.
    pub(super) fn succeed(&mut self, request: Admission) {
        if self.is_news(request) {
            *self = Self { openings: self.openings, ..Self::default() };
        }
    }

    /// The request failed.
    pub(super) fn fail(&mut self, request: Admission, now: u64) {
        if !self.is_news(request) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if self.probing || self.failures >= FAILURES {
            self.limited = false;
            let wait = self.next_wait();
            self.open(now, wait);
        }
    }

    /// The provider limits us, for this long if it says so. A late answer can only make the pause longer.
    pub(super) fn limit(&mut self, request: Admission, now: u64, retry_after: Option<Duration>) {
        if self.is_news(request) {
            self.limited = true;
            let wait = retry_after.unwrap_or_else(|| self.next_wait());
            self.open(now, wait);
        } else if let (Some(until), Some(wait)) = (&mut self.open_until, retry_after) {
            *until = (*until).max(end(now, wait));
        }
    }

    /// The request was given up without an outcome.
    pub(super) fn abandon(&mut self, request: Admission) {
        if self.is_news(request) {
            self.probing = false;
        }
    }

    fn is_news(&self, request: Admission) -> bool {
        request.openings == self.openings
    }

    fn open(&mut self, now: u64, wait: Duration) {
        self.probing = false;
        self.openings += 1;
        self.open_until = Some(end(now, wait));
    }

    fn next_wait(&mut self) -> Duration {
        let wait = self.wait.map_or(FIRST_WAIT, |wait| (wait * 2).min(MAX_WAIT));
        self.wait = Some(wait);
        wait
    }
}

fn end(now: u64, wait: Duration) -> u64 {
    now.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
