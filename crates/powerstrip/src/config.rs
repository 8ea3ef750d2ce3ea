//! The configuration: one YAML file, and what flags and the environment say over it.

mod agents;
mod approvals;
mod auth;
mod docs;
mod fault;
mod file;
mod file_strategies;
mod files;
mod limits;
mod listen;
mod loosened;
pub(crate) mod mcp_json;
mod overrides;
mod reader;
mod registration;
mod secret;
mod server_auth;
mod servers;
mod sign_in;
mod telemetry;
mod tree;
mod units;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ::auth::AccessOptions;
use proto::{Scrubber, secrets_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strip::catalog::NameStyle;
use strip::files::FileRules;
use strip::{Rate, RateRules, Settings};

pub(crate) use agents::{Agent, Embeddings, Skill, Tools};
pub(crate) use approvals::Approvals;
pub(crate) use auth::Auth;
pub(crate) use docs::{reference_page, schema};
pub(crate) use fault::{BadConfig, Fault};
pub(crate) use file::load;
use file_strategies::{FileHandling, References};
pub(crate) use files::{Files, Storage};
pub(crate) use limits::Limits;
pub(crate) use listen::Listen;
pub(crate) use loosened::loosened;
pub(crate) use overrides::Overrides;
pub(crate) use registration::Registration;
pub(crate) use secret::Secret;
pub(crate) use servers::Server;
pub(crate) use telemetry::{LogFormat, Telemetry};
pub(crate) use units::Span;

/// The file that is read when none is named.
pub(crate) const FILE_NAME: &str = "powerstrip.yaml";

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "powerstrip.yaml")]
pub(crate) struct Config {
    /// The address to listen on. Without `auth`, a loopback address.
    pub(crate) listen: Listen,
    /// Where the gateway keeps its database, its lock and its socket.
    pub(crate) data_dir: PathBuf,
    /// Folders searched for `**/*.tool.yaml`. They are watched: a tool dropped in is callable at once.
    pub(crate) tools: Vec<PathBuf>,
    /// The folder of prompts: `packs/<domain>/<name>.vN.md` and `REGISTRY.yaml`.
    pub(crate) prompts: PathBuf,
    /// MCP servers whose tools are offered as `name:tool`.
    pub(crate) servers: BTreeMap<String, Server>,
    /// Servers that register themselves.
    pub(crate) registration: Registration,
    /// Who may come in. Without this section the gateway serves this machine's user, on loopback only; with it,
    /// callers over HTTP need a token or a key.
    pub(crate) auth: Option<Auth>,
    /// Where callers reach this gateway, such as `https://tools.example.com`; by default the address that it
    /// listens on.
    pub(crate) public_url: Option<String>,
    /// Sets of tools that agents are given.
    pub(crate) skills: BTreeMap<String, Skill>,
    /// Agents, each with its own door at `/agents/NAME/mcp` behind which it finds the tools of its skills.
    pub(crate) agents: BTreeMap<String, Agent>,
    /// In which form tools take files, by id or pattern: a strategy, or `{strategy, args}` with names of arguments.
    #[schemars(with = "BTreeMap<String, FileHandling>")]
    pub(crate) file_strategies: BTreeMap<Tools, FileHandling>,
    /// What of a tool's answer is kept, and a reference handed on instead.
    pub(crate) references: References,
    /// How people decide about calls that a skill lets nobody make unasked.
    pub(crate) approvals: Approvals,
    /// How tools are found by meaning.
    pub(crate) embeddings: Embeddings,
    /// How MCP clients see tools named.
    pub(crate) tool_names: ToolNames,
    /// What a call may cost.
    pub(crate) limits: Limits,
    /// Files that callers store.
    pub(crate) files: Files,
    /// Where the bytes of files are kept.
    pub(crate) storage: Storage,
    /// What tools may reach.
    pub(crate) egress: Egress,
    /// Whether tools that run as processes must be confined.
    pub(crate) sandbox: Sandbox,
    /// Logs and traces.
    pub(crate) telemetry: Telemetry,
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
pub(crate) enum ToolNames {
    /// Letters, digits, `_` and `-` only: every client and LLM API accepts them.
    #[default]
    Wire,
    /// The tool's own id, such as `web.search.query`.
    Canonical,
}

/// Reach beyond the public internet.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Egress {
    /// Private hosts or networks that tools may reach on purpose, such as `127.0.0.1`, `10.1.0.0/16`
    /// or `db.internal:5432`.
    pub(crate) allow: Vec<Allow>,
}

impl Egress {
    /// The entries as the guarded client takes them.
    pub(crate) fn rules(&self) -> Vec<egress::http::Rule> {
        self.allow.iter().map(|allow| allow.rule.clone()).collect()
    }
}

/// One entry of `egress.allow`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(crate) struct Allow {
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
pub(crate) enum Sandbox {
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
    pub(crate) fn settings(&self) -> Settings {
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

    /// What may be stored, and for how long.
    pub(crate) fn file_rules(&self) -> FileRules {
        self.files.rules(&self.references)
    }

    /// Makes paths of the file stand beside the file.
    fn anchor(&mut self, base: &Path) {
        let single = [&mut self.data_dir, &mut self.prompts];
        for path in self.tools.iter_mut().chain(single).chain(&mut self.embeddings.path) {
            *path = clean(&base.join(&*path));
        }
        self.storage.anchor(base);
        for server in self.servers.values_mut() {
            server.anchor(base);
        }
    }
}

/// Takes `./` out of a path, so that messages show what people would type.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Servers by name, ready to be started.
pub(crate) type Servers = Vec<(String, upstream::ServerConfig)>;

/// A configuration that holds, and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// The file it was read from, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// Headers for the OTLP collector, secrets fetched.
    pub(crate) otlp_headers: Vec<(String, Secret)>,
    /// The servers, secrets fetched.
    pub(crate) servers: Servers,
    /// What messages about calls that wait are signed with.
    pub(crate) webhook_secret: Option<Secret>,
    /// Who may come in, secrets fetched; the local user, where nothing is said.
    pub(crate) access: Option<AccessOptions>,
}

impl Loaded {
    /// Finds the secrets of the servers, of the collector and of webhooks.
    pub(crate) fn scrubber(&self) -> Scrubber {
        let servers = self.servers.iter().flat_map(|(_, server)| server.secrets());
        let collector = self.otlp_headers.iter();
        let collector = collector.flat_map(|(name, value)| secrets_of(name, value.expose()));
        let webhooks = self.webhook_secret.iter().map(|secret| secret.expose().to_owned());
        Scrubber::new(servers.chain(collector).chain(webhooks))
    }
}

#[cfg(test)]
mod tests;
