//! The operator's own limit of requests to a provider.

use std::time::Duration;

use crate::settings::Quota;

/// Counts requests in periods that begin with their first request.
#[derive(Clone, Debug)]
pub(super) struct QuotaCounter {
    quota: Quota,
    began: Option<u64>,
    used: u32,
}

impl QuotaCounter {
    pub(super) fn new(quota: Quota) -> Self {
        Self { quota, began: None, used: 0 }
    }

    /// Counts a request, or says how long to wait.
    pub(super) fn take(&mut self, now: u64) -> Result<(), Duration> {
        let period = u64::try_from(self.quota.period.as_millis()).unwrap_or(u64::MAX);
        let end = self.began.map(|began| began.saturating_add(period)).filter(|end| now < *end);
        let Some(end) = end else {
            self.began = Some(now);
            self.used = 0;
            return self.count(period);
        };
        self.count(end - now)
    }

    fn count(&mut self, wait: u64) -> Result<(), Duration> {
        if self.used >= self.quota.requests {
            return Err(Duration::from_millis(wait));
        }
        self.used += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn requests_beyond_the_quota_wait_for_the_next_period() {
        let mut counter = QuotaCounter::new("2/1m".parse().unwrap());
        counter.take(1_000).unwrap();
        counter.take(2_000).unwrap();
        assert_eq!(counter.take(3_000), Err(Duration::from_secs(58)));
        counter.take(61_000).unwrap();
        counter.take(61_000).unwrap();
        assert!(counter.take(61_000).is_err());
    }

    #[test]
    fn a_quota_of_none_admits_nothing() {
        let mut counter = QuotaCounter::new("0/1d".parse().unwrap());
        assert_eq!(counter.take(0), Err(Duration::from_secs(86_400)));
    }
}
