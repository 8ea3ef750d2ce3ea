//! One server of `servers:`. The config file and the gateway share the type.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use auth::client::ClientConfig;
use files::InlineOverrides;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choices::{EraChoice, Instances, Kind, Pin, Reach, Sandbox, Start, UrlTransport};
use crate::invalid::InvalidKey;
use crate::personal::Personal;

/// A server whose secrets are fetched and whose units are read. Either `command` or at least one URL is set, or a
/// document for `kind: openapi`.
pub type ServerConfig = Server<String, ClientConfig, Duration, StoredParts>;

// The comments of the fields are the reference of the config file, and its JSON schema. The file writes some values in
// its own way: `Text` may name a secret, `Auth` has several, `Time` has a unit, `References` is a switch or sizes.
/// One server: a program that is started, a URL, or an OpenAPI document.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(
    rename = "Server",
    bound = "Text: JsonSchema + Serialize, Auth: JsonSchema + Serialize, Time: JsonSchema + Serialize, \
             References: JsonSchema + Serialize + Default"
)]
pub struct Server<Text, Auth, Time, References> {
    /// An MCP server, or a service that an OpenAPI document describes.
    pub kind: Kind,
    /// The OpenAPI document (3.0 or 3.1, JSON or YAML): a path relative to this file, or a URL.
    pub document: Option<String>,
    /// The base URL of the service, instead of the one in the document.
    pub base_url: Option<String>,
    /// The program of a stdio server, started without a shell. A path is relative to this file.
    pub command: Option<String>,
    /// The program's arguments, as text, `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`. Other programs on the
    /// machine can read arguments; `env` is safer.
    pub args: Vec<Text>,
    /// Environment variables of the program, as text, `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`. Few others are
    /// passed on.
    pub env: BTreeMap<String, Text>,
    /// The working directory of the program, relative to this file. By default it is the folder of this file.
    pub cwd: Option<PathBuf>,
    /// The folder of the file that has this entry: the working folder where `cwd` is not set. A confined program may
    /// not read it for that.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// Whether the program is started with the gateway or at the first call.
    pub start: Start,
    /// The URL of a streamable HTTP server, or where it contains a secret, `{env: NAME}`, `{file: PATH}` or
    /// `{secret: NAME}`. Its host and port need no entry in `egress.allow`.
    pub url: Option<Text>,
    /// The URLs of its replicas, in addition to `url` if that is set.
    pub urls: Vec<String>,
    /// The transport of a server with a URL: `streamable` HTTP, the older `sse` (HTTP+SSE of 2024-11-05), or `auto`,
    /// which tries streamable HTTP first.
    pub transport: UrlTransport,
    /// The protocol era to speak with the server: `legacy` (2025-11-25 and before, with sessions), `modern`
    /// (2026-07-28), or `auto`: each caller's own era where the server speaks both.
    pub era: EraChoice,
    /// Headers of every request, as text, `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
    pub headers: BTreeMap<String, Text>,
    /// How the gateway obtains tokens, if the server requires them.
    pub auth: Option<Auth>,
    /// Keeps the entry without using the server.
    pub disabled: bool,
    /// How long one call may take, instead of `limits.timeout`.
    pub timeout: Option<Time>,
    /// The tools to offer, by the server's own names; `*` matches any characters.
    pub only: Vec<String>,
    /// The tools not to offer.
    pub except: Vec<String>,
    /// New names for tools.
    pub rename: BTreeMap<String, String>,
    /// Whether MCP clients see tool names prefixed with the server's name. If `false`, tools whose own name is taken
    /// are still prefixed.
    pub prefix: bool,
    /// Which callers get their own process or session: each `caller` (the default), each MCP `session` or named run of a
    /// caller, or no caller (`shared`).
    pub instances: Option<Instances>,
    /// The same as `instances: shared`.
    pub shared: bool,
    /// How the program is confined.
    pub sandbox: Sandbox,
    /// Removes invisible characters from results, instead of warning about them.
    pub clean_results: bool,
    /// Tools whose answers may be reused for equal inputs.
    pub deterministic: Vec<String>,
    /// When tool definitions are trusted: `first_use` (changes need approval), `strict` (new tools need approval,
    /// too) or `off` (always trusted).
    pub pin: Pin,
    /// Whether large parts of answers are stored and replaced by references: `on`, `off`, or sizes in which the server
    /// differs from `references`, such as `{media: 4MB}`.
    pub references: References,
    /// Variables and headers of which each person has a value of their own. This field and those below are no keys of
    /// the file: they are set with the values.
    #[serde(skip)]
    pub personal: Personal,
    /// The secrets that could not be fetched: for each, its key and what to do. The server is not used without them.
    #[serde(skip)]
    pub missing: Vec<String>,
    /// What is wrong with the entry. The server is not used.
    #[serde(skip)]
    pub invalid: Vec<InvalidKey>,
    /// Secrets in arguments and URLs.
    #[serde(skip)]
    pub hidden: Vec<String>,
    /// Which of its URLs the egress policy is opened for.
    #[serde(skip)]
    pub reach: Reach,
}

/// Which parts of a server's answers are stored, and replaced by references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredParts {
    /// Whether large parts are stored at all.
    pub large: bool,
    /// Up to which sizes parts stay, where that differs from the settings for all tools.
    pub inline: InlineOverrides,
}

impl Default for StoredParts {
    fn default() -> Self {
        Self { large: true, inline: InlineOverrides::default() }
    }
}

/// The values of an entry whose secrets are fetched and whose units are read.
pub struct Values {
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub url: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub auth: Option<ClientConfig>,
    pub timeout: Option<Duration>,
    pub references: StoredParts,
}

impl<Text, Auth, Time, References> Server<Text, Auth, Time, References> {
    /// The entry with these values.
    pub fn with_values(&self, values: Values) -> ServerConfig {
        Server {
            kind: self.kind,
            document: self.document.clone(),
            base_url: self.base_url.clone(),
            command: self.command.clone(),
            args: values.args,
            env: values.env,
            cwd: self.cwd.clone(),
            folder: self.folder.clone(),
            start: self.start,
            url: values.url,
            urls: self.urls.clone(),
            transport: self.transport,
            era: self.era,
            headers: values.headers,
            auth: values.auth,
            disabled: self.disabled,
            timeout: values.timeout,
            only: self.only.clone(),
            except: self.except.clone(),
            rename: self.rename.clone(),
            prefix: self.prefix,
            instances: self.instances,
            shared: self.shared,
            sandbox: self.sandbox.clone(),
            clean_results: self.clean_results,
            deterministic: self.deterministic.clone(),
            pin: self.pin,
            references: values.references,
            personal: self.personal.clone(),
            missing: self.missing.clone(),
            invalid: self.invalid.clone(),
            hidden: self.hidden.clone(),
            reach: self.reach,
        }
    }

    /// Which callers share a process or session.
    pub fn instances(&self) -> Instances {
        match self.instances {
            Some(instances) => instances,
            None if self.shared => Instances::Shared,
            None => Instances::default(),
        }
    }
}

impl<Text: PartialEq, Auth, Time, References> Server<Text, Auth, Time, References> {
    /// Whether both start the same program or call the same URL with the same settings. Limits, names and approvals may
    /// differ: they are the gateway's own.
    pub fn has_target_of(&self, other: &Self) -> bool {
        self.command == other.command
            && self.args == other.args
            && self.env == other.env
            && self.cwd == other.cwd
            && self.url == other.url
            && self.headers == other.headers
    }
}

impl<Text, Auth, Time, References: Default> Default for Server<Text, Auth, Time, References> {
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
            instances: None,
            shared: false,
            sandbox: Sandbox::default(),
            clean_results: false,
            deterministic: Vec::new(),
            pin: Pin::default(),
            references: References::default(),
            personal: Personal::default(),
            missing: Vec::new(),
            invalid: Vec::new(),
            hidden: Vec::new(),
            reach: Reach::default(),
        }
    }
}

/// Arguments, variables, headers and URLs may hold secrets: only their names are shown.
impl<Text, Auth, Time, References> fmt::Debug for Server<Text, Auth, Time, References> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("command", &self.command)
            .field("env", &self.env.keys())
            .field("headers", &self.headers.keys())
            .field("urls", &(usize::from(self.url.is_some()) + self.urls.len()))
            .field("start", &self.start)
            .field("disabled", &self.disabled)
            .field("instances", &self.instances())
            .finish_non_exhaustive()
    }
}
