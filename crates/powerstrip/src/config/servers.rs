//! `servers`: the MCP servers behind the strip.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use upstream::{SandboxMode, ServerConfig, Start};

use super::clean;
use super::secret::{HeaderSource, SecretFault};
use super::units::Span;
use crate::environment::Environment;

/// A name that belongs to the gateway's own tools.
const RESERVED: &str = "powerstrip";

/// One MCP server: a program that is started, or a URL.
#[derive(Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Server {
    /// The program of a stdio server, started without a shell. A path is relative to this file.
    pub(crate) command: Option<String>,
    /// The program's arguments.
    pub(crate) args: Vec<String>,
    /// Variables for the program, as text, `{env: NAME}` or `{file: PATH}`. It gets few others.
    pub(crate) env: BTreeMap<String, HeaderSource>,
    /// The folder that the program runs in.
    pub(crate) cwd: Option<PathBuf>,
    /// Whether the program is started with the gateway or at the first call.
    pub(crate) start: StartWhen,
    /// Where a streamable HTTP server is. That host and port may be reached whatever `egress.allow` says.
    pub(crate) url: Option<String>,
    /// Its replicas, beside `url` if that is set too.
    pub(crate) urls: Vec<String>,
    /// Headers of every request, as text, `{env: NAME}` or `{file: PATH}`.
    pub(crate) headers: BTreeMap<String, HeaderSource>,
    /// Keeps the entry but does not use the server.
    pub(crate) disabled: bool,
    /// How long one call may take, instead of `limits.timeout`.
    pub(crate) timeout: Option<Span>,
    /// Which tools are offered, by the server's own names; `*` stands for any characters.
    pub(crate) only: Vec<String>,
    /// Which tools are not offered.
    pub(crate) except: Vec<String>,
    /// New names for tools.
    pub(crate) rename: BTreeMap<String, String>,
    /// Whether MCP clients see the server's name in front of the tool's. Without it, a tool whose own name is
    /// taken is still listed with it.
    pub(crate) prefix: bool,
    /// Whether all callers share one session or process.
    pub(crate) shared: bool,
    /// How the program is confined.
    pub(crate) sandbox: ServerSandbox,
    /// Takes invisible characters out of results, instead of warning about them.
    pub(crate) clean_results: bool,
    /// Tools whose answers may be given again for equal inputs.
    pub(crate) deterministic: Vec<String>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            start: StartWhen::default(),
            url: None,
            urls: Vec::new(),
            headers: BTreeMap::new(),
            disabled: false,
            timeout: None,
            only: Vec::new(),
            except: Vec::new(),
            rename: BTreeMap::new(),
            prefix: true,
            shared: false,
            sandbox: ServerSandbox::default(),
            clean_results: false,
            deterministic: Vec::new(),
        }
    }
}

/// Arguments and URLs may hold secrets, whatever the manual says.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("command", &self.command).finish_non_exhaustive()
    }
}

/// When a program is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StartWhen {
    /// With the gateway, and again whenever it ends.
    #[default]
    Eager,
    /// At the first call; it is stopped when nobody has called for a while.
    Lazy,
}

/// How a server's program is confined. Unless set, it has the rights of the gateway's user.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerSandbox {
    /// `auto` as much as this host allows, `required` or not at all, `off` none.
    pub(crate) mode: Confinement,
    /// Whether it may use the network.
    pub(crate) network: bool,
    /// Files and folders that it may read.
    pub(crate) read: Vec<PathBuf>,
    /// Files and folders that it may change.
    pub(crate) write: Vec<PathBuf>,
}

impl Default for ServerSandbox {
    fn default() -> Self {
        Self { mode: Confinement::default(), network: true, read: Vec::new(), write: Vec::new() }
    }
}

/// How strictly a server's program is confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Confinement {
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
        let config = self.with(env, headers);
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
            disabled: self.disabled,
            timeout: self.timeout.map(|span| span.0),
            only: self.only.clone(),
            except: self.except.clone(),
            rename: self.rename.clone(),
            prefix: self.prefix,
            shared: self.shared,
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
            reach: upstream::Reach::Named,
        }
    }
}

impl Unusable {
    fn secret(section: &str, key: &str, why: &SecretFault) -> Self {
        Self { keys: vec![section.to_owned(), key.to_owned()], message: why.to_string() }
    }
}
