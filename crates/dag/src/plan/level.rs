//! One level of a DAG: the workflow itself, or a sub-workflow.

use std::collections::{BTreeMap, HashMap};

use schema::yaml::nearest;
use serde_json::{Map, Value};

use super::fault::{Fault, FaultCode};
use super::fields::Shape;
use super::limits::{MAX_DEPTH, MAX_HINTS, MAX_ID_CHARS};
use super::order;
use super::planned::{Plan, PlannedTask};
use super::task::{Checked, TaskCheck, TaskReference};
use super::tools::Tools;
use crate::evaluate::scan::{Reference, Step};
use crate::{OpenArgument, Task};

/// The fields of `tasks.ID.error`.
const ERROR_FIELDS: [&str; 4] = ["code", "message", "retryable", "details"];

#[derive(Clone, Copy)]
pub(super) struct Level<'a> {
    pub(super) tools: &'a dyn Tools,
    /// The tasks that are there already.
    pub(super) present: &'a [PlannedTask],
    /// The layer in which the others begin.
    pub(super) from_layer: usize,
    pub(super) depth: usize,
    /// The arguments of the task that holds this sub-workflow.
    pub(super) input: Option<&'a Map<String, Value>>,
    /// Arguments that are still to be given, by task.
    pub(super) missing: Option<&'a BTreeMap<String, Vec<OpenArgument>>>,
}

impl Level<'_> {
    /// Checks tasks and adds them to those that are there. The plan is of use only if there are no faults.
    pub(super) fn plan(&self, tasks: &[Task], path: &str, faults: &mut Vec<Fault>) -> Plan {
        if self.depth > MAX_DEPTH {
            let message = format!("sub-workflows are nested at most {MAX_DEPTH} deep");
            faults.push(Fault::new(path, FaultCode::Limit, message));
            return Plan::default();
        }
        if tasks.is_empty() {
            let message = "a workflow has at least 1 task";
            faults.push(Fault::new(format!("{path}/tasks"), FaultCode::Limit, message));
        }
        let new = self.present.len();
        let mut planned = self.present.to_vec();
        let mut found = Vec::with_capacity(tasks.len());
        for (at, task) in tasks.iter().enumerate() {
            let path = format!("{path}/tasks/{at}");
            let checked = TaskCheck { level: self, path: &path, task }.check(faults);
            let Checked { planned: one, references } = checked;
            planned.push(one);
            found.push((path, references));
        }
        let positions = self.positions(&planned, path, faults);
        for (at, (path, references)) in found.iter().enumerate() {
            let mut links = Links { level: self, planned: &planned, positions: &positions, faults };
            let depends_on = links.find(new + at, path, references);
            planned[new + at].depends_on = depends_on;
        }
        self.check_ends(&planned, path, faults);
        if !order::report_cycles(&planned, &format!("{path}/tasks"), faults) {
            order::arrange(&mut planned, new, self.from_layer);
            order::check_layers(&planned, &format!("{path}/tasks"), faults);
        }
        Plan { name: None, tasks: planned }
    }

    /// The plan with other arguments for one of its tasks.
    pub(super) fn replace_arguments(
        &self,
        id: &str,
        arguments: Map<String, Value>,
        faults: &mut Vec<Fault>,
    ) -> Plan {
        let mut planned = self.present.to_vec();
        let Some(at) = planned.iter().position(|planned| planned.task.id == id) else {
            let message = format!("there is no task `{id}`");
            faults.push(Fault::new("/task_id", FaultCode::BadReference, message));
            return Plan::default();
        };
        let task = Task { arguments, ..planned[at].definition() };
        let layer = planned[at].layer;
        let checked = TaskCheck { level: self, path: "", task: &task }.check(faults);
        planned[at] = PlannedTask { layer, ..checked.planned };
        let positions = self.positions(&planned, "", &mut Vec::new());
        let mut links = Links { level: self, planned: &planned, positions: &positions, faults };
        let depends_on = links.find(at, "", &checked.references);
        for later in depends_on.iter().filter(|other| planned[**other].layer >= layer) {
            let message = format!(
                "`{id}` runs in layer {layer}, but `{}` does not run before it",
                planned[*later].task.id
            );
            faults.push(Fault::new("/arguments", FaultCode::BadReference, message));
        }
        planned[at].depends_on = depends_on;
        Plan { name: None, tasks: planned }
    }

    /// The position of each id; reports ids that are not valid or used twice.
    fn positions(
        &self,
        planned: &[PlannedTask],
        path: &str,
        faults: &mut Vec<Fault>,
    ) -> HashMap<String, usize> {
        let mut positions = HashMap::new();
        for (at, planned) in planned.iter().enumerate() {
            let id = &planned.task.id;
            let path = at.checked_sub(self.present.len()).map(|at| format!("{path}/tasks/{at}/id"));
            let path = path.unwrap_or_default();
            if !is_id(id) {
                let shown: String = id.chars().take(MAX_ID_CHARS).collect();
                let message = format!(
                    "`{shown}` is not an id: an id has 1 to {MAX_ID_CHARS} letters, digits, `_` and `-`"
                );
                faults.push(Fault::new(path, FaultCode::Limit, message));
            } else if positions.contains_key(id) {
                let message = format!("the id `{id}` is used twice");
                faults.push(Fault::new(path, FaultCode::DuplicateId, message));
                continue;
            }
            positions.insert(id.clone(), at);
        }
        positions
    }

    /// A run ends once, after everything else.
    fn check_ends(&self, planned: &[PlannedTask], path: &str, faults: &mut Vec<Fault>) {
        let ends = planned.iter().filter(|task| task.ends_run).count();
        if ends > 1 {
            let message = format!("{ends} tasks end the run, which ends once");
            faults.push(Fault::new(format!("{path}/tasks"), FaultCode::Limit, message));
        }
        for (at, task) in planned.iter().enumerate().skip(self.present.len()) {
            for end in task.depends_on.iter().filter(|other| planned[**other].ends_run) {
                let message = format!(
                    "`{}` depends on `{}`, which ends the run and comes last",
                    task.task.id, planned[*end].task.id
                );
                let at = at - self.present.len();
                let path = format!("{path}/tasks/{at}/depends_on");
                faults.push(Fault::new(path, FaultCode::UnknownDependency, message));
            }
        }
    }
}

fn is_id(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_ID_CHARS).contains(&id.len()) && id.bytes().all(allowed)
}

/// Resolves the names of tasks.
struct Links<'a> {
    level: &'a Level<'a>,
    planned: &'a [PlannedTask],
    positions: &'a HashMap<String, usize>,
    faults: &'a mut Vec<Fault>,
}

impl Links<'_> {
    /// The tasks that a task depends on.
    fn find(&mut self, at: usize, path: &str, references: &[TaskReference]) -> Vec<usize> {
        let mut depends_on = Vec::new();
        let mut add = |other: usize| {
            if !depends_on.contains(&other) {
                depends_on.push(other);
            }
        };
        for (place, name) in self.planned[at].task.depends_on.iter().enumerate() {
            match self.positions.get(name) {
                Some(other) => add(*other),
                None => {
                    let path = format!("{path}/depends_on/{place}");
                    let message = self.unknown_task(name);
                    self.faults.push(Fault::new(path, FaultCode::UnknownDependency, message));
                }
            }
        }
        let mut shapes = BTreeMap::new();
        for found in references {
            let other = self.resolve(&found.reference, &mut shapes);
            let other = other.and_then(|at| {
                if found.is_list {
                    self.check_list(&found.reference, &shapes)?;
                }
                Ok(at)
            });
            let other = match other {
                Ok(other) => other,
                Err(message) => {
                    let path = found.path.clone();
                    self.faults.push(Fault::new(path, FaultCode::BadReference, message));
                    continue;
                }
            };
            // The compensation of a task sees the output of that task.
            if !(found.of_compensation && other == at) {
                add(other);
            }
        }
        depends_on
    }

    /// The task that a reference names.
    fn resolve(
        &self,
        reference: &Reference,
        shapes: &mut BTreeMap<usize, Shape>,
    ) -> Result<usize, String> {
        let whole = reference.path(reference.steps.len());
        let Some(id) = reference.task() else {
            return Err("name one task: `tasks.ID.output`".to_owned());
        };
        let at = *self.positions.get(id).ok_or_else(|| self.unknown_task(id))?;
        let rest = reference.steps.get(2..).unwrap_or_default();
        let excluded = match reference.steps.get(1) {
            Some(Step::Field(part)) if part == "output" => {
                let shape = shapes.entry(at).or_insert_with(|| self.level.shape(&self.planned[at]));
                match shape.excludes(rest) {
                    None => None,
                    Some(taken) => {
                        let known = shape.fields();
                        let field = match (&rest[0], taken) {
                            (Step::Field(field), 0) => field.as_str(),
                            _ => "",
                        };
                        let hint = self.hint(field, known.iter().map(String::as_str));
                        let path = reference.path(taken + 3);
                        let why = self.planned[at].describe_output();
                        Some(format!("`{path}` cannot exist: {why}{hint}"))
                    }
                }
            }
            Some(Step::Field(part)) if part == "status" => {
                (!rest.is_empty()).then(|| format!("`{whole}` cannot exist: the status is a text"))
            }
            Some(Step::Field(part)) if part == "error" => match rest.first() {
                Some(Step::Field(field)) if ERROR_FIELDS.contains(&field.as_str()) => None,
                None => None,
                Some(_) => Some(format!(
                    "`{whole}` cannot exist: an error has {}",
                    ERROR_FIELDS.map(|field| format!("`{field}`")).join(", ")
                )),
            },
            _ => {
                Some(format!("`{whole}` is not a value: a task has `output`, `status` and `error`"))
            }
        };
        excluded.map_or(Ok(at), Err)
    }

    /// Refuses what cannot be a list. The reference names a task that exists.
    fn check_list(
        &self,
        reference: &Reference,
        shapes: &BTreeMap<usize, Shape>,
    ) -> Result<(), String> {
        let at = reference.task().and_then(|id| self.positions.get(id));
        let rest = reference.steps.get(2..).unwrap_or_default();
        let fits = match reference.steps.get(1) {
            Some(Step::Field(part)) if part == "output" => {
                let shape = at.and_then(|at| shapes.get(at));
                shape.is_none_or(|shape| shape.can_be_list(rest))
            }
            // The details of an error may be anything.
            _ => !rest.is_empty(),
        };
        if fits {
            return Ok(());
        }
        let path = reference.path(reference.steps.len());
        Err(format!("`for_each` takes a list, and `{path}` is never one"))
    }

    /// The end of a message with the most similar name. Only the first faults have one.
    fn hint<'n>(&self, name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
        if self.faults.len() >= MAX_HINTS {
            return String::new();
        }
        let nearest = nearest(name, known);
        nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
    }

    fn unknown_task(&self, name: &str) -> String {
        let shown: String = name.chars().take(MAX_ID_CHARS).collect();
        let hint = self.hint(&shown, self.planned.iter().map(|planned| planned.task.id.as_str()));
        let what = if self.level.depth > 0 { "the sub-workflow" } else { "the workflow" };
        format!("{what} has no task `{shown}`{hint}")
    }
}

impl Level<'_> {
    /// The known shape of a task's output.
    fn shape(&self, planned: &PlannedTask) -> Shape {
        let each = match (&planned.workflow, &planned.task.tool) {
            (Some(workflow), _) => {
                let fields = workflow.tasks.iter();
                let fields = fields.map(|inner| (inner.task.id.clone(), self.shape(inner)));
                Shape::Fields(fields.collect())
            }
            (None, Some(tool)) => {
                let schema = self.tools.find(tool).ok().and_then(|info| info.output_schema);
                schema.map_or(Shape::Any, Shape::Schema)
            }
            (None, None) => Shape::Any,
        };
        if planned.task.for_each.is_some() { Shape::List(Box::new(each)) } else { each }
    }
}

impl PlannedTask {
    fn describe_output(&self) -> String {
        let id = &self.task.id;
        match (&self.task.for_each, &self.task.tool) {
            (Some(_), _) => format!("the output of `{id}` is a list, because of `for_each`"),
            (None, Some(tool)) => format!("the output schema of `{tool}` excludes it"),
            (None, None) => format!("the output of `{id}` has the ids of its tasks as fields"),
        }
    }
}
