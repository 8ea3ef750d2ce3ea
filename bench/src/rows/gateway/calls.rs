//! Calls of a server through the gateway, every guard on, against the same calls without it.

use std::path::Path;

use super::setup::{CONNECTIONS, USUAL_TOOLS, answering, gateway, upstream};
use crate::cli::GatewayRun;
use crate::gateway::Home;
use crate::load::{Client, Comparison, Era, Front, Inputs, compare};
use crate::peers::{Kind, Peer};
use crate::process::Process;
use crate::rows::report::{comparison_row, say};
use crate::table::{Row, Target, Unit};

const SHARE: Target = Target::AtLeast(0.4);

/// More callers than a small connection pool would hold.
const CROWD: usize = 64;

/// The characters of a long call.
const PAGE: usize = 10_000;

/// The latency that the gateway may add to a call, in microseconds.
const ADDED: Target = Target::AtMost(100.0);

/// The added latency relative to nginx, for other machines: the target was set where nginx added 25 µs.
const ADDED_BY_NGINX: Target = Target::AtMost(4.0);

pub(super) async fn measure(
    run: &GatewayRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let home = Home::new()?;
    let up = upstream(&home, "up", &["--tools", &USUAL_TOOLS.to_string()]).await?;
    let (gateway, ours) = gateway(binary, &home, &[("up", &up)]).await?;
    let direct = Front::new(up.address, "echo");
    for era in [Era::Modern, Era::Legacy] {
        answering(&direct, era).await?;
        let name = format!("`tools/call` of {era}, 1 connection: added by the gateway");
        say(&name);
        let alone = compare_fronts(run, era, &ours, &direct, 1).await?;
        rows.extend(added(&name, &alone).map(|row| judged(row, ADDED, era)));
        if era == Era::Modern {
            rows.push(compare_with_nginx(run, &name, &alone, &up, &direct).await?);
        }

        for connections in [CONNECTIONS, CROWD] {
            let name = format!("`tools/call` of {era}, {connections} connections, versus direct");
            say(&name);
            let busy = compare_fronts(run, era, &ours, &direct, connections).await?;
            rows.push(judged(comparison_row(name.clone(), &busy, "gateway", "direct"), SHARE, era));
            rows.push(judged(p99_row(&name, &busy, "gateway", "direct"), SHARE, era));
        }
        let memory = gateway.memory_at_rest().await?;
        let name = format!("memory after these calls of {era}, a server of {USUAL_TOOLS} tools");
        let row = Row::new(name, memory.own_mb, Unit::Megabytes)
            .fact("heap and stacks", memory.private_mb, Unit::Megabytes)
            .fact("its child processes", memory.children_mb, Unit::Megabytes);
        rows.push(judged(row, Target::Below(40.0), era));
    }
    rows.push(side_effecting(run, &ours, &direct).await?);
    rows.push(long(run, &ours, &direct).await?);
    gateway.stop().await?;
    up.stop().await
}

/// The latency that the gateway adds, relative to what nginx adds to the same calls.
async fn compare_with_nginx(
    run: &GatewayRun,
    name: &str,
    alone: &Comparison,
    up: &Process,
    direct: &Front,
) -> anyhow::Result<Row> {
    let name = format!("{name}, by what nginx adds");
    let Some(program) = Kind::Nginx.find(&run.peers) else {
        return Ok(Row::skipped(name, Kind::Nginx.how_to_install()));
    };
    let nginx = Peer::start(Kind::Nginx, &program, up.address).await?;
    say(&name);
    let plain = compare_fronts(run, Era::Modern, &nginx.front, direct, 1).await?;
    nginx.stop().await?;
    Ok(relative_to_nginx(name, alone, &plain).target(ADDED_BY_NGINX))
}

fn relative_to_nginx(name: String, ours: &Comparison, plain: &Comparison) -> Row {
    Row::new(name, ours.added_p50_ms / plain.added_p50_ms, Unit::Ratio)
        .fact("gateway", ours.added_p50_ms * 1_000.0, Unit::Micros)
        .fact("nginx", plain.added_p50_ms * 1_000.0, Unit::Micros)
}

/// Calls of a tool without `readOnlyHint`, whose answers wait for their audit row.
async fn side_effecting(run: &GatewayRun, ours: &Front, direct: &Front) -> anyhow::Result<Row> {
    let name = format!(
        "`tools/call` of {}, {CONNECTIONS} connections, without `readOnlyHint`, versus direct",
        Era::Modern
    );
    say(&name);
    let of = |front: &Front| Front { tool: "record00001".to_owned(), ..front.clone() };
    let comparison = compare_fronts(run, Era::Modern, &of(ours), &of(direct), CONNECTIONS).await?;
    Ok(comparison_row(name, &comparison, "gateway", "direct"))
}

/// Calls that carry a page of text each way; the echo returns it twice, as structured content and as text.
async fn long(run: &GatewayRun, ours: &Front, direct: &Front) -> anyhow::Result<Row> {
    let name = format!(
        "`tools/call` of {}, {CONNECTIONS} connections, with {PAGE} characters each way, versus direct",
        Era::Modern
    );
    say(&name);
    let of = |front: &Front| Front { padding: PAGE, ..front.clone() };
    let comparison = compare_fronts(run, Era::Modern, &of(ours), &of(direct), CONNECTIONS).await?;
    Ok(comparison_row(name, &comparison, "gateway", "direct"))
}

/// The targets apply to the revision without sessions. In the legacy revision the comparison is not fair: direct calls have
/// no session, because the server keeps none, while the gateway keeps one for every client.
fn judged(row: Row, target: Target, era: Era) -> Row {
    if era == Era::Modern { row.target(target) } else { row }
}

/// Loads two fronts in turns with the same calls, with a session for every connection.
pub(super) async fn compare_fronts(
    run: &GatewayRun,
    era: Era,
    ours: &Front,
    base: &Front,
    connections: usize,
) -> anyhow::Result<Comparison> {
    let mut ours = Client::greet(ours, era, connections, connections).await?;
    let mut base = Client::greet(base, era, connections, connections).await?;
    compare(&mut ours, &mut base, run.how.plan(), Inputs::Distinct).await
}

/// The added latency of a call, at p50 and p99.
fn added(name: &str, comparison: &Comparison) -> [Row; 2] {
    let Comparison { ours, base, .. } = comparison;
    [
        ("p50", comparison.added_p50_ms, ours.p50_ms, base.p50_ms),
        ("p99", comparison.added_p99_ms, ours.p99_ms, base.p99_ms),
    ]
    .map(|(percentile, added, ours, base)| {
        Row::new(format!("{name}, {percentile}"), added * 1_000.0, Unit::Micros)
            .fact("gateway", ours * 1_000.0, Unit::Micros)
            .fact("direct", base * 1_000.0, Unit::Micros)
    })
}

/// The p99 of both sides, as a ratio that is better when higher.
pub(super) fn p99_row(name: &str, comparison: &Comparison, ours: &str, base: &str) -> Row {
    let Comparison { ours: our, base: their, .. } = comparison;
    Row::new(format!("{name}: p99, base by gateway"), their.p99_ms / our.p99_ms, Unit::Ratio)
        .fact(ours, our.p99_ms, Unit::Millis)
        .fact(base, their.p99_ms, Unit::Millis)
}

#[cfg(test)]
mod tests {
    use serde_json::to_value;

    use super::{Comparison, added, p99_row, relative_to_nginx};
    use crate::load::Figures;

    #[test]
    fn added_latency_is_in_microseconds() {
        let figures = |p50_ms, p99_ms| Figures { calls_per_second: 1.0, p50_ms, p99_ms };
        let comparison = Comparison {
            ours: figures(0.25, 0.5),
            base: figures(0.125, 1.0),
            ratio: 0.5,
            added_p50_ms: 0.125,
            added_p99_ms: -0.5,
        };
        let [p50, p99] = added("a call", &comparison).map(|row| to_value(row).unwrap());
        assert_eq!((&p50["row"], &p50["value"]), (&"a call, p50".into(), &125.0.into()));
        assert_eq!((&p99["unit"], &p99["value"]), (&"micros".into(), &(-500.0).into()));
        let plain = Comparison { added_p50_ms: 0.0625, ..comparison };
        let by = to_value(relative_to_nginx("a call".to_owned(), &comparison, &plain)).unwrap();
        assert_eq!((&by["value"], &by["facts"][1]["value"]), (&2.0.into(), &62.5.into()));
        let slow = to_value(p99_row("a call", &comparison, "we", "they")).unwrap();
        assert_eq!(slow["value"], 2.0);
        assert_eq!(slow["facts"][1]["value"], 1.0);
    }
}
