//! Sessions of clients before 2026-07-28: the memory of each, and whether many of them slow a call down.

use std::path::Path;

use anyhow::Context as _;
use rustix::process::{Resource, getrlimit, setrlimit};

use super::setup::{CONNECTIONS, USUAL_TOOLS, gateway, upstream};
use crate::cli::GatewayRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Client, Era, Front, Inputs, compare};
use crate::rows::report::{comparison_row, say, shown};
use crate::table::{Row, Target, Unit};

const COUNTS: [usize; 5] = [1, 500, 1_000, 1_500, 2_000];
const QUICK_COUNTS: [usize; 3] = [1, 100, 200];

/// A number of sessions, and the gateway's memory with them.
#[derive(Clone, Copy, Debug)]
struct Weight {
    sessions: usize,
    mb: f64,
}

pub(super) async fn measure(
    run: &GatewayRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let counts = if run.how.quick { &QUICK_COUNTS[..] } else { &COUNTS[..] };
    let most = *counts.last().context("there is a count")?;
    raise_open_files()?;
    let home = Home::new()?;
    let up = upstream(&home, "up", &["--tools", &USUAL_TOOLS.to_string()]).await?;
    let (full, front) = gateway(binary, &home, &[("up", &up)]).await?;

    say(&format!("1 to {} sessions, each on a connection of its own", shown(most)));
    let mut idle = IdleSessions::default();
    let mut weights = Vec::new();
    for &count in counts {
        idle.grow(&front, count).await?;
        let mb = full.memory_at_rest().await?.own_mb;
        weights.push(Weight { sessions: count, mb });
    }
    rows.extend(weight_rows(&weights));

    let other = Home::new()?;
    let (few, few_front) = gateway(binary, &other, &[("up", &up)]).await?;
    rows.push(calling(run, &front, &few_front, most).await?);
    drop(idle);
    stop([full, few]).await?;
    up.stop().await
}

/// Raises the limit of open files for this program and the gateway, which inherits it: each session has a connection.
fn raise_open_files() -> anyhow::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("no more files may be opened")
}

async fn stop(gateways: [Gateway; 2]) -> anyhow::Result<()> {
    for gateway in gateways {
        gateway.stop().await?;
    }
    Ok(())
}

/// Sessions that have called once and are now idle, with their connections.
#[derive(Default)]
struct IdleSessions(Vec<Client>);

impl IdleSessions {
    async fn grow(&mut self, front: &Front, count: usize) -> anyhow::Result<()> {
        while self.0.len() < count {
            let mut client = Client::greet(front, Era::Legacy, 1, 1).await?;
            client.call_once().await?;
            self.0.push(client);
        }
        Ok(())
    }
}

/// The memory per session, and whether it stays constant.
fn weight_rows(weights: &[Weight]) -> Vec<Row> {
    let [none, first, .., last] = weights else { return Vec::new() };
    let each = |from: &Weight, to: &Weight| {
        (to.mb - from.mb) * 1_024.0 / (to.sessions - from.sessions) as f64
    };
    let name = format!("memory for each of {} idle sessions", shown(last.sessions));
    let mut weight = Row::new(name, each(none, last), Unit::Kilobytes);
    for Weight { sessions, mb } in weights {
        weight = weight.fact(format!("{}:", shown(*sessions)), *mb, Unit::Megabytes);
    }
    let (early, late) = (each(none, first), each(first, last));
    let name = format!("memory for a session beyond {} versus before", shown(first.sessions));
    let flat = Row::new(name, late / early, Unit::Ratio)
        .target(Target::AtMost(1.1))
        .fact("beyond", late, Unit::Kilobytes)
        .fact("before", early, Unit::Kilobytes);
    vec![weight, flat]
}

/// Calls in many sessions by turns, against calls in few, in addition to the idle sessions.
async fn calling(
    run: &GatewayRun,
    many: &Front,
    few: &Front,
    sessions: usize,
) -> anyhow::Result<Row> {
    let name = format!(
        "`tools/call` of {}, {CONNECTIONS} connections, {} sessions by turns (as many idle) versus {CONNECTIONS}",
        Era::Legacy,
        shown(sessions)
    );
    say(&name);
    let mut ours = Client::greet(many, Era::Legacy, CONNECTIONS, sessions).await?;
    let mut base = Client::greet(few, Era::Legacy, CONNECTIONS, CONNECTIONS).await?;
    let comparison = compare(&mut ours, &mut base, run.how.plan(), Inputs::Distinct).await?;
    let row = comparison_row(name, &comparison, &shown(sessions), &shown(CONNECTIONS));
    Ok(row.target(Target::AtLeast(0.9)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, to_value};

    use super::{Weight, weight_rows};

    #[test]
    fn a_session_is_weighed_by_what_it_adds() {
        let at = |sessions, mb| Weight { sessions, mb };
        let weights = [at(1, 20.0), at(129, 22.0), at(200, 23.0), at(257, 26.0)];
        let rows: Vec<Value> =
            weight_rows(&weights).into_iter().map(|row| to_value(row).unwrap()).collect();
        let [each, flat] = &rows[..] else { panic!("two rows: {rows:?}") };
        assert_eq!((&each["value"], &each["unit"]), (&24.0.into(), &"kilobytes".into()));
        assert_eq!((&flat["value"], &flat["verdict"]), (&2.0.into(), &"miss".into()));
        assert_eq!(each["facts"].as_array().unwrap().len(), 4);
    }
}
