//! Endings: codes, signals, deadlines, cancellation, and nothing left running after any of them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use egress::process::{Exit, RunError, Runner, Spec};
use egress::sandbox::Tier;
use tokio_util::sync::CancellationToken;

use crate::process::support::{alive, children, eventually, needle, python, run, rungs, runner};

/// Ignores SIGTERM, and so do the two children it forks.
const STUBBORN: &str = "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork(); os.fork()
time.sleep(60)";

/// Long enough that a family is complete before its deadline, on a busy machine too.
const SETTLED: Duration = Duration::from_secs(6);

/// Leaves its session and its parent, the way daemons do, wiping its environment on the way.
const DAEMON: &str = "
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, '-I', '-c', 'import time; time.sleep(60)', sys.argv[1]], {})
    os._exit(0)
";

#[tokio::test]
async fn codes_and_signals_are_distinguished() {
    for (_, runner) in rungs().await {
        let code = run(&runner, python("raise SystemExit(125)")).await.unwrap();
        assert_eq!(code.exit, Exit::Code(125));
        for signal in [6, 7, 9, 11, 13, 15, 34] {
            let kill = format!(
                "import os, signal; signal.signal(13, signal.SIG_DFL); os.kill(os.getpid(), {signal})"
            );
            let finished = run(&runner, python(&kill)).await.unwrap();
            assert_eq!(finished.exit, Exit::Signal(signal));
        }
    }
}

#[tokio::test]
async fn a_child_cannot_pretend_that_the_launcher_failed() {
    let script = "import sys; print('__launch - {\"step\":\"Exec\",\"not_found\":true,\"reason\":\"\"}', \
                  file=sys.stderr); sys.exit(125)";
    let finished = run(&runner(Tier::T0).await, python(script)).await.unwrap();
    assert_eq!(finished.exit, Exit::Code(125));
}

#[tokio::test]
async fn processes_that_ignore_sigterm_are_dead_within_a_second() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let spec = python(STUBBORN).arg(&needle).deadline(SETTLED);
        let begun = Instant::now();
        let cancel = CancellationToken::new();
        let running = runner.run(spec, &cancel);
        let watching = eventually("four processes run", || children(&needle).len() >= 4);
        let (error, ()) = tokio::join!(running, watching);
        assert!(matches!(error.unwrap_err(), RunError::TimedOut { .. }));
        let late = begun.elapsed().saturating_sub(SETTLED);
        assert!(late < Duration::from_secs(1), "{tier} {late:?}");
        assert!(alive(&needle).is_empty(), "{tier}");
    }
}

#[tokio::test]
async fn a_child_that_listens_may_end_politely() {
    let script = "import signal, sys, time\n\
                  def end(*_): print('saved', file=sys.stderr); sys.exit(0)\n\
                  signal.signal(signal.SIGTERM, end)\n\
                  print('ready', file=sys.stderr, flush=True); time.sleep(60)";
    let folder = tempfile::tempdir().unwrap();
    for (tier, runner) in rungs().await {
        let marker = folder.path().join(tier.to_string());
        std::fs::write(&marker, "").unwrap();
        let script = script
            .replace("print('saved', file=sys.stderr)", "open(sys.argv[1], 'w').write('saved')");
        let policy = egress::sandbox::Policy::new().write(&marker);
        let spec = python(&script).arg(&marker).policy(policy).deadline(SETTLED);
        let error = run(&runner, spec).await.unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }));
        assert_eq!(std::fs::read_to_string(&marker).unwrap(), "saved", "{tier}");
    }
}

#[tokio::test]
async fn a_daemon_is_dead_after_the_deadline() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let script = format!("{DAEMON}\ntime.sleep(60)");
        let spec = python(&script).arg(&needle).deadline(SETTLED);
        let cancel = CancellationToken::new();
        // The child and its daemon; the process between them is gone.
        let watching = eventually("the daemon runs", || children(&needle).len() >= 2);
        let (error, ()) = tokio::join!(runner.run(spec, &cancel), watching);
        assert!(matches!(error.unwrap_err(), RunError::TimedOut { .. }));
        assert!(alive(&needle).is_empty(), "{tier}");
    }
}

#[tokio::test]
async fn a_daemon_does_not_outlive_a_run_that_ends_well() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let finished = run(&runner, python(DAEMON).arg(&needle)).await.unwrap();
        assert!(finished.exit.success());
        assert!(alive(&needle).is_empty(), "{tier}");
    }
}

#[tokio::test]
async fn killing_the_supervisor_ends_its_processes() {
    // At T0 nothing keeps a child from it; the run's mark finds what is left.
    let runner = runner(Tier::T0).await;
    let needle = needle();
    let script = "
import os, signal, time
child = os.fork()
if child == 0:
    os.setsid(); time.sleep(60)
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(60)";
    let finished = run(&runner, python(script).arg(&needle)).await.unwrap();
    assert_eq!(finished.exit, Exit::Signal(9));
    eventually("all are dead", || alive(&needle).is_empty()).await;
}

#[tokio::test]
async fn the_supervisor_is_out_of_reach_once_confined() {
    let script = "
import os, signal
try:
    os.kill(os.getppid(), signal.SIGKILL); print('killed')
except PermissionError:
    print('refused')";
    for (tier, runner) in crate::process::support::confining_rungs().await {
        if runner.host().landlock_abi < 6 && tier == Tier::T1 {
            continue;
        }
        let finished = run(&runner, python(script)).await.unwrap();
        // In its own namespace the child's parent is init, which the kernel shields from it.
        assert!(finished.exit.success(), "{tier}");
    }
}

#[tokio::test]
async fn cancelling_ends_everything() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let cancel = CancellationToken::new();
        let running = runner.run(python(STUBBORN).arg(&needle), &cancel);
        let cancelling = async {
            eventually("four processes run", || children(&needle).len() >= 4).await;
            cancel.cancel();
            Instant::now()
        };
        let (error, cancelled) = tokio::join!(running, cancelling);
        assert!(matches!(error.unwrap_err(), RunError::Cancelled { .. }));
        assert!(cancelled.elapsed() < Duration::from_secs(1));
        assert!(alive(&needle).is_empty(), "{tier}");
    }
}

#[tokio::test]
async fn dropping_the_run_ends_everything() {
    for (tier, runner) in rungs().await {
        let needle = needle();
        let cancel = CancellationToken::new();
        tokio::select! {
            _ = runner.run(python(STUBBORN).arg(&needle), &cancel) => panic!("it sleeps"),
            () = eventually("four processes run", || children(&needle).len() >= 4) => {}
        }
        let what = format!("all are dead at {tier}");
        eventually(&what, || alive(&needle).is_empty()).await;
    }
}

#[tokio::test]
async fn a_deadline_that_has_passed_starts_nothing_that_stays() {
    for (_, runner) in rungs().await {
        let needle = needle();
        let spec = python("import time; time.sleep(60)").arg(&needle).deadline(Duration::ZERO);
        let error = run(&runner, spec).await.unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }));
        assert!(alive(&needle).is_empty());
    }
}

/// The daemons of [`DAEMON`]: no other process with the word has no script that makes one among its arguments.
fn daemons(needle: &str) -> Vec<u32> {
    let is_daemon = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(needle) && !line.contains("setsid")
    };
    children(needle).into_iter().filter(is_daemon).collect()
}

#[tokio::test]
async fn kill_9_of_the_gateway_takes_the_children_along() {
    for (tier, _) in rungs().await {
        let needle = needle();
        let script = format!("{DAEMON}\ntime.sleep(60)");
        let mut gateway = Command::new(env!("CARGO_BIN_EXE_egress-launcher"))
            .args([&tier.to_string(), "python3", "-I", "-c", &script, &needle])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the daemon runs", || !daemons(&needle).is_empty()).await;
        gateway.kill().unwrap();
        gateway.wait().unwrap();
        let what = format!("all are dead at {tier}");
        eventually(&what, || alive(&needle).is_empty()).await;
    }
}

#[tokio::test]
async fn a_fork_bomb_ends_with_its_run() {
    let runner = runner(Tier::T2).await;
    let needle = needle();
    // Bounded, so that a failing test leaves no process behind.
    let script = "import os, time\nfor _ in range(6): os.fork()\ntime.sleep(60)";
    let spec = python(script).arg(&needle).deadline(Duration::from_millis(1500));
    let error = run(&runner, spec).await.unwrap_err();
    assert!(matches!(error, RunError::TimedOut { .. }));
    assert!(alive(&needle).is_empty());
}

#[tokio::test]
async fn no_zombie_is_left() {
    // A zombie has only its name to distinguish it from those of other tests.
    let launcher = Path::new(env!("CARGO_BIN_EXE_egress-launcher"));
    let folder = tempfile::tempdir_in(launcher.parent().unwrap()).unwrap();
    let own = folder.path().join("no-zombie");
    std::fs::hard_link(launcher, &own).unwrap();
    let probed = Runner::with_launcher(&own).await.unwrap();
    for (tier, _) in rungs().await {
        run(&probed.clone().at_most(tier), Spec::new("true")).await.unwrap();
        assert_eq!(zombies("no-zombie"), Vec::<String>::new(), "{tier}");
    }
}

/// The zombie children of this process with this name.
fn zombies(name: &str) -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    // A thread may end while it is asked.
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter(|id| {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            stat.contains(&format!(" ({name}) Z "))
        })
        .collect()
}
