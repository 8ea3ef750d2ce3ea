use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proto::{Pattern, ToolId};

use crate::catalog::SchemaForm;

/// A set of tools, and whether a person must approve their calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Servers, all of whose tools belong to it.
    pub servers: BTreeSet<String>,
    /// Further tools.
    pub tools: Vec<Pattern>,
    /// Whether its tools run without being approved, where `approve` says nothing else.
    pub auto_approve: bool,
    /// How long a person may take to decide; after that the call is rejected.
    pub approval_timeout: Duration,
    /// Tools that differ from `auto_approve`.
    pub approve: BTreeMap<Pattern, Approve>,
}

/// Whether a person is asked before a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Approve {
    Never,
    Always,
}

/// Whether a call needs approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalRule {
    /// It runs without approval.
    Free,
    /// A person must approve it within this time.
    Asked { timeout: Duration },
}

impl ApprovalRule {
    /// The stricter of two rules: asking beats not asking, and less time beats more.
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Free, rule) | (rule, Self::Free) => rule,
            (Self::Asked { timeout: one }, Self::Asked { timeout: two }) => {
                Self::Asked { timeout: one.min(two) }
            }
        }
    }
}

impl Skill {
    /// Whether a tool belongs to it.
    pub fn holds(&self, tool: &ToolId) -> bool {
        tool.server().is_some_and(|server| self.servers.contains(server))
            || self.tools.iter().any(|pattern| pattern.matches(tool))
    }

    /// Whether any of its tools needs approval.
    pub fn asks(&self) -> bool {
        !self.auto_approve || self.approve.values().any(|approve| *approve == Approve::Always)
    }

    /// The rule of this skill for one of its tools. Of several overrides that match, the strictest applies.
    pub fn approval(&self, tool: &ToolId) -> ApprovalRule {
        let matching = self.approve.iter().filter(|(pattern, _)| pattern.matches(tool));
        let usual = if self.auto_approve { Approve::Never } else { Approve::Always };
        match matching.map(|(_, approve)| *approve).max().unwrap_or(usual) {
            Approve::Never => ApprovalRule::Free,
            Approve::Always => ApprovalRule::Asked { timeout: self.approval_timeout },
        }
    }
}

/// How an agent discovers tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// Its list has every tool that it may call.
    #[default]
    Whole,
    /// Its list has the tools that find others.
    Search,
}

/// One agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Names of skills.
    pub skills: Vec<String>,
    pub listing: Listing,
    /// The form of input schemas in its list, if it differs from that of others.
    pub schemas: Option<SchemaForm>,
}

/// All agents and skills that an operator has named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profiles {
    pub skills: BTreeMap<String, Skill>,
    pub agents: BTreeMap<String, Agent>,
}

impl Profiles {
    /// The skills of an agent. Names of unknown skills are ignored.
    pub fn skills_of(&self, agent: &Agent) -> Vec<&Skill> {
        agent.skills.iter().filter_map(|name| self.skills.get(name)).collect()
    }

    /// The strictest rule of all skills that have a tool, for every caller and door.
    pub fn approval_rule(&self, tool: &ToolId) -> ApprovalRule {
        self.skills
            .values()
            .filter(|skill| skill.holds(tool))
            .map(|skill| skill.approval(tool))
            .fold(ApprovalRule::Free, ApprovalRule::stricter)
    }
}
