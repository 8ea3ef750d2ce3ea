//! Calls that the gateway's own database prevents are repeated: a restart of the database fails no task.

use std::time::Duration;

use proto::Failure;
use store::StoreError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::failures::{is_damage, unavailable};

/// How long a task waits for the database.
const LONGEST: Duration = Duration::from_secs(60);

/// How often a command tries again what the database prevents, before it fails.
pub(crate) const RETRIES: usize = 3;

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

/// Tries again what the database prevents, [`RETRIES`] times.
pub(crate) async fn retry<T, F>(attempt: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 0..RETRIES {
        match attempt().await {
            Err(failure) if is_of_database(&failure) => tokio::time::sleep(pause).await,
            result => return result,
        }
        pause *= 2;
    }
    attempt().await
}

/// Reads from the database, and tries again if that fails.
pub(crate) async fn read<T, F>(read: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, StoreError>>,
{
    retry(|| async { read().await.map_err(unavailable) }).await
}

fn is_of_database(failure: &Failure) -> bool {
    let error = failure.source.as_deref().and_then(|source| source.downcast_ref::<StoreError>());
    error.is_some_and(|error| !is_damage(error))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proto::Code;

    use super::*;

    #[tokio::test]
    async fn reads_are_tried_again_three_times() {
        let tries = Cell::new(0);
        let read_after = async |failures: usize| {
            tries.set(0);
            let attempt = || async {
                tries.set(tries.get() + 1);
                if tries.get() > failures { Ok(()) } else { Err(StoreError::Fenced) }
            };
            let read = read(attempt).await;
            (tries.get(), read.map_err(|failure| (failure.code, failure.retryable)))
        };
        assert_eq!(read_after(3).await, (4, Ok(())));
        assert_eq!(read_after(9).await, (4, Err((Code::Unavailable, true))));
        tries.set(0);
        let missing = retry(|| async {
            tries.set(tries.get() + 1);
            Err::<(), _>(Failure::new(Code::NotFound, "gone"))
        });
        assert!(missing.await.is_err() && tries.get() == 1, "other failures are final");
        tries.set(0);
        let damaged = read(|| async {
            tries.set(tries.get() + 1);
            Err::<(), _>(StoreError::Unreadable { column: "output", value: "{".to_owned() })
        });
        assert_eq!(damaged.await.map_err(|failure| failure.code), Err(Code::Internal));
        assert_eq!(tries.get(), 1, "damage is final");
    }

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
