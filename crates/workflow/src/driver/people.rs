//! What people decide and answer, and how the run ends.

use approvals::{ApprovalRow, ApprovalState};
use dag::core::{CellStage, EventKind, UndoStage};
use proto::{Code, Failure};
use runs::RunEnd;
use serde_json::{Value, json};
use strip::Parked;

use super::Driver;
use super::commit::FIRST_RETRY;
use crate::results::{ResultKey, error_of};

impl Driver {
    /// Reads what was decided about the calls that wait for people.
    pub(super) async fn read_decisions(&mut self) {
        let mut questions = None;
        for (key, parked) in self.moment().waiting() {
            if !self.is_waiting(&key) {
                continue;
            }
            let asked = match parked {
                Parked::Approval { approval_id, .. } => {
                    self.read_decision(&key, &approval_id).await;
                    continue;
                }
                Parked::Questions { questions, .. } => questions,
            };
            if questions.is_none() {
                questions = self.open_questions().await;
            }
            let Some(open) = &questions else { continue };
            if !asked.iter().any(|asked| open.contains(&asked.question_id)) {
                let (cell, undo) = (key.address, key.undo);
                let event = EventKind::Settled { cell, undo, approved: true, feedback: None };
                self.feed(event).await;
            }
        }
    }

    fn is_waiting(&self, key: &ResultKey) -> bool {
        if key.undo {
            let mut undone = self.workflow.state.compensations.iter();
            return undone.any(|undo| undo.cell == key.address && undo.stage == UndoStage::Parked);
        }
        let cell = self.workflow.state.root.cell(&key.address);
        cell.is_some_and(|cell| matches!(cell.stage, CellStage::Parked | CellStage::Asking))
    }

    /// The ids of the run's open questions; none if they cannot be read.
    async fn open_questions(&self) -> Option<Vec<String>> {
        match self.service.strip.runs().show(None, self.workflow.run.id()).await {
            Ok(run) => {
                let open = run.questions.into_iter().filter(|asked| asked.state == "open");
                Some(open.map(|asked| asked.question_id).collect())
            }
            Err(failure) => {
                tracing::warn!(workflow = %self.workflow.id, "the questions of a workflow cannot be read; trying again: {failure}");
                self.service.wake_later(self.workflow.id);
                None
            }
        }
    }

    async fn read_decision(&mut self, key: &ResultKey, id: &str) {
        let Some(approvals) = self.service.strip.approvals().cloned() else { return };
        let row = match approvals.get(None, id).await {
            Ok(row) => row,
            Err(error) => {
                tracing::warn!(%error, workflow = %self.workflow.id, "an approval of a workflow cannot be read; trying again");
                self.service.wake_later(self.workflow.id);
                return;
            }
        };
        let approved = match row.as_ref().map(|row| row.state) {
            Some(ApprovalState::Pending) => return,
            // One that was used up belongs to a call that a crash interrupted: the guard decides what follows.
            Some(ApprovalState::Approved | ApprovalState::Consumed) => true,
            _ => false,
        };
        let feedback = row.as_ref().and_then(|row| row.reason.clone()).filter(|_| !approved);
        if !approved {
            let error = rejection(id, row.as_ref(), feedback.as_deref());
            self.workflow.results.update(key, |result| result.note.error = Some(error));
        }
        let (cell, undo) = (key.address.clone(), key.undo);
        self.feed(EventKind::Settled { cell, undo, approved, feedback }).await;
    }

    /// Cancels what people were asked. Questions are withdrawn when the run ends.
    pub(super) async fn withdraw(&mut self, reason: &str) {
        let ids = self.approval_ids();
        if let Some(approvals) = self.service.strip.approvals().filter(|_| !ids.is_empty()) {
            let cancelled = approvals.cancel(&ids, &self.workflow.principal, Some(reason)).await;
            if let Err(error) = cancelled {
                tracing::warn!(%error, "approvals of a workflow cannot be cancelled");
            }
        }
    }

    /// Whether a person approved a call that waits.
    pub(super) async fn is_approved(&self) -> bool {
        let Some(approvals) = self.service.strip.approvals() else { return false };
        for id in self.approval_ids() {
            // One that cannot be read is not approved: the call does not run.
            let row = approvals.get(None, &id).await.ok().flatten();
            if row.is_some_and(|row| row.state == ApprovalState::Approved) {
                return true;
            }
        }
        false
    }

    /// Ends the run; the end is committed with the next change of the workflow.
    pub(super) async fn end_run(&mut self, end: RunEnd) {
        let mut pause = FIRST_RETRY;
        while let Err(failure) = self.service.strip.runs().end(&self.workflow.run, end).await {
            tracing::warn!(workflow = %self.workflow.id, "the end of a workflow's run cannot be written; trying again: {failure}");
            if !self.wait_to_retry(&mut pause).await {
                return;
            }
        }
    }
}

/// The error of a call that was not approved.
fn rejection(id: &str, row: Option<&ApprovalRow>, feedback: Option<&str>) -> Value {
    let (state, message) = match row.map(|row| row.state) {
        Some(ApprovalState::Rejected) => ("rejected", "a reviewer rejected the call"),
        Some(ApprovalState::Cancelled) => ("cancelled", "the request for approval was cancelled"),
        _ => ("expired", "there was no decision about the call in time, so it was not run"),
    };
    let message = match feedback {
        Some(feedback) => format!("{message}: {feedback}"),
        None => message.to_owned(),
    };
    let details = json!({"approval": id, "state": state, "reason": feedback});
    error_of(&Failure::new(Code::Denied, message).details(details))
}
