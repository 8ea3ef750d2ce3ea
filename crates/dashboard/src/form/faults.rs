//! The faults of a draft.

use schema::Violation;

use crate::words::short;

/// What is wrong with a draft, and where.
#[derive(Clone, Default)]
pub(crate) struct Faults(Vec<Fault>);

#[derive(Clone)]
struct Fault {
    /// A JSON pointer into the value.
    at: String,
    text: String,
    /// Whether the text cannot be parsed as a value.
    unreadable: bool,
}

impl Faults {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text cannot be parsed as a value.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.0.iter().any(|fault| fault.unreadable)
    }

    pub(super) fn unreadable(&mut self, at: &str, text: impl Into<String>) {
        self.0.push(Fault { at: at.to_owned(), text: text.into(), unreadable: true });
    }

    pub(super) fn missing(&mut self, at: &str) {
        self.0.push(Fault { at: at.to_owned(), text: "is required".to_owned(), unreadable: false });
    }

    pub(super) fn append(&mut self, other: Faults) {
        self.0.extend(other.0);
    }

    /// The faults that remain when their object is left out.
    pub(super) fn only_unreadable(mut self) -> Self {
        self.0.retain(|fault| fault.unreadable);
        self
    }

    /// Adds the violations of the schema, except for fields that are already known to be missing.
    pub(crate) fn add_violations(&mut self, violations: Vec<Violation>) {
        for violation in violations {
            let missing = violation.message.contains("is a required property");
            let known = |fault: &Fault| {
                fault.at.strip_prefix(&*violation.path).is_some_and(|rest| {
                    let name = rest.trim_start_matches('/');
                    !name.is_empty() && violation.message.starts_with(&format!("\"{name}\""))
                })
            };
            if !(missing && self.0.iter().any(known)) {
                let Violation { path, message } = violation;
                self.0.push(Fault { at: path, text: short(&message, 300), unreadable: false });
            }
        }
    }

    /// The faults of exactly this field.
    pub(super) fn at(&self, pointer: &str) -> Vec<&str> {
        self.0.iter().filter(|fault| fault.at == pointer).map(|fault| &*fault.text).collect()
    }

    /// All faults, for the top of the form.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |fault: &Fault| {
            let path: Vec<_> = fault.at.split('/').skip(1).map(|s| s.replace("~1", "/")).collect();
            if path.is_empty() {
                fault.text.clone()
            } else {
                format!("{}: {}", short(&path.join(" › "), 200), fault.text)
            }
        };
        self.0.iter().map(line).collect()
    }
}
