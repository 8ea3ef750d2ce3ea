use std::mem;
use std::sync::Arc;
use std::time::Duration;

use dag::core::{Outcome, Pause, PauseKind, Phase, Stage, Verdict};
use runs::RunEnd;
use serde_json::json;
use store::{
    RowChange, StoreError, WorkflowAnswer, WorkflowChange, WorkflowCheckpointRow, WorkflowPhase,
    WorkflowUpdate,
};
use tokio::time::Instant;

use super::{Driver, SETTLE};
use crate::checkpoint::QUARANTINED;
use crate::failures::is_damage;
use crate::fit::{Fitting, MAX_ANSWER};
use crate::listing::tasks_of;
use crate::results::to_json;

pub(super) const FIRST_RETRY: Duration = Duration::from_millis(50);
const LAST_RETRY: Duration = Duration::from_secs(2);

/// How long this process drives a workflow without writing to it.
pub(crate) const LEASE_MS: u64 = 60_000;

impl Driver {
    /// Commits everything, and the state with it; false if the workflow is no longer this driver's.
    pub(super) async fn save(&mut self) -> bool {
        let Phase::Saving(then) = &self.workflow.state.phase else { return false };
        let then = (**then).clone();
        // A paused workflow that was changed stays at its checkpoint.
        let stays = matches!(&then, Phase::Paused(pause) if self.published.borrow().state.pause().is_some_and(|before| before.checkpoint_id == pause.checkpoint_id));
        if !stays {
            self.note_phase(&then);
        }
        let now = self.service.now();
        self.workflow.expires_unix_ms = self.service.expiry(now);
        let change = match &then {
            Phase::Ended(_) => match self.last_change().await {
                Some(change) => change,
                None => return false,
            },
            Phase::Paused(pause) => {
                if let PauseKind::OwnerGone { reason } = &pause.kind {
                    tracing::warn!(workflow_id = %self.workflow.id, reason, "a workflow is paused: owner_gone");
                }
                self.pause_change(pause)
            }
            _ => self.change(WorkflowPhase::Running),
        };
        match &then {
            Phase::Ended(Outcome::Complete) => self.end_run(RunEnd::Completed).await,
            Phase::Ended(Outcome::Failed) => self.end_run(RunEnd::Failed).await,
            Phase::Ended(Outcome::Aborted { .. }) => self.end_run(RunEnd::Aborted).await,
            Phase::Paused(pause) => {
                let rejected = pause.kind == PauseKind::Rejected;
                self.service.strip.runs().set_rejected(&self.workflow.run, rejected);
            }
            _ => {}
        }
        if self.stopped || !self.commit(change).await {
            return false;
        }
        if then == Phase::Ended(Outcome::Complete) {
            self.learn().await;
        }
        self.workflow.results.committed();
        self.submitted = None;
        self.service.announce(self.workflow.id);
        true
    }

    /// Lets the planner learn from a workflow without a failed task.
    async fn learn(&self) {
        let tasks = &self.workflow.state.root.tasks;
        let failed = [Verdict::Failed, Verdict::Rejected].map(Stage::Ended);
        let none_failed = tasks.iter().all(|task| !failed.contains(&task.stage));
        if let Some(planner) = self.service.planner().filter(|_| none_failed) {
            planner.learn(self.workflow.principal.tenant.as_str(), &self.workflow.plan).await;
        }
    }

    fn pause_change(&mut self, pause: &Pause) -> WorkflowChange {
        let kind = match pause.kind {
            PauseKind::Planned => "planned",
            PauseKind::Layer => "layer",
            PauseKind::TaskFailed => "task_failed",
            PauseKind::Approval => "approval_required",
            PauseKind::Input => "input_required",
            PauseKind::OwnerGone { .. } => "owner_gone",
            PauseKind::Rejected => "rejected",
            PauseKind::Quarantined { .. } => QUARANTINED,
        };
        let fields = self.moment().fields(&pause.kind);
        let checkpoint = WorkflowCheckpointRow {
            workflow: self.workflow.id,
            id: pause.checkpoint_id.clone(),
            layer: i64::try_from(self.workflow.state.root.layer).unwrap_or(i64::MAX),
            kind: kind.to_owned(),
            answer: json!(fields).to_string(),
        };
        WorkflowChange { checkpoint: Some(checkpoint), ..self.change(WorkflowPhase::Paused) }
    }

    /// The end: the answer and the journal stay, everything else is deleted. None if the process ends before the answer
    /// can be made.
    async fn last_change(&mut self) -> Option<WorkflowChange> {
        let mut pause = FIRST_RETRY;
        let answer = loop {
            match self.moment().answer().await {
                Ok(answer) => break answer,
                Err(failure) => {
                    tracing::error!(workflow = %self.workflow.id, "the last answer of a workflow cannot be made; trying again: {failure}");
                }
            }
            if !self.wait_to_retry(&mut pause).await {
                return None;
            }
        };
        let fitting = Fitting {
            strip: &self.service.strip,
            principal: &self.workflow.principal,
            run: &self.workflow.run,
            results: &self.workflow.results,
        };
        let answer = Arc::new(fitting.fit(answer, MAX_ANSWER).await);
        let tasks = tasks_of(&self.moment());
        self.note_snapshot(&tasks);
        let text = answer.to_string();
        self.answer = Some(answer);
        Some(WorkflowChange {
            workflow: self.workflow.id,
            fence: self.workflow.fence,
            answer: Some(WorkflowAnswer {
                answer: text,
                expires_unix_ms: self.workflow.expires_unix_ms,
            }),
            events: mem::take(&mut self.events),
            delete_control: true,
            ..WorkflowChange::default()
        })
    }

    pub(super) fn change(&mut self, phase: WorkflowPhase) -> WorkflowChange {
        let now = self.service.now();
        let update = WorkflowUpdate {
            dag: mem::take(&mut self.plan_changed).then(|| to_json(&*self.workflow.plan)),
            state: Some(to_json(&self.workflow.state.saved())),
            phase: Some(phase),
            control_calls: Some(to_json(&self.workflow.control_calls)),
            updated_unix_ms: now,
            expires_unix_ms: Some(self.workflow.expires_unix_ms),
            lease_until_unix_ms: Some(now.saturating_add(LEASE_MS)),
            forgives_crashes: mem::take(&mut self.forgives_crashes),
        };
        WorkflowChange { row: Some(RowChange::Update(Box::new(update))), ..self.rows_change() }
    }

    fn rows_change(&mut self) -> WorkflowChange {
        WorkflowChange {
            workflow: self.workflow.id,
            fence: self.workflow.fence,
            tasks: mem::take(&mut self.rows),
            events: mem::take(&mut self.events),
            ..WorkflowChange::default()
        }
    }

    /// Writes the state without waiting for the commit, and lives longer: a command was accepted, or a layer is over.
    pub(super) async fn submit(&mut self) {
        let now = self.service.now();
        self.workflow.expires_unix_ms = self.service.expiry(now);
        self.submit_state().await;
    }

    pub(super) async fn submit_state(&mut self) {
        if self.stopped {
            return;
        }
        let phase = match self.workflow.state.phase {
            Phase::Paused(_) => WorkflowPhase::Paused,
            _ => WorkflowPhase::Running,
        };
        let change = self.change(phase);
        self.submit_change(change).await;
    }

    /// Writes what was recorded, if anything was, without waiting for the commit.
    pub(super) async fn submit_rows(&mut self) {
        if self.stopped || self.rows.is_empty() && self.events.is_empty() {
            return;
        }
        let change = self.rows_change();
        self.submit_change(change).await;
    }

    async fn submit_change(&mut self, change: WorkflowChange) {
        match self.service.save(change.clone()).await {
            Ok(receipt) => self.submitted = Some((receipt, Instant::now() + SETTLE)),
            Err(_) => {
                // Refused while nothing can be written: wait until it can.
                self.commit(change).await;
            }
        }
    }

    /// Waits until a change is committed, however long the database takes; false if it never will be.
    pub(super) async fn commit(&mut self, change: WorkflowChange) -> bool {
        let mut pause = FIRST_RETRY;
        let mut tried = false;
        loop {
            let written = async { self.service.save(change.clone()).await?.committed().await };
            match written.await {
                Ok(()) => return true,
                // The end may have been written by an earlier try whose answer was lost.
                Err(StoreError::Fenced) if tried && change.delete_control => {
                    let now = self.service.now();
                    let answer = self.service.database.workflow_answer(self.workflow.id, now);
                    if let Ok(answer) = answer.await {
                        self.stopped = answer.is_none();
                        return !self.stopped;
                    }
                }
                Err(StoreError::Fenced) => {
                    tracing::warn!(workflow = %self.workflow.id, "another process drives this workflow");
                    self.stopped = true;
                    return false;
                }
                // The workflow stays as it is stored, so that it can still be shown and aborted.
                Err(error) if is_damage(&error) => {
                    tracing::error!(%error, workflow = %self.workflow.id, "a step of a workflow could not be read again and is not written; the workflow stops");
                    self.stopped = true;
                    return false;
                }
                Err(error) => {
                    tried = true;
                    tracing::error!(%error, workflow = %self.workflow.id, "a step of a workflow cannot be written; trying again");
                }
            }
            if !self.wait_to_retry(&mut pause).await {
                return false;
            }
        }
    }

    /// Waits before the next try; false if the process ends, and with it this driver.
    pub(super) async fn wait_to_retry(&mut self, pause: &mut Duration) -> bool {
        tokio::select! {
            () = self.service.stopping.cancelled() => {
                self.stopped = true;
                false
            }
            () = tokio::time::sleep(*pause) => {
                *pause = (*pause * 2).min(LAST_RETRY);
                true
            }
        }
    }

    /// Waits until everything that was submitted is committed; false if this driver stops.
    pub(super) async fn wait_until_written(&mut self) -> bool {
        let mut pause = FIRST_RETRY;
        loop {
            self.announce().await;
            if self.stopped || self.submitted.is_none() {
                return !self.stopped;
            }
            if !self.wait_to_retry(&mut pause).await {
                return false;
            }
        }
    }

    /// Notifies readers of the journal of rows that no caller waited for.
    pub(super) async fn announce(&mut self) {
        let Some((receipt, look_at)) = &mut self.submitted else { return };
        match receipt.committed().await {
            Ok(()) => {
                self.submitted = None;
                self.service.announce(self.workflow.id);
            }
            Err(StoreError::Fenced) => {
                self.submitted = None;
                self.stopped = true;
            }
            Err(error) => {
                // The writer keeps trying. The workflow stays in memory until then.
                *look_at = Instant::now() + LAST_RETRY;
                tracing::warn!(%error, "the journal of a workflow is not written yet");
            }
        }
    }
}
