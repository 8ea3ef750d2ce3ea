//! Pages of a site on loopback, scraped through the gateway: time beyond fetching and reading them, and memory.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::Router;
use axum::extract::Path as Parameter;
use axum::response::Html;
use axum::routing::get;
use documents::{Form, Limits, Options, extract};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::report::{Report, close};
use crate::cli::ScrapeRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Connection, Request};
use crate::stats::median;
use crate::table::{Row, Target, Unit};

/// Pages that are scraped at the same time.
const PARALLEL: usize = 200;

/// Bytes of the small and of the large page, about.
const SMALL: usize = 10_000;
const LARGE: usize = 100_000;

/// How often memory is sampled.
const INTERVAL: Duration = Duration::from_millis(20);

const PARAGRAPH: &str = "Lemon trees need a sunny place, much water in summer and little in winter. <a href=\"/more\">More \
    about their care</a> is said below, with figures for each month and kind of soil.";

/// Measures scraping.
pub(crate) async fn measure(run: &ScrapeRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    let measured = scrape(run, binary, &mut rows).await;
    close("scraping", measured, &mut rows);
    Report { rows }
}

async fn scrape(run: &ScrapeRun, binary: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let rounds = if run.how.quick { 20 } else { 200 };
    let site = start_site().await?;
    let home = Home::new()?;
    let listen = "listen: 127.0.0.1:0\n";
    home.write("powerstrip.yaml", &format!("{listen}research: {{ tools: off }}\n"))?;
    let without = resting(binary, &home).await?;
    home.write("powerstrip.yaml", &format!("{listen}egress: {{ allow: [127.0.0.1] }}\n"))?;
    let with = resting(binary, &home).await?;
    rows.push(
        Row::new("web tools that are not used: memory", with - without, Unit::Megabytes)
            .target(Target::AtMost(1.0))
            .fact("with", with, Unit::Megabytes)
            .fact("without", without, Unit::Megabytes),
    );

    let gateway = Gateway::start(binary, &home).await?;
    for (name, bytes, target) in [("small", SMALL, 5.0), ("large", LARGE, 3.0)] {
        let times = Times::measure(&gateway, site, bytes, rounds).await?;
        let title =
            format!("a static page of {} KB: beyond fetching and reading it", bytes / 1_000);
        rows.push(
            Row::new(title, times.scraped - times.fetched - times.read, Unit::Millis)
                .target(Target::AtMost(target))
                .fact(format!("{name} page scraped"), times.scraped, Unit::Millis)
                .fact("fetched", times.fetched, Unit::Millis)
                .fact("read", times.read, Unit::Millis),
        );
    }
    let (peak, took) = parallel(&gateway, site).await?;
    rows.push(
        Row::new(format!("{PARALLEL} pages at once: memory with readers"), peak, Unit::Megabytes)
            .target(Target::AtMost(300.0))
            .fact("all done after", took.as_secs_f64() * 1_000.0, Unit::Millis),
    );
    gateway.stop().await
}

/// Serves pages whose paths name their size: `/10000/any`.
async fn start_site() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("there is no free port")?;
    let address = listener.local_addr()?;
    let answer =
        async |Parameter((bytes, name)): Parameter<(usize, String)>| Html(page(bytes, &name));
    let router = Router::new().route("/{bytes}/{name}", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

fn page(bytes: usize, name: &str) -> String {
    let head = format!(
        "<!doctype html><html lang=en><head><title>Lemon trees, {name}</title></head><body><nav><a href=/>Home</a></nav>\
         <main><article><h1>Lemon trees</h1>"
    );
    let paragraphs = bytes / PARAGRAPH.len();
    let text: String =
        (0..paragraphs).map(|number| format!("<p>{number}. {PARAGRAPH}</p>")).collect();
    format!("{head}{text}</article></main><footer>All rights reserved</footer></body></html>")
}

/// The gateway's memory after a start, in MB.
async fn resting(binary: &Path, home: &Home) -> anyhow::Result<f64> {
    let gateway = Gateway::start(binary, home).await?;
    let memory = gateway.memory_at_rest().await?;
    gateway.stop().await?;
    Ok(memory.own_mb + memory.children_mb)
}

/// Medians in milliseconds.
struct Times {
    scraped: f64,
    /// Fetched without the gateway.
    fetched: f64,
    /// The main content found in this process.
    read: f64,
}

impl Times {
    async fn measure(
        gateway: &Gateway,
        site: SocketAddr,
        bytes: usize,
        rounds: usize,
    ) -> anyhow::Result<Self> {
        let (mut scraped, mut fetched, mut read) = (vec![], vec![], vec![]);
        let mut connection = Connection::open(gateway.address()).await?;
        // The first rounds warm up readers and connections.
        for round in 0..rounds + 5 {
            let path = format!("/{bytes}/{round}");
            let begun = Instant::now();
            scrape_one(&mut connection, gateway, site, &path).await?;
            let of_scrape = begun.elapsed();
            let begun = Instant::now();
            let request = format!("GET {path}-direct HTTP/1.1\r\nhost: {site}\r\n\r\n");
            let answer = Connection::open(site).await?.ask(request.as_bytes()).await?.body.to_vec();
            let of_fetch = begun.elapsed();
            let begun = Instant::now();
            let options = Options::new("text/html").with_form(Form::MainMarkdown);
            extract(answer, &options, &Limits::default()).context("the page cannot be read")?;
            if round >= 5 {
                read.push(begun.elapsed().as_secs_f64() * 1_000.0);
                scraped.push(of_scrape.as_secs_f64() * 1_000.0);
                fetched.push(of_fetch.as_secs_f64() * 1_000.0);
            }
        }
        Ok(Self {
            scraped: median(&mut scraped),
            fetched: median(&mut fetched),
            read: median(&mut read),
        })
    }
}

async fn scrape_one(
    connection: &mut Connection,
    gateway: &Gateway,
    site: SocketAddr,
    path: &str,
) -> anyhow::Result<()> {
    let input = json!({"url": format!("http://{site}{path}")});
    let request =
        Request::post(gateway.address(), "/mcp/tool/web-research:scrape_page", &[], &input);
    let answer = connection.ask(request.bytes()).await?;
    let said: Value = serde_json::from_slice(answer.body).context("the answer is no JSON")?;
    let content = said["data"]["content"].as_str().unwrap_or_default();
    ensure!(content.contains("Lemon trees need"), "the page was not read: {said}");
    Ok(())
}

/// The most memory of the gateway and its readers in MB, and how long it took.
async fn parallel(gateway: &Gateway, site: SocketAddr) -> anyhow::Result<(f64, Duration)> {
    let begun = Instant::now();
    let all = try_join_all((0..PARALLEL).map(async |number| {
        let mut connection = Connection::open(gateway.address()).await?;
        scrape_one(&mut connection, gateway, site, &format!("/{LARGE}/parallel-{number}")).await
    }));
    let mut all = std::pin::pin!(all);
    let mut ticks = tokio::time::interval(INTERVAL);
    let mut peak = 0.0_f64;
    loop {
        tokio::select! {
            done = &mut all => {
                done?;
                return Ok((peak, begun.elapsed()));
            }
            _ = ticks.tick() => {
                let memory = gateway.memory_with_children()?;
                peak = peak.max(memory.own_mb + memory.children_mb);
            }
        }
    }
}
