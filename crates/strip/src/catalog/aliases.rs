//! Other names of the gateway's own tools: clients written for the system that defined the workflow tools call them
//! `agentcards:NAME` or `agentcards__NAME`. Lists do not show these names, and a server of that name has its own.

use proto::ToolId;

/// The name that is used for the gateway's own.
pub(super) const ALIAS: &str = "agentcards";

/// The gateway's own name in tool ids.
const OWN: &str = "powerstrip";

/// The name of the gateway's own tool that a name means, pinned or not.
pub(super) fn resolve(name: &str) -> Option<String> {
    let rest = name.strip_prefix(ALIAS)?;
    let tool = rest.strip_prefix(':').or_else(|| rest.strip_prefix("__"))?;
    Some(format!("{OWN}:{tool}"))
}

/// Whether a tool belongs to a server that has the name.
pub(super) fn is_taken_by(tool: &ToolId) -> bool {
    tool.server() == Some(ALIAS)
}
