//! The sandbox ladder: what a child may touch, which rungs this host offers, and the launcher
//! that climbs them between `fork` and `exec`.
//!
//! A child is never confined inside the gateway's own threaded process. The gateway executes
//! itself as a tiny single-threaded launcher ([`maybe_run_launcher`]), which supervises one run.

#[cfg(target_os = "linux")]
mod confine;
mod launcher;
#[cfg(target_os = "linux")]
mod mounts;
mod orders;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod supervise;
mod system;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) use launcher::is_launcher_ready;
pub use launcher::maybe_run_launcher;
pub(crate) use orders::{Confinement, FAILED, Failure, LAUNCH, Orders, Preparation, Program, Step};
pub(crate) use system::is_system;

/// A rung of the ladder; each one includes those below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// No shell, cleared environment, own working folder, resource limits, own session, capped pipes.
    T0,
    /// Landlock and seccomp: files, signals, sockets and dangerous system calls are fenced.
    T1,
    /// Own user, network, process, mount and IPC namespaces: everything dies with the run.
    T2,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::T0 => "T0",
            Self::T1 => "T1",
            Self::T2 => "T2",
        })
    }
}

/// What the kernel of this host lets us confine, found by trying it once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Landlock ABI in force, 0 where there is none.
    pub landlock_abi: u8,
    /// Whether a seccomp filter can be installed.
    pub seccomp: bool,
    /// Whether user, network, process, mount and IPC namespaces can be entered.
    pub namespaces: bool,
}

impl Host {
    /// A host that offers nothing beyond what every Unix has.
    pub const BARE: Self = Self { landlock_abi: 0, seccomp: false, namespaces: false };

    /// The highest rung that holds here. A rung counts only when all below it hold too.
    pub fn tier(&self) -> Tier {
        match (self.landlock_abi > 0 && self.seccomp, self.namespaces) {
            (true, true) => Tier::T2,
            (true, false) => Tier::T1,
            (false, _) => Tier::T0,
        }
    }

    /// The same host as if it offered nothing above `tier`.
    pub fn at_most(self, tier: Tier) -> Self {
        match tier {
            Tier::T0 => Self::BARE,
            Tier::T1 => Self { namespaces: false, ..self },
            Tier::T2 => self,
        }
    }
}

/// How strictly a run must be confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// As high as the host allows, and the result says how high that was.
    #[default]
    Auto,
    /// At least this rung, or the program does not run.
    Required(Tier),
    /// No confinement beyond T0.
    Off,
}

/// Whether a child may open network connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Network {
    /// No sockets at all; from T2 on, no network interface either.
    #[default]
    Denied,
    /// Only TCP connections to this port, such as that of a proxy on loopback. Kernels before 6.7 cannot limit the port;
    /// there, only other protocols are refused.
    Port(u16),
    /// The host's network.
    Allowed,
}

/// Which Unix sockets a child may open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum UnixSockets {
    /// None but connected pairs.
    #[default]
    Denied,
    /// Stream sockets of its own, which connect to nothing: some programs do not start without one.
    Listening,
    /// All. A container engine's socket is a way out.
    Allowed,
}

/// What one child may touch. The system's libraries, the program's own installation and the
/// run's private folder are added by the runner.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub(crate) mode: Mode,
    pub(crate) network: Network,
    pub(crate) unix_sockets: UnixSockets,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
}

impl Policy {
    /// The strictest policy: no network, nothing to read but the system, nowhere to write but the private folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how strictly the run must be confined.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether the child may use the network.
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets which Unix sockets the child may open.
    pub fn unix_sockets(mut self, allowed: UnixSockets) -> Self {
        self.unix_sockets = allowed;
        self
    }

    /// Lets the child read and execute a file, or a folder and all below it. A path that does not exist grants nothing.
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.read.push(path.into());
        self
    }

    /// Lets the child also write a file, or a folder and all below it. A path that does not exist grants nothing.
    pub fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.write.push(path.into());
        self
    }

    /// The confinement this policy asks of this host, and the rung it reaches.
    pub(crate) fn on(&self, host: &Host) -> Result<(Option<Confinement>, Tier), TierMissing> {
        let offered = host.tier();
        match self.mode {
            Mode::Off => return Ok((None, Tier::T0)),
            Mode::Required(needed) if offered < needed => {
                return Err(TierMissing { needed, offered });
            }
            Mode::Auto | Mode::Required(_) => {}
        }
        let confinement = (*host != Host::BARE).then(|| Confinement {
            host: *host,
            network: self.network,
            unix_sockets: self.unix_sockets,
            read: system::readable().chain(self.read.iter().cloned()).collect(),
            write: system::writable().chain(self.write.iter().cloned()).collect(),
            private: None,
            hidden: Vec::new(),
        });
        Ok((confinement, offered))
    }
}

/// The host cannot confine a run as strictly as its policy demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("sandbox tier {needed} is required, this host offers {offered}")]
pub struct TierMissing {
    /// The rung that was asked for.
    pub needed: Tier,
    /// The rung that the host reaches.
    pub offered: Tier,
}

#[cfg(test)]
mod tests;
