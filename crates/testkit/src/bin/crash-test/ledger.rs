//! What really ran, read from the ledger of the tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::record::Record;
use crate::spec::{Kind, RETRIES, Spec};

/// One line; see the server `powerstrip-ledger`.
#[derive(Deserialize)]
struct Line {
    what: String,
    key: String,
    task: String,
    tool: String,
    generation: Option<String>,
}

/// The runs of one idempotency key.
#[derive(Default)]
struct Runs {
    task: String,
    tool: String,
    /// How often it began, in each generation of the gateway.
    begun: BTreeMap<String, u64>,
    ended: u64,
}

pub(crate) struct Ledger(BTreeMap<String, Runs>);

/// The lines that were written to their ends. A tool that is killed while it writes can leave the first part of a line at
/// the end of a page of the file; the next line then begins in the middle of it.
fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    const BEGINNING: &str = "{\"what\":";
    let ended = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    ended.map(|line| line.rfind(BEGINNING).map_or(line, |at| &line[at..]))
}

impl Ledger {
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut keys: BTreeMap<String, Runs> = BTreeMap::new();
        for line in whole_lines(&text) {
            let line: Line = serde_json::from_str(line)
                .map_err(|error| format!("the ledger has a bad line: {error}: {line}"))?;
            if line.key.is_empty() {
                return Err(format!("{} ran {} without an idempotency key", line.tool, line.task));
            }
            let runs = keys.entry(line.key).or_default();
            match line.what.as_str() {
                "begin" => {
                    *runs.begun.entry(line.generation.unwrap_or_default()).or_default() += 1;
                }
                "end" => runs.ended += 1,
                _ => {}
            }
            (runs.task, runs.tool) = (line.task, line.tool);
        }
        Ok(Self(keys))
    }

    /// How often tools ran, and how many of these runs were repetitions.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let all = self.0.values().map(Runs::total).sum();
        (all, all - self.0.len() as u64)
    }

    /// Checks the invariant of any time: no run but those that a crash made necessary.
    pub(crate) fn check(&self, spec: &Spec, record: &Record) -> Result<(), String> {
        let mut keys: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (key, runs) in &self.0 {
            let Some((task, part)) = spec.task(&runs.task) else { continue };
            let undo = runs.tool == "undo";
            let most = match task.kind {
                Kind::Fail(_) => 1 + RETRIES,
                _ => 1,
            };
            if let Some((generation, times)) = runs.begun.iter().find(|(_, times)| **times > most) {
                return Err(format!(
                    "{} ran {times} times under gateway {generation}, key {key}",
                    runs.task
                ));
            }
            if task.kind == Kind::Once && runs.total() > 1 {
                return Err(format!(
                    "{} is not idempotent and ran {} times",
                    runs.task,
                    runs.total()
                ));
            }
            if task.kind == Kind::Skip {
                return Err(format!("{} ran though its condition is false", runs.task));
            }
            if undo {
                continue;
            }
            keys.entry(&runs.task).or_default().insert(key);
            let path = match part {
                Some(part) => format!("{}/{}", task.id, part.replace('.', "/")),
                None => task.id.clone(),
            };
            if let Some(id) = &record.id
                && !key.starts_with(&format!("{id}/{path}/"))
            {
                return Err(format!("{} of workflow {id} ran with the key {key}", runs.task));
            }
            if task.gated && runs.total() > record.approvals_of(&runs.task) {
                return Err(format!(
                    "{} ran {} times with {} approvals",
                    runs.task,
                    runs.total(),
                    record.approvals_of(&runs.task)
                ));
            }
            if let Some(acknowledged) = record.runs.get(key)
                && *acknowledged != runs.total()
            {
                return Err(format!(
                    "{} was reported complete after {acknowledged} runs and ran {} times, key {key}",
                    runs.task,
                    runs.total()
                ));
            }
        }
        match keys.iter().find(|(_, keys)| keys.len() > 1) {
            Some((task, keys)) => Err(format!("{task} ran with several keys: {keys:?}")),
            None => Ok(()),
        }
    }

    /// Checks the invariant of a workflow that has ended: everything that it reports has run.
    pub(crate) fn check_end(&self, spec: &Spec, record: &Record) -> Result<(), String> {
        for (id, status) in &record.statuses {
            let Some(task) = spec.tasks.iter().find(|task| task.id == *id) else {
                return Err(format!("{}: the unknown task {id} is reported", spec.name));
            };
            let names: Vec<String> = match &task.parts {
                Some(parts) => {
                    parts.iter().map(|part| format!("{}.{id}.{part}", spec.name)).collect()
                }
                None => vec![format!("{}.{id}", spec.name)],
            };
            if status == "success" {
                for name in &names {
                    self.expect_ended(name)?;
                }
                if record.is_undone() && task.compensated {
                    self.expect_ended(&format!("{}.{id}.undo", spec.name))?;
                }
            }
        }
        Ok(())
    }

    fn expect_ended(&self, name: &str) -> Result<(), String> {
        let ended = self.0.values().any(|runs| runs.task == name && runs.ended > 0);
        if ended {
            Ok(())
        } else {
            Err(format!("{name} is reported complete and never ran to its end"))
        }
    }
}

impl Runs {
    fn total(&self) -> u64 {
        self.begun.values().sum()
    }
}
