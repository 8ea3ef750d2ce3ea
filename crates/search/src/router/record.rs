//! How fast a provider answered lately, and how often it found something: pure, time comes in.

/// The weight of the latest search in averages.
const NEW: f64 = 0.3;

/// The assumed latency of a provider that was not asked yet, in milliseconds.
const UNKNOWN: f64 = 1_000.0;

/// The least yield that is assumed, so that a provider without results is not put off for ever.
const LEAST_YIELD: f64 = 0.05;

/// Means over recent searches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Record {
    latency_ms: f64,
    /// The share of searches that had results.
    yielded: f64,
}

impl Default for Record {
    fn default() -> Self {
        Self { latency_ms: UNKNOWN, yielded: 1.0 }
    }
}

impl Record {
    pub(super) fn add(&mut self, latency_ms: u64, found: bool) {
        self.latency_ms += NEW * (latency_ms as f64 - self.latency_ms);
        self.yielded += NEW * (f64::from(u8::from(found)) - self.yielded);
    }

    /// About how long it takes until the provider has results, in milliseconds.
    pub(super) fn cost(&self) -> f64 {
        self.latency_ms / self.yielded.max(LEAST_YIELD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_and_fruitless_providers_cost_more() {
        let of = |latency, found| {
            let mut record = Record::default();
            for _ in 0..20 {
                record.add(latency, found);
            }
            record.cost()
        };
        assert!(of(100, true) < of(900, true));
        assert!(of(900, true) < of(100, false), "{} {}", of(900, true), of(100, false));
        assert!(of(0, false).is_finite());
    }
}
