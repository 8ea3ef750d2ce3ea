//! The rows that the steps of a group change, each table with few statements.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use uuid::Uuid;

use super::{
    COLUMNS, WorkflowAnswer, WorkflowChange, WorkflowCheckpointRow, WorkflowEventRow,
    WorkflowPhase, WorkflowRow, WorkflowTaskRow, WorkflowUpdate, run_of,
};
use crate::StoreError;
use crate::sql::{Batch, Connection, Row, query};

/// How many rows one statement changes.
const WIDEST: usize = 64;

const DAG_COLUMNS: usize = 22;
const UPDATE_COLUMNS: usize = 11;
const ANSWER_COLUMNS: usize = 3;
const TASK_COLUMNS: usize = 9;
const CHECKPOINT_COLUMNS: usize = 5;
const EVENT_COLUMNS: usize = 5;

/// A workflow, and the fence under which it is driven.
pub(super) type Claim = (Uuid, u64);

static INSERT: LazyLock<Batch> = LazyLock::new(|| {
    let table = format!("workflow_dags ({COLUMNS})");
    let conflict = "ON CONFLICT DO NOTHING RETURNING workflow_id";
    Batch::insert_into(WIDEST, &table, DAG_COLUMNS, conflict)
});

/// An update without values locks the row, so that no claim comes between the check of its fence and the commit.
static UPDATE: LazyLock<Batch> = LazyLock::new(|| {
    Batch::new(WIDEST, UPDATE_COLUMNS, |_, values| {
        format!(
            "UPDATE workflow_dags SET dag = COALESCE(column3, dag), state = COALESCE(column4, state), \
             phase = COALESCE(column5, phase), control_calls = COALESCE(column6, control_calls), \
             updated_at = COALESCE(column7, updated_at), expires_at = COALESCE(column8, expires_at), \
             lease_until = COALESCE(column9, lease_until), crashes = COALESCE(column10, crashes), \
             crashes_in_all = COALESCE(column11, crashes_in_all) \
             FROM ({values}) AS changed WHERE workflow_id = column1 AND fence = column2 \
             RETURNING workflow_id, fence"
        )
    })
});

static ANSWERS: LazyLock<Batch> = LazyLock::new(|| {
    Batch::new(WIDEST, ANSWER_COLUMNS, |_, values| {
        format!(
            "INSERT INTO workflow_answers \
                 (workflow_id, tenant, owner, agent, client_key, start_digest, answer, expires_at) \
             SELECT workflow_id, tenant, owner, agent, client_key, start_digest, column2, column3 \
             FROM ({values}) AS ended, workflow_dags WHERE workflow_id = column1 \
             ON CONFLICT (workflow_id) DO UPDATE SET answer = excluded.answer, expires_at = excluded.expires_at"
        )
    })
});

static TASKS: LazyLock<Batch> = LazyLock::new(|| {
    Batch::insert_into(
        WIDEST,
        "workflow_tasks (workflow_id, task, item, status, attempt, result, started_at, ended_at, output)",
        TASK_COLUMNS,
        "ON CONFLICT (workflow_id, task, item) DO UPDATE SET status = excluded.status, attempt = excluded.attempt, \
         result = excluded.result, started_at = excluded.started_at, ended_at = excluded.ended_at, \
         output = excluded.output",
    )
});

static CHECKPOINTS: LazyLock<Batch> = LazyLock::new(|| {
    Batch::insert_into(
        WIDEST,
        "workflow_checkpoints (workflow_id, layer, checkpoint_id, kind, answer)",
        CHECKPOINT_COLUMNS,
        "ON CONFLICT (workflow_id, layer) DO UPDATE SET checkpoint_id = excluded.checkpoint_id, \
         kind = excluded.kind, answer = excluded.answer",
    )
});

static EVENTS: LazyLock<Batch> = LazyLock::new(|| {
    let table = "workflow_events (run, number, at_ms, kind, data)";
    Batch::insert_into(WIDEST, table, EVENT_COLUMNS, "ON CONFLICT (run, number) DO NOTHING")
});

/// All changes of one row in a group. What is `None` stays as it is.
#[derive(Default)]
pub(super) struct Merged<'a> {
    dag: Option<&'a str>,
    state: Option<&'a str>,
    phase: Option<WorkflowPhase>,
    control_calls: Option<&'a str>,
    updated_unix_ms: Option<u64>,
    expires_unix_ms: Option<u64>,
    lease_until_unix_ms: Option<u64>,
    crashes: Option<u64>,
    crashes_in_all: Option<u64>,
}

impl<'a> Merged<'a> {
    /// Adds a later change.
    pub(super) fn add(&mut self, update: &'a WorkflowUpdate) {
        self.dag = update.dag.as_deref().or(self.dag);
        self.state = update.state.as_deref().or(self.state);
        self.phase = update.phase.or(self.phase);
        self.control_calls = update.control_calls.as_deref().or(self.control_calls);
        self.updated_unix_ms = Some(update.updated_unix_ms);
        self.expires_unix_ms = update.expires_unix_ms.or(self.expires_unix_ms);
        self.lease_until_unix_ms = update.lease_until_unix_ms.or(self.lease_until_unix_ms);
        if update.forgives_crashes {
            (self.crashes, self.crashes_in_all) = (Some(0), Some(0));
        }
    }

    /// Records that a task has ended: what makes progress is no poison.
    pub(super) fn add_progress(&mut self) {
        self.crashes = Some(0);
    }
}

/// Inserts workflows of different ids; returns which of them are new.
pub(super) async fn insert(
    connection: &mut Connection,
    workflows: &[&WorkflowRow],
) -> Result<HashSet<Uuid>, StoreError> {
    let inserted = INSERT
        .rows(connection, workflows, |row| {
            [
                row.id.to_string().into(),
                (&row.run).into(),
                (&row.tenant).into(),
                (&row.subject).into(),
                row.agent.as_deref().into(),
                (&row.principal).into(),
                row.client_key.as_deref().into(),
                (&row.dag).into(),
                row.intent.as_deref().into(),
                (&row.config).into(),
                (&row.state).into(),
                row.phase.as_str().into(),
                (&row.control_calls).into(),
                row.created_unix_ms.into(),
                row.updated_unix_ms.into(),
                row.expires_unix_ms.into(),
                row.lease_owner.as_deref().into(),
                row.lease_until_unix_ms.into(),
                row.fence.into(),
                row.start_digest.as_ref().into(),
                row.crashes.in_a_row.into(),
                row.crashes.in_all.into(),
            ]
        })
        .await?;
    inserted.iter().map(id).collect()
}

/// Changes or locks rows; returns the claims that hold.
pub(super) async fn update(
    connection: &mut Connection,
    updates: &[(Claim, Merged<'_>)],
) -> Result<Vec<Claim>, StoreError> {
    let held = UPDATE
        .rows(connection, updates, |((workflow, fence), update)| {
            [
                workflow.to_string().into(),
                (*fence).into(),
                update.dag.into(),
                update.state.into(),
                update.phase.map(WorkflowPhase::as_str).into(),
                update.control_calls.into(),
                update.updated_unix_ms.into(),
                update.expires_unix_ms.into(),
                update.lease_until_unix_ms.into(),
                update.crashes.into(),
                update.crashes_in_all.into(),
            ]
        })
        .await?;
    held.iter().map(|row| Ok((id(row)?, row.get("fence")?))).collect()
}

fn id(row: &Row) -> Result<Uuid, StoreError> {
    row.parsed("workflow_id")
}

/// The last answers of workflows that end.
pub(super) type Answers<'a> = BTreeMap<Uuid, &'a WorkflowAnswer>;

/// Stores answers together with the owners of their workflows, whose rows are still there.
pub(super) async fn insert_answers(
    connection: &mut Connection,
    answers: Answers<'_>,
) -> Result<(), StoreError> {
    let answers: Vec<_> = answers.into_iter().collect();
    ANSWERS
        .execute(connection, &answers, |(workflow, answer)| {
            [workflow.to_string().into(), (&answer.answer).into(), answer.expires_unix_ms.into()]
        })
        .await
}

/// Deletes the rows of workflows that have ended, except their answers and journals.
pub(super) async fn delete_control(
    connection: &mut Connection,
    ended: &[Uuid],
) -> Result<(), StoreError> {
    for ids in ended.chunks(WIDEST) {
        // Few widths, so that the statements stay prepared: the last id fills up.
        let width = [1, 4, 16].into_iter().find(|width| ids.len() <= *width).unwrap_or(WIDEST);
        let places: Vec<_> = (1..=width).map(|place| format!("${place}")).collect();
        let places = places.join(", ");
        for table in ["workflow_dags", "workflow_tasks", "workflow_checkpoints"] {
            let padded = ids.iter().chain(ids.last().into_iter().cycle()).take(width);
            query(format!("DELETE FROM {table} WHERE workflow_id IN ({places})"))
                .bind_all(padded.map(|id| id.to_string().into()))
                .execute(connection)
                .await?;
        }
    }
    Ok(())
}

/// The tasks, checkpoints and journal rows of all steps of a group. The newest row of a key replaces earlier ones, since one
/// statement must not write a row twice.
#[derive(Default)]
pub(super) struct Rows<'a> {
    tasks: BTreeMap<(Uuid, &'a str, i64), &'a WorkflowTaskRow>,
    checkpoints: BTreeMap<(Uuid, i64), &'a WorkflowCheckpointRow>,
    events: BTreeMap<(Uuid, u64), &'a WorkflowEventRow>,
}

impl<'a> Rows<'a> {
    pub(super) fn add_events(&mut self, change: &'a WorkflowChange) {
        let events = change.events.iter();
        self.events.extend(events.map(|event| ((change.workflow, event.number), event)));
    }

    pub(super) fn add_control(&mut self, change: &'a WorkflowChange) {
        let workflow = change.workflow;
        let tasks = change.tasks.iter();
        self.tasks.extend(tasks.map(|row| ((workflow, row.task.as_str(), row.item), row)));
        let checkpoint = change.checkpoint.iter();
        self.checkpoints.extend(checkpoint.map(|row| ((workflow, row.layer), row)));
    }

    /// Leaves out what a workflow that ends has stored in this group.
    pub(super) fn drop_control(&mut self, ended: Uuid) {
        self.tasks.retain(|(workflow, ..), _| *workflow != ended);
        self.checkpoints.retain(|(workflow, _), _| *workflow != ended);
    }

    pub(super) async fn insert(self, connection: &mut Connection) -> Result<(), StoreError> {
        let tasks: Vec<_> = self.tasks.into_iter().collect();
        TASKS
            .execute(connection, &tasks, |((workflow, ..), task)| {
                [
                    workflow.to_string().into(),
                    (&task.task).into(),
                    task.item.into(),
                    (&task.status).into(),
                    task.attempt.into(),
                    (&task.result).into(),
                    task.started_unix_ms.into(),
                    task.ended_unix_ms.into(),
                    task.output.as_deref().into(),
                ]
            })
            .await?;
        let checkpoints: Vec<_> = self.checkpoints.into_iter().collect();
        CHECKPOINTS
            .execute(connection, &checkpoints, |((workflow, layer), checkpoint)| {
                [
                    workflow.to_string().into(),
                    (*layer).into(),
                    (&checkpoint.id).into(),
                    (&checkpoint.kind).into(),
                    (&checkpoint.answer).into(),
                ]
            })
            .await?;
        let events: Vec<_> = self.events.into_iter().collect();
        EVENTS
            .execute(connection, &events, |((workflow, number), event)| {
                [
                    run_of(*workflow).into(),
                    (*number).into(),
                    event.at_unix_ms.into(),
                    (&event.kind).into(),
                    (&event.data).into(),
                ]
            })
            .await
    }
}
