//! Resumes workflows after a restart, except those in which processes died again and again.

use std::time::Duration;

use dag::core::{Pause, PauseKind, Phase, Saved};
use proto::Failure;
use serde_json::json;
use store::{
    Crashes, Lease, RowChange, StoreError, WorkflowChange, WorkflowCheckpointRow, WorkflowEventRow,
    WorkflowPhase, WorkflowRow, WorkflowUpdate,
};
use uuid::Uuid;

use crate::checkpoint::QUARANTINED;
use crate::driver::LEASE_MS;
use crate::results::to_json;
use crate::workflows::Workflows;

/// How long a quarantined workflow is kept at least: an operator may notice it only after a weekend.
const QUARANTINE_MS: u64 = 7 * 24 * 60 * 60 * 1_000;

/// The head start of a workflow in which a process died before the next one is resumed. If it ends this process as well,
/// those after it were not active.
const PROBATION: Duration = Duration::from_millis(25);

impl Workflows {
    /// Takes over the workflows that ran when the last process ended, quarantines those that must not run again, and returns
    /// the others. Call it before any call is accepted.
    pub async fn take_over(&self) -> Result<Vec<Uuid>, StoreError> {
        let service = self.service();
        let mut running = service.database.take_over_workflows(&service.process).await?;
        // Workflows in which no process died come first.
        running.sort_by_key(|row| row.crashes.in_a_row);
        let mut resumed = Vec::with_capacity(running.len());
        for row in running {
            if row.crashes.is_poison() {
                self.quarantine(&row).await?;
            } else {
                resumed.push(row.id);
            }
        }
        Ok(resumed)
    }

    pub(crate) fn lease(&self) -> Lease<'_> {
        let now = self.service().now();
        Lease {
            owner: &self.service().process,
            now_unix_ms: now,
            until_unix_ms: now.saturating_add(LEASE_MS),
        }
    }

    /// Drives the workflows that ran when the process ended, and those whose people have decided since.
    pub async fn resume_all(&self, running: Vec<Uuid>) {
        let count = running.len();
        for id in running {
            if self.service().draining.is_cancelled() {
                return;
            }
            if let Err(failure) = self.resume(id).await {
                tracing::error!(workflow = %id, "a workflow cannot be resumed: {failure}");
                self.wake_again_after(id, &failure);
            }
        }
        if count > 0 {
            tracing::info!("{count} workflows continue");
        }
        self.wake_all().await;
    }

    async fn resume(&self, id: Uuid) -> Result<(), Failure> {
        let Some(live) = self.load(id).await? else { return Ok(()) };
        if live.crashed {
            let mut published = live.published.clone();
            let first = published.borrow_and_update().version;
            let moved = published.wait_for(|snapshot| snapshot.version > first);
            let _ = tokio::time::timeout(PROBATION, moved).await;
        }
        Ok(())
    }

    /// Reads a workflow for its driver. One of another process is taken over first, so that nothing of that process can
    /// write to it any more, and is quarantined if it must not run again.
    pub(crate) async fn claim(&self, id: Uuid) -> Result<Option<WorkflowRow>, StoreError> {
        let database = &self.service().database;
        let Some(row) = database.workflow(id).await? else { return Ok(None) };
        if row.lease_owner.as_ref() == Some(&self.service().process) {
            return Ok(Some(row));
        }
        database.take_over_workflow(id, self.lease()).await?;
        match database.workflow(id).await? {
            Some(row) if row.phase == WorkflowPhase::Running && row.crashes.is_poison() => {
                self.quarantine(&row).await?;
                database.workflow(id).await
            }
            found => Ok(found),
        }
    }

    /// Pauses a workflow that must not run again. Nothing of it is evaluated.
    async fn quarantine(&self, row: &WorkflowRow) -> Result<(), StoreError> {
        let service = self.service();
        let reason = reason(row.crashes);
        tracing::error!(workflow_id = %row.id, tenant = row.tenant, "a workflow is quarantined: {reason}");
        let Ok(mut saved) = serde_json::from_str::<Saved>(&row.state) else {
            tracing::error!(workflow_id = %row.id, "the row of a workflow cannot be read");
            return Ok(());
        };
        let checkpoint_id = format!("chk_{}", Uuid::new_v4().simple());
        let layer = saved.layer;
        let answer = json!({
            "checkpoint_type": QUARANTINED,
            "reason": reason,
            "options": ["abort"],
        });
        let kind = PauseKind::Quarantined { reason };
        saved.phase = Phase::Paused(Pause { checkpoint_id: checkpoint_id.clone(), kind });
        let mut event = answer.clone();
        event["checkpoint_id"] = checkpoint_id.as_str().into();
        event["layer_index"] = layer.into();
        let now = service.now();
        let last = service.database.last_workflow_events(row.id, 1).await?;
        let update = WorkflowUpdate {
            state: Some(to_json(&saved)),
            phase: Some(WorkflowPhase::Paused),
            updated_unix_ms: now,
            expires_unix_ms: Some(service.expiry(now).max(now.saturating_add(QUARANTINE_MS))),
            ..WorkflowUpdate::default()
        };
        let change = WorkflowChange {
            workflow: row.id,
            fence: row.fence,
            row: Some(RowChange::Update(Box::new(update))),
            checkpoint: Some(WorkflowCheckpointRow {
                workflow: row.id,
                id: checkpoint_id,
                layer: i64::try_from(layer).unwrap_or(i64::MAX),
                kind: QUARANTINED.to_owned(),
                answer: answer.to_string(),
            }),
            events: vec![WorkflowEventRow {
                workflow: row.id,
                number: last.last().map_or(0, |event| event.number) + 1,
                at_unix_ms: now,
                kind: QUARANTINED.to_owned(),
                data: event.to_string(),
            }],
            ..WorkflowChange::default()
        };
        service.save(change).await?.committed().await?;
        service.announce(row.id);
        Ok(())
    }
}

/// Why a workflow is not resumed, and what to do.
fn reason(crashes: Crashes) -> String {
    let died = if crashes.in_a_row >= Crashes::MAX_IN_A_ROW {
        format!(
            "{} gateway processes in a row died while the workflow was active",
            crashes.in_a_row
        )
    } else {
        format!("{} gateway processes died while the workflow was active", crashes.in_all)
    };
    format!(
        "{died}, so it is not resumed: abort it, or have an operator run `powerstrip workflows continue ID --force`"
    )
}
