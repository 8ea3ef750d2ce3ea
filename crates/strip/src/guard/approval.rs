//! A gated call waits until a person has decided about it. During that time neither the caller's timeout nor the tool's
//! deadline runs. If the caller leaves, nothing runs.

use std::sync::Arc;
use std::time::Duration;

use proto::{APPROVALS_DECIDE, Code, Digest, Failure, TraceId, canonical, digest_of_parts};
use serde_json::{Map, Value, json};
use store::{ApprovalRow, ApprovalState};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior};

use super::arguments::Arguments;
use crate::approval::{
    Approvals, DecideError, Decider, Grant, Grounds, Outcome, RuleQuery, question,
};
use crate::catalog::Entry;
use crate::runs::RunOf;
use crate::{AskMode, Job, LogLevel, Output, Park, Parked, Reply, Request, Resume};

/// The result of the gate.
pub(crate) enum Passage {
    /// It may run.
    Granted(Arc<Grant>),
    /// Its caller will repeat it: after it has asked its person, or as a task of a workflow after the decision.
    Asked(Output),
}

/// The gate of one call, and what a person is asked about.
pub(crate) struct Gate<'a> {
    pub(crate) approvals: &'a Arc<Approvals>,
    pub(crate) entry: &'a Entry,
    /// The tool's revision when the call came.
    pub(crate) revision: u64,
    /// The digest of the code that the call would run.
    pub(crate) code: Option<Digest>,
    pub(crate) arguments: &'a Arguments,
    pub(crate) timeout: Duration,
}

/// A call's claim on its approval; dropped with the call, it releases the approval.
struct ClaimGuard {
    approvals: Arc<Approvals>,
    id: String,
    releases: bool,
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        if self.releases {
            self.approvals.release(&self.id);
        }
    }
}

impl Gate<'_> {
    /// Waits until the call may run, its caller must be asked, or it is refused.
    pub(crate) async fn pass(&self, job: &mut Job) -> Result<Passage, Failure> {
        let call = &mut job.request;
        let answer = take_answer(call);
        let files = job.shown_files.as_deref().unwrap_or_default();
        let files = serde_json::to_string(files).unwrap_or_default();
        let fingerprint = self.fingerprint(call, &files);
        // Only a state that this gateway gave proves that a repeated call was approved before.
        let state = call.resume.as_ref().and_then(|resume| resume.state.as_deref());
        if state.is_some_and(|state| self.approvals.continues(&fingerprint, state)) {
            return Ok(self.granted(fingerprint, Grounds::Continued));
        }
        // A reviewer is not shown the rest of it.
        call.resume = None;
        let run = run_of(call);
        let query = RuleQuery {
            principal: &call.principal,
            tool: self.entry.descriptor.id.as_str(),
            definition: &self.entry.definition,
            code: self.code.as_ref(),
            arguments: &self.arguments.digest,
            files: &files,
            idempotency_key: call.idempotency_key.as_deref(),
            run: run.as_deref(),
        };
        if let Some(rule) = self.approvals.standing(&query) {
            return Ok(self.granted(fingerprint, Grounds::Rule(rule)));
        }
        if let Some(park) = call.park.clone() {
            return Box::pin(self.park(call, &park, fingerprint, files)).await;
        }
        for row in self.approvals.alike(&fingerprint).await? {
            match row.state {
                ApprovalState::Approved if self.approvals.claim_approved(&row.id) => {
                    return Ok(self.granted(fingerprint, Grounds::Approval(row.id)));
                }
                ApprovalState::Rejected if self.approvals.mark_reported(&row.id).await? => {
                    return Err(rejected(&row.id, row.reason.as_deref()));
                }
                ApprovalState::Pending => {
                    let Some(decided) = self.approvals.claim_pending(&row.id) else { continue };
                    let claim = self.claim(&row.id);
                    if let Some(answer) = &answer {
                        self.answered(call, &row.id, answer).await?;
                    }
                    // A decision before the claim wakes no one: read the row again.
                    let now = self.approvals.get(None, &row.id).await.map_err(unread)?;
                    match now.map(|row| (row.state, row.reason)) {
                        Some((ApprovalState::Pending, _)) => {
                            return self.wait(call, row, claim, decided, answer.is_some()).await;
                        }
                        Some((ApprovalState::Approved, _)) => {
                            return Ok(self.grant(claim, fingerprint));
                        }
                        Some((ApprovalState::Rejected, reason))
                            if self.approvals.mark_reported(&row.id).await? =>
                        {
                            return Err(rejected(&row.id, reason.as_deref()));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let row = self.row(call, fingerprint, files, run);
        // Before the row is written: the caller may leave in between.
        let claim = self.claim(&row.id);
        let decided = self.approvals.create(&row, self.timeout).await?;
        self.wait(call, row, claim, decided, false).await
    }

    /// The gate of a task: an approval that no call waits for.
    async fn park(
        &self,
        call: &Request,
        park: &Park,
        fingerprint: Digest,
        files: String,
    ) -> Result<Passage, Failure> {
        let named = match &park.approval {
            Some(id) => self.approvals.get(None, id).await.map_err(unread)?,
            None => None,
        };
        let mut rows = self.approvals.alike(&fingerprint).await?;
        match named {
            Some(row) if row.fingerprint == fingerprint => rows.insert(0, row),
            // What was approved is not what would run.
            Some(row) => {
                let reason = Some("the call changed");
                self.approvals.cancel(&[row.id], &call.principal, reason).await.map_err(unread)?;
            }
            None => {}
        }
        for row in rows {
            match row.state {
                ApprovalState::Approved if self.approvals.claim_approved(&row.id) => {
                    return Ok(self.granted(fingerprint, Grounds::Approval(row.id)));
                }
                ApprovalState::Pending => return Ok(Passage::Asked(parked(&row))),
                ApprovalState::Rejected => return Err(rejected(&row.id, row.reason.as_deref())),
                ApprovalState::Expired => return Err(expired(&row.id, self.timeout)),
                ApprovalState::Cancelled => return Err(cancelled(&row.id, row.reason.as_deref())),
                // It was used up by a call that a crash interrupted, or is too old.
                ApprovalState::Approved | ApprovalState::Consumed => {}
            }
        }
        let row = self.row(call, fingerprint, files, run_of(call));
        let _claim = self.claim(&row.id);
        self.approvals.create(&row, self.timeout).await?;
        Ok(Passage::Asked(parked(&row)))
    }

    async fn wait(
        &self,
        call: &Request,
        row: ApprovalRow,
        claim: ClaimGuard,
        mut decided: oneshot::Receiver<Outcome>,
        answered: bool,
    ) -> Result<Passage, Failure> {
        let terms = self.approvals.terms();
        let asks = terms.elicitation && !answered && can_ask(call);
        let client = call.client.as_ref();
        if asks && client.is_some_and(|client| client.ask_mode() == AskMode::Rounds) {
            // The claim is released: the repeated call takes it over.
            let native = Arc::new(question::round(&row));
            let data = json!({"approval": row.id, "state": "pending"});
            let output =
                Output { native: Some(native), reply: Reply::NeedsInput, ..Output::new(data) };
            return Ok(Passage::Asked(output));
        }
        let asking = async {
            match client.filter(|_| asks) {
                Some(client) => client.ask(question::METHOD, question::form(&row)).await.ok(),
                None => None,
            }
        };
        let mut asking = std::pin::pin!(asking);
        let mut open = asks;
        let began = Instant::now();
        let mut tick = tokio::time::interval(terms.notice_every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut notices = 0_u32;
        let due = self.approvals.due(&row.id).unwrap_or(began);
        let mut late = false;
        let outcome = loop {
            tokio::select! {
                biased;
                outcome = &mut decided => break outcome.ok(),
                () = call.cancel.cancelled() => check_wanted(call)?,
                () = self.approvals.ending().cancelled() => {
                    let message = "the gateway is shutting down; the approval stays pending, call again to continue";
                    return Err(Failure::new(Code::Unavailable, message));
                }
                () = tokio::time::sleep_until(due), if !late => {
                    late = true;
                    if !self.approvals.expire(&row.id).await.map_err(unread)? {
                        // It was decided before the deadline, but the decision has not woken this call.
                        break self.decided(&row.id).await?;
                    }
                }
                answer = &mut asking, if open => {
                    open = false;
                    if let Some(answer) = answer {
                        self.answered(call, &row.id, &answer).await?;
                    }
                }
                _ = tick.tick() => {
                    notices += 1;
                    self.notify(call, &row, terms.dashboard.as_deref(), notices);
                }
            }
        };
        let Some(outcome) = outcome else { return Err(expired(&row.id, self.timeout)) };
        tracing::debug!(approval = row.id, by = outcome.by, state = %outcome.state, "decided");
        match outcome.state {
            ApprovalState::Approved => {
                check_wanted(call)?;
                Ok(self.grant(claim, row.fingerprint))
            }
            ApprovalState::Rejected => {
                self.approvals.mark_reported(&row.id).await?;
                Err(rejected(&row.id, outcome.reason.as_deref()))
            }
            ApprovalState::Cancelled => Err(cancelled(&row.id, outcome.reason.as_deref())),
            _ => Err(expired(&row.id, self.timeout)),
        }
    }

    /// Applies the decision of the person at the caller's own client, if they may decide.
    async fn answered(&self, call: &Request, id: &str, answer: &Value) -> Result<(), Failure> {
        if !self.approvals.terms().elicitation || !can_ask(call) {
            return Ok(());
        }
        let Some(decision) = question::decided(answer) else { return Ok(()) };
        let decider = Decider::Client(Arc::clone(&call.principal));
        match self.approvals.decide(id, &decider, decision).await {
            Err(DecideError::Store(error)) => Err(unread(error)),
            _ => Ok(()),
        }
    }

    /// The decision in the database.
    async fn decided(&self, id: &str) -> Result<Option<Outcome>, Failure> {
        let row = self.approvals.get(None, id).await.map_err(unread)?;
        Ok(row.map(|row| Outcome {
            state: row.state,
            by: row.decided_by.unwrap_or_default(),
            reason: row.reason,
        }))
    }

    fn claim(&self, id: &str) -> ClaimGuard {
        ClaimGuard { approvals: Arc::clone(self.approvals), id: id.to_owned(), releases: true }
    }

    /// Turns the claim on an approval into a grant.
    fn grant(&self, mut claim: ClaimGuard, fingerprint: Digest) -> Passage {
        claim.releases = false;
        self.granted(fingerprint, Grounds::Approval(std::mem::take(&mut claim.id)))
    }

    fn granted(&self, fingerprint: Digest, grounds: Grounds) -> Passage {
        let grant = Grant::new(Arc::clone(self.approvals), fingerprint, grounds);
        Passage::Granted(Arc::new(grant))
    }

    /// The digest of the caller, the tool, the arguments, the files, the keys and the code that would run.
    fn fingerprint(&self, call: &Request, files: &str) -> Digest {
        let principal = &call.principal;
        let digest = digest_of_parts([
            principal.tenant.as_str().as_bytes(),
            principal.subject.as_bytes(),
            if principal.agent.is_some() { b"agent" } else { b"" },
            principal.agent.as_deref().unwrap_or_default().as_bytes(),
            self.entry.definition.as_bytes(),
            &self.revision.to_le_bytes(),
            self.arguments.digest.as_bytes(),
            files.as_bytes(),
            if call.idempotency_key.is_some() { b"key" } else { b"" },
            call.idempotency_key.as_deref().unwrap_or_default().as_bytes(),
            self.code.as_ref().map_or(&[][..], |code| code.as_bytes()),
        ]);
        match &call.park {
            None => digest,
            Some(park) => digest_of_parts([digest.as_bytes(), b"task", park.key.as_bytes()]),
        }
    }

    fn row(
        &self,
        call: &Request,
        fingerprint: Digest,
        files: String,
        run: Option<String>,
    ) -> ApprovalRow {
        let now = self.approvals.clock().unix_ms();
        let timeout = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let canonical = canonical::bytes(&call.input);
        let arguments = String::from_utf8_lossy(&canonical).into_owned();
        ApprovalRow {
            id: TraceId::random().to_string(),
            tenant: call.principal.tenant.as_str().to_owned(),
            owner: call.principal.subject.clone(),
            agent: call.principal.agent.clone(),
            decider: call.principal.holds(APPROVALS_DECIDE),
            tool: self.entry.descriptor.id.as_str().to_owned(),
            version: self.entry.version.to_string(),
            definition: self.entry.definition,
            code: self.code,
            idempotency_key: call.idempotency_key.clone(),
            request_reason: call.park.as_ref().and_then(|park| park.reason.clone()),
            arguments_bytes: arguments.len() as u64,
            arguments: Some(arguments),
            arguments_sum: self.arguments.digest,
            files,
            fingerprint,
            trace: call.trace.to_string(),
            run,
            door: call.door.as_str().to_owned(),
            created_unix_ms: now,
            deadline_unix_ms: now.saturating_add(timeout),
            state: ApprovalState::Pending,
            decided_by: None,
            decided_via: None,
            reason: None,
            decided_unix_ms: None,
            good_until_unix_ms: None,
        }
    }

    /// Sends a waiting caller a notice, so that it does not give up.
    fn notify(&self, call: &Request, row: &ApprovalRow, dashboard: Option<&str>, notices: u32) {
        let Some(client) = &call.client else { return };
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

/// Fails if the caller has cancelled the call: its approval is kept for the caller's next equal call.
pub(crate) fn check_wanted(call: &Request) -> Result<(), Failure> {
    if call.cancel.is_cancelled() {
        let message = "the caller cancelled the call; nothing was run";
        return Err(Failure::new(Code::Unavailable, message));
    }
    Ok(())
}

/// Whether the caller's client can show forms.
fn can_ask(call: &Request) -> bool {
    call.client.as_ref().is_some_and(|client| question::can_show_forms(client.capabilities()))
}

/// Takes the answer to the question about the approval out of a repeated call; the rest is for its tool.
fn take_answer(call: &mut Request) -> Option<Value> {
    let resume = call.resume.as_ref()?;
    let answer = resume.responses.get(question::NAME)?.clone();
    let mut rest = Resume::clone(resume);
    rest.responses.remove(question::NAME);
    let more = !rest.responses.is_empty() || rest.state.is_some();
    call.resume = more.then(|| rest.into());
    Some(answer)
}

/// The run that the call has joined, if any.
fn run_of(call: &Request) -> Option<String> {
    match &call.run {
        RunOf::Joined(run) => Some(run.called().to_owned()),
        _ => None,
    }
}

fn rejected(id: &str, reason: Option<&str>) -> Failure {
    let message = match reason {
        Some(reason) => format!("a reviewer rejected the call: {reason}"),
        None => "a reviewer rejected the call".to_owned(),
    };
    let details = json!({"approval": id, "state": "rejected", "reason": reason});
    Failure::new(Code::Denied, message).details(details)
}

fn cancelled(id: &str, reason: Option<&str>) -> Failure {
    let message = match reason {
        Some(reason) => format!("the request for approval was cancelled: {reason}"),
        None => "the request for approval was cancelled".to_owned(),
    };
    let details = json!({"approval": id, "state": "cancelled", "reason": reason});
    Failure::new(Code::Denied, message).details(details)
}

fn parked(row: &ApprovalRow) -> Output {
    let arguments = row.arguments.as_deref().unwrap_or("null");
    let parked = Parked::Approval {
        approval_id: row.id.clone(),
        tool: row.tool.clone(),
        arguments: serde_json::from_str(arguments).unwrap_or_default(),
        deadline_unix_ms: row.deadline_unix_ms,
    };
    parked.output()
}

fn expired(id: &str, timeout: Duration) -> Failure {
    let seconds = timeout.as_secs_f64();
    let message = format!("no decision about the call within {seconds} s, so it was not run");
    Failure::new(Code::Denied, message).details(json!({"approval": id, "state": "expired"}))
}

fn unread(error: store::StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the approval cannot be read at present; nothing was run")
        .caused_by(error)
}
