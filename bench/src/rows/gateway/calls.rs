//! Calls of a server through the gateway, every guard on, against the same calls without it.

use std::path::Path;

use super::{CONNECTIONS, USUAL_TOOLS, answering, gateway, upstream};
use crate::cli::GatewayRun;
use crate::gateway::Home;
use crate::load::{Client, Duel, Era, Front, Inputs, duel};
use crate::peers::{Kind, Peer};
use crate::process::Process;
use crate::rows::{duel_row, say};
use crate::table::{Row, Target, Unit};

const SHARE: Target = Target::AtLeast(0.4);

/// More callers than connections that one would keep for them without thinking.
const CROWD: usize = 64;

/// The letters of a long call.
const PAGE: usize = 10_000;

/// What the gateway may add to a call, in microseconds.
const ADDED: Target = Target::AtMost(100.0);

/// The same for any machine: that bound was set where nginx added 25 µs.
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
        let alone = compete(run, era, &ours, &direct, 1).await?;
        rows.extend(added(&name, &alone).map(|row| judged(row, ADDED, era)));
        if era == Era::Modern {
            rows.push(beside_nginx(run, &name, &alone, &up, &direct).await?);
        }

        for connections in [CONNECTIONS, CROWD] {
            let name = format!("`tools/call` of {era}, {connections} connections, versus direct");
            say(&name);
            let busy = compete(run, era, &ours, &direct, connections).await?;
            rows.push(judged(duel_row(name.clone(), &busy, "gateway", "direct"), SHARE, era));
            rows.push(judged(p99_row(&name, &busy, "gateway", "direct"), SHARE, era));
        }
        let memory = gateway.memory_at_rest().await?;
        let name = format!("memory after these calls of {era}, a server of {USUAL_TOOLS} tools");
        let row = Row::new(name, memory.own_mb, Unit::Megabytes).fact(
            "its child processes",
            memory.children_mb,
            Unit::Megabytes,
        );
        rows.push(judged(row, Target::Below(40.0), era));
    }
    rows.push(unsure(run, &ours, &direct).await?);
    rows.push(long(run, &ours, &direct).await?);
    gateway.stop().await?;
    up.stop().await
}

/// What the gateway adds by what nginx adds to the same calls.
async fn beside_nginx(
    run: &GatewayRun,
    name: &str,
    alone: &Duel,
    up: &Process,
    direct: &Front,
) -> anyhow::Result<Row> {
    let name = format!("{name}, by what nginx adds");
    let Some(program) = Kind::Nginx.find(&run.peers) else {
        return Ok(Row::skipped(name, Kind::Nginx.how_to_install()));
    };
    let nginx = Peer::start(Kind::Nginx, &program, up.address).await?;
    say(&name);
    let plain = compete(run, Era::Modern, &nginx.front, direct, 1).await?;
    nginx.stop().await?;
    Ok(by_nginx(name, alone, &plain).target(ADDED_BY_NGINX))
}

fn by_nginx(name: String, ours: &Duel, plain: &Duel) -> Row {
    Row::new(name, ours.added_p50_ms / plain.added_p50_ms, Unit::Ratio)
        .fact("gateway", ours.added_p50_ms * 1_000.0, Unit::Micros)
        .fact("nginx", plain.added_p50_ms * 1_000.0, Unit::Micros)
}

/// Calls of a tool that does not say that it changes nothing: their answers wait for the audit trail.
async fn unsure(run: &GatewayRun, ours: &Front, direct: &Front) -> anyhow::Result<Row> {
    let name = format!(
        "`tools/call` of {}, {CONNECTIONS} connections, without `readOnlyHint`, versus direct",
        Era::Modern
    );
    say(&name);
    let of = |front: &Front| Front { tool: "record00001".to_owned(), ..front.clone() };
    let duel = compete(run, Era::Modern, &of(ours), &of(direct), CONNECTIONS).await?;
    Ok(duel_row(name, &duel, "gateway", "direct"))
}

/// Calls that carry a page of text each way; the echo answers with it twice, as structure and as text.
async fn long(run: &GatewayRun, ours: &Front, direct: &Front) -> anyhow::Result<Row> {
    let name = format!(
        "`tools/call` of {}, {CONNECTIONS} connections, with {PAGE} letters each way, versus direct",
        Era::Modern
    );
    say(&name);
    let of = |front: &Front| Front { letters: PAGE, ..front.clone() };
    let duel = compete(run, Era::Modern, &of(ours), &of(direct), CONNECTIONS).await?;
    Ok(duel_row(name, &duel, "gateway", "direct"))
}

/// The bounds are set for the era without sessions: direct calls of the other one go without a session, because the
/// server keeps none, while the gateway keeps one for every client.
fn judged(row: Row, target: Target, era: Era) -> Row {
    if era == Era::Modern { row.target(target) } else { row }
}

/// Lets two fronts take turns under the same calls, with a session for every connection.
pub(super) async fn compete(
    run: &GatewayRun,
    era: Era,
    ours: &Front,
    base: &Front,
    connections: usize,
) -> anyhow::Result<Duel> {
    let mut ours = Client::greet(ours, era, connections, connections).await?;
    let mut base = Client::greet(base, era, connections, connections).await?;
    duel(&mut ours, &mut base, run.how.plan(), Inputs::Distinct).await
}

/// What a call takes longer than without the gateway, at the median and at the slow end.
fn added(name: &str, duel: &Duel) -> [Row; 2] {
    let Duel { ours, base, .. } = duel;
    [
        ("p50", duel.added_p50_ms, ours.p50_ms, base.p50_ms),
        ("p99", duel.added_p99_ms, ours.p99_ms, base.p99_ms),
    ]
    .map(|(percentile, added, ours, base)| {
        Row::new(format!("{name}, {percentile}"), added * 1_000.0, Unit::Micros)
            .fact("gateway", ours * 1_000.0, Unit::Micros)
            .fact("direct", base * 1_000.0, Unit::Micros)
    })
}

/// The slow end of both sides: as much less time as the rate is higher.
pub(super) fn p99_row(name: &str, duel: &Duel, ours: &str, base: &str) -> Row {
    let Duel { ours: our, base: their, .. } = duel;
    Row::new(format!("{name}: p99, theirs by ours"), their.p99_ms / our.p99_ms, Unit::Ratio)
        .fact(ours, our.p99_ms, Unit::Millis)
        .fact(base, their.p99_ms, Unit::Millis)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::to_value;

    use super::{Duel, added, by_nginx, p99_row};
    use crate::load::Figures;

    #[test]
    fn what_is_added_is_told_in_microseconds() {
        let figures = |p50_ms, p99_ms| Figures { calls_per_second: 1.0, p50_ms, p99_ms };
        let duel = Duel {
            ours: figures(0.25, 0.5),
            base: figures(0.125, 1.0),
            ratio: 0.5,
            added_p50_ms: 0.125,
            added_p99_ms: -0.5,
        };
        let [p50, p99] = added("a call", &duel).map(|row| to_value(row).unwrap());
        assert_eq!((&p50["row"], &p50["value"]), (&"a call, p50".into(), &125.0.into()));
        assert_eq!((&p99["unit"], &p99["value"]), (&"micros".into(), &(-500.0).into()));
        let plain = Duel { added_p50_ms: 0.0625, ..duel };
        let by = to_value(by_nginx("a call".to_owned(), &duel, &plain)).unwrap();
        assert_eq!((&by["value"], &by["facts"][1]["value"]), (&2.0.into(), &62.5.into()));
        let slow = to_value(p99_row("a call", &duel, "we", "they")).unwrap();
        assert_eq!(slow["value"], 2.0);
        assert_eq!(slow["facts"][1]["value"], 1.0);
    }
}
