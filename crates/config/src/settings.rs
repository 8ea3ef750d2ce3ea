//! The keys of `powerstrip.yaml` and their defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::agents::Profiles;
use strip::catalog::NameStyle;
use strip::files::FileRules;
use strip::{Rate, RateRules, Settings};

use crate::agents::{Agent, Embeddings, Skill, Tools};
use crate::approvals::Approvals;
use crate::auth::Auth;
use crate::file_strategies::{self, FileHandling, References};
use crate::files::{Files, Storage};
use crate::limits::Limits;
use crate::listen::Listen;
use crate::registration::Registration;
use crate::servers::{self, Server};
use crate::telemetry::Telemetry;
use crate::units;

/// The file that is read when none is named.
pub const FILE_NAME: &str = "powerstrip.yaml";

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "powerstrip.yaml")]
pub struct Config {
    /// The address to listen on. Without `auth`, a loopback address.
    pub listen: Listen,
    /// Where the gateway keeps its database, its lock and its socket.
    pub data_dir: PathBuf,
    /// Folders searched for `**/*.tool.yaml`. They are watched: a tool dropped in is callable at once.
    pub tools: Vec<PathBuf>,
    /// The folder of prompts: `packs/<domain>/<name>.vN.md` and `REGISTRY.yaml`.
    pub prompts: PathBuf,
    /// MCP servers whose tools are offered as `name:tool`.
    pub servers: BTreeMap<String, Server>,
    /// Servers that register themselves.
    pub registration: Registration,
    /// Who may come in. Without this section the gateway serves this machine's user, on loopback only; with it,
    /// callers over HTTP need a token or a key.
    pub auth: Option<Auth>,
    /// Where callers reach this gateway, such as `https://tools.example.com`; by default the address that it
    /// listens on.
    pub public_url: Option<String>,
    /// Sets of tools that agents are given.
    pub skills: BTreeMap<String, Skill>,
    /// Agents, each with its own door at `/agents/NAME/mcp` behind which it finds the tools of its skills.
    pub agents: BTreeMap<String, Agent>,
    /// In which form tools take files, by id or pattern: a strategy, or `{strategy, args}` with names of arguments.
    #[schemars(with = "BTreeMap<String, FileHandling>")]
    pub file_strategies: BTreeMap<Tools, FileHandling>,
    /// What of a tool's answer is kept, and a reference handed on instead.
    pub references: References,
    /// How people decide about calls that a skill lets nobody make unasked.
    pub approvals: Approvals,
    /// How tools are found by meaning.
    pub embeddings: Embeddings,
    /// How MCP clients see tools named.
    pub tool_names: ToolNames,
    /// What a call may cost.
    pub limits: Limits,
    /// Files that callers store.
    pub files: Files,
    /// Where the bytes of files are kept.
    pub storage: Storage,
    /// What tools may reach.
    pub egress: Egress,
    /// Whether tools that run as processes must be confined.
    pub sandbox: Sandbox,
    /// Logs and traces.
    pub telemetry: Telemetry,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: Listen::default(),
            data_dir: ".powerstrip".into(),
            tools: vec!["tools".into()],
            prompts: "prompts".into(),
            servers: BTreeMap::new(),
            registration: Registration::default(),
            auth: None,
            public_url: None,
            skills: BTreeMap::new(),
            agents: BTreeMap::new(),
            file_strategies: BTreeMap::new(),
            references: References::default(),
            approvals: Approvals::default(),
            embeddings: Embeddings::default(),
            tool_names: ToolNames::default(),
            limits: Limits::default(),
            files: Files::default(),
            storage: Storage::default(),
            egress: Egress::default(),
            sandbox: Sandbox::default(),
            telemetry: Telemetry::default(),
        }
    }
}

/// The names in MCP listings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolNames {
    /// Letters, digits, `_` and `-` only: every client and LLM API accepts them.
    #[default]
    Wire,
    /// The tool's own id, such as `web.search.query`.
    Canonical,
}

/// Reach beyond the public internet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Egress {
    /// Private hosts or networks that tools may reach on purpose, such as `127.0.0.1`, `10.1.0.0/16`
    /// or `db.internal:5432`.
    pub allow: Vec<Allow>,
}

impl Egress {
    /// The entries as the guarded client takes them.
    pub fn rules(&self) -> Vec<egress::http::Rule> {
        self.allow.iter().map(|allow| allow.rule.clone()).collect()
    }
}

/// One entry of `egress.allow`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Allow {
    text: String,
    rule: egress::http::Rule,
}

impl TryFrom<String> for Allow {
    type Error = egress::http::PatternError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(Self { rule: text.parse()?, text })
    }
}

impl From<Allow> for String {
    fn from(allow: Allow) -> Self {
        allow.text
    }
}

/// How much confinement is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// As much as this host allows.
    #[default]
    Auto,
    /// Refuse tools that the host cannot confine.
    Required,
    /// None; only limits on time, memory and output hold.
    Off,
}

impl Config {
    /// What the strip itself has to know.
    pub fn settings(&self) -> Settings {
        let rate = |rate: &units::Rate| Rate { count: rate.count, per: rate.per.0 };
        let rules = &self.limits.rate;
        Settings {
            limits: self.limits.bounds(),
            idempotency: self.limits.idempotency.0,
            rate: RateRules {
                principal: rules.principal.as_ref().map(rate),
                tool: rules.tool.as_ref().map(rate),
                tools: rules.tools.iter().map(|(id, rule)| (id.to_string(), rate(rule))).collect(),
            },
            name_style: match self.tool_names {
                ToolNames::Wire => NameStyle::Wire,
                ToolNames::Canonical => NameStyle::Canonical,
            },
            files: file_strategies::rules(&self.file_strategies),
            keep: self.references.rules(),
        }
    }

    /// Agents and skills as the strip takes them.
    pub fn profiles(&self) -> Profiles {
        Profiles {
            skills: self.skills.iter().map(|(name, skill)| (name.clone(), skill.rules())).collect(),
            agents: self.agents.iter().map(|(name, agent)| (name.clone(), agent.rules())).collect(),
        }
    }

    /// What may be stored, and for how long.
    pub fn file_rules(&self) -> FileRules {
        self.files.rules(&self.references)
    }

    /// Makes relative paths relative to the folder of the config file.
    pub(crate) fn anchor(&mut self, base: &Path) {
        let single = [&mut self.data_dir, &mut self.prompts];
        for path in self.tools.iter_mut().chain(single).chain(&mut self.embeddings.path) {
            *path = servers::clean(&base.join(&*path));
        }
        self.storage.anchor(base);
        for server in self.servers.values_mut() {
            server.anchor(base);
        }
    }
}
