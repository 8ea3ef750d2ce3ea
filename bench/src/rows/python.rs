//! Python tools: warm workers against a fresh interpreter per call, and a cold call against the interpreter alone.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::packs::{ECHO, echo_pack};
use super::report::{comparison_row, say};
use crate::cli::StripRun;
use crate::gateway::{Gateway, Home};
use crate::load::{Client, Connection, Inputs, Request, compare};
use crate::stats::{median, percentile};
use crate::table::{Row, Target, Unit};

/// As many callers as the warm pack has workers.
const WORKERS: usize = 2;

/// Long enough for a meaningful number of calls with fresh interpreters.
const SHORTEST: Duration = Duration::from_secs(2);

const WARM: &str = "bench.warm";
const FRESH: &str = "bench.fresh";

pub(super) async fn measure(
    run: &StripRun,
    binary: &Path,
    rows: &mut Vec<Row>,
) -> anyhow::Result<()> {
    let home = Home::new()?;
    home.write("tools/echo.py", ECHO)?;
    home.write("tools/warm.tool.yaml", &echo_pack(WARM, &format!(", workers: {WORKERS}")))?;
    home.write("tools/fresh.tool.yaml", &echo_pack(FRESH, ""))?;
    let python = interpreter()?;
    let gateway = Gateway::start(binary, &home).await?;

    let name = format!("warm Python worker versus fresh interpreter, {WORKERS} connections");
    say(&name);
    let address = gateway.address();
    let mut warm = Client::connect(address, Request::envelope(address, WARM), WORKERS).await?;
    let mut fresh = Client::connect(address, Request::envelope(address, FRESH), WORKERS).await?;
    let plan = run.how.plan().at_least(SHORTEST);
    let comparison = compare(&mut warm, &mut fresh, plan, Inputs::Distinct).await?;
    rows.push(comparison_row(name, &comparison, "warm", "fresh").target(Target::AtLeast(20.0)));

    say("cold Python call versus `python3 tool.py` alone");
    let pairs = if run.how.quick { 10 } else { 60 };
    rows.push(cold(&gateway, &python, &home.tools().join("echo.py"), pairs).await?);
    gateway.stop().await
}

/// The time that a cold call adds to running the interpreter directly.
async fn cold(
    gateway: &Gateway,
    python: &Path,
    script: &Path,
    pairs: usize,
) -> anyhow::Result<Row> {
    let mut connection = Connection::open(gateway.address()).await?;
    let mut request = Request::envelope(gateway.address(), FRESH);
    let (mut through, mut alone) = (Vec::new(), Vec::new());
    // The first pair runs with cold caches and is not counted.
    for pair in 0..=pairs {
        let number = Inputs::Distinct.next();
        request.number(number);
        let begun = Instant::now();
        let answer = connection.ask(request.bytes()).await?;
        let took = begun.elapsed();
        ensure!(
            answer.status == 200 && request.echo_in(answer.body, 0).is_some(),
            "a cold call went wrong: {answer}"
        );
        let took_alone = run_alone(python, script, &format!("bench-{number:012}"))?;
        if pair > 0 {
            through.push(took.as_secs_f64() * 1_000.0);
            alone.push(took_alone.as_secs_f64() * 1_000.0);
        }
    }
    let (ours, base) = (median(&mut through), median(&mut alone));
    let name = format!("cold Python call, beyond `python3 tool.py` alone (median of {pairs})");
    Ok(Row::new(name, ours - base, Unit::Millis)
        .target(Target::AtMost(5.0))
        .fact("gateway", ours, Unit::Millis)
        .fact("p99", percentile(&mut through, 99.0), Unit::Millis)
        .fact("alone", base, Unit::Millis)
        .fact("p99", percentile(&mut alone, 99.0), Unit::Millis))
}

/// Runs the script directly. Blocking, because that is cheapest and nothing else runs.
fn run_alone(python: &Path, script: &Path, message: &str) -> anyhow::Result<Duration> {
    let line = json!({"input": {"message": message}}).to_string() + "\n";
    let begun = Instant::now();
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("python3 cannot be started")?;
    child.stdin.take().context("stdin is piped")?.write_all(line.as_bytes())?;
    let output = child.wait_with_output()?;
    let took = begun.elapsed();
    let answer: Value = serde_json::from_slice(&output.stdout).context("the script went wrong")?;
    ensure!(output.status.success() && answer["message"] == message, "the script went wrong");
    Ok(took)
}

/// The interpreter itself, not the shim of a version manager; the gateway resolves shims as well.
fn interpreter() -> anyhow::Result<PathBuf> {
    let output = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .context("python3 cannot be started")?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    ensure!(path.is_absolute(), "python3 does not report its path");
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::{ECHO, interpreter, run_alone};

    #[test]
    fn the_script_runs_directly() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("echo.py");
        let python = interpreter().unwrap();
        std::fs::write(&script, ECHO).unwrap();
        run_alone(&python, &script, "hello").unwrap();
        std::fs::write(&script, "print('{\"message\": \"another\"}')").unwrap();
        assert!(run_alone(&python, &script, "hello").is_err());
    }
}
