//! Rows about servers behind the gateway: the same client and the same server each time, with and without a gateway
//! between them.

mod calls;
mod hung;
mod others;
mod sessions;
pub(crate) mod soak;
mod tools;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::process::Command;

use super::{Report, close};
use crate::cli::{GatewayGroup, GatewayRun};
use crate::gateway::{Gateway, Home};
use crate::load::{Era, Front};
use crate::process::Process;

/// As many tools as the spec sets the bounds for.
const USUAL_TOOLS: usize = 100;

/// Enough callers to keep every core busy.
const CONNECTIONS: usize = 16;

/// How long a gateway may take to find the tools of a server that stands.
const PATIENCE: Duration = Duration::from_secs(60);

/// Measures the groups that were asked for.
pub(crate) async fn measure(run: &GatewayRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    for (group, name) in [
        (GatewayGroup::Calls, "calls of a server"),
        (GatewayGroup::Peers, "other gateways"),
        (GatewayGroup::Hung, "a hung server"),
        (GatewayGroup::Sessions, "many sessions"),
        (GatewayGroup::Tools, "servers of many tools"),
    ] {
        if !run.wants(group) {
            continue;
        }
        let measured = match group {
            GatewayGroup::Calls => calls::measure(run, binary, &mut rows).await,
            GatewayGroup::Peers => others::measure(run, binary, &mut rows).await,
            GatewayGroup::Hung => hung::measure(run, binary, &mut rows).await,
            GatewayGroup::Sessions => sessions::measure(run, binary, &mut rows).await,
            GatewayGroup::Tools => tools::measure(run, binary, &mut rows).await,
        };
        close(name, measured, &mut rows);
    }
    Report { rows }
}

/// Starts a server of so many tools: this program under another name.
async fn upstream(home: &Home, name: &str, options: &[&str]) -> anyhow::Result<Process> {
    let own = std::env::current_exe().context("this program cannot find itself")?;
    let mut command = Command::new(own);
    command.arg("bare-mcp").args(options);
    Process::start(command, home.path().join(format!("{name}.log"))).await
}

/// Starts the gateway in front of servers. The first is the one that is called, under its tools' own names.
async fn gateway(
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
    for (place, (name, address)) in servers.enumerate() {
        let prefix = place > 0;
        let entry = format!("{{ url: \"http://{address}/mcp\", prefix: {prefix}, timeout: 2s }}");
        text.push_str(&format!("  {name}: {entry}\n"));
    }
    text
}

/// Waits until the echo answers: servers are listed in the background.
async fn answering(front: &Front, era: Era) -> anyhow::Result<()> {
    let begun = Instant::now();
    loop {
        match front.echoes(era).await {
            Ok(()) => return Ok(()),
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

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
