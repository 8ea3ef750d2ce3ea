use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::graph::{Address, Graph, Node, WHOLE};
use crate::PlanNotes;
use crate::plan::MAX_TASKS;

/// How a task or an item ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Success,
    Failed,
    /// A person rejected the call, or did not decide in time.
    Rejected,
    Skipped,
}

/// Where a workflow is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The owner's credential is checked before anything starts.
    Checking,
    Running,
    /// Waits for a commit, and is then in the phase within.
    Saving(Box<Phase>),
    Paused(Pause),
    /// Aborted: waits until the running calls have ended.
    Cancelling,
    Compensating,
    Ended(Outcome),
}

/// Why a workflow waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    pub checkpoint_id: String,
    pub kind: PauseKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseKind {
    /// A plan waits for its caller, before anything has run.
    Planned,
    /// A layer has finished.
    Layer,
    TaskFailed,
    /// A person must approve calls.
    Approval,
    /// A person must answer questions.
    Input,
    OwnerGone {
        reason: String,
    },
    Rejected,
    /// Processes died while it was active: only an operator continues it.
    Quarantined {
        reason: String,
    },
}

/// How a workflow ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Complete,
    Failed,
    Aborted {
        reason: String,
        /// How many layers had ended before.
        #[serde(default)]
        completed_layers: usize,
    },
}

/// What a workflow is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Pause after each layer.
    pub per_layer: bool,
    /// How many calls run at once.
    pub parallel: usize,
}

/// A workflow as the core sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub graph: Arc<Graph>,
    pub rules: Rules,
    pub phase: Phase,
    pub root: Scope,
    /// Counts successful calls, so that they can be undone in reverse order.
    pub sequence: u64,
    /// How it will end once everything is undone.
    pub ending: Option<Outcome>,
    pub feedback: Option<String>,
    pub compensations: Vec<Undo>,
    /// The id of the last checkpoint that waits for approvals, until one more call needs an approval: an answer with an id
    /// decides about calls that were shown under it, and about no others.
    pub asked: Option<String>,
    /// The notes on a plan that is not accepted yet: nothing runs before.
    pub planned: Option<Box<PlanNotes>>,
}

/// The part of a state that is stored with each commit; tasks have rows of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    pub rules: Rules,
    pub phase: Phase,
    pub layer: usize,
    pub sequence: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Outcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<Box<PlanNotes>>,
}

impl Saved {
    /// Whether everything of its layer has ended.
    pub fn is_layer_over(&self) -> bool {
        let Phase::Paused(pause) = &self.phase else { return false };
        matches!(pause.kind, PauseKind::Layer | PauseKind::TaskFailed | PauseKind::Rejected)
    }
}

/// A DAG in execution: the workflow itself, or a sub-workflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    pub layer: usize,
    pub tasks: Vec<TaskState>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TaskState {
    pub stage: Stage,
    /// The failed task because of which it was skipped.
    pub because: Option<usize>,
    /// One cell for each item, or one for the task itself.
    pub cells: BTreeMap<i64, Cell>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Waiting,
    /// Its `when` and `for_each` are evaluated.
    Preparing,
    Open,
    Ended(Verdict),
}

/// A call, or a sub-workflow in execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub stage: CellStage,
    /// Raised by `retry_task` only.
    pub attempt: u32,
    /// How often the call was repeated within this attempt.
    pub tries: u32,
    /// The order of success.
    pub sequence: u64,
    /// Whether a person has decided about it, while its row still says that it waits.
    pub settled: bool,
    /// The sub-workflow, once it has begun.
    pub inner: Option<Box<Scope>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellStage {
    Queued,
    /// The input of the sub-workflow is evaluated.
    Entering,
    Calling,
    /// It is called again later.
    Delayed,
    /// It waits for an approval.
    Parked,
    /// No more calls of this caller may wait for approval at present.
    Full,
    /// It waits for an answer.
    Asking,
    /// Its sub-workflow runs.
    Inside,
    Ended(Verdict),
}

/// A list that does not fit into the workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    pub items: usize,
    /// How many tasks each item counts for.
    pub weight: usize,
    /// How many more tasks fit.
    pub free: usize,
}

/// The compensation of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    pub cell: Address,
    pub stage: UndoStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoStage {
    Queued,
    Calling,
    Delayed,
    Parked,
    Ended(Verdict),
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            stage: CellStage::Queued,
            attempt: 1,
            tries: 0,
            sequence: 0,
            settled: false,
            inner: None,
        }
    }
}

impl Default for TaskState {
    fn default() -> Self {
        Self { stage: Stage::Waiting, because: None, cells: BTreeMap::new() }
    }
}

impl TaskState {
    pub fn attempt(&self) -> u32 {
        self.cells.values().map(|cell| cell.attempt).max().unwrap_or(1)
    }

    /// How many tasks it counts for: its items with their sub-workflows.
    fn size(&self, node: &Node) -> usize {
        let inside = |cell: &Cell| match (&node.graph, cell.inner.as_deref()) {
            (Some(graph), Some(inner)) => inner.size(graph).saturating_add(1),
            _ => node.weight(),
        };
        let cells = self.cells.values().map(inside);
        cells.fold(node.rest(self.cells.len()), usize::saturating_add)
    }

    /// Whether nothing of it has begun.
    pub fn is_untouched(&self) -> bool {
        self.stage == Stage::Waiting && self.cells.is_empty()
    }
}

impl Scope {
    pub fn new(graph: &Graph) -> Self {
        Self { layer: 0, tasks: vec![TaskState::default(); graph.nodes.len()] }
    }

    fn task(&self, address: &Address) -> Option<&TaskState> {
        let (last, parents) = address.0.split_last()?;
        let mut scope = self;
        for step in parents {
            scope = scope.tasks.get(step.task)?.cells.get(&step.item)?.inner.as_deref()?;
        }
        scope.tasks.get(last.task)
    }

    pub fn cell(&self, address: &Address) -> Option<&Cell> {
        self.task(address)?.cells.get(&address.last()?.item)
    }

    /// The scope that contains an address.
    pub fn scope_mut(&mut self, address: &Address) -> Option<&mut Self> {
        let (_, parents) = address.0.split_last()?;
        let mut scope = self;
        for step in parents {
            let cell = scope.tasks.get_mut(step.task)?.cells.get_mut(&step.item)?;
            scope = cell.inner.as_deref_mut()?;
        }
        Some(scope)
    }

    /// How many tasks it counts for: with sub-workflows, and with the items that are known by now.
    fn size(&self, graph: &Graph) -> usize {
        let tasks = graph.nodes.iter().zip(&self.tasks);
        tasks.map(|(node, task)| task.size(node)).fold(0, usize::saturating_add)
    }

    fn count(&self, matches: &impl Fn(&CellStage) -> bool) -> usize {
        let cells = self.tasks.iter().flat_map(|task| task.cells.values());
        let counts = cells.map(|cell| {
            let inside = cell.inner.as_deref().map_or(0, |inner| inner.count(matches));
            inside + usize::from(matches(&cell.stage))
        });
        counts.sum()
    }

    pub fn task_mut(&mut self, address: &Address) -> Option<&mut TaskState> {
        let task = address.last()?.task;
        self.scope_mut(address)?.tasks.get_mut(task)
    }

    pub fn cell_mut(&mut self, address: &Address) -> Option<&mut Cell> {
        let item = address.last()?.item;
        self.task_mut(address)?.cells.get_mut(&item)
    }

    /// Calls `visit` with each cell and its address, those of sub-workflows after their parent.
    pub fn each_cell<'a>(&'a self, within: &Address, visit: &mut impl FnMut(&Address, &'a Cell)) {
        for (task, state) in self.tasks.iter().enumerate() {
            let whole = within.child(task);
            for (item, cell) in &state.cells {
                let address = if *item == WHOLE { whole.clone() } else { whole.item(*item) };
                visit(&address, cell);
                if let Some(inner) = &cell.inner {
                    inner.each_cell(&address, visit);
                }
            }
        }
    }
}

impl State {
    /// A workflow whose DAG is about to be committed.
    pub fn new(graph: Arc<Graph>, rules: Rules) -> Self {
        let root = Scope::new(&graph);
        Self {
            graph,
            rules,
            phase: Phase::Saving(Box::new(Phase::Checking)),
            root,
            sequence: 0,
            ending: None,
            feedback: None,
            compensations: Vec::new(),
            asked: None,
            planned: None,
        }
    }

    /// The state, to be replaced by the next one.
    pub fn take(&mut self) -> Self {
        let rules = self.rules;
        std::mem::replace(self, Self::new(Arc::default(), rules))
    }

    /// The part that is stored.
    pub fn saved(&self) -> Saved {
        let phase = match &self.phase {
            // The end is not a state that can be saved: its commit deletes the state. Until then it is to be reached again.
            Phase::Saving(then) if matches!(**then, Phase::Ended(_)) => Phase::Checking,
            Phase::Saving(then) => (**then).clone(),
            Phase::Running | Phase::Cancelling | Phase::Compensating => Phase::Checking,
            other => other.clone(),
        };
        Saved {
            rules: self.rules,
            phase,
            layer: self.root.layer,
            sequence: self.sequence,
            ending: self.ending.clone(),
            feedback: self.feedback.clone(),
            planned: self.planned.clone(),
        }
    }

    /// The pause, if it is paused and that is committed.
    pub fn pause(&self) -> Option<&Pause> {
        match &self.phase {
            Phase::Paused(pause) => Some(pause),
            _ => None,
        }
    }

    pub fn is_quarantined(&self) -> bool {
        let kind = self.pause().map(|pause| &pause.kind);
        matches!(kind, Some(PauseKind::Quarantined { .. }))
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Ended(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// The cells in a stage.
    pub fn cells_in(&self, matches: impl Fn(&CellStage) -> bool) -> Vec<Address> {
        let mut found = Vec::new();
        self.root.each_cell(&Address::default(), &mut |address, cell| {
            if matches(&cell.stage) {
                found.push(address.clone());
            }
        });
        found
    }

    pub fn count(&self, matches: impl Fn(&CellStage) -> bool) -> usize {
        self.root.count(&matches)
    }

    /// How many tasks it counts for: with sub-workflows, and with the items that are known by now.
    pub fn size(&self) -> usize {
        self.root.size(&self.graph)
    }

    /// Why a list of this length cannot be opened, if it cannot.
    pub fn overflow(&self, task: &Address, items: usize) -> Option<Overflow> {
        let node = self.graph.node(task)?;
        let own = self.root.task(task)?.size(node);
        let free = MAX_TASKS.saturating_sub(self.size().saturating_sub(own));
        let weight = node.weight();
        (items.saturating_mul(weight) > free).then_some(Overflow { items, weight, free })
    }

    /// How many layers have ended.
    pub fn completed_layers(&self) -> usize {
        let open = |layer: usize| {
            let mut nodes = self.graph.nodes.iter().zip(&self.root.tasks);
            nodes.any(|(node, task)| node.layer == layer && !matches!(task.stage, Stage::Ended(_)))
        };
        (0..self.graph.layers).take_while(|layer| !open(*layer)).count()
    }
}
