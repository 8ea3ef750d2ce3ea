//! Waits for the decision about a call.

use std::pin::pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use store::{ApprovalRow, ApprovalState};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior};

use super::{ApprovalError, ClaimGuard, Gate, Passage, check_caller};
use crate::approval::{DecideError, Decider, Outcome, question};
use crate::{AskMode, Client, Job, LogLevel, Output, Reply};

impl Gate<'_> {
    /// Waits until a person decides, the deadline passes, the caller leaves or the process ends.
    pub(super) async fn wait(
        &self,
        job: &Job,
        row: ApprovalRow,
        claim: ClaimGuard,
        decided: oneshot::Receiver<Outcome>,
        answered: bool,
    ) -> Result<Passage, ApprovalError> {
        let asks = self.approvals.terms().elicitation && !answered && can_ask(job);
        let client = job.client.as_ref().filter(|_| asks);
        if client.is_some_and(|client| client.ask_mode() == AskMode::Rounds) {
            // The claim is released: the repeated call takes it over.
            return Ok(ask_in_rounds(&row));
        }
        let outcome = self.outcome(job, &row, client, decided).await?;
        self.conclude(job, row, claim, outcome).await
    }

    /// How the approval ends; none if nothing decided about it. The caller's client is asked too, if it can show forms.
    async fn outcome(
        &self,
        job: &Job,
        row: &ApprovalRow,
        client: Option<&Arc<dyn Client>>,
        mut decided: oneshot::Receiver<Outcome>,
    ) -> Result<Option<Outcome>, ApprovalError> {
        let terms = self.approvals.terms();
        let mut asking = pin!(async {
            let client = client?;
            client.ask(question::METHOD, question::form(row)).await.ok()
        });
        let mut open = client.is_some();
        let mut tick = tokio::time::interval(terms.notice_every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut notices = 0_u32;
        let due = self.approvals.due(&row.id).unwrap_or_else(Instant::now);
        let mut late = false;
        loop {
            tokio::select! {
                biased;
                outcome = &mut decided => return Ok(outcome.ok()),
                () = job.cancel().cancelled() => check_caller(job)?,
                () = self.approvals.ending().cancelled() => {
                    return Err(ApprovalError::ShuttingDown);
                }
                () = tokio::time::sleep_until(due), if !late => {
                    late = true;
                    if !self.approvals.expire(&row.id).await.map_err(ApprovalError::Unreadable)? {
                        // It was decided before the deadline, but the decision has not woken this call.
                        return self.decided(&row.id).await;
                    }
                }
                answer = &mut asking, if open => {
                    open = false;
                    if let Some(answer) = answer {
                        self.answered(job, &row.id, &answer).await?;
                    }
                }
                _ = tick.tick() => {
                    notices += 1;
                    self.notify(job, row, terms.dashboard.as_deref(), notices);
                }
            }
        }
    }

    /// Lets the call pass if it was approved; otherwise says how the approval ended.
    async fn conclude(
        &self,
        job: &Job,
        row: ApprovalRow,
        claim: ClaimGuard,
        outcome: Option<Outcome>,
    ) -> Result<Passage, ApprovalError> {
        let (id, timeout) = (row.id, self.timeout);
        let Some(outcome) = outcome else { return Err(ApprovalError::Expired { id, timeout }) };
        tracing::debug!(approval = id, by = outcome.by, state = %outcome.state, "decided");
        match outcome.state {
            ApprovalState::Approved => {
                check_caller(job)?;
                Ok(self.grant(claim, row.fingerprint))
            }
            ApprovalState::Rejected => {
                self.approvals.mark_reported(&id).await?;
                Err(ApprovalError::Rejected { id, reason: outcome.reason })
            }
            ApprovalState::Cancelled => {
                Err(ApprovalError::Cancelled { id, reason: outcome.reason })
            }
            _ => Err(ApprovalError::Expired { id, timeout }),
        }
    }

    /// Applies the decision of the person at the caller's own client, if they may decide.
    pub(super) async fn answered(
        &self,
        job: &Job,
        id: &str,
        answer: &Value,
    ) -> Result<(), ApprovalError> {
        if !self.approvals.terms().elicitation || !can_ask(job) {
            return Ok(());
        }
        let Some(decision) = question::decided(answer) else { return Ok(()) };
        let decider = Decider::Client(Arc::clone(&job.request().principal));
        match self.approvals.decide(id, &decider, decision).await {
            Err(DecideError::Store(error)) => Err(ApprovalError::Unreadable(error)),
            _ => Ok(()),
        }
    }

    /// The decision in the database.
    async fn decided(&self, id: &str) -> Result<Option<Outcome>, ApprovalError> {
        let row = self.approvals.get(None, id).await.map_err(ApprovalError::Unreadable)?;
        Ok(row.map(|row| Outcome {
            state: row.state,
            by: row.decided_by.unwrap_or_default(),
            reason: row.reason,
        }))
    }

    /// Sends a waiting caller a notice, so that it does not give up.
    fn notify(&self, job: &Job, row: &ApprovalRow, dashboard: Option<&str>, notices: u32) {
        let Some(client) = &job.client else { return };
        let place = dashboard.map_or_else(
            || format!("with `powerstrip approvals show {}`", row.id),
            |dashboard| format!("at {dashboard}/approvals/{}", row.id),
        );
        let message = format!("waiting for approval of {}; a person decides {place}", row.tool);
        if client.wants_progress() {
            let mut report = Map::new();
            // Progress must grow, so this stays below the tool's own, which follows.
            report.insert("progress".to_owned(), json!(f64::from(notices) * 1e-6));
            report.insert("message".to_owned(), message.into());
            client.progress(report);
        } else if notices == 1 && client.log_level().is_some_and(|least| least <= LogLevel::Notice)
        {
            let log = json!({"level": "notice", "logger": "powerstrip", "data": message});
            client.log(log.as_object().cloned().unwrap_or_default());
        }
    }
}

/// The question for a client that repeats its call with the answer.
fn ask_in_rounds(row: &ApprovalRow) -> Passage {
    let native = Arc::new(question::round(row));
    let data = json!({"approval": row.id, "state": "pending"});
    let output = Output { native: Some(native), reply: Reply::NeedsInput, ..Output::new(data) };
    Passage::Asked(output)
}

/// Whether the caller's client can show forms.
fn can_ask(job: &Job) -> bool {
    job.client.as_ref().is_some_and(|client| question::can_show_forms(client.capabilities()))
}
