//! The same calls of the same server through other gateways.

use std::path::Path;

use super::calls::{compare_fronts, p99_row};
use super::setup::{CONNECTIONS, USUAL_TOOLS, gateway, upstream};
use crate::cli::GatewayRun;
use crate::gateway::{Home, Memory};
use crate::load::Era;
use crate::peers::{Kind, Peer};
use crate::process::Process;
use crate::rows::report::{comparison_row, say};
use crate::table::{Row, Target, Unit};

pub(super) async fn measure(
    run: &GatewayRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let home = Home::new()?;
    let up = upstream(&home, "up", &["--tools", &USUAL_TOOLS.to_string()]).await?;
    for kind in Kind::GATEWAYS {
        let Some(program) = kind.find(&run.peers) else {
            say(&format!("{kind} is not installed: {}", kind.how_to_install()));
            rows.push(Row::skipped(kind.to_string(), kind.how_to_install()));
            continue;
        };
        // A gateway that cannot be set up does not stop the others.
        if let Err(error) = against(run, binary, kind, &program, &up, rows).await {
            rows.push(Row::not_measured(format!("{kind}: the rest"), format!("{error:#}")));
        }
    }
    up.stop().await
}

/// Compares a gateway with a freshly started one of ours.
async fn against(
    run: &GatewayRun,
    binary: &Path,
    kind: Kind,
    program: &Path,
    up: &Process,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    say(&format!("{kind}: start"));
    let peer = Peer::start(kind, program, up.address).await?;
    let home = Home::new()?;
    let (gateway, front) = gateway(binary, &home, &[("up", up)]).await?;
    let judged = |row: Row| match kind.bound() {
        Some(bound) => row.target(Target::AtLeast(bound)),
        None => row,
    };
    for era in &peer.eras {
        for connections in [1, CONNECTIONS] {
            let many = if connections == 1 { "" } else { "s" };
            let name = format!(
                "versus {}, `tools/call` of {era}, {connections} connection{many}",
                peer.name
            );
            say(&name);
            let comparison = compare_fronts(run, *era, &front, &peer.front, connections).await?;
            let row = comparison_row(name.clone(), &comparison, "Powerstrip", kind.name());
            if connections == 1 {
                rows.push(row);
            } else {
                rows.push(judged(row));
                rows.push(judged(p99_row(&name, &comparison, "Powerstrip", kind.name())));
            }
        }
    }
    if !peer.eras.contains(&Era::Modern) {
        say(&format!("{kind} does not answer clients of {}", Era::Modern));
    }
    let (our, their) = (gateway.memory_at_rest().await?, peer.memory()?);
    rows.push(memory_row(&peer.name, our, their));
    gateway.stop().await?;
    peer.stop().await
}

/// Memory after the calls, including child processes.
fn memory_row(peer: &str, ours: Memory, other: Memory) -> Row {
    let [ours, other] = [ours, other].map(|memory| memory.own_mb + memory.children_mb);
    let name = format!("versus {peer}: resident memory, a server of {USUAL_TOOLS} tools");
    Row::new(name, ours / other, Unit::Ratio).fact("Powerstrip", ours, Unit::Megabytes).fact(
        "other",
        other,
        Unit::Megabytes,
    )
}

#[cfg(test)]
mod tests {
    use super::{Memory, memory_row};

    #[test]
    fn memory_counts_all_processes() {
        let ours = Memory { own_mb: 20.0, private_mb: 15.0, children_mb: 5.0 };
        let other = Memory { own_mb: 60.0, private_mb: 50.0, children_mb: 40.0 };
        let row = serde_json::to_value(memory_row("another", ours, other)).unwrap();
        assert_eq!((&row["value"], &row["verdict"]), (&0.25.into(), &"no_target".into()));
        assert_eq!(row["facts"][1]["value"], 100.0);
    }
}
