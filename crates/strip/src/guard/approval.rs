//! A gated call waits until a person has decided about it. During that time neither the caller's timeout nor the tool's
//! deadline runs. If the caller leaves before the decision, nothing runs.

mod error;
mod park;
mod resume;
mod subject;
mod wait;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use proto::{Digest, Failure};

use super::arguments::Arguments;
use super::deadline;
use super::idempotency::Idempotency;
use crate::agents::ApprovalRule;
use crate::approval::{Approvals, Grant, Grounds};
use crate::catalog::Entry;
use crate::client::{Client, ToolClient};
use crate::guards::Guards;
use crate::{Job, Output};

pub(crate) use error::ApprovalError;
use resume::take_answer;
use wait::ClientAnswer;

/// The result of the gate.
pub(crate) enum Passage {
    /// It may run, if its tool still has this revision.
    Granted { grant: Arc<Grant>, revision: u64 },
    /// Its caller will repeat it: after it has asked its person, or as a task of a workflow after the decision.
    Asked(Output),
}

/// The gate of one call, and what a person is asked about.
struct Gate<'a> {
    approvals: &'a Arc<Approvals>,
    entry: &'a Entry,
    /// The tool's revision when the call came.
    revision: u64,
    /// The digest of the code that the call would run.
    code: Option<Digest>,
    arguments: &'a Arguments,
    timeout: Duration,
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

impl Guards {
    /// Whether a person must approve a call.
    pub(crate) fn rule_of(&self, job: &Job, entry: &Entry) -> ApprovalRule {
        let rule = if entry.tool.part().steers() {
            ApprovalRule::Free
        } else {
            self.approval_rule(&entry.descriptor.id)
        };
        match job.request().park.as_ref().and_then(|park| park.timeout) {
            None => rule,
            Some(timeout) => rule.stricter(ApprovalRule::Asked { timeout }),
        }
    }

    /// Waits until a gated call may run, its caller must be asked, or it is refused.
    pub(crate) async fn approve(
        &self,
        job: &mut Job,
        arguments: &Arguments,
        entry: &Entry,
        timeout: Duration,
    ) -> Result<Passage, Failure> {
        let approvals = self.approvals.get().ok_or(ApprovalError::NotSetUp)?;
        if job.request().idempotency_key.is_some()
            && let Some(key) = Idempotency::key(job, entry, arguments)?
        {
            self.idempotency.check_outcome(&key).await?;
        }
        job.shown_files = Some(self.executor.shown_files(entry, job).await?);
        let traced = |client| Arc::new(ToolClient::new(client).trace_only()) as Arc<dyn Client>;
        job.client = job.client.take().map(traced);
        let revision = entry.tool.revision();
        let code = digest_code(entry, job).await?;
        let gate = Gate { approvals, entry, revision, code, arguments, timeout };
        let passage = gate.pass(job).await?;
        if matches!(passage, Passage::Granted { .. }) {
            job.approved_code = code;
        }
        Ok(passage)
    }
}

impl Gate<'_> {
    async fn pass(&self, job: &mut Job) -> Result<Passage, ApprovalError> {
        let answer = take_answer(job);
        let subject = self.subject(job)?;
        // Only a state that this gateway gave proves that a repeated call was approved before.
        let state = job.resume.as_ref().and_then(|resume| resume.state.as_deref());
        if state.is_some_and(|state| self.approvals.continues(&subject.fingerprint, state)) {
            return Ok(self.granted(subject.fingerprint, Grounds::Continued));
        }
        // A reviewer is not shown the rest of it.
        job.resume = None;
        if let Some(rule) = self.approvals.standing(&self.query(job, &subject)) {
            return Ok(self.granted(subject.fingerprint, Grounds::Rule(rule)));
        }
        if let Some(park) = &job.request().park {
            return Box::pin(self.park(job, park, subject)).await;
        }
        if let Some(passage) = self.take_over(job, &subject.fingerprint, answer).await? {
            return Ok(passage);
        }
        let row = self.row(job, subject)?;
        // Before the row is written: the caller may leave in between.
        let claim = self.claim(&row.id);
        let decided = self.approvals.create(&row, self.timeout).await?;
        self.wait(job, row, claim, decided, ClientAnswer::Missing).await
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
        let grant = Arc::new(Grant::new(Arc::clone(self.approvals), fingerprint, grounds));
        Passage::Granted { grant, revision: self.revision }
    }
}

/// The digest of the code that the call would run, computed within the tool's timeout.
async fn digest_code(entry: &Entry, job: &Job) -> Result<Option<Digest>, Failure> {
    deadline::bound(entry.limits.timeout, None, pin!(entry.tool.code_digest(job))).await
}

/// Fails if the caller has cancelled the call: its approval is kept for the caller's next equal call.
pub(crate) fn check_caller(job: &Job) -> Result<(), ApprovalError> {
    if job.cancel().is_cancelled() { Err(ApprovalError::CallerLeft) } else { Ok(()) }
}
