//! The orderly end of a process: nothing new starts, what runs may finish, and the next process goes on.

use std::time::Duration;

use tokio::time::timeout;

use crate::workflows::Workflows;

/// How long drivers may take to write what they have once their calls are cut off.
const WRITE_TIME: Duration = Duration::from_millis(1_500);

/// How long the release of leases may take. A database that does not answer must not delay the end.
const RELEASE_TIME: Duration = Duration::from_secs(5);

impl Workflows {
    /// Starts nothing new, and lets running calls finish for at most `time`. What still runs then is handled as after a
    /// crash: the next process calls it again, or reports that its outcome is unknown.
    pub async fn drain(&self, time: Duration) {
        let service = self.service();
        if service.stopping.is_cancelled() {
            return;
        }
        service.draining.cancel();
        service.drivers.close();
        let finished = async { tokio::join!(self.release(RELEASE_TIME), service.drivers.wait()) };
        let _ = timeout(time, finished).await;
        let left = service.drivers.len();
        if left > 0 {
            tracing::warn!(
                workflows = left,
                "drain time is over; running tasks continue at the next start"
            );
        }
        service.stopping.cancel();
        // Again: a workflow may have been claimed at the moment of the first release.
        let finished = async { tokio::join!(self.release(WRITE_TIME), service.drivers.wait()) };
        let _ = timeout(WRITE_TIME, finished).await;
    }

    /// Releases the leases, so that the next process does not take this one's end for a crash. Drivers go on to write: only
    /// a claim changes the fence.
    async fn release(&self, time: Duration) {
        let service = self.service();
        let released = timeout(time, service.database.release_workflows(&service.process)).await;
        let error = match released {
            Ok(Ok(_)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(late) => late.to_string(),
        };
        tracing::warn!(%error, "the leases of workflows cannot be released; the next start counts a crash for them");
    }
}
