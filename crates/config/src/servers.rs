//! `servers`: the MCP servers behind the gateway.

mod resolve;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use upstream::{EraChoice, Instances, Kind, Pin, Sandbox, Start, UrlTransport};

use crate::references::ServerReferences;
use crate::secret::HeaderSource;
use crate::server_auth::ServerAuth;
use crate::units::Span;

pub use resolve::with_scheme;

/// One server: a program that is started, a URL, or an OpenAPI document.
#[derive(Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
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
    pub start: Start,
    /// The URL of a streamable HTTP server, or where it contains a secret, `{env: NAME}`, `{file: PATH}` or
    /// `{secret: NAME}`. Its host and port need no entry in `egress.allow`.
    pub url: Option<HeaderSource>,
    /// The URLs of its replicas, in addition to `url` if that is set.
    pub urls: Vec<String>,
    /// The transport of a server with a URL: `streamable` HTTP, the older `sse` (HTTP+SSE of 2024-11-05), or `auto`,
    /// which tries streamable HTTP first.
    pub transport: UrlTransport,
    /// The protocol era to speak with the server: `legacy` (2025-11-25 and before, with sessions), `modern`
    /// (2026-07-28), or `auto`: each caller's own era where the server speaks both.
    pub era: EraChoice,
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
    pub references: ServerReferences,
}

impl Default for Server {
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
