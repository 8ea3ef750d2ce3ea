//! Many tools: time to start, to list and to call, and memory.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::calls::{Door, bare};
use super::packs::{time_reading, write_many};
use super::report::{comparison_row, say, shown};
use crate::cli::StripRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Connection, Inputs, Request, compare};
use crate::stats::median;
use crate::table::{Row, Target, Unit};

const COUNTS: [usize; 4] = [10, 100, 1_000, 10_000];
const QUICK_COUNTS: [usize; 3] = [10, 100, 1_000];

/// The numbers of tools for which the spec sets targets.
const MANY: usize = 10_000;
const USUAL: usize = 100;

/// One page of `tools/list`: from here on, the first page is the same however many tools follow.
const PAGE: usize = 1_000;

const CONNECTIONS: usize = 16;

/// A gateway with its tools.
struct Stocked {
    count: usize,
    home: Home,
    gateway: Gateway,
}

/// How often things are repeated.
#[derive(Clone, Copy)]
struct Repeats {
    starts: usize,
    lists: usize,
}

pub(super) async fn measure(
    run: &StripRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let (counts, repeats) = if run.how.quick {
        (&QUICK_COUNTS[..], Repeats { starts: 1, lists: 5 })
    } else {
        (&COUNTS[..], Repeats { starts: 3, lists: 31 })
    };
    let mut stocked = Vec::new();
    let mut weights = Vec::new();
    for &count in counts {
        say(&format!("start with {} tools", shown(count)));
        let ready = start(binary, count, repeats, rows).await?;
        weights.push(weigh(&ready).await);
        stocked.push(ready);
    }
    rows.extend(weights);

    say("tools/list");
    list(&stocked, repeats, rows).await?;
    flat(run, &stocked, rows).await?;
    for Stocked { gateway, .. } in stocked {
        gateway.stop().await?;
    }
    Ok(())
}

/// Measures first starts and restarts, and leaves the last one running.
async fn start(
    binary: &Path,
    count: usize,
    repeats: Repeats,
    rows: &mut Vec<Row>,
) -> anyhow::Result<Stocked> {
    let home = Home::new()?;
    write_many(&home, count)?;
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let (mut read, mut parsed) = (Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..repeats.starts {
        if let Some(gateway) = last.take() {
            Gateway::stop(gateway).await?;
        }
        let (reading, parsing) = time_reading(&home.tools(), count)?;
        read.push(reading.as_secs_f64() * 1_000.0);
        parsed.push(parsing.as_secs_f64() * 1_000.0);
        home.forget_data()?;
        let gateway = Gateway::start(binary, &home).await?;
        first.push(gateway.ready_after.as_secs_f64() * 1_000.0);
        gateway.stop().await?;
        let gateway = Gateway::start(binary, &home).await?;
        again.push(gateway.ready_after.as_secs_f64() * 1_000.0);
        last = Some(gateway);
    }
    let (read, parsed) = (median(&mut read), median(&mut parsed));
    for (name, times) in [("first start", &mut first), ("restart", &mut again)] {
        let whole = median(times);
        let name = format!("{name} with {} tools, reading the files aside", shown(count));
        let row = Row::new(name, whole - read, Unit::Millis)
            .fact("process start to ready", whole, Unit::Millis)
            .fact("files merely read", read, Unit::Millis)
            .fact("read and their YAML parsed on one core", parsed, Unit::Millis);
        rows.push(if count == MANY { row.target(Target::Below(1_000.0)) } else { row });
    }
    let gateway = last.context("a gateway is started at least once")?;
    Ok(Stocked { count, home, gateway })
}

async fn weigh(stocked: &Stocked) -> Row {
    let name = format!("idle memory with {} tools", shown(stocked.count));
    match stocked.gateway.memory_at_rest().await {
        Ok(memory) => {
            let row = Row::new(name, memory.own_mb, Unit::Megabytes).fact(
                "its child processes",
                memory.children_mb,
                Unit::Megabytes,
            );
            if stocked.count == USUAL { row.target(Target::Below(40.0)) } else { row }
        }
        Err(error) => Row::not_measured(name, format!("{error:#}")),
    }
}

/// Times `tools/list`, in turns between the gateways.
async fn list(stocked: &[Stocked], repeats: Repeats, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let mut readers = Vec::new();
    for stocked in stocked {
        let mut reader = Reader::open(stocked.gateway.address(), stocked.count).await?;
        reader.first_page().await?;
        reader.unprepared_ms = reader.first_ms.pop().unwrap_or_default();
        readers.push(reader);
    }
    for _ in 0..repeats.lists {
        for reader in &mut readers {
            reader.first_page().await?;
        }
    }
    for _ in 0..repeats.lists.div_ceil(5) {
        for reader in &mut readers {
            reader.all_pages().await?;
        }
    }
    let home = &stocked.first().context("there is a gateway")?.home;
    let ready_made = bare("bare-http", home).await?;
    let mut first_pages = Vec::new();
    for mut reader in readers {
        let (first, all) = (median(&mut reader.first_ms), median(&mut reader.all_ms));
        let bytes = reader.first_bytes;
        let sent = time_ready_made(ready_made.address, bytes, repeats).await?;
        first_pages.push((reader.count, first));
        rows.push(
            Row::new(
                format!("tools/list first page of {} tools", shown(reader.count)),
                first,
                Unit::Millis,
            )
            .fact("size", bytes as f64 / (1 << 20) as f64, Unit::Megabytes)
            .fact("as many bytes ready-made from bare axum", sent, Unit::Millis)
            .fact("very first request", reader.unprepared_ms, Unit::Millis)
            .fact("all pages", all, Unit::Millis),
        );
    }
    ready_made.stop().await?;
    let at = |count: usize| first_pages.iter().find(|(of, _)| *of == count).map(|(_, ms)| *ms);
    if let (Some(one_page), Some(many)) = (at(PAGE), at(MANY)) {
        let name = format!(
            "first page of {} tools versus {} (prepared: the same)",
            shown(MANY),
            shown(PAGE)
        );
        rows.push(
            Row::new(name, many / one_page, Unit::Ratio)
                .target(Target::AtMost(1.25))
                .fact(shown(MANY), many, Unit::Millis)
                .fact(shown(PAGE), one_page, Unit::Millis),
        );
    }
    Ok(())
}

async fn time_ready_made(
    address: SocketAddr,
    bytes: usize,
    repeats: Repeats,
) -> anyhow::Result<f64> {
    let request = Request::post(address, &format!("/bytes/{bytes}"), &[], &json!({}));
    let mut connection = Connection::open(address).await?;
    let mut times = Vec::new();
    for _ in 0..repeats.lists {
        let begun = Instant::now();
        let answer = connection.ask(request.bytes()).await?;
        times.push(begun.elapsed().as_secs_f64() * 1_000.0);
        ensure!(answer.body.len() == bytes, "the bare server sent {} bytes", answer.body.len());
    }
    Ok(median(&mut times))
}

/// The cost of a call with many tools against that with few.
async fn flat(run: &StripRun, stocked: &[Stocked], rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let [few, .., many] = stocked else { return Ok(()) };
    for door in Door::ALL {
        let name = format!(
            "`{}` with {} tools versus {}, {CONNECTIONS} connections",
            door.path(),
            shown(many.count),
            shown(few.count)
        );
        say(&name);
        let mut ours = door.client(many.gateway.address(), CONNECTIONS).await?;
        let mut base = door.client(few.gateway.address(), CONNECTIONS).await?;
        let comparison = compare(&mut ours, &mut base, run.how.plan(), Inputs::Distinct).await?;
        let row = comparison_row(name, &comparison, &shown(many.count), &shown(few.count));
        rows.push(row.target(Target::AtLeast(0.9)));
    }
    Ok(())
}

/// A client that reads the list of one gateway.
struct Reader {
    count: usize,
    address: SocketAddr,
    connection: Connection,
    unprepared_ms: f64,
    first_ms: Vec<f64>,
    first_bytes: usize,
    all_ms: Vec<f64>,
}

impl Reader {
    async fn open(address: SocketAddr, count: usize) -> anyhow::Result<Self> {
        let connection = Connection::open(address).await?;
        let mut reader = Self {
            count,
            address,
            connection,
            unprepared_ms: 0.0,
            first_ms: Vec::new(),
            first_bytes: 0,
            all_ms: Vec::new(),
        };
        // `server/discover` prepares the connection without touching the list.
        let request = Request::mcp(address, "server/discover", json!({}));
        let answer = reader.connection.ask(request.bytes()).await?;
        ensure!(answer.status == 200, "MCP does not answer: {answer}");
        Ok(reader)
    }

    async fn first_page(&mut self) -> anyhow::Result<()> {
        let (ms, page) = self.page(json!({})).await?;
        self.first_bytes = page.bytes;
        self.first_ms.push(ms);
        Ok(())
    }

    async fn all_pages(&mut self) -> anyhow::Result<()> {
        let (mut whole, mut listed) = (0.0, 0);
        let mut params = json!({});
        loop {
            let (ms, page) = self.page(params).await?;
            whole += ms;
            listed += page.tools;
            match page.next {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        ensure!(listed >= self.count, "{listed} of {} tools are listed", self.count);
        self.all_ms.push(whole);
        Ok(())
    }

    /// Asks for a page; only the exchange is timed, not our reading of the JSON.
    async fn page(&mut self, params: Value) -> anyhow::Result<(f64, Page)> {
        let request = Request::mcp(self.address, "tools/list", params);
        let begun = Instant::now();
        let answer = self.connection.ask(request.bytes()).await?;
        let ms = begun.elapsed().as_secs_f64() * 1_000.0;
        let body: Value = serde_json::from_slice(answer.body)
            .with_context(|| format!("tools/list is not JSON: {answer}"))?;
        let tools = body["result"]["tools"]
            .as_array()
            .with_context(|| format!("tools/list went wrong: {answer}"))?;
        let next = body["result"]["nextCursor"].as_str().map(str::to_owned);
        Ok((ms, Page { tools: tools.len(), next, bytes: answer.body.len() }))
    }
}

struct Page {
    tools: usize,
    next: Option<String>,
    bytes: usize,
}
