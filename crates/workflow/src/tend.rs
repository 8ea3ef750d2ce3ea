//! Wakes workflows whose people have decided, and removes those that have expired.

use std::time::Duration;

use approvals::EventKind;
use proto::{Code, Failure};
use store::StoreError;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::workflows::Workflows;

/// How often paused workflows are checked for their expiry.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// The kinds of checkpoints that wait for people.
const WAITING: [&str; 2] = ["approval_required", "input_required"];

/// How often workflows are read again that the database could not give.
const RETRY_EVERY: Duration = Duration::from_secs(1);

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
            Err(failure) => {
                tracing::warn!(workflow = %id, "a workflow cannot be read: {failure}");
                self.wake_again_after(id, &failure);
            }
        }
    }

    /// Wakes a workflow again later, if that may help.
    pub(crate) fn wake_again_after(&self, id: Uuid, failure: &Failure) {
        if failure.code == Code::Unavailable {
            self.service().wake_later(id);
        }
    }

    /// Wakes all workflows that wait for people, however long the database takes.
    pub(crate) async fn wake_all(&self) {
        while let Err(error) = self.wake_waiting().await {
            tracing::warn!(%error, "workflows that wait for people cannot be read; trying again");
            tokio::time::sleep(RETRY_EVERY).await;
        }
    }

    /// Expires workflows and follows decisions of people. Never returns.
    pub async fn tend(&self) {
        // Workflows are woken apart from the events, so that the subscriptions do not fall behind.
        let (wake, woken) = mpsc::unbounded_channel();
        tokio::join!(
            self.sweep_forever(),
            self.follow_approvals(wake.clone()),
            self.follow_answers(wake),
            self.wake_each(woken),
            self.retry_forever(),
        );
    }

    async fn wake_each(&self, mut woken: mpsc::UnboundedReceiver<Uuid>) {
        while let Some(id) = woken.recv().await {
            self.wake(id).await;
        }
    }

    async fn retry_forever(&self) {
        loop {
            tokio::time::sleep(RETRY_EVERY).await;
            for id in self.service().take_unread() {
                self.wake(id).await;
            }
        }
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

    async fn follow_approvals(&self, wake: mpsc::UnboundedSender<Uuid>) {
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
                    if let Some(id) = run.and_then(|run| Self::parse(run).ok()) {
                        // Its receiver lives as long as this.
                        let _ = wake.send(id);
                    }
                }
                Err(RecvError::Lagged(_)) => self.wake_all().await,
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn follow_answers(&self, wake: mpsc::UnboundedSender<Uuid>) {
        let mut answered = self.service().strip.runs().answered();
        loop {
            match answered.recv().await {
                Ok(run) => {
                    if let Ok(id) = Self::parse(&run) {
                        let _ = wake.send(id);
                    }
                }
                Err(RecvError::Lagged(_)) => self.wake_all().await,
                Err(RecvError::Closed) => return,
            }
        }
    }
}
