//! Predictions of capability servers for labelled sets, in the form that the sets' own scorers read.

mod server;
mod sets;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use server::Server;
use sets::Set;

/// Write a capability server's predictions for a labelled set; prints one line of JSON with its cost.
#[derive(Debug, Args)]
#[command(after_help = "\
The server's program is started over stdio and called once for each row. Score the file with the set's own `score.py`.
  cargo build --release -p doc-parser
  target/release/powerstrip-bench quality predict tables --data DATA/tables --out tables.jsonl")]
pub(crate) struct Predict {
    /// The set.
    set: Set,
    /// The folder of the set.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// The file of predictions, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The folder of the servers' programs [default: that of this program].
    #[arg(long, value_name = "DIR")]
    binaries: Option<PathBuf>,
    /// A flag of the server, such as `--flag=--ocr-models=DIR`; repeat for several.
    #[arg(long = "flag", value_name = "FLAG", allow_hyphen_values = true)]
    flags: Vec<String>,
}

/// What the predictions cost.
#[derive(Debug, Serialize)]
pub(crate) struct Cost {
    set: Set,
    calls: usize,
    /// Calls that the server refused; their rows have an empty prediction.
    failed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_failure: Option<String>,
    /// CPU time of the server and of the processes that it has started.
    cpu_seconds: f64,
    calls_per_cpu_second: f64,
    /// Peak memory of the server itself, without its readers.
    peak_mb: u64,
}

/// Writes the predictions.
pub(crate) fn measure(options: &Predict) -> anyhow::Result<Cost> {
    let binaries = match &options.binaries {
        Some(folder) => folder.clone(),
        None => std::env::current_exe()?.parent().context("this program has no folder")?.to_owned(),
    };
    let mut server = Server::start(&binaries.join(options.set.program()), &options.flags)?;
    let rows = options.set.rows(&options.data)?;
    let out = File::create(&options.out)
        .with_context(|| format!("{} cannot be written", options.out.display()))?;
    let mut out = BufWriter::new(out);
    for row in rows {
        let answers = row.calls.iter().map(|call| server.call(call));
        let answers = answers.collect::<anyhow::Result<Vec<_>>>()?;
        writeln!(out, "{}", options.set.prediction(&row, &answers))?;
    }
    out.flush()?;
    let (calls, failed) = (server.calls, server.failed);
    let first_failure = server.first_failure.take();
    let usage = server.usage()?;
    let calls_per_cpu_second = calls as f64 / usage.cpu_seconds.max(0.001);
    Ok(Cost {
        set: options.set,
        calls,
        failed,
        first_failure,
        cpu_seconds: usage.cpu_seconds,
        calls_per_cpu_second,
        peak_mb: usage.peak_mb,
    })
}
