//! Adding servers: what commands and pages ask for, and what they are answered.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use proto::Secret;

use crate::servers::{LogLine, ServerTool};
use crate::{Caller, OperationError};

/// A server that is to be added: by its command or URL, or by its name in the catalog or a registry. Variables and
/// headers may be secrets, so it cannot be printed.
#[derive(Clone, Default)]
pub struct NewServer {
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    pub url: Option<String>,
    /// Its name in the catalog or a registry; by default `name`.
    pub from: Option<String>,
    /// Arguments behind those of the catalog's command.
    pub arguments: Vec<String>,
    /// Variables of the program; `${NAME}` is one of the gateway.
    pub env: BTreeMap<String, String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// `streamable` or `sse`; by default both are tried.
    pub transport: Option<String>,
    /// The working directory of the program.
    pub cwd: Option<PathBuf>,
    /// Values of the secrets that the catalog's or registry's entry asks for.
    pub secrets: BTreeMap<String, Secret>,
    /// The registry to search, instead of the one of the config.
    pub registry: Option<String>,
    /// Whether a registry's entry may lead into a private network.
    pub allow_private: bool,
}

/// A server of the catalog or of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    pub name: String,
    pub about: String,
    /// The command or the URL; empty if it is known only after the choice.
    pub target: String,
    pub homepage: String,
    pub license: String,
    /// What has to be added to the command.
    pub arguments: Option<String>,
    /// Variables that the user gives, and what they are.
    pub env: BTreeMap<String, String>,
    /// Secrets that the user gives, and what they are.
    pub secrets: BTreeMap<String, String>,
    pub in_registry: bool,
}

/// All that adding a server will do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerPreview {
    /// What will be run, sent and set.
    pub lines: Vec<String>,
    /// The name in the registry that describes the server: others wrote the entry.
    pub registry_name: Option<String>,
    /// Secrets that will be stored in the vault.
    pub stores: Vec<String>,
    /// Secrets of the vault that the server will receive.
    pub receives: Vec<String>,
    /// Secrets that are still missing, and what they are for.
    pub missing: Vec<(String, String)>,
    /// The private address that the URL leads to.
    pub private_address: Option<String>,
}

/// What a server did when it was started once.
#[derive(Clone, Debug, Default)]
pub struct ServerTrial {
    pub tools: Vec<ServerTool>,
    /// Why it cannot be used.
    pub error: Option<String>,
    /// What to do about it.
    pub fix: Option<String>,
    pub log: Vec<LogLine>,
}

/// Adds servers to the config of a running gateway. The caller's scope is checked by the page.
#[async_trait]
pub trait ServerInstaller: Send + Sync {
    /// The servers of the catalog, and of the config's registry, that match a word.
    async fn find(&self, word: &str) -> Result<Vec<FoundServer>, OperationError>;

    /// Describes the effect of adding the server. Changes nothing.
    async fn preview(&self, new: &NewServer) -> Result<ServerPreview, OperationError>;

    /// Starts the server once, lists its tools and stops it. Nothing is stored. `agreed` are the lines of the preview that
    /// the person saw: if a registry describes the server differently now, nothing is started.
    async fn try_out(
        &self,
        caller: &Caller,
        new: &NewServer,
        agreed: &[String],
    ) -> Result<ServerTrial, OperationError>;

    /// Stores the server's secrets, writes it to the config file, and starts it. `agreed` as above.
    async fn add(
        &self,
        caller: &Caller,
        new: &NewServer,
        agreed: &[String],
    ) -> Result<(), OperationError>;
}
