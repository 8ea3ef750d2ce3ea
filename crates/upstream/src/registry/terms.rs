use std::time::Duration;

use proto::RefusedServerName;
use serde_json::Value;
use server_entry::ConfigFault;

use super::address::AddressFault;

/// How many servers may be registered at once.
pub(super) const MAX_SERVERS: usize = 1_000;

/// How many names one holder may have, with or without servers: names do not expire.
pub(super) const MAX_NAMES: usize = 1_000;

/// How many replicas one of them may have.
pub(super) const MAX_REPLICAS: usize = 64;

/// How many tools an announcement may list.
const MAX_TOOLS: usize = 1_000;

const MAX_VERSION: usize = 64;

/// Heartbeats per lease, so that one may be lost.
const BEATS: u32 = 3;

/// The rules for registered servers.
#[derive(Clone, Debug)]
pub struct Terms {
    /// How long a lease lasts without a heartbeat.
    pub lease: Duration,
    /// Whether a URL may name this machine, which is safe where the gateway serves only this machine.
    pub loopback: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self { lease: Duration::from_secs(30), loopback: true }
    }
}

impl Terms {
    pub(super) fn heartbeat(&self) -> Duration {
        self.lease / BEATS
    }

    /// Checks everything but the URL and the other registrations.
    pub(super) fn check(&self, announcement: &Announcement) -> Result<(), RegistryFault> {
        let Announcement { name, version, tools, .. } = announcement;
        let invalid = |key, reason: String| Err(RegistryFault::Invalid { key, reason });
        proto::check_server_name(name)?;
        let plain = !version.is_empty() && !version.contains(char::is_control);
        if !plain || version.len() > MAX_VERSION {
            return invalid("version", format!("it has 1 to {MAX_VERSION} plain characters"));
        }
        let tools = tools.as_deref().unwrap_or_default();
        if tools.len() > MAX_TOOLS {
            return invalid("tools", format!("{} are more than {MAX_TOOLS}", tools.len()));
        }
        match tools.iter().position(|tool| !tool["name"].is_string()) {
            Some(at) => invalid("tools", format!("number {} has no `name`", at + 1)),
            None => Ok(()),
        }
    }
}

/// A server's request to be registered.
#[derive(Clone, Debug)]
pub struct Announcement {
    pub name: String,
    pub url: String,
    pub version: String,
    /// Whether the URL is an additional replica, instead of replacing the holder's other URLs.
    pub replica: bool,
    /// Its tools as in `tools/list`, offered until the server is listed.
    pub tools: Option<Vec<Value>>,
}

/// The owner of a registration; no other holder can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub tenant: String,
    /// The owner of the registration token.
    pub owner: String,
}

/// A lease that was given or renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub name: String,
    pub lease: String,
    pub lasts: Duration,
    /// When the next heartbeat is expected.
    pub heartbeat: Duration,
    pub replicas: usize,
}

/// Why a server is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryFault {
    #[error("`{key}`: {reason}")]
    Invalid { key: &'static str, reason: String },
    #[error(transparent)]
    Name(#[from] RefusedServerName),
    #[error("the config file has a server `{0}`, and a name is used only once")]
    Configured(String),
    #[error(
        "the name `{0}` belongs to another registration token; the operator can free it with \
         `powerstrip servers release {0}`"
    )]
    Held(String),
    #[error(
        "this token holds {0} names already, and no more are taken; the operator can free those that are not used with \
         `powerstrip servers release NAME`"
    )]
    ManyNames(usize),
    #[error("the holder of the name cannot be stored: {0}")]
    NotStored(String),
    #[error("`url`: {0}")]
    Address(#[from] AddressFault),
    #[error(
        "`{0}` has no such lease: it ran out, was replaced, or was given before the gateway started"
    )]
    NoLease(String),
    #[error("there are {count} {what} already, and no more are taken")]
    Full { count: usize, what: &'static str },
}

impl From<ConfigFault> for RegistryFault {
    fn from(fault: ConfigFault) -> Self {
        let key = if fault.key == "urls" { "url" } else { fault.key };
        Self::Invalid { key, reason: fault.reason }
    }
}
