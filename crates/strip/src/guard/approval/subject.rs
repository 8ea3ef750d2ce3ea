//! What a person is asked about.

use prompts::template::{MAX_DEPTH, is_shallow};
use proto::{APPROVALS_DECIDE, Digest, TraceId, canonical, digest_of_parts};
use store::{ApprovalRow, ApprovalState};

use super::{ApprovalError, Gate};
use crate::Job;
use crate::approval::RuleQuery;
use crate::runs::RunOf;

/// A call as far as an approval is bound to it.
pub(super) struct Subject {
    /// The digest of the caller, the tool, the arguments, the files, the keys and the code that would run.
    pub(super) fingerprint: Digest,
    /// The files of the call, as JSON.
    files: String,
}

impl Gate<'_> {
    pub(super) fn subject(&self, job: &Job) -> Result<Subject, ApprovalError> {
        let files = job.shown_files.as_deref().unwrap_or_default();
        let files = serde_json::to_string(files).map_err(ApprovalError::Unshowable)?;
        let call = job.request();
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
        let fingerprint = match &call.park {
            None => digest,
            Some(park) => digest_of_parts([digest.as_bytes(), b"task", park.key.as_bytes()]),
        };
        Ok(Subject { fingerprint, files })
    }

    /// What standing rules are compared with.
    pub(super) fn query<'q>(&'q self, job: &'q Job, subject: &'q Subject) -> RuleQuery<'q> {
        let call = job.request();
        RuleQuery {
            principal: &call.principal,
            tool: self.entry.descriptor.id.as_str(),
            definition: &self.entry.definition,
            code: self.code.as_ref(),
            arguments: &self.arguments.digest,
            files: &subject.files,
            idempotency_key: call.idempotency_key.as_deref(),
            run: run_of(job),
        }
    }

    /// The row of a new approval; fails for arguments that could be written down and not read again.
    pub(super) fn row(&self, job: &Job, subject: Subject) -> Result<ApprovalRow, ApprovalError> {
        // The arguments themselves are one level.
        if !is_shallow(&job.input, MAX_DEPTH + 1) {
            return Err(ApprovalError::TooDeep);
        }
        let call = job.request();
        let now = self.approvals.clock().unix_ms();
        let timeout = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        let canonical = canonical::bytes(&job.input);
        let arguments = String::from_utf8_lossy(&canonical).into_owned();
        Ok(ApprovalRow {
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
            arguments_digest: self.arguments.digest,
            files: subject.files,
            fingerprint: subject.fingerprint,
            trace: call.trace.to_string(),
            run: run_of(job).map(str::to_owned),
            door: call.door.as_str().to_owned(),
            created_unix_ms: now,
            deadline_unix_ms: now.saturating_add(timeout),
            state: ApprovalState::Pending,
            decided_by: None,
            decided_via: None,
            reason: None,
            decided_unix_ms: None,
            good_until_unix_ms: None,
        })
    }
}

/// The run that the call has joined, if any.
fn run_of(job: &Job) -> Option<&str> {
    match &job.run {
        RunOf::Joined(run) => Some(run.called()),
        _ => None,
    }
}
