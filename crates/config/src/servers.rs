//! `servers`: the MCP servers behind the gateway.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use upstream::{
    EraChoice, Instances, Kind, Personal, PersonalSecret, Pin, SandboxMode, ServerConfig, Start,
    UrlTransport,
};

use crate::secret::{HeaderSource, SecretReader, SecretSource};
use crate::server_auth::ServerAuth;
use crate::units::Span;

/// Reserved for the gateway's own tools.
const RESERVED: &str = "powerstrip";

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
    /// The program's arguments.
    pub args: Vec<String>,
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
    /// The URL of a streamable HTTP server. Its host and port need no entry in `egress.allow`.
    pub url: Option<String>,
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
    /// Whether large parts of answers are stored and replaced by references: `on` or `off`.
    pub references: StoreLarge,
}

/// Whether large parts of answers are stored: `on` or `off`, or a YAML boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreLarge {
    /// They are stored and replaced by references.
    On,
    /// They are passed to the caller unchanged.
    Off,
}

impl<'de> Deserialize<'de> for StoreLarge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Switch;
        impl Visitor<'_> for Switch {
            type Value = StoreLarge;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`on` or `off`")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<StoreLarge, E> {
                Ok(if on { StoreLarge::On } else { StoreLarge::Off })
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<StoreLarge, E> {
                match word {
                    "on" => Ok(StoreLarge::On),
                    "off" => Ok(StoreLarge::Off),
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
            references: StoreLarge::On,
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
pub(super) struct EntryFault {
    pub(super) keys: Vec<String>,
    pub(super) message: String,
}

impl Server {
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

    /// What is wrong with the entry, apart from missing secrets.
    pub(super) fn check(&self, name: &str, assuming: &SecretReader<'_>) -> Vec<EntryFault> {
        let mut faults = Vec::new();
        if name == RESERVED {
            let message = format!("`{RESERVED}` is reserved for the gateway; choose another name");
            faults.push(EntryFault { keys: Vec::new(), message });
        }
        if self.shared && self.instances.is_some_and(|instances| instances != InstancesOf::Shared) {
            let message = "contradicts `instances`; remove one of the two".to_owned();
            faults.push(EntryFault { keys: vec!["shared".to_owned()], message });
        }
        let (config, unusable) = self.resolve(assuming);
        // A bad token section is reported with its own key.
        let about_auth =
            unusable.iter().any(|fault| fault.keys.first().is_some_and(|key| key == "auth"));
        faults.extend(unusable);
        if let Err(why) = config.check(name)
            && !(about_auth && why.key == "auth")
        {
            let keys = (why.key != "name").then(|| why.key.to_owned()).into_iter().collect();
            faults.push(EntryFault { keys, message: why.reason });
        }
        faults
    }

    /// The entry as a [`ServerConfig`], and the secrets that cannot be fetched.
    pub(super) fn resolve(&self, reader: &SecretReader<'_>) -> (ServerConfig, Vec<EntryFault>) {
        let mut faults = Vec::new();
        let mut fetch = |section: &str, sources: &BTreeMap<String, HeaderSource>| {
            let (mut values, mut personal) = (BTreeMap::new(), BTreeMap::new());
            for (key, source) in sources {
                let of_person =
                    source.source().and_then(|(source, prefix)| Some((source.personal()?, prefix)));
                if let Some((secret, prefix)) = of_person {
                    if let Some(value) = reader.for_listing(secret) {
                        values.insert(key.clone(), format!("{prefix}{}", value.expose()));
                    }
                    let (secret, prefix) = (secret.to_owned(), prefix.to_owned());
                    personal.insert(key.clone(), PersonalSecret { secret, prefix });
                    continue;
                }
                match source.fetch(reader) {
                    Ok(secret) => {
                        values.insert(key.clone(), secret.expose().to_owned());
                    }
                    Err(why) => faults.push(EntryFault {
                        keys: vec![section.to_owned(), key.clone()],
                        message: why.to_string(),
                    }),
                }
            }
            (values, personal)
        };
        let (env, personal_env) = fetch("env", &self.env);
        let (headers, personal_headers) = fetch("headers", &self.headers);
        let auth = self.auth.as_ref().map(|auth| auth.resolve(reader)).transpose();
        let auth = auth.unwrap_or_else(|unusable| {
            faults.extend(unusable.into_iter().map(|(key, message)| EntryFault {
                keys: vec!["auth".to_owned(), key.to_owned()],
                message,
            }));
            None
        });
        let personal = Personal { env: personal_env, headers: personal_headers };
        let missing = faults
            .iter()
            .map(|fault| format!("{}: {}", fault.keys.join("."), fault.message))
            .collect();
        (ServerConfig { auth, personal, missing, ..self.with(env, headers) }, faults)
    }

    /// The secrets that come from variables and files and cannot be fetched.
    pub(super) fn missing_outside_vault(&self, reader: &SecretReader<'_>) -> Vec<EntryFault> {
        let values = [("env", &self.env), ("headers", &self.headers)].into_iter();
        let values = values.flat_map(|(section, values)| {
            let source = move |(key, value): (&'_ String, &'_ HeaderSource)| {
                let (source, _) = value.source()?;
                Some((vec![section.to_owned(), key.clone()], source.clone()))
            };
            values.iter().filter_map(source)
        });
        let tokens = self.auth.iter().flat_map(|auth| auth.secrets());
        let tokens =
            tokens.map(|(key, source)| (vec!["auth".to_owned(), key.to_owned()], source.clone()));
        let outside = values
            .chain(tokens)
            .filter(|(_, source)| !matches!(source, SecretSource::Vault { .. }));
        outside
            .filter_map(|(keys, source)| {
                let message = source.fetch(reader).err()?.to_string();
                Some(EntryFault { keys, message })
            })
            .collect()
    }

    /// The secrets of which each person has a value of their own.
    pub(super) fn personal_secrets(&self) -> impl Iterator<Item = &str> {
        let sources = self.env.values().chain(self.headers.values());
        sources.filter_map(|source| source.source()?.0.personal())
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
            folder: self.folder.clone(),
            start: match self.start {
                StartWhen::Eager => Start::Eager,
                StartWhen::Lazy => Start::Lazy,
            },
            url: self.url.clone(),
            urls: self.urls.clone(),
            transport: match self.transport {
                TransportOf::Auto => UrlTransport::Auto,
                TransportOf::Streamable => UrlTransport::Streamable,
                TransportOf::Sse => UrlTransport::Sse,
            },
            era: match self.era {
                EraOf::Auto => EraChoice::Auto,
                EraOf::Legacy => EraChoice::Legacy,
                EraOf::Modern => EraChoice::Modern,
            },
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
            references: self.references == StoreLarge::On,
            personal: Personal::default(),
            missing: Vec::new(),
            reach: upstream::Reach::Named,
        }
    }
}

/// Removes `./` from a path, so that messages show what users would type.
pub(crate) fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}
