use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{OnError, Retry};

/// What the core knows about a DAG: its order and its rules, without tools and arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub layers: usize,
}

/// One task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub layer: usize,
    pub depends_on: Vec<usize>,
    /// It has a `when`.
    pub conditional: bool,
    pub for_each: bool,
    /// The length of its `for_each`, where that is known before it runs.
    pub items: usize,
    pub retry: Option<Retry>,
    pub on_error: OnError,
    pub compensates: bool,
    /// The DAG that it runs instead of a tool.
    pub graph: Option<Arc<Graph>>,
}

/// The item of a step that is no item of a list.
pub const WHOLE: i64 = -1;

/// One task, or one item of its `for_each`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Step {
    pub task: usize,
    /// [`WHOLE`] for the task itself.
    pub item: i64,
}

/// Where a task or an item is: within sub-workflows, one step for each level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub Vec<Step>);

impl Address {
    /// A task of the workflow itself.
    pub fn task(task: usize) -> Self {
        Self(vec![Step { task, item: WHOLE }])
    }

    /// A task of the sub-workflow at this address.
    pub fn child(&self, task: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step { task, item: WHOLE });
        Self(steps)
    }

    /// An item of the task at this address.
    pub fn item(&self, item: i64) -> Self {
        let mut steps = self.0.clone();
        if let Some(last) = steps.last_mut() {
            last.item = item;
        }
        Self(steps)
    }

    /// The task that this is an item of.
    pub fn whole(&self) -> Self {
        self.item(WHOLE)
    }

    /// The cell of the sub-workflow that contains it.
    pub fn parent(&self) -> Option<Self> {
        let (_, parents) = self.0.split_last()?;
        (!parents.is_empty()).then(|| Self(parents.to_vec()))
    }

    pub fn last(&self) -> Option<Step> {
        self.0.last().copied()
    }

    /// The task of the workflow itself that contains it.
    pub fn root_task(&self) -> Option<usize> {
        self.0.first().map(|step| step.task)
    }
}

impl Node {
    /// How many tasks each of its items counts for.
    pub fn weight(&self) -> usize {
        self.graph.as_ref().map_or(0, |graph| graph.size()).saturating_add(1)
    }

    /// How many tasks those of its items count for that are known and not among the first `opened`.
    pub(super) fn rest(&self, opened: usize) -> usize {
        self.items.max(1).saturating_sub(opened).saturating_mul(self.weight())
    }
}

impl Graph {
    /// The number of tasks with sub-workflows and the items that are known before it runs.
    pub fn size(&self) -> usize {
        self.nodes.iter().map(|node| node.rest(0)).fold(0, usize::saturating_add)
    }

    /// The node of an address.
    pub fn node(&self, address: &Address) -> Option<&Node> {
        let (last, parents) = address.0.split_last()?;
        let mut graph = self;
        for step in parents {
            graph = graph.nodes.get(step.task)?.graph.as_deref()?;
        }
        graph.nodes.get(last.task)
    }
}
