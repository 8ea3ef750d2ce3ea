//! Workflows: what they are, how far they are, and what they answer.
//!
//! Everything is written through the group-commit writer (`CommitQueue::save_workflow`), with the fence of the driver's
//! claim; this file reads, and claims.

use std::fmt;
use std::str::FromStr;

use proto::Digest;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::sql::{Row, query};
use crate::{Crashes, Database, Listed, StoreError};

mod change;
mod list;
mod rows;

pub use change::{RowChange, WorkflowAnswer, WorkflowChange, WorkflowUpdate};
pub(crate) use change::{Submitted, apply};
pub use list::WorkflowFilter;

const COLUMNS: &str = "workflow_id, run, tenant, owner, agent, principal, client_key, dag, intent, config, state, phase, \
                       control_calls, created_at, updated_at, expires_at, lease_owner, lease_until, fence, start_digest, \
                       crashes, crashes_in_all";

const TASK: &str = "workflow_id, task, item, status, attempt, result, started_at, ended_at";

/// Longer outputs are not read together with the other tasks.
const SMALL_OUTPUT: usize = 4096;

/// How many expired workflows are named at a time.
const MAX_EXPIRED: u32 = 1000;

/// Whether a workflow has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkflowPhase {
    /// A driver works on it, or has to after a restart.
    Running,
    /// It waits for a command or a person.
    Paused,
    /// It has ended, and only its last answer is left.
    Ended,
}

/// A workflow that has not ended. Texts that are JSON are stored as they are given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowRow {
    pub id: Uuid,
    pub run: String,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    /// JSON: the owner with its scopes and how it was authenticated.
    pub principal: String,
    /// The caller's idempotency key.
    pub client_key: Option<String>,
    /// The digest of what it was started with; none if it was started by an older version.
    // The name in spilled rows of older versions.
    #[serde(alias = "start_sum")]
    pub start_digest: Option<Digest>,
    /// JSON.
    pub dag: String,
    pub intent: Option<String>,
    /// JSON.
    pub config: String,
    /// JSON: the small state of the core.
    pub state: String,
    pub phase: WorkflowPhase,
    /// JSON: when control calls were made, for their limit.
    pub control_calls: String,
    pub created_unix_ms: u64,
    pub updated_unix_ms: u64,
    pub expires_unix_ms: u64,
    /// The process that drives it.
    pub lease_owner: Option<String>,
    pub lease_until_unix_ms: u64,
    /// Writes with another fence change nothing; each claim raises it.
    pub fence: u64,
    /// The processes that died while they drove it.
    pub crashes: Crashes,
}

/// One task of a workflow, or one item of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowTaskRow {
    pub workflow: Uuid,
    /// The ids of the task and of those that contain it.
    pub task: String,
    /// -1 for the task itself.
    pub item: i64,
    pub status: String,
    pub attempt: u32,
    /// JSON: the result without its output.
    pub result: String,
    /// JSON. Left out of lists if it is long; see `Database::task_output`.
    pub output: Option<String>,
    /// The length of the output, also where it is left out; set when the row is read.
    pub output_bytes: u64,
    pub started_unix_ms: u64,
    pub ended_unix_ms: Option<u64>,
}

/// What a paused workflow answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowCheckpointRow {
    pub workflow: Uuid,
    /// `chk_…`
    pub id: String,
    pub layer: i64,
    pub kind: String,
    /// JSON.
    pub answer: String,
}

/// The last answer of a workflow that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowAnswerRow {
    pub workflow: Uuid,
    pub tenant: String,
    pub subject: String,
    pub agent: Option<String>,
    /// JSON.
    pub answer: String,
    pub expires_unix_ms: u64,
}

/// One entry of a workflow's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowEventRow {
    pub workflow: Uuid,
    /// Rises by one from entry to entry.
    pub number: u64,
    pub at_unix_ms: u64,
    pub kind: String,
    /// JSON.
    pub data: String,
}

/// The caller that started a workflow.
#[derive(Clone, Copy, Debug)]
pub struct WorkflowOwner<'a> {
    pub tenant: &'a str,
    pub subject: &'a str,
    pub agent: Option<&'a str>,
}

/// A claim to drive workflows.
#[derive(Clone, Copy, Debug)]
pub struct Lease<'a> {
    /// Names the process.
    pub owner: &'a str,
    pub now_unix_ms: u64,
    pub until_unix_ms: u64,
}

impl Database {
    /// The workflow of this id, unless it has ended.
    pub async fn workflow(&self, id: Uuid) -> Result<Option<WorkflowRow>, StoreError> {
        let select = query(format!("SELECT {COLUMNS} FROM workflow_dags WHERE workflow_id = $1"));
        self.sql.first(select.bind(id.to_string())).await?.as_ref().map(read).transpose()
    }

    /// Whether a workflow that has not ended belongs to another tenant. Reads no other column: they may be damaged.
    pub async fn is_workflow_of_another(&self, id: Uuid, tenant: &str) -> Result<bool, StoreError> {
        let select =
            query("SELECT 1 AS other FROM workflow_dags WHERE workflow_id = $1 AND tenant <> $2");
        let row = self.sql.first(select.bind(id.to_string()).bind(tenant)).await?;
        Ok(row.is_some())
    }

    /// Whether another caller started a workflow, which may have ended. Reads no other column: they may be damaged.
    pub async fn is_workflow_of_another_caller(
        &self,
        id: Uuid,
        owner: WorkflowOwner<'_>,
    ) -> Result<bool, StoreError> {
        let select = query(
            "SELECT 1 AS other FROM workflow_dags \
             WHERE workflow_id = $1 AND NOT (tenant = $2 AND owner = $3 AND COALESCE(agent, '') = $4) \
             UNION ALL SELECT 1 AS other FROM workflow_answers \
             WHERE workflow_id = $1 AND NOT (tenant = $2 AND owner = $3 AND COALESCE(agent, '') = $4)",
        )
        .bind(id.to_string())
        .bind(owner.tenant)
        .bind(owner.subject)
        .bind(owner.agent.unwrap_or_default());
        Ok(self.sql.first(select).await?.is_some())
    }

    /// How many workflows of a tenant have not ended. It reads an index entry of each.
    pub async fn active_workflows(&self, tenant: &str) -> Result<u64, StoreError> {
        let select = query("SELECT count(*) AS active FROM workflow_dags WHERE tenant = $1");
        let row = self.sql.first(select.bind(tenant)).await?;
        row.map_or(Ok(0), |row| row.get("active"))
    }

    /// The workflow that a caller started with this idempotency key, also after its end while its answer is kept, and the
    /// digest of what it was started with.
    pub async fn workflow_by_client_key(
        &self,
        owner: WorkflowOwner<'_>,
        client_key: &str,
    ) -> Result<Option<(Uuid, Option<Digest>)>, StoreError> {
        let select = query(
            "SELECT workflow_id, start_digest FROM workflow_dags \
             WHERE tenant = $1 AND owner = $2 AND COALESCE(agent, '') = $3 AND client_key = $4 \
             UNION ALL SELECT workflow_id, start_digest FROM workflow_answers \
             WHERE tenant = $1 AND owner = $2 AND COALESCE(agent, '') = $3 AND client_key = $4",
        )
        .bind(owner.tenant)
        .bind(owner.subject)
        .bind(owner.agent.unwrap_or_default())
        .bind(client_key);
        let row = self.sql.first(select).await?;
        row.map(|row| Ok((row.parsed("workflow_id")?, row.optional("start_digest")?))).transpose()
    }

    /// Makes this process the driver of a workflow and returns the new fence; none if the workflow has ended, or another
    /// process drives it.
    pub async fn claim_workflow(
        &self,
        id: Uuid,
        lease: Lease<'_>,
    ) -> Result<Option<u64>, StoreError> {
        let update = query(
            "UPDATE workflow_dags SET lease_owner = $2, lease_until = $3, fence = fence + 1 \
             WHERE workflow_id = $1 AND (lease_owner IS NULL OR lease_owner = $2 OR lease_until <= $4) \
             RETURNING fence",
        )
        .bind(id.to_string())
        .bind(lease.owner)
        .bind(lease.until_unix_ms)
        .bind(lease.now_unix_ms);
        let rows = update.rows(&mut self.sql.writer().await?).await?;
        rows.first().map(|row| row.get("fence")).transpose()
    }

    /// Takes the running workflows from processes that have died, and returns all that run. Nothing of those processes can
    /// write to them any more. Each is claimed once this process drives it; paused ones, too. Only the owner of the database
    /// may call it, before any call is accepted.
    pub async fn take_over_workflows(&self, owner: &str) -> Result<Vec<WorkflowRow>, StoreError> {
        let update = query(format!(
            "UPDATE workflow_dags SET {}, lease_owner = NULL, fence = fence + 1 \
             WHERE phase = 'running' AND lease_owner <> $1",
            Crashes::COUNT
        ));
        self.sql.execute(update.bind(owner)).await?;
        self.running_workflows().await
    }

    /// Releases the workflows that a process drives, because it stops in an orderly way.
    pub async fn release_workflows(&self, owner: &str) -> Result<(), StoreError> {
        let update = query(
            "UPDATE workflow_dags SET lease_owner = NULL WHERE phase = 'running' AND lease_owner = $1",
        );
        self.sql.execute(update.bind(owner)).await.map(drop)
    }

    /// Makes this process the driver of one workflow, even if it is leased. Only the owner of the database may call it.
    pub async fn take_over_workflow(&self, id: Uuid, lease: Lease<'_>) -> Result<(), StoreError> {
        let update = query(format!(
            "UPDATE workflow_dags SET {}, lease_owner = $2, lease_until = $3, fence = fence + 1 \
             WHERE workflow_id = $1 AND lease_owner IS DISTINCT FROM $2",
            Crashes::COUNT
        ))
        .bind(id.to_string())
        .bind(lease.owner)
        .bind(lease.until_unix_ms);
        self.sql.execute(update).await.map(drop)
    }

    /// The workflows that a driver works on, or has to. Damaged ones are left out.
    pub async fn running_workflows(&self) -> Result<Vec<WorkflowRow>, StoreError> {
        let select = format!(
            "SELECT {COLUMNS} FROM workflow_dags WHERE phase = 'running' ORDER BY created_at, workflow_id"
        );
        let rows = self.sql.all(query(select)).await?;
        Ok(Listed::read("workflow_dags", "workflow_id", &rows, read)?.rows)
    }

    /// Paused workflows with a checkpoint of one of these kinds, the oldest first. The checkpoint may be an earlier one.
    pub async fn workflows_paused_at(&self, kinds: [&str; 2]) -> Result<Vec<Uuid>, StoreError> {
        let select = query(
            "SELECT workflow_id FROM workflow_dags d WHERE phase = 'paused' AND EXISTS \
             (SELECT 1 FROM workflow_checkpoints c WHERE c.workflow_id = d.workflow_id AND c.kind IN ($1, $2)) \
             ORDER BY created_at, workflow_id",
        );
        let [one, other] = kinds;
        let rows = self.sql.all(select.bind(one).bind(other)).await?;
        Ok(Listed::read("workflow_dags", "workflow_id", &rows, |row| row.parsed("workflow_id"))?
            .rows)
    }

    /// Paused workflows whose time is over, those that ended first at the front.
    pub async fn expired_workflows(&self, now_unix_ms: u64) -> Result<Vec<Uuid>, StoreError> {
        let select = query(
            "SELECT workflow_id FROM workflow_dags WHERE phase = 'paused' AND expires_at <= $1 \
             ORDER BY expires_at LIMIT $2",
        );
        let rows = self.sql.all(select.bind(now_unix_ms).bind(MAX_EXPIRED)).await?;
        Ok(Listed::read("workflow_dags", "workflow_id", &rows, |row| row.parsed("workflow_id"))?
            .rows)
    }

    /// The tasks of a workflow that have begun, without long outputs.
    pub async fn workflow_tasks(&self, id: Uuid) -> Result<Vec<WorkflowTaskRow>, StoreError> {
        let select = query(format!(
            "SELECT {TASK}, CAST(COALESCE(octet_length(output), 0) AS BIGINT) AS output_bytes, \
             CASE WHEN octet_length(output) <= {SMALL_OUTPUT} THEN output END AS output \
             FROM workflow_tasks WHERE workflow_id = $1 ORDER BY task, item"
        ));
        self.sql.all(select.bind(id.to_string())).await?.iter().map(read_task).collect()
    }

    /// The whole output of a task or item, as JSON.
    pub async fn task_output(
        &self,
        id: Uuid,
        task: &str,
        item: i64,
    ) -> Result<Option<String>, StoreError> {
        let select = query(
            "SELECT output FROM workflow_tasks WHERE workflow_id = $1 AND task = $2 AND item = $3",
        );
        let row = self.sql.first(select.bind(id.to_string()).bind(task).bind(item)).await?;
        row.map_or(Ok(None), |row| row.optional("output"))
    }

    /// The checkpoint of the last layer that has one.
    pub async fn workflow_checkpoint(
        &self,
        id: Uuid,
    ) -> Result<Option<WorkflowCheckpointRow>, StoreError> {
        let select = query(
            "SELECT workflow_id, checkpoint_id, layer, kind, answer FROM workflow_checkpoints \
             WHERE workflow_id = $1 ORDER BY layer DESC LIMIT 1",
        );
        let row = self.sql.first(select.bind(id.to_string())).await?;
        row.as_ref().map(read_checkpoint).transpose()
    }

    /// The last answer of a workflow that has ended and has not expired.
    pub async fn workflow_answer(
        &self,
        id: Uuid,
        now_unix_ms: u64,
    ) -> Result<Option<WorkflowAnswerRow>, StoreError> {
        let select = query(
            "SELECT workflow_id, tenant, owner, agent, answer, expires_at FROM workflow_answers \
             WHERE workflow_id = $1 AND expires_at > $2",
        );
        let row = self.sql.first(select.bind(id.to_string()).bind(now_unix_ms)).await?;
        row.as_ref().map(read_answer).transpose()
    }

    /// Deletes the answers that have expired; returns how many.
    pub async fn forget_workflow_answers(&self, now_unix_ms: u64) -> Result<u64, StoreError> {
        let delete = query("DELETE FROM workflow_answers WHERE expires_at <= $1");
        self.sql.execute(delete.bind(now_unix_ms)).await
    }

    /// The journal of a workflow after an entry, oldest first.
    pub async fn workflow_events(
        &self,
        id: Uuid,
        after: u64,
        limit: u32,
    ) -> Result<Vec<WorkflowEventRow>, StoreError> {
        let select = query(
            "SELECT number, at_ms, kind, data FROM workflow_events WHERE run = $1 AND number > $2 \
             ORDER BY number LIMIT $3",
        );
        let rows = self.sql.all(select.bind(run_of(id)).bind(after).bind(limit)).await?;
        rows.iter().map(|row| read_event(id, row)).collect()
    }

    /// The last entries of a workflow's journal, oldest first.
    pub async fn last_workflow_events(
        &self,
        id: Uuid,
        limit: u32,
    ) -> Result<Vec<WorkflowEventRow>, StoreError> {
        let select = query(
            "SELECT number, at_ms, kind, data FROM workflow_events WHERE run = $1 \
             ORDER BY number DESC LIMIT $2",
        );
        let rows = self.sql.all(select.bind(run_of(id)).bind(limit)).await?;
        rows.iter().rev().map(|row| read_event(id, row)).collect()
    }
}

impl WorkflowPhase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Ended => "ended",
        }
    }
}

impl fmt::Display for WorkflowPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WorkflowPhase {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = [Self::Running, Self::Paused, Self::Ended];
        all.into_iter().find(|phase| phase.as_str() == text).ok_or(())
    }
}

/// The id of a workflow's run.
fn run_of(workflow: Uuid) -> String {
    format!("run_{}", workflow.simple())
}

fn read(row: &Row) -> Result<WorkflowRow, StoreError> {
    Ok(WorkflowRow {
        id: row.parsed("workflow_id")?,
        run: row.get("run")?,
        tenant: row.get("tenant")?,
        subject: row.get("owner")?,
        agent: row.optional("agent")?,
        principal: row.get("principal")?,
        client_key: row.optional("client_key")?,
        start_digest: row.optional("start_digest")?,
        dag: row.get("dag")?,
        intent: row.optional("intent")?,
        config: row.get("config")?,
        state: row.get("state")?,
        phase: row.parsed("phase")?,
        control_calls: row.get("control_calls")?,
        created_unix_ms: row.get("created_at")?,
        updated_unix_ms: row.get("updated_at")?,
        expires_unix_ms: row.get("expires_at")?,
        lease_owner: row.optional("lease_owner")?,
        lease_until_unix_ms: row.get("lease_until")?,
        fence: row.get("fence")?,
        crashes: Crashes::read(row)?,
    })
}

fn read_task(row: &Row) -> Result<WorkflowTaskRow, StoreError> {
    Ok(WorkflowTaskRow {
        workflow: row.parsed("workflow_id")?,
        task: row.get("task")?,
        item: row.get("item")?,
        status: row.get("status")?,
        attempt: row.get("attempt")?,
        result: row.get("result")?,
        output: row.optional("output")?,
        output_bytes: row.get("output_bytes")?,
        started_unix_ms: row.get("started_at")?,
        ended_unix_ms: row.optional("ended_at")?,
    })
}

fn read_checkpoint(row: &Row) -> Result<WorkflowCheckpointRow, StoreError> {
    Ok(WorkflowCheckpointRow {
        workflow: row.parsed("workflow_id")?,
        id: row.get("checkpoint_id")?,
        layer: row.get("layer")?,
        kind: row.get("kind")?,
        answer: row.get("answer")?,
    })
}

fn read_answer(row: &Row) -> Result<WorkflowAnswerRow, StoreError> {
    Ok(WorkflowAnswerRow {
        workflow: row.parsed("workflow_id")?,
        tenant: row.get("tenant")?,
        subject: row.get("owner")?,
        agent: row.optional("agent")?,
        answer: row.get("answer")?,
        expires_unix_ms: row.get("expires_at")?,
    })
}

fn read_event(workflow: Uuid, row: &Row) -> Result<WorkflowEventRow, StoreError> {
    Ok(WorkflowEventRow {
        workflow,
        number: row.get("number")?,
        at_unix_ms: row.get("at_ms")?,
        kind: row.get("kind")?,
        data: row.get("data")?,
    })
}
