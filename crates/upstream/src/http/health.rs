//! Whether calls are sent to a replica: a circuit breaker that opens after failures in a row or at a high failure rate,
//! and lets one request through after a pause. Pure: the time is a parameter.

use std::time::Duration;

use tokio::time::Instant;

/// How many failures in a row open the breaker.
const IN_A_ROW: u32 = 3;

/// The weighted failure rate that opens the breaker, and how many outcomes there must have been.
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
mod tests;
