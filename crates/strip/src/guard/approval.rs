//! A gated call waits here until a person has decided about it. While they think, neither the caller's timeout nor
//! the tool's deadline runs; a caller who leaves stops waiting, and nothing runs.

use std::sync::Arc;
use std::time::Duration;

use proto::{APPROVALS_DECIDE, Code, Digest, TraceId, canonical, digest_of_parts};
use serde_json::{Map, Value, json};
use store::{ApprovalRow, ApprovalState};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior};

use super::arguments::Arguments;
use crate::approval::{Approvals, Asked, Decider, Grant, Grounds, Outcome, Undecided, question};
use crate::catalog::Entry;
use crate::runs::RunOf;
use crate::{AskMode, Failure, Job, LogLevel, Output, Reply, Request};

/// What becomes of a gated call.
pub(crate) enum Passage {
    /// It may run.
    Granted(Arc<Grant>),
    /// Its caller is asked, and will repeat it.
    Asked(Output),
}

/// A call that waits for a person, and what is asked about it.
pub(crate) struct Gate<'a> {
    pub(crate) approvals: &'a Arc<Approvals>,
    pub(crate) entry: &'a Entry,
    /// What of the tool is not in its definition, as it was when the call came.
    pub(crate) revision: u64,
    /// The digest of the code that the call would run.
    pub(crate) code: Option<Digest>,
    pub(crate) arguments: &'a Arguments,
    pub(crate) timeout: Duration,
}

/// A seat that is left when the caller is.
struct Seated {
    approvals: Arc<Approvals>,
    id: String,
    leaves: bool,
}

impl Drop for Seated {
    fn drop(&mut self) {
        if self.leaves {
            self.approvals.rise(&self.id);
        }
    }
}

impl Gate<'_> {
    /// Waits until the call may run, its caller must be asked, or it is refused.
    pub(crate) async fn pass(&self, job: &mut Job) -> Result<Passage, Failure> {
        let call = &mut job.request;
        let answer = question::take_answer(call);
        let files = job.shown_files.as_deref().unwrap_or_default();
        let files = serde_json::to_string(files).unwrap_or_default();
        let fingerprint = self.fingerprint(call, &files);
        // That a call is repeated is nobody's word that it was approved; that we gave it this state is.
        let state = call.resume.as_ref().and_then(|resume| resume.state.as_deref());
        if state.is_some_and(|state| self.approvals.continues(&fingerprint, state)) {
            return Ok(self.granted(fingerprint, Grounds::Continued));
        }
        // Whatever else comes with it, no reviewer sees.
        call.resume = None;
        let run = run_of(call);
        let asked = Asked {
            principal: &call.principal,
            tool: self.entry.descriptor.id.as_str(),
            definition: &self.entry.definition,
            code: self.code.as_ref(),
            arguments: &self.arguments.digest,
            files: &files,
            idempotency_key: call.idempotency_key.as_deref(),
            run: run.as_deref(),
        };
        if let Some(rule) = self.approvals.standing(&asked) {
            return Ok(self.granted(fingerprint, Grounds::Rule(rule)));
        }
        for row in self.approvals.alike(&fingerprint).await? {
            let seated = || self.seated(&row.id);
            match row.state {
                ApprovalState::Approved if self.approvals.hold(&row.id) => {
                    return Ok(self.granted(fingerprint, Grounds::Approval(row.id)));
                }
                ApprovalState::Rejected if self.approvals.told(&row.id).await? => {
                    return Err(rejected(&row.id, row.reason.as_deref()));
                }
                ApprovalState::Pending => {
                    let Some(decided) = self.approvals.sit(&row.id) else { continue };
                    let seat = seated();
                    if let Some(answer) = &answer {
                        self.answered(call, &row.id, answer).await?;
                    }
                    // It may have been decided before the seat was taken; then nobody tells.
                    let now = self.approvals.get(None, &row.id).await.map_err(unread)?;
                    match now.map(|row| (row.state, row.reason)) {
                        Some((ApprovalState::Pending, _)) => {
                            return self.wait(call, row, seat, decided, answer.is_some()).await;
                        }
                        Some((ApprovalState::Approved, _)) => {
                            return Ok(self.keep(seat, fingerprint));
                        }
                        Some((ApprovalState::Rejected, reason))
                            if self.approvals.told(&row.id).await? =>
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
        // Before the seat is there: the caller may leave while it is made.
        let seat = self.seated(&row.id);
        let decided = self.approvals.create(&row, self.timeout).await?;
        self.wait(call, row, seat, decided, false).await
    }

    async fn wait(
        &self,
        call: &Request,
        row: ApprovalRow,
        seat: Seated,
        mut decided: oneshot::Receiver<Outcome>,
        answered: bool,
    ) -> Result<Passage, Failure> {
        let terms = self.approvals.terms();
        let asks = terms.elicitation && !answered && question::can_ask(call);
        let client = call.client.as_ref();
        if asks && client.is_some_and(|client| client.ask_mode() == AskMode::Rounds) {
            // The seat is left: the repeated call takes it.
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
                () = call.cancel.cancelled() => {
                    return Err(Failure::new(Code::Unavailable, "the caller cancelled the call; nothing was run"));
                }
                () = self.approvals.ending().cancelled() => {
                    let message = "the gateway is shutting down; the confirmation stays, call again to go on";
                    return Err(Failure::new(Code::Unavailable, message));
                }
                () = tokio::time::sleep_until(due), if !late => {
                    late = true;
                    if !self.approvals.expire(&row.id).await.map_err(unread)? {
                        // Somebody was faster. What they decided is what counts, even if they could not tell.
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
                    self.tell(call, &row, terms.dashboard.as_deref(), notices);
                }
            }
        };
        let Some(outcome) = outcome else { return Err(expired(&row.id, self.timeout)) };
        tracing::debug!(approval = row.id, by = outcome.by, state = %outcome.state, "decided");
        match outcome.state {
            ApprovalState::Approved => Ok(self.keep(seat, row.fingerprint)),
            ApprovalState::Rejected => {
                self.approvals.told(&row.id).await?;
                Err(rejected(&row.id, outcome.reason.as_deref()))
            }
            _ => Err(expired(&row.id, self.timeout)),
        }
    }

    /// What the person at the caller's own client decided, where they may. Somebody else may have been faster.
    async fn answered(&self, call: &Request, id: &str, answer: &Value) -> Result<(), Failure> {
        if !self.approvals.terms().elicitation || !question::can_ask(call) {
            return Ok(());
        }
        let Some(decision) = question::decided(answer) else { return Ok(()) };
        let decider = Decider::Client(Arc::clone(&call.principal));
        match self.approvals.decide(id, &decider, decision).await {
            Err(Undecided::Store(error)) => Err(unread(error)),
            _ => Ok(()),
        }
    }

    /// What was decided, as it is written.
    async fn decided(&self, id: &str) -> Result<Option<Outcome>, Failure> {
        let row = self.approvals.get(None, id).await.map_err(unread)?;
        Ok(row.map(|row| Outcome {
            state: row.state,
            by: row.decided_by.unwrap_or_default(),
            reason: row.reason,
        }))
    }

    fn seated(&self, id: &str) -> Seated {
        Seated { approvals: Arc::clone(self.approvals), id: id.to_owned(), leaves: true }
    }

    /// Makes a leave of the seat at an approval.
    fn keep(&self, mut seat: Seated, fingerprint: Digest) -> Passage {
        seat.leaves = false;
        self.granted(fingerprint, Grounds::Approval(std::mem::take(&mut seat.id)))
    }

    fn granted(&self, fingerprint: Digest, grounds: Grounds) -> Passage {
        let grant = Grant::new(Arc::clone(self.approvals), fingerprint, grounds);
        Passage::Granted(Arc::new(grant))
    }

    /// Who calls what with which arguments, files and idempotency key, and which code would run.
    fn fingerprint(&self, call: &Request, files: &str) -> Digest {
        let principal = &call.principal;
        digest_of_parts([
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
        ])
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

    /// Tells a waiting caller that it still waits, so that it does not give up.
    fn tell(&self, call: &Request, row: &ApprovalRow, dashboard: Option<&str>, notices: u32) {
        let Some(client) = &call.client else { return };
        let place = dashboard.map_or_else(
            || format!("with `powerstrip approvals show {}`", row.id),
            |dashboard| format!("at {dashboard}/approvals/{}", row.id),
        );
        let message = format!("waiting for approval of {}; a person decides {place}", row.tool);
        if client.wants_progress() {
            let mut report = Map::new();
            // Progress only ever grows, and the tool's own, which follows, must be more than ours.
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

/// The run that a call is part of: it has joined it by now, if it has one.
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

fn expired(id: &str, timeout: Duration) -> Failure {
    let seconds = timeout.as_secs_f64();
    let message = format!("nobody decided about the call within {seconds} s, so it was not run");
    Failure::new(Code::Denied, message).details(json!({"approval": id, "state": "expired"}))
}

fn unread(error: store::StoreError) -> Failure {
    Failure::new(Code::Unavailable, "the confirmation cannot be read at present; nothing was run")
        .caused_by(error)
}
