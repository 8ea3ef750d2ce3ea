//! Wakes workflows whose people have decided, and removes those that have expired.

use std::time::Duration;

use store::StoreError;
use strip::approval::EventKind;
use strip::runs::RunChange;
use tokio::sync::broadcast::error::RecvError;
use uuid::Uuid;

use crate::workflows::Workflows;

/// How often paused workflows are checked for their expiry.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// The kinds of checkpoints that wait for people.
const WAITING: [&str; 2] = ["approval_required", "input_required"];

impl Workflows {
    /// Has workflows that wait for people look at what was decided.
    pub(crate) async fn wake_waiting(&self) -> Result<(), StoreError> {
        // All are named before the first is woken: a list in pages would skip as many as have gone on meanwhile.
        for id in self.service().database.workflows_paused_at(WAITING).await? {
            self.wake(id).await;
        }
        Ok(())
    }

    /// Has a workflow look at its approvals and questions.
    async fn wake(&self, id: Uuid) {
        match self.load(id).await {
            Ok(Some(live)) => {
                // A driver that has just ended needs no notice.
                let _ = live.settled.send(());
            }
            Ok(None) => {}
            Err(failure) => tracing::warn!(workflow = %id, "a workflow cannot be read: {failure}"),
        }
    }

    /// Expires workflows and follows decisions of people. Never returns.
    pub async fn tend(&self) {
        tokio::join!(self.sweep_forever(), self.follow_approvals(), self.follow_answers());
    }

    async fn sweep_forever(&self) {
        let mut tick = tokio::time::interval(SWEEP_EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = self.sweep().await {
                tracing::warn!(%error, "expired workflows cannot be removed");
            }
        }
    }

    /// Removes paused workflows and answers whose time is over.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        let now = self.service().now();
        for id in self.service().database.expired_workflows(now).await? {
            if let Err(failure) = self.expire(id).await {
                tracing::warn!(workflow = %id, "cannot expire: {failure}");
            }
        }
        self.service().database.forget_workflow_answers(now).await?;
        Ok(())
    }

    async fn follow_approvals(&self) {
        let Some(approvals) = self.service().strip.approvals().cloned() else { return };
        let mut events = approvals.events();
        loop {
            match events.recv().await {
                Ok(event) => {
                    let over = matches!(
                        event.kind,
                        EventKind::Decided | EventKind::Expired | EventKind::Cancelled
                    );
                    let run =
                        event.row.run.as_deref().filter(|_| over && event.row.door == "workflow");
                    let id = run.and_then(|run| run.strip_prefix("run_"));
                    if let Some(id) = id.and_then(|hex| Uuid::parse_str(hex).ok()) {
                        self.wake(id).await;
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    if let Err(error) = self.wake_waiting().await {
                        tracing::warn!(%error, "workflows that wait for people cannot be read");
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn follow_answers(&self) {
        let mut events = self.service().strip.runs().events();
        loop {
            match events.recv().await {
                Ok(event) if event.what == RunChange::Answered => {
                    let id = event.run.strip_prefix("run_");
                    if let Some(id) = id.and_then(|hex| Uuid::parse_str(hex).ok()) {
                        self.wake(id).await;
                    }
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    if let Err(error) = self.wake_waiting().await {
                        tracing::warn!(%error, "workflows that wait for people cannot be read");
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    }
}
