use std::time::Duration;

use tracing::Instrument as _;

/// The time that is left until a deadline. A system clock that was set back does not extend it past the original span.
pub(crate) fn remaining(from_ms: u64, until_ms: u64, now_ms: u64) -> Duration {
    Duration::from_millis(until_ms.saturating_sub(now_ms).min(until_ms.saturating_sub(from_ms)))
}

/// Runs work to its end, even if the future that waits for it is dropped.
pub async fn run_to_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    match tokio::spawn(work.in_current_span()).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Cancelled only when the runtime ends, which ends this future, too.
            Err(_) => std::future::pending().await,
        },
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
