//! Calls that are repeated: with the answer of a person, or after an equal call whose caller left.

use proto::Digest;
use serde_json::Value;
use store::ApprovalState;

use super::wait::ClientAnswer;
use super::{ApprovalError, Gate, Passage};
use crate::approval::{Grounds, question};
use crate::{Job, Resume};

impl Gate<'_> {
    /// Takes over the approval of an equal call whose caller has left; none if there is no such approval.
    pub(super) async fn take_over(
        &self,
        job: &Job,
        fingerprint: &Digest,
        answer: Option<Value>,
    ) -> Result<Option<Passage>, ApprovalError> {
        for row in self.approvals.alike(fingerprint).await? {
            match row.state {
                ApprovalState::Approved if self.approvals.claim_approved(&row) => {
                    return Ok(Some(self.granted(*fingerprint, Grounds::Approval(row.id))));
                }
                ApprovalState::Rejected if self.approvals.mark_reported(&row.id).await? => {
                    return Err(ApprovalError::Rejected { id: row.id, reason: row.reason });
                }
                ApprovalState::Pending => {
                    let Some(decided) = self.approvals.claim_pending(&row.id) else { continue };
                    let claim = self.claim(&row.id);
                    let answer = match &answer {
                        Some(answer) => self.apply_answer(job, &row.id, answer).await?,
                        None => ClientAnswer::Missing,
                    };
                    // A decision before the claim wakes no one: read the row again.
                    let now = self.approvals.get(None, &row.id).await;
                    let now = now.map_err(ApprovalError::Unreadable)?;
                    match now.map(|row| (row.state, row.reason)) {
                        Some((ApprovalState::Pending, _)) => {
                            let waited = self.wait(job, row, claim, decided, answer);
                            return waited.await.map(Some);
                        }
                        Some((ApprovalState::Approved, _)) => {
                            return Ok(Some(self.grant(claim, *fingerprint)));
                        }
                        Some((ApprovalState::Rejected, reason))
                            if self.approvals.mark_reported(&row.id).await? =>
                        {
                            return Err(ApprovalError::Rejected { id: row.id, reason });
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Takes the answer to the question about the approval out of a repeated call; the rest is for its tool.
pub(super) fn take_answer(job: &mut Job) -> Option<Value> {
    let resume = job.resume.as_ref()?;
    let answer = resume.responses.get(question::NAME)?.clone();
    let mut rest = Resume::clone(resume);
    rest.responses.remove(question::NAME);
    let more = !rest.responses.is_empty() || rest.state.is_some();
    job.resume = more.then(|| rest.into());
    Some(answer)
}
