//! Reads tasks as far as they can be read, so that all faults of a DAG are reported at once.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::fault::{Fault, FaultCode};
use crate::evaluate::step_into;
use crate::name::{MAX_NAME_CHARS, is_name};
use crate::{Dag, MissingArgument, OpenArgument, Proposal, Task};

/// The readable part of tasks, and what is wrong with the rest.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub name: Option<String>,
    pub tasks: Vec<Task>,
    pub faults: Vec<Fault>,
    /// Arguments that are still to be given, by the id of their task.
    pub missing: BTreeMap<String, Vec<OpenArgument>>,
}

impl Reading {
    /// Reads `{"name": …, "tasks": […]}`.
    pub fn of_dag(dag: &Value) -> Self {
        let mut faults = Vec::new();
        let Dag { name, tasks } = read_dag(dag, "", &mut faults);
        Self { name, tasks, faults, ..Self::default() }
    }

    /// Reads a list of tasks.
    pub fn of_tasks(tasks: &Value) -> Self {
        let mut faults = Vec::new();
        let tasks = read_tasks(tasks, "/tasks", &mut faults);
        Self { tasks, faults, ..Self::default() }
    }
}

impl From<&Proposal> for Reading {
    fn from(proposal: &Proposal) -> Self {
        let mut missing: BTreeMap<String, Vec<OpenArgument>> = BTreeMap::new();
        for MissingArgument { task_id, argument, schema } in &proposal.missing {
            let open = OpenArgument { argument: argument.clone(), schema: schema.clone() };
            missing.entry(task_id.clone()).or_default().push(open);
        }
        Self { tasks: proposal.tasks.clone(), missing, ..Self::default() }
    }
}

impl From<Dag> for Reading {
    fn from(dag: Dag) -> Self {
        Self { name: dag.name, tasks: dag.tasks, ..Self::default() }
    }
}

fn read_dag(dag: &Value, path: &str, faults: &mut Vec<Fault>) -> Dag {
    let mut report = |path: &str, message: String| {
        faults.push(Fault::new(path, FaultCode::BadArguments, message));
    };
    let Value::Object(fields) = dag else {
        report(path, "a workflow is an object with the field `tasks`".to_owned());
        return Dag::default();
    };
    for field in fields.keys().filter(|field| !["name", "tasks"].contains(&field.as_str())) {
        let message = format!("unknown field `{field}`: a workflow has only `name` and `tasks`");
        report(&step_into(path, field), message);
    }
    let name = fields.get("name").filter(|name| !name.is_null());
    if name.is_some_and(|name| !name.as_str().is_some_and(is_name)) {
        let message = format!("`name` is one line of 1 to {MAX_NAME_CHARS} characters");
        report(&step_into(path, "name"), message);
    }
    let name = name.and_then(Value::as_str).map(str::to_owned);
    let tasks =
        fields.get("tasks").map(|tasks| read_tasks(tasks, &format!("{path}/tasks"), faults));
    Dag { name, tasks: tasks.unwrap_or_default() }
}

fn read_tasks(tasks: &Value, path: &str, faults: &mut Vec<Fault>) -> Vec<Task> {
    let Value::Array(tasks) = tasks else {
        faults.push(Fault::new(path, FaultCode::BadArguments, "`tasks` is a list"));
        return Vec::new();
    };
    let tasks = tasks.iter().enumerate();
    tasks.map(|(place, task)| read_task(task, &format!("{path}/{place}"), faults)).collect()
}

fn read_task(task: &Value, path: &str, faults: &mut Vec<Fault>) -> Task {
    let mut report = |path: &str, message: String| {
        faults.push(Fault::new(path, FaultCode::BadArguments, message));
    };
    let Value::Object(fields) = task else {
        report(path, "a task is an object".to_owned());
        return Task::default();
    };
    let without_id = || Map::from_iter([("id".to_owned(), Value::from(""))]);
    let mut readable = without_id();
    for (name, field) in fields.iter().filter(|(name, _)| *name != "workflow") {
        let mut alone = without_id();
        alone.insert(name.clone(), field.clone());
        match Task::deserialize(Value::Object(alone)) {
            Ok(_) => {
                readable.insert(name.clone(), field.clone());
            }
            Err(error) => report(&step_into(path, name), error.to_string()),
        }
    }
    let inner = fields.get("workflow").filter(|inner| !inner.is_null());
    let workflow = inner.map(|inner| read_dag(inner, &format!("{path}/workflow"), faults));
    // cannot fail: its fields can be read one by one, so it can be read.
    let task = Task::deserialize(Value::Object(readable)).unwrap_or_default();
    Task { workflow, ..task }
}
