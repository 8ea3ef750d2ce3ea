//! Files uploaded and downloaded, against a bare axum server that copies the same bytes to and from the disk.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::Command;

use super::report::{Report, close};
use crate::cli::FilesRun;
use crate::gateway::{Gateway, Home};
use crate::process::Process;
use crate::stats::median;
use crate::table::{Row, Target, Unit};

const MEGABYTE: usize = 1 << 20;

/// How often memory is sampled during an upload.
const GLANCE: Duration = Duration::from_millis(20);

/// Measures uploads and downloads of one large file.
pub(crate) async fn measure(run: &FilesRun, binary: &Path) -> Report {
    let mut rows = Vec::new();
    let measured = sides(run, binary, &mut rows).await;
    close("files", measured, &mut rows);
    Report { rows }
}

async fn sides(run: &FilesRun, binary: &Path, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let (megabytes, rounds) = if run.how.quick { (50, 3) } else { (200, 5) };
    let home = Home::new()?;
    let gateway = Gateway::start(binary, &home).await?;
    let own = std::env::current_exe().context("this program cannot find itself")?;
    let mut command = Command::new(own);
    let folder = home.path().join("bare");
    std::fs::create_dir(&folder)?;
    command.arg("bare-files").arg(&folder);
    let bare = Process::start(command, home.path().join("bare.log")).await?;

    let chunk: Vec<u8> = (0..MEGABYTE).map(|place| (place * 31 % 251) as u8).collect();
    // The first round of each side is a warm-up.
    let mut id = String::new();
    let (mut up, mut up_bare, mut down, mut down_bare) = (vec![], vec![], vec![], vec![]);
    let (mut before, mut peak) = (0.0_f64, 0.0_f64);
    for round in 0..=rounds {
        let (took_bare, _) = upload(bare.address, "PUT /file", &chunk, megabytes).await?;
        let sent = upload(gateway.address(), "POST /v1/files?name=large.bin", &chunk, megabytes);
        let (sent, seen) = watched(&gateway, sent).await?;
        let (took, answer) = sent?;
        if round == 0 {
            before = gateway.memory()?;
        } else {
            up.push(took.as_secs_f64());
            up_bare.push(took_bare.as_secs_f64());
            peak = peak.max(seen);
        }
        let answer: serde_json::Value =
            serde_json::from_str(&answer).context("the answer is no JSON")?;
        id = answer["data"]["file_id"].as_str().context("no file was made")?.to_owned();
        let took_bare = download(bare.address, "/file", megabytes).await?;
        let took =
            download(gateway.address(), &format!("/v1/files/{id}/content"), megabytes).await?;
        if round > 0 {
            down.push(took.as_secs_f64());
            down_bare.push(took_bare.as_secs_f64());
        }
    }
    ensure!(!id.is_empty(), "nothing was stored");
    for (name, ours, base) in
        [("upload", &mut up, &mut up_bare), ("download", &mut down, &mut down_bare)]
    {
        let size = f64::from(u32::try_from(megabytes)?);
        let (ours, base) = (size / median(ours), size / median(base));
        rows.push(
            Row::new(
                format!("{name} of {megabytes} MB, as a share of bare axum"),
                ours / base,
                Unit::Ratio,
            )
            .target(Target::AtLeast(0.7))
            .fact("MB a second", ours, Unit::PerSecond)
            .fact("bare axum", base, Unit::PerSecond),
        );
    }
    rows.push(
        Row::new(
            format!("memory above rest while {megabytes} MB come in"),
            (peak - before).max(0.0),
            Unit::Megabytes,
        )
        .target(Target::AtMost(8.0))
        .fact("at rest", before, Unit::Megabytes),
    );
    bare.stop().await?;
    gateway.stop().await
}

/// Runs some work while sampling the gateway's memory; returns the peak.
pub(super) async fn watched<T>(
    gateway: &Gateway,
    work: impl Future<Output = T>,
) -> anyhow::Result<(T, f64)> {
    let mut work = std::pin::pin!(work);
    let mut ticks = tokio::time::interval(GLANCE);
    let mut peak = 0.0_f64;
    loop {
        tokio::select! {
            done = &mut work => return Ok((done, peak)),
            _ = ticks.tick() => peak = peak.max(gateway.memory()?),
        }
    }
}

pub(super) async fn upload(
    address: SocketAddr,
    request: &str,
    chunk: &[u8],
    megabytes: usize,
) -> anyhow::Result<(Duration, String)> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        megabytes * chunk.len()
    );
    let begun = Instant::now();
    stream.write_all(head.as_bytes()).await?;
    for _ in 0..megabytes {
        stream.write_all(chunk).await?;
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let took = begun.elapsed();
    let (head, body) = answer.split_once("\r\n\r\n").context("half an answer")?;
    ensure!(head.starts_with("HTTP/1.1 20"), "an upload was refused: {answer}");
    Ok((took, body.to_owned()))
}

async fn download(address: SocketAddr, path: &str, megabytes: usize) -> anyhow::Result<Duration> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let begun = Instant::now();
    stream.write_all(head.as_bytes()).await?;
    let mut buffer = vec![0; MEGABYTE];
    let mut total = 0;
    loop {
        match stream.read(&mut buffer).await? {
            0 => break,
            read => total += read,
        }
    }
    let took = begun.elapsed();
    ensure!(total > megabytes * MEGABYTE, "only {total} bytes came back");
    Ok(took)
}
