//! What the process and sandbox tests share: a runner per rung, and Python children.

use std::time::{Duration, Instant};

use egress::process::{Finished, RunError, Runner, Spec};
use egress::sandbox::{Mode, Policy, Tier};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// A runner that climbs no higher than `tier`.
pub(crate) async fn runner(tier: Tier) -> Runner {
    static RUNNER: OnceCell<Runner> = OnceCell::const_new();
    let launcher = env!("CARGO_BIN_EXE_egress-launcher");
    let probed = RUNNER.get_or_init(async || Runner::with_launcher(launcher).await.unwrap()).await;
    probed.clone().at_most(tier)
}

/// The rungs that this host has above T0.
pub(crate) async fn confining_rungs() -> Vec<(Tier, Runner)> {
    let offered = runner(Tier::T2).await.host().tier();
    let mut rungs = Vec::new();
    for tier in [Tier::T1, Tier::T2] {
        if tier <= offered {
            rungs.push((tier, runner(tier).await));
        } else {
            testkit::skip_on_this_host(format_args!("the sandbox has no tier {tier}"));
        }
    }
    rungs
}

/// Every rung of this host.
pub(crate) async fn rungs() -> Vec<(Tier, Runner)> {
    let mut rungs = vec![(Tier::T0, runner(Tier::T0).await)];
    rungs.extend(confining_rungs().await);
    rungs
}

/// A Python child that runs `script`.
pub(crate) fn python(script: &str) -> Spec {
    Spec::new("python3").args(["-I", "-c", script])
}

pub(crate) async fn run(runner: &Runner, spec: Spec) -> Result<Finished, RunError> {
    runner.run(spec, &CancellationToken::new()).await
}

/// Runs the child confined by `policy` and, to show that it would do it if it could, unconfined.
/// Both times it must end well; the two outputs are returned.
pub(crate) async fn confined_and_free(
    runner: &Runner,
    tier: Tier,
    spec: &Spec,
    policy: Policy,
) -> (String, String) {
    let confined = run(runner, spec.clone().policy(policy.clone())).await.unwrap();
    assert_eq!(confined.tier, tier);
    let free = run(runner, spec.clone().policy(policy.mode(Mode::Off))).await.unwrap();
    assert_eq!(free.tier, Tier::T0);
    (said(&confined), said(&free))
}

/// Stdout of a child that ended well.
pub(crate) fn said(finished: &Finished) -> String {
    let stderr = String::from_utf8_lossy(&finished.stderr);
    assert!(finished.exit.success(), "{:?} {stderr}", finished.exit);
    String::from_utf8(finished.stdout.clone()).unwrap().trim().to_owned()
}

/// Waits for something that must become true.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(10), "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Processes, zombies aside, whose command line holds `needle`.
pub(crate) fn alive(needle: &str) -> Vec<u32> {
    with_command_line(|line| line.contains(needle))
}

/// Processes with `needle` in their command line, without the launcher's own.
pub(crate) fn children(needle: &str) -> Vec<u32> {
    with_command_line(|line| line.contains(needle) && !line.contains("__launch"))
}

fn with_command_line(matches: impl Fn(&str) -> bool) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        // A zombie's command line is empty.
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        *id != std::process::id() && matches(&String::from_utf8_lossy(&line))
    })
    .collect()
}

/// A word that only one test's children carry.
pub(crate) fn needle() -> String {
    format!("needle-{}", uuid::Uuid::new_v4())
}
