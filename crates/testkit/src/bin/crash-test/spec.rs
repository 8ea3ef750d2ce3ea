//! Random workflows, and what is expected of them.

use serde_json::{Value, json};

use crate::rng::Rng;

/// A workflow and how its client steers it.
pub(crate) struct Spec {
    /// Part of the names of its tasks in the ledger.
    pub(crate) name: String,
    pub(crate) tasks: Vec<TaskSpec>,
    pub(crate) per_layer: bool,
    /// Abort it at this checkpoint, counted from 0.
    pub(crate) abort_at: Option<u64>,
    /// Whether its approvals are rejected.
    pub(crate) reject: bool,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Work,
    /// A tool that must not run again.
    Once,
    /// Fails this often at first.
    Fail(u64),
    /// Asks a person first.
    Ask,
    /// A sub-workflow.
    Sub,
    /// Is never run.
    Skip,
}

pub(crate) struct TaskSpec {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    /// The names of its calls, if they are several: the items of `for_each`, or the tasks of a sub-workflow.
    pub(crate) parts: Option<Vec<String>>,
    pub(crate) gated: bool,
    pub(crate) compensated: bool,
    definition: Value,
}

/// How often a failing call is tried again.
pub(crate) const RETRIES: u64 = 3;

impl Spec {
    pub(crate) fn random(name: String, rng: &mut Rng) -> Self {
        let mut tasks: Vec<TaskSpec> = Vec::new();
        let mut earlier: Vec<usize> = Vec::new();
        for _ in 0..rng.between(1, 4) {
            let first = tasks.len();
            for _ in 0..rng.between(1, 4) {
                let task = TaskSpec::random(&name, tasks.len(), &tasks, &earlier, rng);
                tasks.push(task);
            }
            earlier = (first..tasks.len()).filter(|at| tasks[*at].kind != Kind::Skip).collect();
        }
        Self {
            name,
            tasks,
            per_layer: rng.percent(60),
            abort_at: rng.percent(15).then(|| rng.between(0, 2)),
            reject: rng.percent(15),
        }
    }

    /// The argument of `execute_dag`.
    pub(crate) fn input(&self) -> Value {
        let tasks: Vec<_> = self.tasks.iter().map(|task| task.definition.clone()).collect();
        json!({"workflow": {"tasks": tasks}, "config": {"per_layer_validation": self.per_layer}})
    }

    /// The task of a name in the ledger, and the part of it.
    pub(crate) fn task<'a>(&self, ledger_name: &'a str) -> Option<(&TaskSpec, Option<&'a str>)> {
        let rest = ledger_name.strip_prefix(&self.name)?.strip_prefix('.')?;
        let (id, part) = match rest.split_once('.') {
            Some((id, part)) => (id, Some(part)),
            None => (rest, None),
        };
        Some((self.tasks.iter().find(|task| task.id == id)?, part))
    }
}

impl TaskSpec {
    fn random(
        workflow: &str,
        number: usize,
        tasks: &[TaskSpec],
        earlier: &[usize],
        rng: &mut Rng,
    ) -> Self {
        let id = format!("t{number}");
        let kind = match rng.between(0, 99) {
            0..58 => Kind::Work,
            58..66 => Kind::Once,
            66..76 => Kind::Fail(rng.between(1, RETRIES)),
            76..84 => Kind::Ask,
            84..94 => Kind::Sub,
            _ => Kind::Skip,
        };
        let name = format!("{workflow}.{id}");
        let server = if rng.percent(25) { "local" } else { "ledger" };
        let mut tool = format!("{server}:work");
        let mut arguments = json!({"task": name, "ms": rng.between(0, 60)});
        let mut task = json!({"id": id});
        let (mut parts, mut gated, mut compensated) = (None, false, false);
        let mut depends_on = Vec::new();
        if !earlier.is_empty() {
            for _ in 0..rng.between(1, 2) {
                let at = earlier[usize::try_from(rng.next()).unwrap_or(0) % earlier.len()];
                depends_on.push(tasks[at].id.clone());
            }
            depends_on.dedup();
        }
        match kind {
            Kind::Work => {
                if rng.percent(20) {
                    arguments["bytes"] = json!(rng.between(1_000, 20_000));
                }
                if rng.percent(20) {
                    let count = rng.between(1, 5);
                    parts = Some((0..count).map(|item| item.to_string()).collect());
                    arguments["task"] = json!(format!("{name}.{{{{ item }}}}"));
                    task["for_each"] = json!((0..count).collect::<Vec<_>>());
                } else if let Some(first) = depends_on.first()
                    && tasks.iter().any(|task| {
                        task.id == *first && task.kind == Kind::Work && task.parts.is_none()
                    })
                {
                    // Outputs must outlive a crash, too.
                    arguments["value"] = json!(format!("{{{{ tasks.{first}.output.key }}}}"));
                }
                if rng.percent(15) {
                    gated = true;
                    if rng.percent(50) {
                        tool = "ledger:deploy".to_owned();
                    } else {
                        task["approval"] = json!({"reason": "it is a test"});
                    }
                }
                compensated = !gated && rng.percent(20);
                if compensated {
                    let undone = json!({"task": format!("{name}.undo")});
                    task["compensate"] = json!({"tool": "ledger:undo", "arguments": undone});
                }
            }
            Kind::Once => {
                tool = "ledger:once".to_owned();
                task["on_error"] = json!("continue");
            }
            Kind::Fail(times) => {
                tool = "ledger:fail".to_owned();
                arguments = json!({"task": name, "times": times});
                task["retry"] = json!({"max": RETRIES, "backoff_ms": 20});
            }
            Kind::Ask => {
                tool = "ledger:ask".to_owned();
                arguments = json!({"task": name, "question": format!("What about {name}?")});
            }
            Kind::Sub => {
                arguments = json!({"name": name});
                let (within, names) = sub_workflow(rng);
                task["workflow"] = within;
                parts = Some(names);
            }
            Kind::Skip => task["when"] = json!("1 > 2"),
        }
        if kind != Kind::Sub {
            task["tool"] = json!(tool);
        }
        task["arguments"] = arguments;
        task["depends_on"] = json!(depends_on);
        Self { id, kind, parts, gated, compensated, definition: task }
    }

    /// What a person answers if it asks.
    pub(crate) fn reply(&self) -> String {
        format!("the answer to {}", self.id)
    }
}

/// A sub-workflow, some of which contain another one, and the names of its calls.
fn sub_workflow(rng: &mut Rng) -> (Value, Vec<String>) {
    let ms = rng.between(0, 40);
    let first = json!({"id": "i0", "tool": "ledger:work", "arguments": {"task": "{{ input.name }}.i0", "ms": ms}});
    // Outputs within it must outlive a crash, too.
    let call = |id: &str, before: &str| {
        json!({"id": id, "tool": "local:work", "arguments": {
            "task": format!("{{{{ input.name }}}}.{id}"), "ms": ms, "value": format!("{{{{ tasks.{before}.output.key }}}}"),
        }})
    };
    if rng.percent(50) {
        return (
            json!({"tasks": [first, call("i1", "i0")]}),
            vec!["i0".to_owned(), "i1".to_owned()],
        );
    }
    let inner = json!({"id": "j0", "tool": "ledger:work", "arguments": {"task": "{{ input.name }}.j0", "ms": ms}});
    let inner = json!({
        "id": "i1", "arguments": {"name": "{{ input.name }}.i1"}, "depends_on": ["i0"],
        "workflow": {"tasks": [inner, call("j1", "j0")]},
    });
    let names = ["i0", "i1.j0", "i1.j1"].map(str::to_owned);
    (json!({"tasks": [first, inner]}), names.to_vec())
}
