//! Verifies that a tool is deterministic: runs it again, compares the answers, and refuses a difference.

use proto::{Code, Failure};
use serde_json::{Map, Value, json};

use crate::catalog::Entry;

#[derive(Debug)]
enum Unproven {
    NotClaimed,
    Gated,
    Differs { path: String },
}

/// Refuses to verify a tool that does not claim to be deterministic.
pub(crate) fn check_claimed(entry: &Entry) -> Result<(), Failure> {
    if entry.descriptor.deterministic { Ok(()) } else { Err(Unproven::NotClaimed.into()) }
}

/// The refusal to verify a call that a person approves for one run.
pub(crate) fn refuse_gated() -> Failure {
    Unproven::Gated.into()
}

/// Compares the recorded answer with a fresh one.
pub(crate) fn check_same(recorded: &Value, fresh: &Value) -> Result<(), Failure> {
    match first_difference(recorded, fresh) {
        None => Ok(()),
        Some(path) => Err(Unproven::Differs { path }.into()),
    }
}

fn first_difference(a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Object(left), Value::Object(right)) => {
            // A stored part gets a new id every time; its digest says whether it is the same.
            let kept =
                |map: &Map<String, Value>| map.contains_key("ref_id") && map.contains_key("sha256");
            let named =
                |key: &&String| kept(left) && kept(right) && (*key == "ref_id" || *key == "uri");
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            keys.filter(|key| !named(key)).find_map(|key| match (left.get(key), right.get(key)) {
                (Some(l), Some(r)) => first_difference(l, r).map(|rest| format!("/{key}{rest}")),
                _ => Some(format!("/{key}")),
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            left.iter().zip(right).enumerate().find_map(|(index, (l, r))| {
                first_difference(l, r).map(|rest| format!("/{index}{rest}"))
            })
        }
        _ => (a != b).then(String::new),
    }
}

impl From<Unproven> for Failure {
    fn from(unproven: Unproven) -> Self {
        match unproven {
            Unproven::NotClaimed => Failure::new(
                Code::InvalidInput,
                "this tool is declared `deterministic: false`: there is nothing to verify",
            ),
            Unproven::Gated => Failure::new(
                Code::InvalidInput,
                "an approval covers one run of this tool, and `verify` runs it twice; call it without `verify`",
            ),
            Unproven::Differs { path } => {
                let place = if path.is_empty() { "as a whole" } else { path.as_str() };
                Failure::new(
                    Code::Nondeterministic,
                    format!(
                        "the same input gave two answers, which differ {place}; \
                         declare the tool `deterministic: false` or make it so"
                    ),
                )
                .details(json!({"path": path}))
            }
        }
    }
}

#[cfg(test)]
mod tests;
