//! The keys of `powerstrip.yaml` and their defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use files::FileRules;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::Settings;
use strip::agents::Profiles;
use strip::catalog::NameStyle;

use crate::agents::{Agent, Embeddings, Schemas, Skill, Tools};
use crate::approvals::Approvals;
use crate::audit::Audit;
use crate::auth::Auth;
use crate::file_strategies::{self, FileHandling};
use crate::files::{Files, Storage};
use crate::limits::Limits;
use crate::listen::Listen;
use crate::model::Model;
use crate::references::References;
use crate::registration::Registration;
use crate::research::Research;
use crate::servers::{self, Server};
use crate::telemetry::Telemetry;
use crate::workflows::Workflows;

/// How a config file is read.
pub(crate) const YAML_LIMITS: schema::yaml::Limits =
    schema::yaml::Limits { max_bytes: 1 << 20, merge_keys: true, custom_tags: true };

/// The default config file.
pub const FILE_NAME: &str = "powerstrip.yaml";

/// All settings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "powerstrip.yaml")]
pub struct Config {
    /// The address to listen on. Without `auth`, it must be a loopback address.
    pub listen: Listen,
    /// The folder of the gateway's database, lock and sockets.
    pub data_dir: PathBuf,
    /// Folders that are searched for `**/*.tool.yaml`. They are watched: new tools can be called at once.
    pub tools: Vec<PathBuf>,
    /// The prompts folder: `packs/<domain>/<name>.vN.md` and `REGISTRY.yaml`.
    pub prompts: PathBuf,
    /// MCP servers whose tools are offered as `name:tool`.
    pub servers: BTreeMap<String, Server>,
    /// The MCP registry that `powerstrip add` searches, such as `https://registry.modelcontextprotocol.io`, if its own
    /// catalog does not have a server.
    pub server_registry: Option<String>,
    /// Servers that register themselves.
    pub registration: Registration,
    /// Which callers are accepted. Without this section, the gateway serves the local user, on loopback only; with it,
    /// callers over HTTP need a token or a key.
    pub auth: Option<Auth>,
    /// The URL that callers use, such as `https://tools.example.com`; by default the address that the gateway listens
    /// on.
    pub public_url: Option<String>,
    /// Sets of tools for agents.
    pub skills: BTreeMap<String, Skill>,
    /// Agents. Each has an MCP endpoint at `/agents/NAME/mcp` with the tools of its skills.
    pub agents: BTreeMap<String, Agent>,
    /// How tools take files, by id or pattern: a strategy, or `{strategy, args}` with argument names.
    #[schemars(with = "BTreeMap<String, FileHandling>")]
    pub file_strategies: BTreeMap<Tools, FileHandling>,
    /// What stays in a tool's answer. Larger parts are stored as files and replaced by references.
    pub references: References,
    /// How people decide about calls that need approval.
    pub approvals: Approvals,
    /// How tools are found by meaning.
    pub embeddings: Embeddings,
    /// The form of tool names in MCP.
    pub tool_names: ToolNames,
    /// The form of the input schemas of servers' tools and toolpacks in tool lists.
    pub schemas: Schemas,
    /// Time, size and rate limits of calls.
    pub limits: Limits,
    /// A language model, which plans workflows where it is set.
    pub model: Option<Model>,
    /// Limits of workflows.
    pub workflows: Workflows,
    /// The built-in web tools: search, scraping, research sessions.
    pub research: Research,
    /// Limits of files that callers store.
    pub files: Files,
    /// Where files are stored.
    pub storage: Storage,
    /// Private hosts and networks that tools may reach.
    pub egress: Egress,
    /// Whether tools that run as processes must be confined.
    pub sandbox: Sandbox,
    /// What is kept of calls in addition to their audit rows.
    pub audit: Audit,
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
            server_registry: None,
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
            schemas: Schemas::default(),
            limits: Limits::default(),
            model: None,
            workflows: Workflows::default(),
            research: Research::default(),
            files: Files::default(),
            storage: Storage::default(),
            egress: Egress::default(),
            sandbox: Sandbox::default(),
            audit: Audit::default(),
            telemetry: Telemetry::default(),
        }
    }
}

/// The form of tool names in MCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolNames {
    /// Only `a-z`, `A-Z`, `0-9`, `_` and `-`, which every client and LLM API accepts.
    #[default]
    Wire,
    /// The tool's own id, such as `web.search.query`.
    Canonical,
}

/// Access to private networks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Egress {
    /// Private hosts or networks that tools may reach, such as `127.0.0.1`, `10.1.0.0/16` or `db.internal:5432`.
    pub allow: Vec<Allow>,
}

impl Egress {
    /// The entries as rules of the HTTP client.
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

/// How strictly tools are confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// As far as the host supports it.
    #[default]
    Auto,
    /// Tools that the host cannot confine are refused.
    Required,
    /// Not at all; limits on time, memory and output still apply.
    Off,
}

impl Config {
    /// The settings of the strip.
    pub fn settings(&self) -> Settings {
        Settings {
            limits: self.limits.bounds(),
            idempotency: self.limits.idempotency.0,
            rate: self.limits.rate.rules(),
            name_style: match self.tool_names {
                ToolNames::Wire => NameStyle::Wire,
                ToolNames::Canonical => NameStyle::Canonical,
            },
            schemas: self.schemas.form(),
            files: file_strategies::rules(&self.file_strategies),
            inline: self.references.limits(),
        }
    }

    /// Agents and skills for the strip.
    pub fn profiles(&self) -> Profiles {
        Profiles {
            skills: self.skills.iter().map(|(name, skill)| (name.clone(), skill.rules())).collect(),
            agents: self.agents.iter().map(|(name, agent)| (name.clone(), agent.rules())).collect(),
        }
    }

    /// Limits and lifetimes of stored files.
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
        self.research.anchor(base);
        for server in self.servers.values_mut() {
            servers::anchor(server, base);
        }
    }
}
