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

/// How often the person at the caller's client is asked about one call.
const MAX_ROUNDS: usize = 3;

/// The answer of the person at the caller's client to the question about the approval.
pub(super) enum ClientAnswer {
    Missing,
    /// It was applied, came too late, or decides nothing: the person is not asked again.
    Taken,
    Refused(Refusal),
}

/// Why a decision was refused.
pub(super) struct Refusal {
    why: String,
    /// Whether another decision of the same person may be accepted.
    asks_again: bool,
}

/// A notice to a waiting caller.
struct Notice<'a> {
    /// How many notices there were, with this one.
    number: u32,
    /// Whether it says what no notice said before.
    is_new: bool,
    refusal: Option<&'a str>,
}

impl Gate<'_> {
    /// Waits until a person decides, the deadline passes, the caller leaves or the process ends.
    pub(super) async fn wait(
        &self,
        job: &Job,
        row: ApprovalRow,
        claim: ClaimGuard,
        decided: oneshot::Receiver<Outcome>,
        answer: ClientAnswer,
    ) -> Result<Passage, ApprovalError> {
        let (asks, refusal) = match answer {
            ClientAnswer::Missing => (true, None),
            ClientAnswer::Taken => (false, None),
            ClientAnswer::Refused(refusal) => (refusal.asks_again, Some(refusal.why)),
        };
        let asks = asks && self.approvals.terms().elicitation && can_ask(job);
        let client = job.client.as_ref().filter(|_| asks);
        if client.is_some_and(|client| client.ask_mode() == AskMode::Rounds) {
            // The claim is released: the repeated call takes it over.
            return Ok(ask_in_rounds(&row, refusal.as_deref()));
        }
        let outcome = self.outcome(job, &row, client, decided, refusal).await?;
        self.conclude(job, row, claim, outcome).await
    }

    /// How the approval ends; none if nothing decided about it. The caller's client is asked too, if it can show forms.
    async fn outcome(
        &self,
        job: &Job,
        row: &ApprovalRow,
        client: Option<&Arc<dyn Client>>,
        mut decided: oneshot::Receiver<Outcome>,
        mut refusal: Option<String>,
    ) -> Result<Option<Outcome>, ApprovalError> {
        let mut asking = pin!(ask(client, form(row, refusal.as_deref())));
        let mut open = client.is_some();
        let mut rounds = 1;
        let mut tick = tokio::time::interval(self.approvals.terms().notice_every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut notices, mut is_new) = (0_u32, true);
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
                    let Some(answer) = answer else { continue };
                    let applied = self.apply_answer(job, &row.id, &answer).await?;
                    let ClientAnswer::Refused(refused) = applied else { continue };
                    if refused.asks_again && rounds < MAX_ROUNDS {
                        (open, rounds) = (true, rounds + 1);
                        asking.set(ask(client, form(row, Some(&refused.why))));
                    }
                    (refusal, is_new) = (Some(refused.why), true);
                    tick.reset_immediately();
                }
                _ = tick.tick() => {
                    notices += 1;
                    let refusal = refusal.as_deref();
                    self.notify(job, row, &Notice { number: notices, is_new, refusal });
                    is_new = false;
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
    pub(super) async fn apply_answer(
        &self,
        job: &Job,
        id: &str,
        answer: &Value,
    ) -> Result<ClientAnswer, ApprovalError> {
        if !self.approvals.terms().elicitation || !can_ask(job) {
            return Ok(ClientAnswer::Taken);
        }
        let Some(decision) = question::decided(answer) else { return Ok(ClientAnswer::Taken) };
        let decider = Decider::Client(Arc::clone(&job.request().principal));
        let Err(refused) = self.approvals.decide(id, &decider, decision).await else {
            return Ok(ClientAnswer::Taken);
        };
        let asks_again = match refused {
            DecideError::Store(error) => return Err(ApprovalError::Unreadable(error)),
            // Another decision or the deadline came first, and counts.
            DecideError::Over(_) | DecideError::Unknown(_) => return Ok(ClientAnswer::Taken),
            // A damaged call can only be rejected, so asking again whether to approve it is of no use.
            DecideError::Agent | DecideError::OwnCall | DecideError::Damaged(_) => false,
            DecideError::Invalid(_) => true,
        };
        Ok(ClientAnswer::Refused(Refusal { why: refused.to_string(), asks_again }))
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
    fn notify(&self, job: &Job, row: &ApprovalRow, notice: &Notice<'_>) {
        let Some(client) = &job.client else { return };
        let terms = self.approvals.terms();
        let place = terms.dashboard.as_deref().map_or_else(
            || format!("with `powerstrip approvals show {}`", row.id),
            |dashboard| format!("at {dashboard}/approvals/{}", row.id),
        );
        let refusal = notice.refusal.map(|why| format!("your decision was not accepted: {why}; "));
        let message = format!(
            "{}waiting for approval of {}; a person decides {place}",
            refusal.unwrap_or_default(),
            row.tool
        );
        if client.wants_progress() {
            let mut report = Map::new();
            // Progress must grow, so this stays below the tool's own, which follows.
            report.insert("progress".to_owned(), json!(f64::from(notice.number) * 1e-6));
            report.insert("message".to_owned(), message.into());
            client.progress(report);
        } else if notice.is_new && client.log_level().is_some_and(|least| least <= LogLevel::Notice)
        {
            let log = json!({"level": "notice", "logger": "powerstrip", "data": message});
            client.log(log.as_object().cloned().unwrap_or_default());
        }
    }
}

/// Asks the person at the client, if it can show forms; none if it answers nothing.
async fn ask(client: Option<&Arc<dyn Client>>, form: Value) -> Option<Value> {
    client?.ask(question::METHOD, form).await.ok()
}

/// The form about a call, with the reason for which an earlier decision was refused.
fn form(row: &ApprovalRow, refusal: Option<&str>) -> Value {
    match refusal {
        Some(refusal) => question::form_again(row, refusal),
        None => question::form(row),
    }
}

/// The question for a client that repeats its call with the answer.
fn ask_in_rounds(row: &ApprovalRow, refusal: Option<&str>) -> Passage {
    let native = Arc::new(question::round(&form(row, refusal)));
    let data = json!({"approval": row.id, "state": "pending"});
    let output = Output { native: Some(native), reply: Reply::NeedsInput, ..Output::new(data) };
    Passage::Asked(output)
}

/// Whether the caller's client can show forms.
fn can_ask(job: &Job) -> bool {
    job.client.as_ref().is_some_and(|client| question::can_show_forms(client.capabilities()))
}
