use std::time::Duration;

use tokio::time::Instant;

/// How many events are let through at once, and how long one more takes.
const BURST: u32 = 8;
const REFILL: Duration = Duration::from_secs(2);

/// Limits the rate of a server's announcements that announce nothing new: each makes clients fetch a list.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: u32,
    refilled: Instant,
}

impl Allowance {
    pub(crate) fn new(now: Instant) -> Self {
        Self { left: BURST, refilled: now }
    }

    /// Uses one up, and returns how long to wait before the next.
    pub(crate) fn take(&mut self, now: Instant) -> Duration {
        while self.left < BURST && now.duration_since(self.refilled) >= REFILL {
            self.left += 1;
            self.refilled += REFILL;
        }
        if self.left == BURST {
            self.refilled = now;
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 { Duration::ZERO } else { REFILL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_one_at_a_time() {
        let mut now = Instant::now();
        let mut allowance = Allowance::new(now);
        let waits: Vec<_> = (0..BURST).map(|_| allowance.take(now)).collect();
        assert_eq!(waits.iter().filter(|wait| !wait.is_zero()).count(), 1, "{waits:?}");
        for _ in 0..3 {
            now += REFILL;
            assert_eq!(allowance.take(now), REFILL);
        }
        now += REFILL * BURST;
        assert_eq!(allowance.take(now), Duration::ZERO);
    }
}
