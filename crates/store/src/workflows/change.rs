//! What the writer stores of workflows.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rows::{self, Answers, Claim, Merged, Rows};
use super::{WorkflowCheckpointRow, WorkflowEventRow, WorkflowPhase, WorkflowRow, WorkflowTaskRow};
use crate::StoreError;
use crate::sql::Connection;

/// One step of a workflow, stored whole or not at all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum RowChange {
    /// Refused if there is a workflow of this id, or of this caller and idempotency key.
    Insert(Box<WorkflowRow>),
    Update(Box<WorkflowUpdate>),
}

/// The parts of a workflow that change. What is `None` stays as it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// An operator has the workflow resumed: its crashes count no longer.
    pub forgives_crashes: bool,
}

/// The last answer of a workflow. Its owner and idempotency key are stored with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkflowAnswer {
    /// JSON.
    pub answer: String,
    pub expires_unix_ms: u64,
}

/// A step in the writer's queue.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Submitted {
    pub(crate) change: WorkflowChange,
    /// Set if the fence matches no row; read by the receipt once the step is committed.
    #[serde(skip)]
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

impl Submitted {
    fn claim(&self) -> Claim {
        (self.change.workflow, self.change.fence)
    }

    fn inserts(&self) -> Option<&WorkflowRow> {
        match &self.change.row {
            Some(RowChange::Insert(row)) => Some(row),
            _ => None,
        }
    }

    fn refuse_if(&self, refused: bool) {
        self.refused.store(refused, Ordering::Release);
    }

    fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Acquire)
    }
}

/// Stores the steps of a group in their order, within a transaction. No statement here can fail because of a value: a
/// failure would hold up every later change.
///
/// A row that the transaction has inserted, changed or locked stays its own until the commit. So each claim is checked
/// once, and what all steps store is written together.
pub(crate) async fn apply(
    connection: &mut Connection,
    steps: &[&Submitted],
) -> Result<(), StoreError> {
    let mut held = insert(connection, steps).await?;
    let updates = merged(steps, &held);
    held.extend(rows::update(connection, &updates).await?);
    let mut rows = Rows::default();
    let mut answers = Answers::default();
    let mut ended = HashSet::new();
    for step in steps {
        let change = &step.change;
        if step.inserts().is_none() {
            let claim = step.claim();
            step.refuse_if(!held.contains(&claim) || ended.contains(&claim));
        }
        if step.is_refused() {
            continue;
        }
        rows.add_events(change);
        if let Some(answer) = &change.answer {
            answers.insert(change.workflow, answer);
        }
        if change.delete_control {
            rows.drop_control(change.workflow);
            ended.insert(step.claim());
        } else {
            rows.add_control(change);
        }
    }
    rows::insert_answers(connection, answers).await?;
    let ended: Vec<_> = ended.into_iter().map(|(workflow, _)| workflow).collect();
    rows::delete_control(connection, &ended).await?;
    rows.insert(connection).await
}

/// Inserts new workflows; returns their claims, and refuses the steps whose workflows are there already.
async fn insert(
    connection: &mut Connection,
    steps: &[&Submitted],
) -> Result<HashSet<Claim>, StoreError> {
    let mut ids = HashSet::new();
    let first = |step: &&&Submitted| step.inserts().is_some_and(|row| ids.insert(row.id));
    let new: Vec<_> = steps.iter().filter(first).copied().collect();
    let inserts: Vec<_> = new.iter().filter_map(|step| step.inserts()).collect();
    let mut inserted = rows::insert(connection, &inserts).await?;
    let held =
        new.iter().map(|step| step.claim()).filter(|(id, _)| inserted.contains(id)).collect();
    for step in steps {
        if let Some(row) = step.inserts() {
            // A start that was written twice counts once.
            step.refuse_if(!inserted.remove(&row.id));
        }
    }
    Ok(held)
}

/// One update for each claim: all changes of its row, or none if it is only checked.
fn merged<'a>(steps: &[&'a Submitted], held: &HashSet<Claim>) -> Vec<(Claim, Merged<'a>)> {
    let mut updates: BTreeMap<Claim, Merged<'a>> = BTreeMap::new();
    for step in steps {
        let claim = step.claim();
        match &step.change.row {
            Some(RowChange::Insert(_)) => continue,
            Some(RowChange::Update(update)) => updates.entry(claim).or_default().add(update),
            None if held.contains(&claim) => continue,
            None => drop(updates.entry(claim).or_default()),
        }
        if step.change.tasks.iter().any(|task| task.ended_unix_ms.is_some()) {
            updates.entry(claim).or_default().add_progress();
        }
    }
    updates.into_iter().collect()
}
