//! Whether calls are sent to a replica: a circuit breaker that opens after failures in a row or at a high failure rate,
//! and lets one request through after a pause. Pure: the time is a parameter.

use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row that open it.
const IN_A_ROW: u32 = 3;

/// The weighted failure rate that opens it, and how many outcomes there must have been.
const MAX_FAILURE_RATE: f64 = 0.6;
const MIN_OUTCOMES: u32 = 10;

/// How much the newest outcome weighs in the failure rate.
const WEIGHT: f64 = 0.15;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A trial request that has not ended after this time does not block the next one.
const TRIAL: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Health {
    in_a_row: u32,
    failure_rate: f64,
    outcomes: u32,
    /// Set while it is open: when the next request may be let through.
    open_until: Option<Instant>,
    /// How often it opened since the last answer.
    opened: u32,
    /// Since when a trial is under way.
    trial: Option<Instant>,
}

impl Health {
    /// Whether a call may be sent there now.
    pub(super) fn admits(&self, now: Instant) -> bool {
        match self.open_until {
            None => true,
            Some(until) => now >= until && self.trial.is_none_or(|since| now >= since + TRIAL),
        }
    }

    /// When a call may be sent there again, if not now.
    pub(super) fn opens_at(&self) -> Option<Instant> {
        self.open_until
    }

    /// A request was sent.
    pub(super) fn record_start(&mut self, now: Instant) {
        if self.open_until.is_some() {
            self.trial = Some(now);
        }
    }

    /// An answer came, whatever it says.
    pub(super) fn record_answer(&mut self) {
        if self.open_until.is_some() {
            *self = Self::default();
        }
        self.in_a_row = 0;
        self.note(0.0);
    }

    /// No answer came. True if the breaker opened because of it.
    pub(super) fn record_failure(&mut self, now: Instant) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.note(1.0);
        self.trial = None;
        let failing = self.outcomes >= MIN_OUTCOMES && self.failure_rate > MAX_FAILURE_RATE;
        if self.open_until.is_none() && self.in_a_row < IN_A_ROW && !failing {
            return false;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.opened.min(8)).min(LONGEST_PAUSE);
        self.opened = self.opened.saturating_add(1);
        self.open_until.replace(now + pause).is_none()
    }

    /// The request ended without evidence about the replica.
    pub(super) fn record_unknown(&mut self) {
        self.trial = None;
    }

    fn note(&mut self, failed: f64) {
        self.outcomes = self.outcomes.saturating_add(1);
        self.failure_rate += (failed - self.failure_rate) * WEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_open_it() {
        let now = Instant::now();
        let mut health = Health::default();
        assert!(!health.record_failure(now) && !health.record_failure(now));
        health.record_answer();
        assert!(!health.record_failure(now) && !health.record_failure(now) && health.admits(now));
        assert!(health.record_failure(now), "the third in a row opens it");
        assert!(!health.admits(now));
    }

    #[test]
    fn one_request_is_let_through_after_the_pause() {
        let now = Instant::now();
        let mut health = Health::default();
        for _ in 0..3 {
            health.record_failure(now);
        }
        let later = now + FIRST_PAUSE;
        assert!(health.admits(later));
        health.record_start(later);
        assert!(!health.admits(later), "only one");
        assert!(!health.record_failure(later), "it was open already");
        assert!(!health.admits(later + FIRST_PAUSE), "the pause has doubled");
        let last = later + FIRST_PAUSE * 2;
        health.record_start(last);
        health.record_answer();
        assert!(health.admits(last));
        assert!(!health.record_failure(last) && !health.record_failure(last), "it starts afresh");
    }

    #[test]
    fn a_trial_without_outcome_does_not_block_the_next() {
        let now = Instant::now();
        let mut health = Health::default();
        for _ in 0..3 {
            health.record_failure(now);
        }
        let later = now + FIRST_PAUSE;
        health.record_start(later);
        health.record_unknown();
        assert!(health.admits(later));
        health.record_start(later);
        assert!(health.admits(later + TRIAL), "a trial that was lost");
    }

    #[test]
    fn a_high_failure_rate_opens_it_and_pauses_are_limited() {
        let now = Instant::now();
        let mut flaky = Health::default();
        let opened = (0..60).any(|round| {
            if round % 3 == 2 {
                flaky.record_answer();
                return false;
            }
            flaky.record_failure(now)
        });
        assert!(opened, "two of three fail");
        for _ in 0..50 {
            flaky.record_failure(now);
        }
        assert!(flaky.admits(now + LONGEST_PAUSE));
    }
}
