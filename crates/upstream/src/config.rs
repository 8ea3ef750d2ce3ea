mod invalid;
mod personal;
mod protocol;
mod secrets;

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use auth::client::ClientConfig;
use egress::http::{Rule, Target};
use egress::sandbox::{Mode, Network, Policy, Tier};
use files::InlineOverrides;
use http::{HeaderMap, HeaderName, HeaderValue};
use proto::{Digest, ToolId, digest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use invalid::InvalidKey;
pub use personal::{Personal, PersonalSecret};
pub use protocol::{EraChoice, UrlTransport};

/// One server of `servers:`. Either `command` or at least one URL is set, or a document for `kind: openapi`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    pub kind: Kind,
    /// The path or URL of an OpenAPI document.
    pub document: Option<String>,
    /// Where the service of an OpenAPI document is, if not where the document says.
    pub base_url: Option<String>,
    /// The program of a stdio server; it is started without a shell.
    pub command: Option<String>,
    pub args: Vec<String>,
    /// Variables added to the few that every child gets.
    pub env: BTreeMap<String, String>,
    /// The working folder of the program, which it may read even if it is confined.
    pub cwd: Option<PathBuf>,
    /// The working folder where `cwd` is not set: the folder of the config file. A confined program may not read it
    /// for that. Not a key of the config file.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    pub start: Start,
    /// Where an HTTP server is.
    pub url: Option<String>,
    /// Its replicas, in addition to `url`.
    pub urls: Vec<String>,
    pub transport: UrlTransport,
    pub era: EraChoice,
    /// Sent with every request; secrets among them are never shown.
    pub headers: BTreeMap<String, String>,
    /// How tokens are obtained, where the server requires them.
    #[serde(skip)]
    pub auth: Option<ClientConfig>,
    pub disabled: bool,
    /// How long one call may take.
    pub timeout: Option<Duration>,
    /// Globs over the server's own tool names: these and no others.
    pub only: Vec<String>,
    /// Globs over the server's own tool names: not these.
    pub except: Vec<String>,
    /// New names for tools.
    pub rename: BTreeMap<String, String>,
    /// Whether clients see the server's name in front of the tool's.
    pub prefix: bool,
    pub instances: Instances,
    pub sandbox: Sandbox,
    /// Whether invisible characters are taken out of results, instead of being counted in a warning.
    pub clean_results: bool,
    /// Globs over tool names whose equal inputs give equal answers.
    pub deterministic: Vec<String>,
    pub pin: Pin,
    /// Whether large parts of its answers are stored, and replaced by references.
    pub references: bool,
    /// Up to which sizes parts of its answers stay, where that differs from the settings for all tools.
    #[serde(skip)]
    pub inline: InlineOverrides,
    /// Variables and headers of which each person has a value of their own.
    #[serde(skip)]
    pub personal: Personal,
    /// The secrets that could not be fetched: for each, its key and what to do. The server is not used without them.
    #[serde(skip)]
    pub missing: Vec<String>,
    /// What is wrong with the entry. The server is not used.
    #[serde(skip)]
    pub invalid: Vec<InvalidKey>,
    /// Secrets in arguments and URLs; not a key of the config file.
    #[serde(skip)]
    pub hidden: Vec<String>,
    /// Which of its URLs the egress policy is opened for; not a key of the config file.
    #[serde(skip)]
    pub reach: Reach,
}

/// Which URLs of a server the egress policy is opened for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All: the operator named the server.
    #[default]
    Named,
    /// Those on this machine: the server registered itself at a gateway that serves only this machine.
    Loopback,
    /// None: the server registered itself.
    Policy,
}

/// The kind of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An MCP server.
    #[default]
    Mcp,
    /// A service that an OpenAPI document describes.
    Openapi,
}

/// When a tool's definition is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pin {
    /// When it is first seen.
    #[default]
    FirstUse,
    /// When it is approved.
    Strict,
    /// Always.
    Off,
}

/// Which callers share a process of a stdio server, or a session of an HTTP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Instances {
    #[default]
    Caller,
    // A caller with neither a session nor a named run counts as one session.
    Session,
    Shared,
}

/// When a stdio server's process is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// With the gateway, and again whenever it exits.
    #[default]
    Eager,
    /// At the first call; it is stopped after some time without calls.
    Lazy,
}

/// How a stdio server is confined. By default it has the rights of the gateway's user, a cleared environment, limits
/// and a supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sandbox {
    /// `auto`: as far as the host supports it; `required`: refuse to start the program otherwise; `off`: not confined.
    pub mode: SandboxMode,
    /// Whether the program may use the network.
    pub network: bool,
    /// Files and folders that the program may read.
    pub read: Vec<PathBuf>,
    /// Files and folders that the program may change.
    pub write: Vec<PathBuf>,
}

/// How strictly a stdio server must be confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    #[default]
    Off,
    Auto,
    Required,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { mode: SandboxMode::Off, network: true, read: Vec::new(), write: Vec::new() }
    }
}

impl Sandbox {
    pub(crate) fn policy(&self) -> Policy {
        let mode = match self.mode {
            SandboxMode::Off => Mode::Off,
            SandboxMode::Auto => Mode::Auto,
            SandboxMode::Required => Mode::Required(Tier::T1),
        };
        let network = if self.network { Network::Allowed } else { Network::Denied };
        let mut policy = Policy::new().mode(mode).network(network);
        for path in &self.read {
            policy = policy.read(path);
        }
        for path in &self.write {
            policy = policy.write(path);
        }
        policy
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            document: None,
            base_url: None,
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            folder: None,
            start: Start::default(),
            url: None,
            urls: Vec::new(),
            transport: UrlTransport::default(),
            era: EraChoice::default(),
            headers: BTreeMap::new(),
            auth: None,
            disabled: false,
            timeout: None,
            only: Vec::new(),
            except: Vec::new(),
            rename: BTreeMap::new(),
            prefix: true,
            instances: Instances::default(),
            sandbox: Sandbox::default(),
            clean_results: false,
            deterministic: Vec::new(),
            pin: Pin::default(),
            references: true,
            inline: InlineOverrides::default(),
            personal: Personal::default(),
            missing: Vec::new(),
            invalid: Vec::new(),
            hidden: Vec::new(),
            reach: Reach::default(),
        }
    }
}

/// Arguments, variables, headers and URLs may hold secrets: only their names are shown.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("command", &self.command)
            .field("env", &self.env.keys())
            .field("headers", &self.headers.keys())
            .field("urls", &self.all_urls().count())
            .field("start", &self.start)
            .field("disabled", &self.disabled)
            .field("instances", &self.instances)
            .finish_non_exhaustive()
    }
}

/// A key of a server's entry that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("servers.{server}.{key}: {reason}")]
pub struct ConfigFault {
    pub server: String,
    /// The key, `name` for the server's name itself.
    pub key: &'static str,
    pub reason: String,
}

/// Headers that the gateway writes.
const RESERVED_HEADERS: [&str; 9] = [
    "accept",
    "content-type",
    "content-length",
    "host",
    "connection",
    "transfer-encoding",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
];

impl ServerConfig {
    /// A number that changes with the server's command or URLs.
    pub(crate) fn location_number(&self) -> u64 {
        self.origin()
            .as_bytes()
            .iter()
            .take(8)
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Every URL, `url` first.
    pub fn all_urls(&self) -> impl Iterator<Item = &str> {
        self.url.iter().chain(&self.urls).map(String::as_str)
    }

    /// Whether the entry has an `authorization` header.
    pub(crate) fn sends_authorization(&self) -> bool {
        let names = self.headers.keys().chain(self.personal.headers.keys());
        names.into_iter().any(|name| name.eq_ignore_ascii_case("authorization"))
    }

    /// The configured headers. They are credentials: they do not follow a redirect to another origin.
    pub(crate) fn header_map(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(mut value)) =
                (name.parse::<HeaderName>(), HeaderValue::try_from(value))
            {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        headers
    }

    /// Whether all callers use one session or process.
    pub(crate) fn is_shared(&self) -> bool {
        self.instances == Instances::Shared
    }

    /// The egress rules for its URLs.
    pub(crate) fn rules(&self) -> Vec<Rule> {
        let opened = |url: &&str| match self.reach {
            Reach::Named => true,
            Reach::Loopback => Target::parse(url).is_ok_and(|target| is_this_machine(&target)),
            Reach::Policy => false,
        };
        self.all_urls().filter(opened).filter_map(|url| Rule::for_url(url).ok()).collect()
    }

    /// Whether the server registered itself, and stays as long as its leases.
    pub(crate) fn is_announced(&self) -> bool {
        self.reach != Reach::Named
    }

    /// Checks the whole entry without starting or reaching anything.
    pub fn check(&self, server: &str) -> Result<(), ConfigFault> {
        let fault =
            |key, why: &str| ConfigFault { server: server.to_owned(), key, reason: why.to_owned() };
        format!("{server}:x").parse::<ToolId>().map_err(|why| fault("name", &why.to_string()))?;
        if server.contains(':') {
            return Err(fault("name", "a server's name has no `:`"));
        }
        match (&self.command, self.all_urls().next()) {
            (command, url) if self.kind == Kind::Openapi => {
                if command.is_some() || url.is_some() {
                    let key = if command.is_some() { "command" } else { "url" };
                    let reason = "a server of kind openapi has a document and no more";
                    return Err(fault(key, reason));
                }
                if self.document.as_deref().is_none_or(|document| document.trim().is_empty()) {
                    return Err(fault("document", "kind openapi needs a document"));
                }
            }
            _ if self.document.is_some() => {
                return Err(fault("document", "a document goes with kind openapi"));
            }
            _ if self.base_url.is_some() => {
                return Err(fault("base_url", "it goes with kind openapi"));
            }
            (Some(_), Some(_)) => {
                return Err(fault("url", "a server has a command or a URL, not both"));
            }
            (None, None) => {
                return Err(fault("command", "a server needs a command or a URL"));
            }
            (Some(command), None) if command.trim().is_empty() => {
                return Err(fault("command", "it is empty"));
            }
            _ => {}
        }
        self.check_protocol().map_err(|(key, why)| fault(key, why))?;
        for url in self.all_urls() {
            Rule::for_url(url).map_err(|why| fault("url", &why.to_string()))?;
        }
        let remote = self.document.as_deref().filter(|document| is_url(document));
        for (key, url) in [("base_url", self.base_url.as_deref()), ("document", remote)] {
            if let Some(url) = url {
                Rule::for_url(url).map_err(|why| fault(key, &why.to_string()))?;
            }
        }
        let own = self.personal.headers.keys().map(|name| (name, ""));
        let given = self.headers.iter().map(|(name, value)| (name, value.as_str()));
        for (name, value) in given.chain(own) {
            // The value may be a secret, so no message quotes it.
            let parsed =
                HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(value).is_ok();
            if !parsed {
                return Err(fault("headers", &format!("`{name}` is not a usable header")));
            }
            if RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(fault("headers", &format!("`{name}` is written by the gateway")));
            }
        }
        self.personal.check(self.is_shared()).map_err(|(key, why)| fault(key, &why))?;
        if let Some(auth) = &self.auth {
            if self.command.is_some() {
                return Err(fault("auth", "a program is not asked for tokens"));
            }
            if self.kind == Kind::Openapi {
                let reason = "tokens are for MCP servers; kind openapi has `headers`";
                return Err(fault("auth", reason));
            }
            if self.sends_authorization() {
                return Err(fault("auth", "the headers have an `authorization` already"));
            }
            auth.check().map_err(|why| fault("auth", &format!("{}: {}", why.key, why.reason)))?;
        }
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(fault("timeout", "it is zero"));
        }
        for (old, new) in &self.rename {
            format!("{server}:{new}")
                .parse::<ToolId>()
                .map_err(|why| fault("rename", &format!("`{old}`: {why}")))?;
        }
        Ok(())
    }

    /// Identifies the server behind a name: a stored list counts only for the same origin.
    pub(crate) fn origin(&self) -> Digest {
        let mut text = String::new();
        let described = self.document.iter().chain(&self.base_url).map(String::as_str);
        for part in self
            .command
            .iter()
            .chain(&self.args)
            .map(String::as_str)
            .chain(self.all_urls())
            .chain(described)
        {
            text.push_str(part);
            text.push('\0');
        }
        digest(text.as_bytes())
    }
}

/// Whether a document is on the network rather than in a file.
pub(crate) fn is_url(location: &str) -> bool {
    location.starts_with("http://") || location.starts_with("https://")
}

fn is_this_machine(target: &Target) -> bool {
    let host = target.host().to_string();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;
