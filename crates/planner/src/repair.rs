//! Leaves out arguments that their tools would refuse, so that a plan is shown with what is open instead of a fault.

use std::sync::Arc;

use dag::plan::{Fault, FaultCode, Tools};
use dag::{MissingArgument, Proposal};
use serde_json::Value;
use strip::catalog::Entry;
use workflow::PlanRequest;

use crate::given::{UNSURE, shorten};

/// How often a plan is checked again: an argument may be refused for several reasons.
const ROUNDS: usize = 3;

/// Takes out the arguments that do not fit their schemas. Those that must be there are missing then.
pub(crate) fn repair(
    proposal: &mut Proposal,
    request: &PlanRequest,
    tools: &dyn Tools,
    entries: &[Arc<Entry>],
) {
    for _ in 0..ROUNDS {
        let Err(faults) = request.check(proposal, tools) else { return };
        let unfit: Vec<(usize, String, String)> = faults.iter().filter_map(unfit).collect();
        let mut changed = false;
        for (task, name, why) in unfit {
            changed |= leave_out(proposal, task, &name, &why, entries);
        }
        if !changed {
            return;
        }
    }
}

/// The task, the argument and the reason of a fault that is about one argument.
fn unfit(fault: &Fault) -> Option<(usize, String, String)> {
    if fault.code != FaultCode::BadArguments {
        return None;
    }
    let mut parts = fault.path.strip_prefix("/tasks/")?.split('/');
    let task = parts.next()?.parse().ok()?;
    let name = parts.next().filter(|part| *part == "arguments").and_then(|_| parts.next())?;
    Some((task, name.replace("~1", "/").replace("~0", "~"), fault.message.clone()))
}

fn leave_out(
    proposal: &mut Proposal,
    task: usize,
    name: &str,
    why: &str,
    entries: &[Arc<Entry>],
) -> bool {
    let Some(task) = proposal.tasks.get_mut(task) else { return false };
    let Some(value) = task.arguments.remove(name) else { return false };
    if !task.arguments.values().any(|value| value.to_string().contains("item")) {
        task.for_each = None;
    }
    let tool = task.tool.as_deref().unwrap_or_default();
    let entry = entries.iter().find(|entry| entry.descriptor.id.as_str() == tool);
    let schema = entry.map_or(&Value::Null, |entry| &entry.descriptor.input_schema);
    let mut required = schema["required"].as_array().into_iter().flatten();
    if required.any(|required| *required == *name) {
        let inner = format!("{name}.");
        let id = &task.id;
        // The whole of it is asked for, no longer parts of it.
        proposal.missing.retain(|one| one.task_id != *id || !one.argument.starts_with(&inner));
        proposal.missing.push(MissingArgument {
            task_id: id.clone(),
            argument: name.to_owned(),
            schema: schema["properties"][name].clone(),
        });
    }
    proposal.confidence = proposal.confidence.min(UNSURE);
    let value = shorten(&value.to_string());
    proposal.reasons.push(format!("`{name}` of `{tool}` is left open without {value}: {why}."));
    true
}

#[cfg(test)]
mod tests {
    use dag::Task;
    use serde_json::json;

    use super::{Fault, FaultCode, Proposal, leave_out, unfit};

    fn fault(path: &str, code: FaultCode) -> Fault {
        Fault { path: path.to_owned(), code, message: "it is not one of \"a\"".to_owned() }
    }

    #[test]
    fn a_fault_names_the_argument_that_does_not_fit() {
        let found = unfit(&fault("/tasks/1/arguments/check~1s/0", FaultCode::BadArguments));
        let (task, name, why) = found.unwrap();
        assert_eq!((task, name.as_str(), why.as_str()), (1, "check/s", "it is not one of \"a\""));
        for (path, code) in [
            ("/tasks/1/arguments", FaultCode::BadArguments),
            ("/tasks/1/depends_on/0", FaultCode::BadArguments),
            ("/tasks/1/arguments/checks", FaultCode::BadReference),
        ] {
            assert!(unfit(&fault(path, code)).is_none(), "{path}");
        }
    }

    #[test]
    fn left_out_arguments_lower_the_confidence() {
        let arguments = json!({"checks": ["a.md"], "text": "x"}).as_object().cloned();
        let task = Task {
            id: "t".to_owned(),
            tool: Some("text:check".to_owned()),
            arguments: arguments.unwrap(),
            ..Task::default()
        };
        let mut proposal = Proposal { tasks: vec![task], confidence: 0.9, ..Proposal::default() };
        assert!(leave_out(&mut proposal, 0, "checks", "it is not one of \"a\"", &[]));
        assert!(!leave_out(&mut proposal, 0, "checks", "it is gone", &[]));
        assert_eq!(proposal.tasks[0].arguments.len(), 1);
        assert!(proposal.confidence < 0.5 && proposal.reasons[0].contains("`checks`"));
        assert!(proposal.reasons[0].contains("a.md"), "the value is named");
    }
}
