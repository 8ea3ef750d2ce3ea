//! `servers`: the MCP servers behind the gateway.

mod resolve;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::ServerReferences;
use crate::secret::HeaderSource;
use crate::server_auth::ServerAuth;
use crate::units::Span;

/// One server: a program that is started, a URL, or an OpenAPI document.
#[derive(Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// An MCP server, or a service that an OpenAPI document describes.
    pub kind: ServerKind,
    /// The OpenAPI document (3.0 or 3.1, JSON or YAML): a path relative to this file, or a URL.
    pub document: Option<String>,
    /// The base URL of the service, instead of the one in the document.
    pub base_url: Option<String>,
    /// The program of a stdio server, started without a shell. A path is relative to this file.
    pub command: Option<String>,
    /// The program's arguments, as text, `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`. Other programs on the
    /// machine can read arguments; `env` is safer.
    pub args: Vec<HeaderSource>,
    /// Environment variables of the program, as text, `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`. Few others are
    /// passed on.
    pub env: BTreeMap<String, HeaderSource>,
    /// The working directory of the program, relative to this file. By default it is the folder of this file.
    pub cwd: Option<PathBuf>,
    /// The folder of the file that has this entry.
    #[serde(skip)]
    pub(crate) folder: Option<PathBuf>,
    /// Whether the program is started with the gateway or at the first call.
    pub start: StartWhen,
    /// The URL of a streamable HTTP server, or where it contains a secret, `{env: NAME}`, `{file: PATH}` or
    /// `{secret: NAME}`. Its host and port need no entry in `egress.allow`.
    pub url: Option<HeaderSource>,
    /// The URLs of its replicas, in addition to `url` if that is set.
    pub urls: Vec<String>,
    /// The transport of a server with a URL: `streamable` HTTP, the older `sse` (HTTP+SSE of 2024-11-05), or `auto`,
    /// which tries streamable HTTP first.
    pub transport: TransportOf,
    /// The protocol era to speak with the server: `legacy` (2025-11-25 and before, with sessions), `modern`
    /// (2026-07-28), or `auto`: each caller's own era where the server speaks both.
    pub era: EraOf,
    /// Headers of every request, as text, `{env: NAME}`, `{file: PATH}` or `{secret: NAME}`.
    pub headers: BTreeMap<String, HeaderSource>,
    /// How the gateway obtains tokens, if the server requires them.
    pub auth: Option<ServerAuth>,
    /// Keeps the entry without using the server.
    pub disabled: bool,
    /// How long one call may take, instead of `limits.timeout`.
    pub timeout: Option<Span>,
    /// The tools to offer, by the server's own names; `*` matches any characters.
    pub only: Vec<String>,
    /// The tools not to offer.
    pub except: Vec<String>,
    /// New names for tools.
    pub rename: BTreeMap<String, String>,
    /// Whether MCP clients see tool names prefixed with the server's name. If `false`, tools whose own name is taken
    /// are still prefixed.
    pub prefix: bool,
    /// Who gets their own process or session: each `caller` (the default), each MCP `session` or named run of a
    /// caller, or no caller (`shared`).
    pub instances: Option<InstancesOf>,
    /// The same as `instances: shared`.
    pub shared: bool,
    /// How the program is confined.
    pub sandbox: ServerSandbox,
    /// Removes invisible characters from results, instead of warning about them.
    pub clean_results: bool,
    /// Tools whose answers may be reused for equal inputs.
    pub deterministic: Vec<String>,
    /// When tool definitions are trusted: `first_use` (changes need approval), `strict` (new tools need approval,
    /// too) or `off` (always trusted).
    pub pin: PinWhen,
    /// Whether large parts of answers are stored and replaced by references: `on`, `off`, or sizes in which the server
    /// differs from `references`, such as `{media: 4MB}`.
    pub references: ServerReferences,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            kind: ServerKind::default(),
            document: None,
            base_url: None,
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            folder: None,
            start: StartWhen::default(),
            url: None,
            urls: Vec::new(),
            transport: TransportOf::default(),
            era: EraOf::default(),
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
            sandbox: ServerSandbox::default(),
            clean_results: false,
            deterministic: Vec::new(),
            pin: PinWhen::default(),
            references: ServerReferences::default(),
        }
    }
}

/// Shows only the command: users do put secrets into arguments and URLs.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("command", &self.command).finish_non_exhaustive()
    }
}

/// The kind of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    /// An MCP server.
    #[default]
    Mcp,
    /// A service that an OpenAPI document describes.
    Openapi,
}

/// The transport of a server with a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TransportOf {
    /// Streamable HTTP, or HTTP+SSE if the server does not know it.
    #[default]
    Auto,
    /// Streamable HTTP only.
    Streamable,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// The protocol era to speak with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraOf {
    /// What the server speaks; if it speaks both, the era of each caller.
    #[default]
    Auto,
    /// 2025-11-25 and before: `initialize`, sessions, questions during a call.
    Legacy,
    /// 2026-07-28: requests without sessions.
    Modern,
}

/// When a program is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StartWhen {
    /// With the gateway, and again whenever it exits.
    #[default]
    Eager,
    /// At the first call; it is stopped after some time without calls.
    Lazy,
}

/// When the definition of a tool is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PinWhen {
    /// When it is first seen.
    #[default]
    FirstUse,
    /// When it is approved.
    Strict,
    /// Always.
    Off,
}

/// How a server's program is confined. Unless set, it has the rights of the gateway's user.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSandbox {
    /// `auto`: as far as the host supports it; `required`: refuse to start the program otherwise; `off`: not confined.
    pub mode: Confinement,
    /// Whether the program may use the network.
    pub network: bool,
    /// Files and folders that the program may read.
    pub read: Vec<PathBuf>,
    /// Files and folders that the program may change.
    pub write: Vec<PathBuf>,
}

impl Default for ServerSandbox {
    fn default() -> Self {
        Self { mode: Confinement::default(), network: true, read: Vec::new(), write: Vec::new() }
    }
}

/// Who gets their own process or session of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InstancesOf {
    Caller,
    Session,
    Shared,
}

/// How strictly a server's program is confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    #[default]
    Off,
    Auto,
    Required,
}

/// A fault of an entry: the keys below its name, and the message.
pub(crate) struct EntryFault {
    pub(super) keys: Vec<String>,
    pub(super) message: String,
}

impl Server {
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

    /// Makes relative paths relative to the config's folder, and absolute: the program may run in another folder.
    pub(super) fn anchor(&mut self, base: &Path) {
        let absolute = |path: &Path| {
            let joined = clean(&base.join(path));
            std::path::absolute(&joined).unwrap_or(joined)
        };
        if let Some(command) = &mut self.command
            && command.contains(std::path::MAIN_SEPARATOR)
        {
            *command = absolute(Path::new(&*command)).to_string_lossy().into_owned();
        }
        if let Some(document) = &mut self.document
            && !document.contains("://")
        {
            *document = absolute(Path::new(&*document)).to_string_lossy().into_owned();
        }
        self.folder = Some(absolute(Path::new(".")));
        let sandbox = &mut self.sandbox;
        for path in self.cwd.iter_mut().chain(&mut sandbox.read).chain(&mut sandbox.write) {
            *path = absolute(path);
        }
    }
}

/// Removes `./` from a path, so that messages show what users would type.
pub(crate) fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}
