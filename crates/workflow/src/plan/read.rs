//! Reads tasks as far as they can be read, so that all faults of a DAG are reported at once.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::fault::{Fault, FaultCode};
use crate::evaluate::step_into;
use crate::{Dag, Task};

/// The readable part of tasks, and what is wrong with the rest.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub tasks: Vec<Task>,
    pub faults: Vec<Fault>,
}

impl Reading {
    /// Reads `{"tasks": […]}`.
    pub fn of_dag(dag: &Value) -> Self {
        let mut faults = Vec::new();
        let tasks = read_dag(dag, "", &mut faults).tasks;
        Self { tasks, faults }
    }

    /// Reads a list of tasks.
    pub fn of_tasks(tasks: &Value) -> Self {
        let mut faults = Vec::new();
        let tasks = read_tasks(tasks, "/tasks", &mut faults);
        Self { tasks, faults }
    }
}

impl From<Dag> for Reading {
    fn from(dag: Dag) -> Self {
        Self { tasks: dag.tasks, faults: Vec::new() }
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
    for name in fields.keys().filter(|name| *name != "tasks") {
        let message = format!("unknown field `{name}`: a workflow has only `tasks`");
        report(&step_into(path, name), message);
    }
    let tasks =
        fields.get("tasks").map(|tasks| read_tasks(tasks, &format!("{path}/tasks"), faults));
    Dag { tasks: tasks.unwrap_or_default() }
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
