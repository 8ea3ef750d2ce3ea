//! Other gateways: found if they are installed, set up in front of a server with their usual settings, and ended.

mod contextforge;
mod fastmcp;
mod mcp_proxy;
mod nginx;

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use tokio::process::Command;

use crate::gateway::Memory;
use crate::load::{Era, Front};
use crate::process::Process;

/// How long a gateway may take until it has found the server's tools.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long a program may take to say what it is.
const INTRODUCTION: Duration = Duration::from_secs(60);

/// A gateway that we know how to set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    McpProxy,
    FastMcp,
    ContextForge,
    /// Not a gateway, but the reference for anything between a client and a server.
    Nginx,
}

impl Kind {
    pub(crate) const GATEWAYS: [Self; 3] = [Self::McpProxy, Self::FastMcp, Self::ContextForge];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::McpProxy => "mcp-proxy",
            Self::FastMcp => "FastMCP's proxy",
            Self::ContextForge => "ContextForge",
            Self::Nginx => "nginx",
        }
    }

    /// The target for our calls per second, relative to its own.
    pub(crate) fn bound(self) -> Option<f64> {
        match self {
            Self::McpProxy => Some(2.0),
            Self::FastMcp => Some(50.0),
            Self::ContextForge | Self::Nginx => None,
        }
    }

    pub(crate) fn how_to_install(self) -> &'static str {
        match self {
            Self::McpProxy => {
                "`cargo install mcp-proxy --version ^0.6 --locked --features protocol-2026-07-28`"
            }
            Self::FastMcp => "`pip install fastmcp`",
            Self::ContextForge => {
                "`pip install mcp-contextforge-gateway`, in an environment of its own"
            }
            Self::Nginx => "`apt install nginx-light`",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::McpProxy => "mcp-proxy",
            Self::FastMcp => "fastmcp",
            Self::ContextForge => "mcpgateway",
            Self::Nginx => "nginx",
        }
    }

    /// Its program: in one of these folders, or on the path.
    pub(crate) fn find(self, folders: &[PathBuf]) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = format!("{}{}", self.program(), std::env::consts::EXE_SUFFIX);
        folders
            .iter()
            .cloned()
            .chain(std::env::split_paths(&path))
            .map(|folder| folder.join(&program))
            .find(|file| file.is_file())
            .and_then(|file| std::path::absolute(file).ok())
    }

    /// The program's version, if it is the expected program: others have the same name.
    async fn introduce(self, program: &Path) -> anyhow::Result<String> {
        let mut command = Command::new(program);
        command.kill_on_drop(true).arg(match self {
            Self::McpProxy => "--help",
            Self::FastMcp => "version",
            Self::ContextForge => "--version",
            Self::Nginx => "-v",
        });
        let output = tokio::time::timeout(INTRODUCTION, command.output())
            .await
            .context("it does not say what it is")?
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let [said, complained] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        let version = match self {
            Self::McpProxy => mcp_proxy::introduction(&said),
            Self::FastMcp => fastmcp::version(&said),
            Self::ContextForge => contextforge::version(&said),
            Self::Nginx => nginx::version(&complained),
        };
        version.map(|version| format!("{self}{version}")).with_context(|| {
            format!("{} is another program: {}", program.display(), self.how_to_install())
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Another gateway, in front of a server.
pub(crate) struct Peer {
    /// Its name, and its version if it reports one.
    pub(crate) name: String,
    pub(crate) front: Front,
    /// Which clients it answers, ours in the same way.
    pub(crate) eras: Vec<Era>,
    process: Process,
    /// Removed on drop.
    _home: TempDir,
}

impl Peer {
    /// Starts a gateway and waits until it forwards the echo of the server.
    pub(crate) async fn start(
        kind: Kind,
        program: &Path,
        upstream: SocketAddr,
    ) -> anyhow::Result<Self> {
        let name = kind.introduce(program).await?;
        let home = tempfile::tempdir().context("a temporary folder cannot be made")?;
        let url = format!("http://{upstream}/mcp");
        let (process, front) = match kind {
            Kind::McpProxy => mcp_proxy::start(program, home.path(), &url).await?,
            Kind::FastMcp => fastmcp::start(program, home.path(), &url).await?,
            Kind::ContextForge => contextforge::start(program, home.path(), &url).await?,
            Kind::Nginx => nginx::start(program, home.path(), &url).await?,
        };
        let eras = eras(&front).await?;
        Ok(Self { name, front, eras, process, _home: home })
    }

    /// What it and its child processes hold.
    pub(crate) fn memory(&self) -> anyhow::Result<Memory> {
        Memory::of(self.process.id()?)
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.process.stop().await
    }
}

/// Finds out which clients a gateway answers. All of them speak to clients with sessions.
async fn eras(front: &Front) -> anyhow::Result<Vec<Era>> {
    let begun = Instant::now();
    while let Err(error) = front.echoes(Era::Legacy).await {
        ensure!(begun.elapsed() < TIMEOUT, "the echo is not passed on: {error:#}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let modern = front.echoes(Era::Modern).await.is_ok().then_some(Era::Modern);
    Ok(modern.into_iter().chain([Era::Legacy]).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::Kind;

    #[test]
    fn a_program_is_found_in_a_named_folder_first() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = [first.path().to_owned(), second.path().to_owned()];
        std::fs::create_dir(first.path().join("mcp-proxy")).unwrap();
        std::fs::write(second.path().join("mcp-proxy"), "").unwrap();
        assert_eq!(Kind::McpProxy.find(&folders), Some(second.path().join("mcp-proxy")));
        std::fs::remove_dir(first.path().join("mcp-proxy")).unwrap();
        std::fs::write(first.path().join("mcp-proxy"), "").unwrap();
        assert_eq!(Kind::McpProxy.find(&folders), Some(first.path().join("mcp-proxy")));
    }

    #[tokio::test]
    async fn another_program_of_the_same_name_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("mcp-proxy");
        let script = "#!/bin/sh\necho 'usage: mcp-proxy [-h] [command_or_url]'\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = Kind::McpProxy.introduce(&program).await.unwrap_err();
        assert!(error.to_string().contains("cargo install mcp-proxy"), "{error}");
    }
}
