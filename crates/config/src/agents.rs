//! `skills`, `agents` and `embeddings`: which tools each agent may use, and how it finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use proto::Pattern;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::agents::{self, Listing};
use strip::catalog::SchemaForm;

use crate::reader::nearest;
use crate::research::WEB_RESEARCH;
use crate::servers::Server;
use crate::units::Span;

/// The longest name of an agent or a skill.
const MAX_NAME: usize = 64;

/// A set of tools, and whether a person must approve their calls.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Skill {
    /// Servers of this file, all of whose tools belong to the skill.
    pub servers: BTreeSet<String>,
    /// Further tools, by id; `*` matches any characters, as in `crm:read_*`.
    pub tools: Vec<Tools>,
    /// Whether the skill's tools run without a person's approval.
    pub auto_approve: bool,
    /// How long a person may take to decide.
    pub approval_timeout: Span,
    /// Tools that differ from `auto_approve`, by id or pattern.
    #[schemars(with = "BTreeMap<String, Approve>")]
    pub approve: BTreeMap<Tools, Approve>,
}

impl Default for Skill {
    fn default() -> Self {
        Self {
            servers: BTreeSet::new(),
            tools: Vec::new(),
            auto_approve: true,
            approval_timeout: Span(Duration::from_secs(5 * 60)),
            approve: BTreeMap::new(),
        }
    }
}

/// Tools by id or pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Tools(pub Pattern);

impl TryFrom<String> for Tools {
    type Error = proto::InvalidPattern;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<Tools> for String {
    fn from(tools: Tools) -> Self {
        tools.0.to_string()
    }
}

/// Whether a call of a tool waits for a person's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Approve {
    /// The tool runs at once.
    Never,
    /// The call waits for a person.
    Always,
}

/// An agent, with an MCP endpoint at `/agents/NAME/mcp`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// The skills whose tools the agent sees and may call.
    pub skills: Vec<String>,
    /// How the agent learns which tools exist.
    pub discovery: Discovery,
    /// The form of input schemas in the agent's tool list; by default that of `schemas` at the top.
    pub schemas: Option<Schemas>,
}

/// The form of the input schemas of servers' tools and toolpacks in tool lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Schemas {
    /// As they are.
    #[default]
    AsIs,
    /// Rewritten to what every model API accepts. Calls are still checked against the originals.
    Portable,
}

impl Schemas {
    pub(crate) fn form(self) -> SchemaForm {
        match self {
            Self::AsIs => SchemaForm::AsIs,
            Self::Portable => SchemaForm::Portable,
        }
    }
}

/// How an agent learns which tools exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Discovery {
    /// The tool list contains all its tools.
    #[default]
    List,
    /// The tool list contains only `search_tools`, `describe_tool` and `call_tool`.
    Search,
}

/// A model that finds tools by meaning, in addition to words.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Embeddings {
    /// A folder with `model.safetensors` and `tokenizer.json` of static embeddings. Without it, tools are found by
    /// words only.
    pub path: Option<PathBuf>,
}

impl Skill {
    pub(crate) fn rules(&self) -> agents::Skill {
        let approve = |approve: Approve| match approve {
            Approve::Never => agents::Approve::Never,
            Approve::Always => agents::Approve::Always,
        };
        agents::Skill {
            servers: self.servers.clone(),
            tools: self.tools.iter().map(|tools| tools.0.clone()).collect(),
            auto_approve: self.auto_approve,
            approval_timeout: self.approval_timeout.0,
            approve: self.approve.iter().map(|(t, a)| (t.0.clone(), approve(*a))).collect(),
        }
    }
}

impl Agent {
    pub(crate) fn rules(&self) -> agents::Agent {
        let listing = match self.discovery {
            Discovery::List => Listing::Whole,
            Discovery::Search => Listing::Search,
        };
        let schemas = self.schemas.map(Schemas::form);
        agents::Agent { skills: self.skills.clone(), listing, schemas }
    }
}

/// Faults of agents and skills: key path and message.
pub(super) fn faults(
    agents: &BTreeMap<String, Agent>,
    skills: &BTreeMap<String, Skill>,
    servers: &BTreeMap<String, Server>,
) -> Vec<(Vec<String>, String)> {
    let mut faults = Vec::new();
    let mut fault = |keys: &[&str], message: String| {
        faults.push((keys.iter().map(|&key| key.to_owned()).collect(), message));
    };
    for (name, skill) in skills {
        if let Some(why) = unusable(name) {
            fault(&["skills", name], why);
        }
        for server in &skill.servers {
            if !servers.contains_key(server) && server != WEB_RESEARCH {
                let hint = hint(server, servers.keys(), "server");
                fault(&["skills", name, "servers"], format!("there is no server `{server}`{hint}"));
            }
        }
    }
    for (name, agent) in agents {
        if let Some(why) = unusable(name) {
            fault(&["agents", name], why);
        }
        for skill in &agent.skills {
            if !skills.contains_key(skill) {
                let hint = hint(skill, skills.keys(), "skill");
                fault(&["agents", name, "skills"], format!("there is no skill `{skill}`{hint}"));
            }
        }
    }
    faults
}

/// Names appear in URLs and in files, so only characters that need no quoting are allowed.
fn unusable(name: &str) -> Option<String> {
    let well_formed = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    (!well_formed).then(|| {
        format!("`{name}` is not a valid name: use at most {MAX_NAME} of `a-z`, `A-Z`, `0-9`, `-` and `_`")
    })
}

fn hint<'a>(typed: &str, known: impl Iterator<Item = &'a String>, what: &str) -> String {
    let known: Vec<_> = known.map(String::as_str).collect();
    match nearest(typed, &known) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => format!("; this file defines no {what}s"),
        None => format!("; known are `{}`", known.join("`, `")),
    }
}
