//! Servers and gateways that the rows measure.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::process::Command;

use crate::gateway::{Gateway, Home};
use crate::load::{Era, Front};
use crate::process::Process;

/// The number of tools for which the spec sets targets.
pub(super) const USUAL_TOOLS: usize = 100;

/// Enough callers to keep every core busy.
pub(super) const CONNECTIONS: usize = 16;

/// How long a gateway may take to list the tools of a running server.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts an MCP server: this program with another subcommand.
pub(super) async fn upstream(home: &Home, name: &str, options: &[&str]) -> anyhow::Result<Process> {
    let own = std::env::current_exe().context("this program cannot find itself")?;
    let mut command = Command::new(own);
    command.arg("bare-mcp").args(options);
    Process::start(command, home.path().join(format!("{name}.log"))).await
}

/// Starts the gateway in front of servers. The first is the one that is called; its tools have no prefix.
pub(super) async fn gateway(
    binary: &Path,
    home: &Home,
    servers: &[(&str, &Process)],
) -> anyhow::Result<(Gateway, Front)> {
    home.write("powerstrip.yaml", &config(servers.iter().map(|(name, at)| (*name, at.address))))?;
    let gateway = Gateway::start(binary, home).await?;
    let front = Front::new(gateway.address(), "echo");
    answering(&front, Era::Modern).await?;
    Ok((gateway, front))
}

fn config<'a>(servers: impl Iterator<Item = (&'a str, std::net::SocketAddr)>) -> String {
    let mut text = "listen: 127.0.0.1:0\nservers:\n".to_owned();
    for (index, (name, address)) in servers.enumerate() {
        let prefix = index > 0;
        let entry = format!("{{ url: \"http://{address}/mcp\", prefix: {prefix}, timeout: 2s }}");
        text.push_str(&format!("  {name}: {entry}\n"));
    }
    text
}

/// Waits until the echo answers: servers are listed in the background.
pub(super) async fn answering(front: &Front, era: Era) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        match front.echoes(era).await {
            Ok(()) => return Ok(()),
            Err(error) if begun.elapsed() > TIMEOUT => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::config;

    #[test]
    fn the_config_names_every_server_and_prefixes_all_but_the_first() {
        let servers = [("up", ([127, 0, 0, 1], 81).into()), ("other", ([127, 0, 0, 1], 82).into())];
        let read: Value = serde_saphyr::from_str(&config(servers.into_iter())).unwrap();
        assert_eq!(
            read["servers"],
            json!({
                "up": {"url": "http://127.0.0.1:81/mcp", "prefix": false, "timeout": "2s"},
                "other": {"url": "http://127.0.0.1:82/mcp", "prefix": true, "timeout": "2s"},
            })
        );
    }
}
