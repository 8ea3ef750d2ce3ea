//! Whether calls are sent to a replica: a circuit breaker that opens after failures in a row or a bad record, and lets
//! one request through when its time has come. Pure: time comes in, decisions go out.

use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row that open it. One miss means nothing.
const IN_A_ROW: u32 = 3;

/// The share of failures among the last ones (weighted) that opens it, and how many there must have been.
const BAD_RECORD: f64 = 0.6;
const RECORD: u32 = 10;

/// How much the newest outcome weighs in the record.
const WEIGHT: f64 = 0.15;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A request that was let through to see whether the replica is back is given up for lost after this time.
const TRIAL: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Health {
    in_a_row: u32,
    record: f64,
    outcomes: u32,
    /// Set while it is open: when the next request may be let through.
    open_until: Option<Instant>,
    /// How often it opened since it was last well.
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

    /// A request is on its way.
    pub(super) fn begun(&mut self, now: Instant) {
        if self.open_until.is_some() {
            self.trial = Some(now);
        }
    }

    /// An answer came, whatever it says.
    pub(super) fn well(&mut self) {
        if self.open_until.is_some() {
            *self = Self::default();
        }
        self.in_a_row = 0;
        self.note(0.0);
    }

    /// No answer came. True if this closed the way for calls that was open before.
    pub(super) fn sick(&mut self, now: Instant) -> bool {
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.note(1.0);
        self.trial = None;
        let bad_record = self.outcomes >= RECORD && self.record > BAD_RECORD;
        if self.open_until.is_none() && self.in_a_row < IN_A_ROW && !bad_record {
            return false;
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.opened.min(8)).min(LONGEST_PAUSE);
        self.opened = self.opened.saturating_add(1);
        self.open_until.replace(now + pause).is_none()
    }

    /// The request ended without telling anything about the replica.
    pub(super) fn unsure(&mut self) {
        self.trial = None;
    }

    fn note(&mut self, failed: f64) {
        self.outcomes = self.outcomes.saturating_add(1);
        self.record += (failed - self.record) * WEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_miss_is_forgiven_and_three_in_a_row_are_not() {
        let now = Instant::now();
        let mut health = Health::default();
        assert!(!health.sick(now) && !health.sick(now));
        health.well();
        assert!(!health.sick(now) && !health.sick(now) && health.admits(now));
        assert!(health.sick(now), "the third in a row opens it");
        assert!(!health.admits(now));
    }

    #[test]
    fn one_request_is_let_through_when_the_time_has_come() {
        let now = Instant::now();
        let mut health = Health::default();
        for _ in 0..3 {
            health.sick(now);
        }
        let later = now + FIRST_PAUSE;
        assert!(health.admits(later));
        health.begun(later);
        assert!(!health.admits(later), "only one");
        assert!(!health.sick(later), "it was open already");
        assert!(!health.admits(later + FIRST_PAUSE), "the pause has doubled");
        let last = later + FIRST_PAUSE * 2;
        health.begun(last);
        health.well();
        assert!(health.admits(last));
        assert!(!health.sick(last) && !health.sick(last), "it starts afresh");
    }

    #[test]
    fn a_trial_that_tells_nothing_does_not_block_the_next() {
        let now = Instant::now();
        let mut health = Health::default();
        for _ in 0..3 {
            health.sick(now);
        }
        let later = now + FIRST_PAUSE;
        health.begun(later);
        health.unsure();
        assert!(health.admits(later));
        health.begun(later);
        assert!(health.admits(later + TRIAL), "a trial that was lost");
    }

    #[test]
    fn a_bad_record_is_enough_and_pauses_have_an_end() {
        let now = Instant::now();
        let mut flaky = Health::default();
        let opened = (0..60).any(|round| {
            if round % 3 == 2 {
                flaky.well();
                return false;
            }
            flaky.sick(now)
        });
        assert!(opened, "two of three fail");
        for _ in 0..50 {
            flaky.sick(now);
        }
        assert!(flaky.admits(now + LONGEST_PAUSE));
    }
}
