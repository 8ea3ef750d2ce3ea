//! What the writer stores of workflows.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use uuid::Uuid;

use super::{WorkflowCheckpointRow, WorkflowEventRow, WorkflowPhase, WorkflowRow, WorkflowTaskRow};
use crate::StoreError;
use crate::sql::{Connection, Inserts, Query, query};

/// One step of a workflow, stored whole or not at all.
#[derive(Clone, Debug, Default)]
pub struct WorkflowChange {
    pub workflow: Uuid,
    /// Of the claim under which the step was made. If the stored one differs, nothing is changed.
    pub fence: u64,
    pub row: Option<RowChange>,
    /// Stored in place of earlier rows of the same tasks.
    pub tasks: Vec<WorkflowTaskRow>,
    /// Stored in place of an earlier one of the same layer.
    pub checkpoint: Option<WorkflowCheckpointRow>,
    pub answer: Option<WorkflowAnswer>,
    pub events: Vec<WorkflowEventRow>,
    /// Whether the workflow has ended: only its answer and journal are kept.
    pub delete_control: bool,
}

/// A new workflow, or a change of one.
#[derive(Clone, Debug)]
pub enum RowChange {
    /// Refused if there is a workflow of this id, or of this caller and idempotency key.
    Insert(Box<WorkflowRow>),
    Update(Box<WorkflowUpdate>),
}

/// The parts of a workflow that change. What is `None` stays as it is.
#[derive(Clone, Debug, Default)]
pub struct WorkflowUpdate {
    /// JSON.
    pub dag: Option<String>,
    /// JSON.
    pub state: Option<String>,
    pub phase: Option<WorkflowPhase>,
    /// JSON.
    pub control_calls: Option<String>,
    pub updated_unix_ms: u64,
    pub expires_unix_ms: Option<u64>,
    pub lease_until_unix_ms: Option<u64>,
}

/// The last answer of a workflow. Its owner and idempotency key are stored with it.
#[derive(Clone, Debug)]
pub struct WorkflowAnswer {
    /// JSON.
    pub answer: String,
    pub expires_unix_ms: u64,
}

/// A step in the writer's queue.
#[derive(Debug)]
pub(crate) struct Submitted {
    pub(crate) change: WorkflowChange,
    /// Set if the fence matches no row; read by the receipt once the step is committed.
    pub(crate) refused: Arc<AtomicBool>,
}

impl WorkflowChange {
    /// The bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let row = match &self.row {
            Some(RowChange::Insert(row)) => row.dag.len() + row.state.len() + row.principal.len(),
            Some(RowChange::Update(update)) => text_len(&update.dag) + text_len(&update.state),
            None => 0,
        };
        let tasks = self.tasks.iter().map(|task| task.result.len() + text_len(&task.output));
        let events = self.events.iter().map(|event| event.data.len());
        let checkpoint = self.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.answer.len());
        let answer = self.answer.as_ref().map_or(0, |answer| answer.answer.len());
        row + tasks.sum::<usize>() + events.sum::<usize>() + checkpoint + answer
    }
}

fn text_len(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

/// How many rows one statement inserts.
const WIDTHS: [usize; 4] = [64, 16, 4, 1];

/// How many workflows one statement deletes.
const DELETED_AT_ONCE: usize = 32;

const TASK_COLUMNS: usize = 9;
const CHECKPOINT_COLUMNS: usize = 5;
const EVENT_COLUMNS: usize = 5;

static TASKS: LazyLock<Inserts> = LazyLock::new(|| {
    Inserts::new(
        &WIDTHS,
        "workflow_tasks (workflow_id, task, item, status, attempt, result, started_at, ended_at, output)",
        TASK_COLUMNS,
        "ON CONFLICT (workflow_id, task, item) DO UPDATE SET status = excluded.status, attempt = excluded.attempt, \
         result = excluded.result, started_at = excluded.started_at, ended_at = excluded.ended_at, \
         output = excluded.output",
    )
});

static CHECKPOINTS: LazyLock<Inserts> = LazyLock::new(|| {
    Inserts::new(
        &WIDTHS,
        "workflow_checkpoints (workflow_id, layer, checkpoint_id, kind, answer)",
        CHECKPOINT_COLUMNS,
        "ON CONFLICT (workflow_id, layer) DO UPDATE SET checkpoint_id = excluded.checkpoint_id, \
         kind = excluded.kind, answer = excluded.answer",
    )
});

static EVENTS: LazyLock<Inserts> = LazyLock::new(|| {
    let table = "workflow_events (run, number, at_ms, kind, data)";
    Inserts::new(&WIDTHS, table, EVENT_COLUMNS, "ON CONFLICT (run, number) DO NOTHING")
});

/// Rows of all steps of a group, which are inserted together. The newest row of a key replaces earlier ones, since one
/// statement must not write a row twice.
#[derive(Default)]
struct Rows<'a> {
    tasks: BTreeMap<(Uuid, &'a str, i64), &'a WorkflowTaskRow>,
    checkpoints: BTreeMap<(Uuid, i64), &'a WorkflowCheckpointRow>,
    events: BTreeMap<(Uuid, u64), &'a WorkflowEventRow>,
}

/// Stores steps in their order, within a transaction. No statement here can fail because of a value: a failure would
/// hold up every later change.
pub(crate) async fn apply(
    connection: &mut Connection,
    steps: &[&Submitted],
) -> Result<(), StoreError> {
    let mut claims = Claims::default();
    for step in steps.iter().filter(|step| step.change.row.is_some()) {
        claims.take(connection, step).await?;
    }
    let mut rows = Rows::default();
    let mut ended = Vec::new();
    for step in steps {
        let change = &step.change;
        if change.row.is_none() {
            claims.take(connection, step).await?;
        }
        claims.check(step);
        if step.refused.load(Ordering::Acquire) {
            continue;
        }
        let events = change.events.iter().map(|event| ((change.workflow, event.number), event));
        rows.events.extend(events);
        if let Some(answer) = &change.answer {
            insert_answer(change.workflow, answer).execute(connection).await?;
        }
        if change.delete_control {
            rows.tasks.retain(|(workflow, ..), _| *workflow != change.workflow);
            rows.checkpoints.retain(|(workflow, _), _| *workflow != change.workflow);
            claims.end(change);
            ended.push(change.workflow);
            continue;
        }
        let tasks = change.tasks.iter();
        rows.tasks.extend(tasks.map(|row| ((change.workflow, row.task.as_str(), row.item), row)));
        let checkpoint = change.checkpoint.iter();
        rows.checkpoints.extend(checkpoint.map(|row| ((change.workflow, row.layer), row)));
    }
    delete_control(connection, &ended).await?;
    rows.insert(connection).await
}

/// The claims of a transaction. A row that it has changed or locked stays its own until the commit, so one statement is
/// enough for all steps of a claim that change no row.
#[derive(Default)]
struct Claims {
    held: HashSet<(Uuid, u64)>,
    /// Of workflows that have ended by an earlier step.
    ended: HashSet<(Uuid, u64)>,
}

impl Claims {
    /// Changes the row of a step, or checks its fence; refuses the step if there is no such row.
    async fn take(
        &mut self,
        connection: &mut Connection,
        step: &Submitted,
    ) -> Result<(), StoreError> {
        let change = &step.change;
        let claim = (change.workflow, change.fence);
        let known = change.row.is_none() && self.held.contains(&claim);
        let taken = known || change_row(change).execute(connection).await? == 1;
        if taken {
            self.held.insert(claim);
        }
        step.refused.store(!taken, Ordering::Release);
        Ok(())
    }

    fn end(&mut self, change: &WorkflowChange) {
        self.ended.insert((change.workflow, change.fence));
    }

    /// Refuses a step that comes after the end.
    fn check(&self, step: &Submitted) {
        if self.ended.contains(&(step.change.workflow, step.change.fence)) {
            step.refused.store(true, Ordering::Release);
        }
    }
}

impl Rows<'_> {
    async fn insert(self, connection: &mut Connection) -> Result<(), StoreError> {
        let tasks: Vec<_> = self.tasks.into_iter().collect();
        TASKS
            .insert(connection, &tasks, |((workflow, ..), task)| {
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
            .insert(connection, &checkpoints, |((workflow, layer), checkpoint)| {
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
            .insert(connection, &events, |((workflow, number), event)| {
                [
                    super::run_of(*workflow).into(),
                    (*number).into(),
                    event.at_unix_ms.into(),
                    (&event.kind).into(),
                    (&event.data).into(),
                ]
            })
            .await
    }
}

/// Inserts or changes the row of a workflow. It changes one row if the fence matches, else none.
fn change_row(change: &WorkflowChange) -> Query<'_> {
    let update = match &change.row {
        Some(RowChange::Insert(row)) => return insert(row),
        Some(RowChange::Update(update)) => update,
        // Takes the row's lock, so that no claim comes between this check and the commit.
        None => {
            return query(
                "UPDATE workflow_dags SET fence = fence WHERE workflow_id = $1 AND fence = $2",
            )
            .bind(change.workflow.to_string())
            .bind(change.fence);
        }
    };
    query(
        "UPDATE workflow_dags SET dag = COALESCE($3, dag), state = COALESCE($4, state), phase = COALESCE($5, phase), \
         control_calls = COALESCE($6, control_calls), updated_at = $7, expires_at = COALESCE($8, expires_at), \
         lease_until = COALESCE($9, lease_until) WHERE workflow_id = $1 AND fence = $2",
    )
    .bind(change.workflow.to_string())
    .bind(change.fence)
    .bind(update.dag.as_deref())
    .bind(update.state.as_deref())
    .bind(update.phase.map(WorkflowPhase::as_str))
    .bind(update.control_calls.as_deref())
    .bind(update.updated_unix_ms)
    .bind(update.expires_unix_ms)
    .bind(update.lease_until_unix_ms)
}

fn insert(row: &WorkflowRow) -> Query<'_> {
    query(
        "INSERT INTO workflow_dags (workflow_id, run, tenant, owner, agent, principal, client_key, dag, intent, config, \
         state, phase, control_calls, created_at, updated_at, expires_at, lease_owner, lease_until, fence, \
         start_sum) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20) \
         ON CONFLICT DO NOTHING",
    )
    .bind(row.id.to_string())
    .bind(&row.run)
    .bind(&row.tenant)
    .bind(&row.subject)
    .bind(row.agent.as_deref())
    .bind(&row.principal)
    .bind(row.client_key.as_deref())
    .bind(&row.dag)
    .bind(row.intent.as_deref())
    .bind(&row.config)
    .bind(&row.state)
    .bind(row.phase.as_str())
    .bind(&row.control_calls)
    .bind(row.created_unix_ms)
    .bind(row.updated_unix_ms)
    .bind(row.expires_unix_ms)
    .bind(row.lease_owner.as_deref())
    .bind(row.lease_until_unix_ms)
    .bind(row.fence)
    .bind(row.start_sum.as_ref())
}

fn insert_answer(workflow: Uuid, answer: &WorkflowAnswer) -> Query<'_> {
    query(
        "INSERT INTO workflow_answers (workflow_id, tenant, owner, agent, client_key, start_sum, answer, expires_at) \
         SELECT workflow_id, tenant, owner, agent, client_key, start_sum, $2, $3 FROM workflow_dags WHERE workflow_id = $1 \
         ON CONFLICT (workflow_id) DO UPDATE SET answer = excluded.answer, expires_at = excluded.expires_at",
    )
    .bind(workflow.to_string())
    .bind(&answer.answer)
    .bind(answer.expires_unix_ms)
}

/// Deletes the rows of workflows that have ended, except their answers and journals.
async fn delete_control(connection: &mut Connection, ended: &[Uuid]) -> Result<(), StoreError> {
    for ids in ended.chunks(DELETED_AT_ONCE) {
        // Few widths, so that the statements stay prepared. The last id fills up.
        let width = ids.len().next_power_of_two();
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
