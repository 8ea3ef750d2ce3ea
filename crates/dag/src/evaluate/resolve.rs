use std::fmt;

use serde_json::{Value, json};

use super::scan::{Reference, Root, Step};
use super::{Scope, describe};

/// The most field names that a message lists.
const LISTED: usize = 8;

/// A path without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    path: String,
    reason: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` does not exist: {}", self.path, self.reason)
    }
}

impl Scope {
    /// Whether there is a value at a path.
    pub(super) fn check(&self, reference: &Reference) -> Result<(), Missing> {
        self.read(reference, |_| ())
    }

    /// Reads the value at a path, which may be too large to be copied without a check.
    pub(super) fn read<T>(
        &self,
        reference: &Reference,
        read: impl FnOnce(&Value) -> T,
    ) -> Result<T, Missing> {
        let (value, from) = self.root(reference)?;
        let mut value = value.as_ref();
        for (at, step) in reference.steps.iter().enumerate().skip(from) {
            let next = match (step, value) {
                (Step::Field(name), Value::Object(fields)) => fields.get(name),
                (Step::Index(index), Value::Array(items)) => items.get(*index),
                _ => None,
            };
            value = next.ok_or_else(|| Missing {
                path: reference.path(at + 1),
                reason: format!("`{}` is {}", reference.path(at), contents(value)),
            })?;
        }
        Ok(read(value))
    }

    /// The value where a path begins, and the number of steps to it.
    fn root(&self, reference: &Reference) -> Result<(std::borrow::Cow<'_, Value>, usize), Missing> {
        use std::borrow::Cow;
        let absent = |reason: &str| Missing {
            path: reference.path(reference.steps.len()),
            reason: reason.to_owned(),
        };
        match reference.root {
            Root::Input => {
                let input = self.input.as_deref();
                input
                    .map(|input| (Cow::Borrowed(input), 0))
                    .ok_or_else(|| absent("only the tasks of a sub-workflow have `input`"))
            }
            Root::Item => {
                let item = self.item.as_deref();
                item.map(|item| (Cow::Borrowed(item), 0))
                    .ok_or_else(|| absent("only tasks with `for_each` have `item`"))
            }
            Root::Tasks => {
                let task = reference.task().and_then(|id| self.tasks.get(id));
                let task = task.ok_or_else(|| absent("that task has not run"))?;
                match reference.steps.get(1) {
                    Some(Step::Field(field)) if field == "output" => {
                        Ok((Cow::Borrowed(&*task.output), 2))
                    }
                    Some(Step::Field(field)) if field == "status" => {
                        Ok((Cow::Owned(json!(task.status)), 2))
                    }
                    Some(Step::Field(field)) if field == "error" => {
                        Ok((Cow::Owned(json!(task.error)), 2))
                    }
                    _ => Err(absent("a task has `output`, `status` and `error`")),
                }
            }
        }
    }
}

fn contents(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "an empty object".to_owned(),
        Value::Object(fields) => {
            let named: Vec<_> =
                fields.keys().take(LISTED).map(|name| format!("`{name}`")).collect();
            let more = if fields.len() > LISTED { ", …" } else { "" };
            format!("an object with {}{more}", named.join(", "))
        }
        other => describe(other),
    }
}
