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
mod tests;
