//! The choices that an entry has.

use std::path::PathBuf;

use egress::sandbox::{Mode, Network, Policy, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Which transport is spoken with a server that has a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UrlTransport {
    /// Streamable HTTP, or HTTP+SSE if the server does not know it.
    #[default]
    Auto,
    /// Streamable HTTP only.
    Streamable,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// Which protocol era is spoken with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EraChoice {
    /// What the server speaks; if it speaks both, the era of each caller.
    #[default]
    Auto,
    /// 2025-11-25 and before: `initialize`, sessions, questions during a call.
    Legacy,
    /// 2026-07-28: requests without sessions.
    Modern,
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
    /// The policy of a process in this sandbox.
    pub fn policy(&self) -> Policy {
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
