//! Input and output must fit the schemas that the tool declares; all violations are reported at once.

use std::sync::Arc;

use proto::{Code, Failure};
use serde_json::{Value, json};

use crate::EmptyTexts;
use crate::catalog::Entry;
use schema::Violation;

#[derive(Debug)]
enum Misfit {
    Input(Vec<Violation>),
    Output(Vec<Violation>),
}

pub(crate) fn check_input(entry: &Entry, input: &Value) -> Result<(), Failure> {
    let violations = entry.input.violations(input);
    if violations.is_empty() { Ok(()) } else { Err(unfit(violations)) }
}

/// Refuses a tool that a task of a workflow cannot call.
pub(crate) fn check_task(entry: &Entry) -> Result<(), Failure> {
    if entry.tool.part().is_for_tasks() {
        return Ok(());
    }
    let message = "a task of a workflow can call data and control-flow tools only";
    Err(Failure::new(Code::InvalidInput, message))
}

/// Drops `null` where a property may be left out and its schema does not allow `null`: many clients send it for every
/// argument that they do not use.
pub(crate) fn drop_optional_nulls(entry: &Entry, input: &mut Arc<Value>) {
    if let Some(without) = schema::without_optional_nulls(&entry.descriptor.input_schema, input) {
        *input = Arc::new(without);
    }
}

/// Drops `""` where a property may be left out, for tools that take it for absent.
pub(crate) fn drop_optional_empty_texts(entry: &Entry, input: &mut Arc<Value>) {
    let EmptyTexts::Drop { except } = entry.tool.empty_texts() else { return };
    let schema = &entry.descriptor.input_schema;
    if let Some(without) = schema::without_empty_texts(schema, input, except) {
        *input = Arc::new(without);
    }
}

/// The refusal of an input that breaks a schema.
pub(crate) fn unfit(violations: Vec<Violation>) -> Failure {
    Misfit::Input(violations).into()
}

pub(crate) fn check_output(entry: &Entry, data: &Value) -> Result<(), Failure> {
    let violations =
        entry.output.as_ref().map(|schema| schema.violations(data)).unwrap_or_default();
    if violations.is_empty() { Ok(()) } else { Err(Misfit::Output(violations).into()) }
}

impl From<Misfit> for Failure {
    fn from(misfit: Misfit) -> Self {
        let (code, what, violations) = match misfit {
            Misfit::Input(violations) => {
                (Code::InvalidInput, "the input does not fit the tool's schema", violations)
            }
            Misfit::Output(violations) => {
                (Code::Internal, "the tool's answer does not fit its own output schema", violations)
            }
        };
        let listed: Vec<_> = violations
            .iter()
            .map(|violation| match violation.path.as_str() {
                "" => violation.message.clone(),
                path => format!("{path}: {}", violation.message),
            })
            .collect();
        Failure::new(code, format!("{what}: {}", listed.join("; ")))
            .details(json!({"violations": violations}))
    }
}
