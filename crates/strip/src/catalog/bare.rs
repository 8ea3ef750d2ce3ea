//! Bare names: the part of a tool's id after its server's name, which callers may use where only one tool has it, or
//! where it belongs to one of them.

use std::collections::HashMap;

use proto::{Code, Failure, ToolId, wire};
use serde_json::json;

/// How many candidates an ambiguous name is answered with.
const MAX_SHOWN: usize = 5;

/// The ids of servers' tools by bare name, as the server writes it and as a wire name.
#[derive(Clone)]
pub(super) struct BareNames(HashMap<String, Vec<ToolId>>);

impl BareNames {
    pub(super) fn of<'a>(ids: impl Iterator<Item = &'a ToolId>) -> Self {
        let mut names: HashMap<String, Vec<ToolId>> = HashMap::new();
        for id in ids.filter(|id| id.server().is_some()) {
            let bare = id.name();
            let wire = wire::unprefixed(id, None).filter(|wire| wire != bare);
            for name in std::iter::once(bare.to_owned()).chain(wire) {
                names.entry(name).or_default().push(id.clone());
            }
        }
        Self(names)
    }

    /// The ids of a name, sorted.
    pub(super) fn get(&self, name: &str) -> &[ToolId] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The refusal of a bare name that several tools have.
pub(crate) fn ambiguous(name: &str, found: Vec<&str>) -> Failure {
    let names = &found[..found.len().min(MAX_SHOWN)];
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let message =
        format!("`{name}` is a tool of {} servers; name the server, as in {listed}", found.len());
    Failure::new(Code::NotFound, message).details(json!({"tool": name, "nearest": names}))
}
