//! Calls that the gateway's own database prevents are repeated: a restart of the database fails no task.

use std::time::Duration;

use proto::Failure;
use store::StoreError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a task waits for the database.
const LONGEST: Duration = Duration::from_secs(60);

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// The time since the database first failed a task.
#[derive(Default)]
pub(crate) struct Outage {
    began: Option<Instant>,
    pauses: u32,
}

impl Outage {
    /// Waits before the next try if the database is the cause; false if the failure is final. A call may have run: with the
    /// same idempotency key it is answered from its record, or run again as after a crash.
    pub(crate) async fn wait(&mut self, failure: &Failure, cancel: &CancellationToken) -> bool {
        if !is_of_database(failure) {
            return false;
        }
        let began = *self.began.get_or_insert_with(Instant::now);
        if began.elapsed() >= LONGEST {
            return false;
        }
        let factor = 2_u32.saturating_pow(self.pauses);
        self.pauses += 1;
        tokio::select! {
            () = cancel.cancelled() => false,
            () = tokio::time::sleep(FIRST_PAUSE.saturating_mul(factor).min(LAST_PAUSE)) => true,
        }
    }
}

fn is_of_database(failure: &Failure) -> bool {
    failure.source.as_deref().is_some_and(|source| source.is::<StoreError>())
}

#[cfg(test)]
mod tests {
    use proto::Code;

    use super::*;

    #[tokio::test]
    async fn only_failures_of_the_database_are_waited_for_and_not_for_ever() {
        let never = CancellationToken::new();
        let plain = Failure::new(Code::Unavailable, "the server is down");
        assert!(!Outage::default().wait(&plain, &never).await);
        let away = || Failure::new(Code::Unavailable, "no database").caused_by(StoreError::Fenced);
        assert!(Outage::default().wait(&away(), &never).await);
        let mut long = Outage { began: Instant::now().checked_sub(LONGEST), pauses: 9 };
        assert!(long.began.is_none() || !long.wait(&away(), &never).await);
        never.cancel();
        assert!(!Outage::default().wait(&away(), &never).await, "it was aborted");
    }
}
