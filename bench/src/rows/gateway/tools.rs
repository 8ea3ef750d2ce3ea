//! A server with few and with many tools: memory in the gateway, and the speed of a call.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::calls::compare_fronts;
use super::setup::{CONNECTIONS, TIMEOUT, USUAL_TOOLS, gateway, upstream};
use crate::cli::GatewayRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Connection, Era, Front, Request};
use crate::process::Process;
use crate::rows::report::{comparison_row, say, shown};
use crate::table::{Row, Target, Unit};

const COUNTS: [usize; 4] = [10, 100, 1_000, 10_000];
const QUICK_COUNTS: [usize; 3] = [10, 100, 1_000];

/// A gateway in front of a server of so many tools.
struct Stocked {
    count: usize,
    /// Removed on drop.
    _home: Home,
    up: Process,
    gateway: Gateway,
    front: Front,
}

pub(super) async fn measure(
    run: &GatewayRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let counts = if run.how.quick { &QUICK_COUNTS[..] } else { &COUNTS[..] };
    let mut stocked = Vec::new();
    for &count in counts {
        say(&format!("a server of {} tools", shown(count)));
        let stock = Stocked::start(binary, count).await?;
        rows.push(stock.weigh().await?);
        stocked.push(stock);
    }
    let [few, .., many] = &stocked[..] else { bail!("there are few and many tools") };
    let name = format!(
        "`tools/call` of {} with a server of {} tools versus {}, {CONNECTIONS} connections",
        Era::Modern,
        shown(many.count),
        shown(few.count)
    );
    say(&name);
    let comparison = compare_fronts(run, Era::Modern, &many.front, &few.front, CONNECTIONS).await?;
    let row = comparison_row(name, &comparison, &shown(many.count), &shown(few.count));
    rows.push(row.target(Target::AtLeast(0.9)));
    for Stocked { gateway, up, .. } in stocked {
        gateway.stop().await?;
        up.stop().await?;
    }
    Ok(())
}

impl Stocked {
    async fn start(binary: &Path, count: usize) -> anyhow::Result<Self> {
        let home = Home::new()?;
        let up = upstream(&home, "up", &["--tools", &count.to_string()]).await?;
        let (gateway, front) = gateway(binary, &home, &[("up", &up)]).await?;
        let listed = count_listed(&front).await?;
        ensure!(listed >= count, "{listed} of {count} tools are listed");
        Ok(Self { count, _home: home, up, gateway, front })
    }

    async fn weigh(&self) -> anyhow::Result<Row> {
        let memory = self.gateway.memory_at_rest().await?;
        let name = format!("memory with a server of {} tools", shown(self.count));
        let row = Row::new(name, memory.own_mb, Unit::Megabytes);
        Ok(if self.count == USUAL_TOOLS { row.target(Target::Below(40.0)) } else { row })
    }
}

/// How many tools all pages of `tools/list` name.
async fn count_listed(front: &Front) -> anyhow::Result<usize> {
    let begun = Instant::now();
    let mut connection = Connection::open(front.address).await?;
    let (mut listed, mut params) = (0, json!({}));
    loop {
        let request = Request::mcp(front.address, "tools/list", params);
        let answer = connection.ask(request.bytes()).await?;
        let body: Value = serde_json::from_slice(answer.body)
            .with_context(|| format!("tools/list is not JSON: {answer}"))?;
        let tools = body["result"]["tools"].as_array().context("tools/list went wrong")?;
        listed += tools.len();
        match body["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return Ok(listed),
        }
        ensure!(begun.elapsed() < TIMEOUT, "tools/list has no end");
    }
}
