//! Durable workflows: how many in a second compared with other engines, the cost of a checkpoint, and thousands that wait.

mod engine;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use super::report::{Report, close, say, shown};
use crate::cli::WorkflowsRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Client, Connection, Inputs, Request};
use crate::rivals::{HOW_TO_INSTALL, Outcome, Rival, Rivals};
use crate::stats::{median, percentile};
use crate::table::{Row, Target, Unit};
use engine::Engine;

const LAYERS: usize = 3;
const WIDTH: usize = 4;

/// As many workflows at once, on every side.
const CALLERS: usize = 16;

/// How often the sides take turns.
const ROUNDS: usize = 2;

/// Runs leave memory a minute after their last call, and are looked through every half a minute.
const SETTLE_SECONDS: u64 = 100;

const CONFIG: &str = "listen: 127.0.0.1:0\nworkflows:\n  max_active: 20000\n";

/// Measures workflows on every engine that is there.
pub(crate) async fn measure(run: &WorkflowsRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    let measured = throughput(run, binary, &mut rows).await;
    close("durable workflows", measured, &mut rows);
    let measured = checkpoints(run, binary, &mut rows).await;
    close("checkpoints", measured, &mut rows);
    let measured = paused(run, binary, &mut rows).await;
    close("paused workflows", measured, &mut rows);
    Report { rows }
}

/// Workflows per second, compared with rivals on the same engine.
async fn throughput(run: &WorkflowsRun, binary: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let rivals = Rivals::new(&run.python)?;
    let mut there = Vec::new();
    for rival in [Rival::LangGraph, Rival::Dbos] {
        there.push((rival, rivals.has(rival).await));
    }
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let Some(place) = engine.open(run)? else {
            let name = format!("durable workflows of {LAYERS} × {WIDTH} tasks on {engine}");
            rows.push(Row::skipped(name, "needs `scripts/postgres run` around the command"));
            continue;
        };
        let home = Home::new()?;
        home.write("powerstrip.yaml", &format!("{CONFIG}{}", place.storage()))?;
        let gateway = Gateway::start(binary, &home).await?;
        // The first workflows prepare statements and are not counted.
        complete_for(&gateway, Duration::from_millis(500)).await?;
        let rivals_here = there.iter().filter(|(rival, _)| engine.is_measured_with(*rival));
        for (rival, there) in rivals_here {
            let name = format!(
                "durable workflows of {LAYERS} × {WIDTH} tasks on {engine}, versus {}",
                rival.name()
            );
            if !there {
                rows.push(Row::skipped(name, HOW_TO_INSTALL));
                continue;
            }
            say(&name);
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            let mut last: Option<Outcome> = None;
            for _ in 0..ROUNDS {
                ours.push(complete_for(&gateway, run.how.time()).await?);
                let outcome =
                    rivals.run(*rival, place.for_rival()?, run.how.time(), CALLERS).await?;
                theirs.push(outcome.per_second());
                last = Some(outcome);
            }
            let (ours, theirs) = (median(&mut ours), median(&mut theirs));
            let version = last.map(|outcome| outcome.version).unwrap_or_default();
            rows.push(
                Row::new(name, ours / theirs, Unit::Ratio)
                    .target(Target::AtLeast(10.0))
                    .fact("gateway", ours, Unit::PerSecond)
                    .fact(format!("{} {version}", rival.name()), theirs, Unit::PerSecond),
            );
        }
        gateway.stop().await?;
    }
    Ok(())
}

/// Runs whole workflows on all connections for some time; returns how many a second.
async fn complete_for(gateway: &Gateway, time: Duration) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let end = begun + time;
    let address = gateway.address();
    let callers = (0..CALLERS).map(|_| async move {
        let mut connection = Connection::open(address).await?;
        let mut count = 0_u32;
        while Instant::now() < end {
            let answer =
                call(&mut connection, address, "execute_dag", &dag(false, Inputs::Distinct))
                    .await?;
            ensure!(answer["status"] == "complete", "a workflow did not complete: {answer}");
            let results = answer["results"].as_array().map_or(0, Vec::len);
            ensure!(results == LAYERS * WIDTH, "a workflow has {results} results");
            count += 1;
        }
        anyhow::Ok(count)
    });
    let counts = try_join_all(callers).await?;
    Ok(f64::from(counts.iter().sum::<u32>()) / begun.elapsed().as_secs_f64())
}

/// The time of a layer with its checkpoint.
async fn checkpoints(run: &WorkflowsRun, binary: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let Some(place) = engine.open(run)? else { continue };
        say(&format!("checkpoints on {engine}"));
        let home = Home::new()?;
        home.write("powerstrip.yaml", &format!("{CONFIG}{}", place.storage()))?;
        let gateway = Gateway::start(binary, &home).await?;
        let address = gateway.address();
        let mut connection = Connection::open(address).await?;
        let mut times = Vec::new();
        let workflows = if run.how.quick { 50 } else { 300 };
        // The first ones prepare statements and are not counted.
        for number in 0..workflows + 10 {
            let mut answer =
                call(&mut connection, address, "execute_dag", &dag(true, Inputs::Distinct)).await?;
            for _ in 1..LAYERS {
                let input = json!({"workflow_id": answer["workflow_id"]});
                let begun = Instant::now();
                answer = call(&mut connection, address, "continue", &input).await?;
                let took = begun.elapsed();
                ensure!(answer["status"] == "layer_complete", "no checkpoint: {answer}");
                if number >= 10 {
                    times.push(took.as_secs_f64() * 1_000.0);
                }
            }
            let input = json!({"workflow_id": answer["workflow_id"]});
            let answer = call(&mut connection, address, "continue", &input).await?;
            ensure!(answer["status"] == "complete", "a workflow did not complete: {answer}");
        }
        let name = format!("a layer of {WIDTH} tasks and its checkpoint on {engine}, p95");
        rows.push(
            Row::new(name, percentile(&mut times, 95.0), Unit::Millis)
                .target(Target::Below(10.0))
                .fact("p50", percentile(&mut times, 50.0), Unit::Millis)
                .fact("p99", percentile(&mut times, 99.0), Unit::Millis),
        );
        gateway.stop().await?;
    }
    Ok(())
}

/// The memory of workflows that wait, and how soon they go on after a crash.
async fn paused(run: &WorkflowsRun, binary: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let (count, resumed) = if run.how.quick { (1_000, 200) } else { (10_000, 1_000) };
    say(&format!("{} paused workflows", shown(count)));
    let home = Home::new()?;
    home.write("powerstrip.yaml", CONFIG)?;
    let gateway = Gateway::start(binary, &home).await?;
    // The first workflows allocate memory that stays, whatever their number: start some before measuring.
    start_paused(&gateway, count / 10).await?;
    let before = settle(&gateway, run).await?;
    let ids = start_paused(&gateway, count).await?;
    let at_once = gateway.memory()?;
    let after = settle(&gateway, run).await?;
    rows.push(
        Row::new(
            format!("memory for each of {} paused workflows", shown(count)),
            (after - before).max(0.0) * 1_024.0 / count as f64,
            Unit::Kilobytes,
        )
        .target(Target::AtMost(1.2))
        .fact("before", before, Unit::Megabytes)
        .fact("just started", at_once, Unit::Megabytes)
        .fact("with them", after, Unit::Megabytes),
    );

    // Dropping it is `kill -9`.
    drop(gateway);
    let begun = Instant::now();
    let gateway = Gateway::start(binary, &home).await?;
    let address = gateway.address();
    let ids = &ids[..resumed];
    let callers = (0..CALLERS).map(|first| async move {
        let mut connection = Connection::open(address).await?;
        for id in ids.iter().skip(first).step_by(CALLERS) {
            let input = json!({"workflow_id": id});
            let answer = call(&mut connection, address, "continue", &input).await?;
            ensure!(answer["status"] == "layer_complete", "a workflow is lost: {answer}");
        }
        anyhow::Ok(())
    });
    try_join_all(callers).await?;
    rows.push(
        Row::new(
            format!(
                "{} of them continued after `kill -9`, from the start of the process",
                shown(resumed)
            ),
            begun.elapsed().as_secs_f64() * 1_000.0,
            Unit::Millis,
        )
        .target(Target::Below(5_000.0))
        .fact("ready after", gateway.ready_after.as_secs_f64() * 1_000.0, Unit::Millis),
    );
    gateway.stop().await
}

/// The memory in MB once workflows without commands have left it, which takes about a minute. Calls go on meanwhile: some
/// of it is given back only then.
async fn settle(gateway: &Gateway, run: &WorkflowsRun) -> anyhow::Result<f64> {
    let mut client =
        Client::connect(gateway.address(), Request::envelope(gateway.address(), "demo.echo"), 1)
            .await?;
    for _ in 0..if run.how.quick { 8 } else { SETTLE_SECONDS } {
        client.call_once().await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(gateway.memory_at_rest().await?.own_mb)
}

/// Starts workflows that wait after their first layer; returns their ids.
async fn start_paused(gateway: &Gateway, count: usize) -> anyhow::Result<Vec<Value>> {
    let address = gateway.address();
    let callers = (0..CALLERS).map(|first| async move {
        let mut connection = Connection::open(address).await?;
        let mut ids = Vec::new();
        for _ in (first..count).step_by(CALLERS) {
            let answer =
                call(&mut connection, address, "execute_dag", &dag(true, Inputs::Equal)).await?;
            ensure!(answer["status"] == "layer_complete", "a workflow did not pause: {answer}");
            ids.push(answer["workflow_id"].clone());
        }
        anyhow::Ok(ids)
    });
    Ok(try_join_all(callers).await?.into_iter().flatten().collect())
}

/// A workflow; with distinct inputs no answer is reused, with equal ones none is kept for each workflow.
fn dag(per_layer: bool, inputs: Inputs) -> Value {
    let number = inputs.next();
    let tasks: Vec<_> = (0..LAYERS * WIDTH)
        .map(|at| {
            let (layer, place) = (at / WIDTH, at % WIDTH);
            let depends_on: Vec<_> = match layer {
                0 => Vec::new(),
                layer => (0..WIDTH).map(|place| format!("t{}-{place}", layer - 1)).collect(),
            };
            json!({
                "id": format!("t{layer}-{place}"),
                "tool": "demo.echo",
                "arguments": {"message": format!("{number}-{at}")},
                "depends_on": depends_on,
            })
        })
        .collect();
    json!({"workflow": {"tasks": tasks}, "config": {"per_layer_validation": per_layer}})
}

async fn call(
    connection: &mut Connection,
    address: std::net::SocketAddr,
    tool: &str,
    input: &Value,
) -> anyhow::Result<Value> {
    let path = format!("/mcp/tool/powerstrip:{tool}");
    let request = Request::post(address, &path, &[], input);
    let answer = connection.ask(request.bytes()).await?;
    ensure!(answer.status == 200, "{tool} went wrong: {answer}");
    let mut envelope: Value =
        serde_json::from_slice(answer.body).context("an answer is no JSON")?;
    Ok(envelope["data"].take())
}
