//! `servers`: the MCP servers behind the strip.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use upstream::{Instances, Kind, Pin, SandboxMode, ServerConfig, Start};

use crate::environment::Environment;
use crate::secret::{HeaderSource, SecretFault};
use crate::server_auth::ServerAuth;
use crate::units::Span;

/// A name that belongs to the gateway's own tools.
const RESERVED: &str = "powerstrip";

/// One server: a program that is started, a URL, or an OpenAPI document.
#[derive(Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// An MCP server, or a service that an OpenAPI document describes.
    pub kind: ServerKind,
    /// The OpenAPI document (3.0 or 3.1, JSON or YAML): a path relative to this file, or a URL.
    pub document: Option<String>,
    /// Where the document's service is, if not where the document says.
    pub base_url: Option<String>,
    /// The program of a stdio server, started without a shell. A path is relative to this file.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// Variables for the program, as text, `{env: NAME}` or `{file: PATH}`. It gets few others.
    pub env: BTreeMap<String, HeaderSource>,
    /// The folder that the program runs in.
    pub cwd: Option<PathBuf>,
    /// Whether the program is started with the gateway or at the first call.
    pub start: StartWhen,
    /// Where a streamable HTTP server is. That host and port may be reached whatever `egress.allow` says.
    pub url: Option<String>,
    /// Its replicas, beside `url` if that is set too.
    pub urls: Vec<String>,
    /// Headers of every request, as text, `{env: NAME}` or `{file: PATH}`.
    pub headers: BTreeMap<String, HeaderSource>,
    /// How tokens are had, where the server asks for them.
    pub auth: Option<ServerAuth>,
    /// Keeps the entry but does not use the server.
    pub disabled: bool,
    /// How long one call may take, instead of `limits.timeout`.
    pub timeout: Option<Span>,
    /// Which tools are offered, by the server's own names; `*` stands for any characters.
    pub only: Vec<String>,
    /// Which tools are not offered.
    pub except: Vec<String>,
    /// New names for tools.
    pub rename: BTreeMap<String, String>,
    /// Whether MCP clients see the server's name in front of the tool's. Without it, a tool whose own name is
    /// taken is still listed with it.
    pub prefix: bool,
    /// Who has a process or session of its own: each `caller` (the default), each MCP `session` or named run of a caller, or
    /// no caller (`shared`).
    pub instances: Option<InstancesOf>,
    /// The same as `instances: shared`.
    pub shared: bool,
    /// How the program is confined.
    pub sandbox: ServerSandbox,
    /// Takes invisible characters out of results, instead of warning about them.
    pub clean_results: bool,
    /// Tools whose answers may be given again for equal inputs.
    pub deterministic: Vec<String>,
    /// When what a tool says of itself is trusted: at `first_use`, so that a change has to be approved; `strict`, so
    /// that new tools have to be approved, too; or always, which is `off`.
    pub pin: PinWhen,
    /// Whether what is large in its answers is kept, and a reference handed on instead: `on` or `off`.
    pub references: Kept,
}

/// Whether large answers are kept: `on` or `off`, or what YAML makes of them elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// They are kept, and a reference is handed on.
    On,
    /// They are handed on whole.
    Off,
}

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Switch;
        impl Visitor<'_> for Switch {
            type Value = Kept;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`on` or `off`")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<Kept, E> {
                Ok(if on { Kept::On } else { Kept::Off })
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Kept, E> {
                match word {
                    "on" => Ok(Kept::On),
                    "off" => Ok(Kept::Off),
                    other => Err(E::custom(format!("`{other}` is not one of `on`, `off`"))),
                }
            }
        }
        deserializer.deserialize_any(Switch)
    }
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
            start: StartWhen::default(),
            url: None,
            urls: Vec::new(),
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
            references: Kept::On,
        }
    }
}

/// Arguments and URLs may hold secrets, whatever the manual says.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("command", &self.command).finish_non_exhaustive()
    }
}

/// What stands behind a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    /// An MCP server.
    #[default]
    Mcp,
    /// A service that an OpenAPI document describes.
    Openapi,
}

/// When a program is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StartWhen {
    /// With the gateway, and again whenever it ends.
    #[default]
    Eager,
    /// At the first call; it is stopped when nobody has called for a while.
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
    /// `auto` as much as this host allows, `required` or not at all, `off` none.
    pub mode: Confinement,
    /// Whether it may use the network.
    pub network: bool,
    /// Files and folders that it may read.
    pub read: Vec<PathBuf>,
    /// Files and folders that it may change.
    pub write: Vec<PathBuf>,
}

impl Default for ServerSandbox {
    fn default() -> Self {
        Self { mode: Confinement::default(), network: true, read: Vec::new(), write: Vec::new() }
    }
}

/// Who has a server's process or session to itself.
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

/// What is wrong with a server's entry: the keys below its name, and why.
pub(super) struct Unusable {
    pub(super) keys: Vec<String>,
    pub(super) message: String,
}

impl Server {
    /// Makes paths stand beside the file. They become absolute: the program may run in another folder.
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
        let sandbox = &mut self.sandbox;
        for path in self.cwd.iter_mut().chain(&mut sandbox.read).chain(&mut sandbox.write) {
            *path = absolute(path);
        }
    }

    /// The entry as the servers' crate takes it, secrets fetched.
    pub(super) fn resolve(
        &self,
        name: &str,
        environment: &Environment,
        base: &Path,
    ) -> Result<ServerConfig, Vec<Unusable>> {
        let mut faults = Vec::new();
        if name == RESERVED {
            let message = format!("`{RESERVED}` is the gateway itself; choose another name");
            faults.push(Unusable { keys: Vec::new(), message });
        }
        if self.shared && self.instances.is_some_and(|own| own != InstancesOf::Shared) {
            let message = "it contradicts `instances`; remove one of the two".to_owned();
            faults.push(Unusable { keys: vec!["shared".to_owned()], message });
        }
        let mut fetch = |section: &str, sources: &BTreeMap<String, HeaderSource>| {
            let mut values = BTreeMap::new();
            for (key, source) in sources {
                match source.fetch(environment, base) {
                    Ok(secret) => {
                        values.insert(key.clone(), secret.expose().to_owned());
                    }
                    Err(why) => faults.push(Unusable::secret(section, key, &why)),
                }
            }
            values
        };
        let (env, headers) = (fetch("env", &self.env), fetch("headers", &self.headers));
        let auth = self.auth.as_ref().map(|auth| auth.resolve(environment, base)).transpose();
        let auth = auth.unwrap_or_else(|unusable| {
            faults.extend(unusable.into_iter().map(|(key, message)| Unusable {
                keys: vec!["auth".to_owned(), key.to_owned()],
                message,
            }));
            None
        });
        let config = ServerConfig { auth, ..self.with(env, headers) };
        if let Err(why) = config.check(name) {
            let keys = (why.key != "name").then(|| why.key.to_owned()).into_iter().collect();
            faults.push(Unusable { keys, message: why.reason });
        }
        if faults.is_empty() { Ok(config) } else { Err(faults) }
    }

    fn with(
        &self,
        env: BTreeMap<String, String>,
        headers: BTreeMap<String, String>,
    ) -> ServerConfig {
        let sandbox = &self.sandbox;
        ServerConfig {
            kind: match self.kind {
                ServerKind::Mcp => Kind::Mcp,
                ServerKind::Openapi => Kind::Openapi,
            },
            document: self.document.clone(),
            base_url: self.base_url.clone(),
            command: self.command.clone(),
            args: self.args.clone(),
            env,
            cwd: self.cwd.clone(),
            start: match self.start {
                StartWhen::Eager => Start::Eager,
                StartWhen::Lazy => Start::Lazy,
            },
            url: self.url.clone(),
            urls: self.urls.clone(),
            headers,
            auth: None,
            disabled: self.disabled,
            timeout: self.timeout.map(|span| span.0),
            only: self.only.clone(),
            except: self.except.clone(),
            rename: self.rename.clone(),
            prefix: self.prefix,
            instances: match self.instances {
                Some(InstancesOf::Caller) => Instances::Caller,
                Some(InstancesOf::Session) => Instances::Session,
                Some(InstancesOf::Shared) => Instances::Shared,
                None if self.shared => Instances::Shared,
                None => Instances::Caller,
            },
            sandbox: upstream::Sandbox {
                mode: match sandbox.mode {
                    Confinement::Off => SandboxMode::Off,
                    Confinement::Auto => SandboxMode::Auto,
                    Confinement::Required => SandboxMode::Required,
                },
                network: sandbox.network,
                read: sandbox.read.clone(),
                write: sandbox.write.clone(),
            },
            clean_results: self.clean_results,
            deterministic: self.deterministic.clone(),
            pin: match self.pin {
                PinWhen::FirstUse => Pin::FirstUse,
                PinWhen::Strict => Pin::Strict,
                PinWhen::Off => Pin::Off,
            },
            references: self.references == Kept::On,
            reach: upstream::Reach::Named,
        }
    }
}

impl Unusable {
    fn secret(section: &str, key: &str, why: &SecretFault) -> Self {
        Self { keys: vec![section.to_owned(), key.to_owned()], message: why.to_string() }
    }
}

/// Takes `./` out of a path, so that messages show what people would type.
pub(crate) fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}
