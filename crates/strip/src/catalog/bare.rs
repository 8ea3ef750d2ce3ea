//! Bare names: the part of a tool's id after its server's name, which callers may use where only one tool has it.

use std::collections::HashMap;
use std::sync::Arc;

use proto::{Code, wire};
use serde_json::json;

use super::Entry;
use crate::Failure;

/// How many candidates an ambiguous name is answered with.
const MAX_SHOWN: usize = 5;

/// The newest majors of servers' tools by bare name, as the server writes it and as a wire name.
#[derive(Clone)]
pub(super) struct BareNames(HashMap<String, Vec<Arc<Entry>>>);

impl BareNames {
    pub(super) fn of(entries: &[Arc<Entry>]) -> Self {
        let mut names: HashMap<String, Vec<Arc<Entry>>> = HashMap::new();
        for entry in entries.iter().filter(|entry| entry.superseded_by.is_none()) {
            let id = &entry.descriptor.id;
            if id.server().is_none() {
                continue;
            }
            let bare = id.name();
            let wire = wire::unprefixed(id, None).filter(|wire| wire != bare);
            for name in std::iter::once(bare.to_owned()).chain(wire) {
                names.entry(name).or_default().push(Arc::clone(entry));
            }
        }
        Self(names)
    }

    pub(super) fn get(&self, name: &str) -> &[Arc<Entry>] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The refusal of a bare name that several tools have.
pub(super) fn ambiguous(name: &str, found: &[Arc<Entry>]) -> Failure {
    let ids: Vec<_> = found.iter().take(MAX_SHOWN).map(|entry| &entry.descriptor.id).collect();
    let listed = ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
    let message =
        format!("`{name}` is a tool of {} servers; name the server, as in {listed}", found.len());
    Failure::new(Code::NotFound, message).details(json!({"tool": name, "nearest": ids}))
}
