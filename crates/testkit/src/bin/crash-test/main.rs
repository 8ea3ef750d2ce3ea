//! Kills a gateway at random points under random workflows, and checks that nothing was lost or done twice.
//!
//! Usage: `powerstrip-crash-test ROUNDS [--seed SEED] [--database URL]`. A round is one `kill -9`. Ten rounds share a data
//! folder and a seed, from which the workflows, what their clients do and the times of the kills come.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod approvals;
mod database;
mod gateway;
mod ledger;
mod operator;
mod questions;
mod record;
mod rng;
mod session;
mod spec;
mod steer;
#[cfg(test)]
mod tests;

use std::process::ExitCode;
use std::time::Instant;

use rng::Rng;
use session::Session;

/// How many kills a data folder lives through.
const KILLS: u64 = 10;

struct Options {
    rounds: u64,
    seed: u64,
    database: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(reason) => {
            eprintln!("{reason}\nusage: crash-test ROUNDS [--seed SEED] [--database URL]");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let (mut killed, mut workflows, mut runs, mut quarantined) = (0, 0, 0, 0);
    let mut seed = options.seed;
    while killed < options.rounds {
        let kills = KILLS.min(options.rounds - killed);
        match Session::new(seed, options.database.as_deref()).run(kills).await {
            Ok(summary) => {
                killed += kills;
                workflows += summary.workflows;
                runs += summary.runs;
                quarantined += summary.quarantined;
                println!(
                    "seed {seed}: {kills} kills, {} workflows, {} runs of tools, {} repeated, {} quarantined",
                    summary.workflows, summary.runs, summary.repeated, summary.quarantined
                );
            }
            Err(violation) => {
                println!("seed {seed}: VIOLATION: {violation}");
                println!("to repeat: scripts/crash-test {kills} --seed {seed}");
                return ExitCode::FAILURE;
            }
        }
        seed += 1;
    }
    let seconds = begun.elapsed().as_secs();
    println!(
        "{killed} kills, {workflows} workflows, {runs} runs of tools, {quarantined} quarantined, 0 violations, {seconds} s"
    );
    ExitCode::SUCCESS
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options =
        Options { rounds: 0, seed: Rng::from_time().next() % 1_000_000, database: None };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--seed" => options.seed = number(&value()?)?,
            "--database" => options.database = Some(value()?),
            rounds => options.rounds = number(rounds)?,
        }
    }
    if options.rounds == 0 {
        return Err("the number of rounds is missing".to_owned());
    }
    Ok(options)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}
