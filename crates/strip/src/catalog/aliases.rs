//! Other names of the gateway's own tools: clients written for the system that defined the workflow tools call them
//! `agentcards:NAME` or `agentcards__NAME`. Lists do not show these names, and no server can have that name.

use proto::{OWN_SERVER, OWN_SERVER_ALIAS};

/// The name of the gateway's own tool that a name means, pinned or not.
pub(super) fn resolve(name: &str) -> Option<String> {
    let rest = name.strip_prefix(OWN_SERVER_ALIAS)?;
    let tool = rest.strip_prefix(':').or_else(|| rest.strip_prefix("__"))?;
    Some(format!("{OWN_SERVER}:{tool}"))
}
