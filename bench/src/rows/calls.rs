//! Calls of the built-in echo through the doors with every guard, against the same handler without.

use std::path::Path;

use anyhow::Context as _;
use tokio::process::Command;

use super::report::{comparison_row, say};
use crate::cli::StripRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Client, Inputs, Request, compare};
use crate::process::Process;
use crate::table::{Row, Target};

const TARGET: Target = Target::AtLeast(0.6);

/// One caller that waits for each answer, and enough of them to keep every core busy.
const CONNECTIONS: [usize; 2] = [1, 16];

/// A door, and the equivalent bare server.
#[derive(Clone, Copy)]
pub(super) enum Door {
    Envelope,
    Mcp,
}

impl Door {
    pub(super) const ALL: [Self; 2] = [Self::Envelope, Self::Mcp];

    pub(super) fn path(self) -> &'static str {
        match self {
            Door::Envelope => "/mcp/tool/demo.echo",
            Door::Mcp => "/mcp",
        }
    }

    fn base(self) -> &'static str {
        match self {
            Door::Envelope => "bare axum",
            Door::Mcp => "bare rmcp",
        }
    }

    /// Opens connections that call the echo through this door.
    pub(super) async fn client(
        self,
        address: std::net::SocketAddr,
        connections: usize,
    ) -> anyhow::Result<Client> {
        let request = match self {
            Door::Envelope => Request::envelope(address, "demo.echo"),
            Door::Mcp => Request::mcp_call(address, "demo_echo"),
        };
        Client::connect(address, request, connections).await
    }

    async fn bare(self, home: &Home) -> anyhow::Result<Process> {
        let subcommand = match self {
            Door::Envelope => "bare-http",
            Door::Mcp => "bare-mcp",
        };
        bare(subcommand, home).await
    }
}

/// Starts a bare server: this program with another subcommand.
pub(super) async fn bare(subcommand: &str, home: &Home) -> anyhow::Result<Process> {
    let own = std::env::current_exe().context("this program cannot find itself")?;
    let mut command = Command::new(own);
    command.arg(subcommand);
    Process::start(command, home.path().join(format!("{subcommand}.log"))).await
}

pub(super) async fn measure(
    run: &StripRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let home = Home::new()?;
    let gateway = Gateway::start(binary, &home).await?;
    for door in Door::ALL {
        let bare = door.bare(&home).await?;
        for connections in CONNECTIONS {
            let many = if connections == 1 { "" } else { "s" };
            let name = format!("`{}`, {connections} connection{many}", door.path());
            say(&name);
            let mut ours = door.client(gateway.address(), connections).await?;
            let mut base = door.client(bare.address, connections).await?;
            let comparison =
                compare(&mut ours, &mut base, run.how.plan(), Inputs::Distinct).await?;
            rows.push(comparison_row(name, &comparison, "gateway", door.base()).target(TARGET));
        }
        let most = CONNECTIONS[CONNECTIONS.len() - 1];
        let name = format!("`{}`, equal inputs, {most} connections", door.path());
        say(&name);
        let mut ours = door.client(gateway.address(), most).await?;
        let mut base = door.client(bare.address, most).await?;
        let comparison = compare(&mut ours, &mut base, run.how.plan(), Inputs::Equal).await?;
        rows.push(comparison_row(name, &comparison, "gateway", door.base()));
        bare.stop().await?;
    }
    gateway.stop().await
}
