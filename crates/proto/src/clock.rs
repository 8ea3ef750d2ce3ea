use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The source of time, replaceable so that expiry can be tested without waiting.
#[derive(Clone, Debug, Default)]
pub struct Clock(Source);

#[derive(Clone, Debug, Default)]
enum Source {
    #[default]
    System,
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that only [`Self::advance`] moves.
    pub fn manual(unix_ms: u64) -> Self {
        Self(Source::Manual(Arc::new(AtomicU64::new(unix_ms))))
    }

    /// Milliseconds since 1970.
    pub fn unix_ms(&self) -> u64 {
        match &self.0 {
            Source::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
            Source::Manual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Moves a manual clock forward; has no effect on the system clock.
    pub fn advance(&self, by: Duration) {
        if let Source::Manual(now) = &self.0 {
            now.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }
}
