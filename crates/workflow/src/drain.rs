//! The orderly end of a process: nothing new starts, what runs may finish, and the next process goes on.

use std::time::Duration;

use tokio::time::Instant;

use crate::workflows::Workflows;

/// How long drivers may take to write what they have once their calls are cut off.
const WRITE_TIME: Duration = Duration::from_secs(2);

impl Workflows {
    /// Starts nothing new, and lets running calls finish for at most `time`. What still runs then is handled as after a
    /// crash: the next process calls it again, or reports that its outcome is unknown.
    pub async fn drain(&self, time: Duration) {
        let service = self.service();
        let deadline = Instant::now() + time;
        let first = !service.draining.is_cancelled();
        service.draining.cancel();
        service.drivers.close();
        if first {
            self.release().await;
        }
        let _ = tokio::time::timeout_at(deadline, service.drivers.wait()).await;
        let left = service.drivers.len();
        if left > 0 {
            tracing::warn!(
                workflows = left,
                "drain time is over; running tasks continue at the next start"
            );
        }
        service.stopping.cancel();
        // Again: a workflow may have been claimed at the moment of the first release.
        self.release().await;
        let _ = tokio::time::timeout(WRITE_TIME, service.drivers.wait()).await;
    }

    /// Releases the leases, so that the next process does not take this one's end for a crash. Drivers go on to write: only
    /// a claim changes the fence.
    async fn release(&self) {
        let service = self.service();
        if let Err(error) = service.database.release_workflows(&service.process).await {
            tracing::warn!(%error, "the leases of workflows cannot be released; the next start counts a crash for them");
        }
    }
}
