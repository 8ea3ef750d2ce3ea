//! A long load: whether the gateway's memory stays flat, and returns to its level afterwards.

use std::path::Path;
use std::time::{Duration, Instant};

use super::setup::{CONNECTIONS, USUAL_TOOLS, gateway, upstream};
use crate::cli::SoakRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Client, Era, Front, Inputs};
use crate::rows::report::{Report, close, say, shown};
use crate::stats::median;
use crate::table::{Row, Target, Unit};

/// The sessions that call by turns all the time.
const SESSIONS: usize = 500;

/// The sessions that are opened in each round, call once, and are then abandoned.
const ABANDONED: usize = 10;

/// How often memory is sampled.
const SAMPLES: u32 = 120;

/// Loads one gateway for the requested time.
pub(crate) async fn measure(run: &SoakRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    let measured = soak(run.time(), binary, &mut rows).await;
    close("soak", measured, &mut rows);
    Report { rows }
}

async fn soak(time: Duration, binary: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let home = Home::new()?;
    let up = upstream(&home, "up", &["--tools", &USUAL_TOOLS.to_string()]).await?;
    let (gateway, front) = gateway(binary, &home, &[("up", &up)]).await?;
    let before = gateway.memory_at_rest().await?.own_mb;
    say(&format!("{} sessions for {:.0} minutes", shown(SESSIONS), time.as_secs_f64() / 60.0));
    let under = load(time, &gateway, &front).await?;
    let after = gateway.memory_at_rest().await?.own_mb;
    rows.extend(judge(before, &under, after));
    gateway.stop().await?;
    up.stop().await
}

/// Calls for this long and returns the resident memory after each round.
async fn load(time: Duration, gateway: &Gateway, front: &Front) -> anyhow::Result<Vec<f64>> {
    let mut callers = [
        Client::greet(front, Era::Legacy, CONNECTIONS, SESSIONS).await?,
        Client::greet(front, Era::Modern, CONNECTIONS, 1).await?,
    ];
    let round = (time / SAMPLES).max(Duration::from_millis(500));
    let mut under = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < time {
        for caller in &mut callers {
            caller.call_for(round / 2, Inputs::Distinct).await?;
        }
        Client::greet(front, Era::Legacy, 1, ABANDONED).await?.call_once().await?;
        under.push(gateway.memory()?);
    }
    Ok(under)
}

/// A line is flat if its end is no higher than the part that follows the warm-up.
fn judge(before: f64, under: &[f64], after: f64) -> Vec<Row> {
    let part = |from: usize, to: usize| {
        let mut part = under[under.len() * from / 4..under.len() * to / 4].to_vec();
        median(&mut part)
    };
    let (early, late) = (part(1, 2), part(3, 4));
    let highest = under.iter().copied().fold(0.0, f64::max);
    let facts = |row: Row| {
        row.fact("before", before, Unit::Megabytes)
            .fact("second quarter", early, Unit::Megabytes)
            .fact("last quarter", late, Unit::Megabytes)
            .fact("highest", highest, Unit::Megabytes)
            .fact("afterwards", after, Unit::Megabytes)
    };
    let flat =
        Row::new("soak: memory in the last quarter versus the second", late / early, Unit::Ratio);
    let returned =
        Row::new("soak: memory afterwards versus the last quarter", after / late, Unit::Ratio);
    vec![facts(flat.target(Target::AtMost(1.05))), returned.target(Target::AtMost(1.0))]
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, to_value};

    use super::judge;

    #[test]
    fn a_rising_line_is_a_miss() {
        let verdicts = |under: &[f64], after| -> Vec<Value> {
            let rows = judge(20.0, under, after).into_iter();
            rows.map(|row| to_value(row).unwrap()["verdict"].clone()).collect()
        };
        assert_eq!(verdicts(&[20.0, 30.0, 30.0, 30.0], 25.0), ["ok", "ok"]);
        assert_eq!(verdicts(&[20.0, 30.0, 40.0, 50.0], 60.0), ["miss", "miss"]);
    }
}
