//! The gate of a task of a workflow: an approval that no call waits for.

use store::{ApprovalRow, ApprovalState, StoreError};

use super::subject::Subject;
use super::{ApprovalError, Gate, Passage};
use crate::approval::{Grounds, stored_arguments};
use crate::{Job, Output, Park, Parked};

impl Gate<'_> {
    pub(super) async fn park(
        &self,
        job: &Job,
        park: &Park,
        subject: Subject,
    ) -> Result<Passage, ApprovalError> {
        for row in self.rows_of_task(job, park, &subject).await? {
            match row.state {
                ApprovalState::Approved if self.approvals.claim_approved(&row) => {
                    return Ok(self.granted(subject.fingerprint, Grounds::Approval(row.id)));
                }
                ApprovalState::Pending => return Ok(Passage::Asked(parked(&row)?)),
                ApprovalState::Rejected => {
                    return Err(ApprovalError::Rejected { id: row.id, reason: row.reason });
                }
                ApprovalState::Expired => {
                    return Err(ApprovalError::Expired { id: row.id, timeout: self.timeout });
                }
                ApprovalState::Cancelled => {
                    return Err(ApprovalError::Cancelled { id: row.id, reason: row.reason });
                }
                // It was used up by a call that a crash interrupted, or is too old.
                ApprovalState::Approved | ApprovalState::Consumed => {}
            }
        }
        let row = self.row(job, subject)?;
        let _claim = self.claim(&row.id);
        self.approvals.create(&row, self.timeout).await?;
        Ok(Passage::Asked(parked(&row)?))
    }

    /// The approvals of equal tasks, first the one that an earlier answer named.
    async fn rows_of_task(
        &self,
        job: &Job,
        park: &Park,
        subject: &Subject,
    ) -> Result<Vec<ApprovalRow>, ApprovalError> {
        let named = match &park.approval {
            Some(id) => match self.approvals.get(None, id).await {
                // A damaged approval grants nothing: the task asks again.
                Err(StoreError::Unreadable { .. }) => None,
                row => row.map_err(ApprovalError::Unreadable)?,
            },
            None => None,
        };
        let mut rows = self.approvals.alike(&subject.fingerprint).await?;
        match named {
            Some(row) if row.fingerprint == subject.fingerprint => rows.insert(0, row),
            // The approval is for another input than the one that would run.
            Some(row) => {
                let (by, reason) = (&job.request().principal, Some("the call changed"));
                let cancelled = self.approvals.cancel(&[row.id], by, reason).await;
                cancelled.map_err(ApprovalError::Unreadable)?;
            }
            None => {}
        }
        Ok(rows)
    }
}

fn parked(row: &ApprovalRow) -> Result<Output, ApprovalError> {
    let parked = Parked::Approval {
        approval_id: row.id.clone(),
        tool: row.tool.clone(),
        arguments: stored_arguments(row)?,
        deadline_unix_ms: row.deadline_unix_ms,
    };
    Ok(parked.output())
}
