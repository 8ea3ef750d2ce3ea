use proto::ToolId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ApprovalRule, Listing, Profiles, View};

/// What one agent may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentReport {
    pub name: String,
    pub skills: Vec<String>,
    /// `list` or `search`.
    pub discovery: String,
    /// What it may call now.
    #[schemars(with = "Vec<String>")]
    pub tools: Vec<ToolId>,
    /// Those of them that a person must approve.
    #[schemars(with = "Vec<String>")]
    pub approval: Vec<ToolId>,
}

impl AgentReport {
    pub(crate) fn of(name: &str, view: &View, profiles: &Profiles) -> Self {
        let agent = profiles.agents.get(name).cloned().unwrap_or_default();
        // Old majors are the same tools.
        let newest = view.tools().entries().iter().filter(|entry| entry.superseded_by.is_none());
        let tools: Vec<_> = newest.map(|entry| entry.descriptor.id.clone()).collect();
        let asked = |id: &&ToolId| profiles.approval_rule(id) != ApprovalRule::Free;
        Self {
            name: name.to_owned(),
            skills: agent.skills,
            discovery: match agent.listing {
                Listing::Whole => "list",
                Listing::Search => "search",
            }
            .to_owned(),
            approval: tools.iter().filter(asked).cloned().collect(),
            tools,
        }
    }
}
