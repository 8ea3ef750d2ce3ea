//! Launchers that stand by: taken, dead, let go, and never in the way of a run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use egress::process::{RUN_MARK, Runner, Spec};
use egress::sandbox::Tier;
use rustix::process::{Pid, Signal};

use crate::process::support::{eventually, needle, python, run, rungs, said};

/// A launcher with a unique name, which distinguishes its processes from those of other tests.
struct Own {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Own {
    fn new() -> Self {
        let launcher = Path::new(env!("CARGO_BIN_EXE_egress-launcher"));
        let folder = tempfile::tempdir_in(launcher.parent().unwrap()).unwrap();
        let path = folder.path().join("launcher");
        fs::hard_link(launcher, &path).unwrap();
        Self { _folder: folder, path }
    }

    async fn runner(&self) -> Runner {
        Runner::with_launcher(&self.path).await.unwrap()
    }

    /// Every living process that runs this executable.
    fn family(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        ids.filter(|id| fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|exe| exe == self.path))
            .collect()
    }

    /// Those of them that `parent` has started.
    fn started_by(&self, parent: u32) -> Vec<u32> {
        self.family().into_iter().filter(|id| parent_of(*id) == Some(parent)).collect()
    }

    /// The launchers of this process that wait with their preparation done.
    fn waiting(&self) -> Vec<u32> {
        let prepared = |id: &u32| {
            let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
            children.is_ok_and(|children| !children.trim().is_empty())
        };
        self.started_by(std::process::id()).into_iter().filter(prepared).collect()
    }
}

fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn kill(id: u32) {
    let pid = Pid::from_raw(id.cast_signed()).unwrap();
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

#[tokio::test]
async fn after_the_first_run_a_launcher_is_ready_for_the_next() {
    let own = Own::new();
    let probed = own.runner().await;
    assert_eq!(own.family(), Vec::<u32>::new(), "nothing has been run yet");
    for (tier, _) in rungs().await {
        let runner = probed.clone().at_most(tier);
        run(&runner, Spec::new("true")).await.unwrap();
        let mut served = false;
        for _ in 0..20 {
            eventually("a launcher is ready", || !own.waiting().is_empty()).await;
            let before = own.waiting();
            assert_eq!(said(&run(&runner, python("print('ran')")).await.unwrap()), "ran");
            let after = own.waiting();
            served |= before.iter().any(|id| !after.contains(id));
        }
        assert!(served, "{tier}");
    }
    // One for each kind of preparation: with namespaces and without.
    eventually("few stand by", || own.waiting().len() <= 2).await;
}

#[tokio::test]
async fn a_dead_standby_launcher_does_not_fail_a_run() {
    let own = Own::new();
    let probed = own.runner().await;
    for (tier, _) in rungs().await {
        let runner = probed.clone().at_most(tier);
        run(&runner, Spec::new("true")).await.unwrap();
        for _ in 0..3 {
            eventually("a launcher is ready", || !own.waiting().is_empty()).await;
            // One of another kind may stand by while this run's is still being started.
            eventually("all are dead", || {
                own.family().into_iter().for_each(kill);
                own.family().is_empty()
            })
            .await;
            assert_eq!(said(&run(&runner, python("print('ran')")).await.unwrap()), "ran", "{tier}");
        }
    }
}

#[tokio::test]
async fn an_unused_launcher_is_ended() {
    let own = Own::new();
    let probed = own.runner().await;
    for (tier, _) in rungs().await {
        let runner = probed.clone().at_most(tier).standby_for(Duration::from_secs(3));
        run(&runner, Spec::new("true")).await.unwrap();
        eventually("a launcher is ready", || !own.waiting().is_empty()).await;
        eventually("no launcher is left", || own.family().is_empty()).await;

        let runner = probed.clone().at_most(tier).standby_for(Duration::ZERO);
        for _ in 0..3 {
            run(&runner, python("")).await.unwrap();
            assert_eq!(own.family(), Vec::<u32>::new(), "{tier}");
        }
    }
}

#[tokio::test]
async fn launchers_end_with_their_runner() {
    let own = Own::new();
    let runner = own.runner().await;
    run(&runner, Spec::new("true")).await.unwrap();
    eventually("a launcher is ready", || !own.waiting().is_empty()).await;
    drop(runner);
    eventually("no launcher is left", || own.family().is_empty()).await;
}

#[test]
fn launchers_end_with_their_runtime_and_another_runtime_can_go_on() {
    let own = Own::new();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let first = runtime();
    let runner = first.block_on(own.runner());
    for runtime in [first, runtime()] {
        runtime.block_on(async {
            run(&runner, Spec::new("true")).await.unwrap();
            eventually("a launcher is ready", || !own.waiting().is_empty()).await;
        });
        drop(runtime);
        runtime_less_wait(|| own.family().is_empty());
    }
}

fn runtime_less_wait(condition: impl Fn() -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(eventually("all are gone", condition));
}

#[tokio::test]
async fn kill_9_of_the_gateway_takes_its_launchers_along() {
    for (tier, _) in rungs().await {
        let (own, needle) = (Own::new(), needle());
        let mut gateway = Command::new(&own.path)
            .args([&tier.to_string(), "python3", "-I", "-c", "import time; time.sleep(60)"])
            .arg(&needle)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        // The one of the run, and the one for the next.
        let id = gateway.id();
        eventually("two were started", || own.started_by(id).len() == 2).await;
        gateway.kill().unwrap();
        gateway.wait().unwrap();
        eventually(&format!("all are dead at {tier}"), || own.family().is_empty()).await;
    }
}

#[tokio::test]
async fn a_gateway_that_ends_leaves_no_launcher() {
    for (tier, _) in rungs().await {
        let own = Own::new();
        let mut gateway = Command::new(&own.path);
        let mut gateway = gateway.args([&tier.to_string(), "true"]).spawn().unwrap();
        assert!(gateway.wait().unwrap().success(), "{tier}");
        eventually(&format!("all are gone at {tier}"), || own.family().is_empty()).await;
    }
}

#[tokio::test]
async fn many_runs_at_once_keep_their_orders_apart() {
    let own = Own::new();
    let probed = own.runner().await;
    for (tier, _) in rungs().await {
        let runner = probed.clone().at_most(tier);
        let input = "x".repeat(100_000);
        for _ in 0..2 {
            let runs = (0..12).map(|number| {
                let spec = Spec::new("sh")
                    .args(["-c", "printf '%s %s ' \"$NUMBER\" \"$1\"; wc -c", "sh"])
                    .arg(number.to_string())
                    .env("NUMBER", number.to_string())
                    .stdin(input.clone());
                run(&runner, spec)
            });
            let runs = futures_util::future::join_all(runs).await;
            for (number, finished) in runs.into_iter().enumerate() {
                assert_eq!(said(&finished.unwrap()), format!("{number} {number} 100000"), "{tier}");
            }
        }
        eventually("few stand by", || own.started_by(std::process::id()).len() <= 2).await;
    }
}

#[tokio::test]
async fn orders_may_be_larger_than_a_pipe() {
    let own = Own::new();
    let probed = own.runner().await;
    let folder = tempfile::tempdir().unwrap();
    let script = "import os, sys; print(sum(len(v) for n, v in os.environ.items() if n[:3] == 'BIG'), \
                  len(sys.argv[1]), os.getcwd(), sys.stdin.read())";
    let expected =
        format!("400000 100000 {} input", folder.path().canonicalize().unwrap().display());
    for (tier, _) in rungs().await {
        let runner = probed.clone().at_most(tier);
        // By a new launcher, and by a standby one.
        for _ in 0..2 {
            let mut spec = python(script).arg("a".repeat(100_000)).folder(folder.path());
            for number in 0..4 {
                spec = spec.env(format!("BIG{number}"), "v".repeat(100_000));
            }
            assert_eq!(said(&run(&runner, spec.stdin("input")).await.unwrap()), expected, "{tier}");
            eventually("a launcher is ready", || !own.waiting().is_empty()).await;
        }
    }
}

#[tokio::test]
async fn a_zero_byte_starts_nothing() {
    let own = Own::new();
    let runner = own.runner().await;
    for spec in [Spec::new("true").arg("a\0b"), Spec::new("true").env("A", "a\0b")] {
        let error = run(&runner, spec).await.unwrap_err();
        assert!(error.to_string().contains("zero byte"), "{error}");
    }
}

#[tokio::test]
async fn programs_and_launchers_hold_nothing_of_the_gateway_open() {
    use rustix::fs::{Mode, OFlags, open};
    // Without the flag that closes it when a program starts.
    let _leaking = open("/dev/null", OFlags::RDONLY, Mode::empty()).unwrap();
    let own = Own::new();
    let probed = own.runner().await;
    // The listing itself is the fourth.
    let script = "import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd')))";
    for (tier, _) in rungs().await {
        let runner = probed.clone().at_most(tier);
        for _ in 0..2 {
            let seen = said(&run(&runner, python(script)).await.unwrap());
            assert_eq!(seen, "[0, 1, 2, 3]", "{tier}");
            eventually("a launcher is ready", || !own.waiting().is_empty()).await;
        }
        // A namespace's supervisor has its own pipes to the first process in it.
        if tier == Tier::T0 {
            eventually("only the standard streams are open", || {
                own.waiting().iter().all(|id| {
                    let open = fs::read_dir(format!("/proc/{id}/fd")).unwrap().count();
                    let null = fs::read_link(format!("/proc/{id}/fd/0")).unwrap();
                    open == 3 && null == Path::new("/dev/null")
                })
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_launcher_shows_nothing_of_its_run() {
    let own = Own::new();
    let probed = own.runner().await;
    for (tier, _) in rungs().await {
        let runner = probed.clone().at_most(tier);
        let needle = needle();
        let spec = python("import time; print('ready', flush=True); time.sleep(60)")
            .arg(&needle)
            .env("SECRET", &needle)
            .env("LD_PRELOAD", "/no/such/library");
        let piped = runner.spawn_piped(spec).await.unwrap();
        let supervisor = piped.process.id().unwrap();
        eventually("the program runs", || !crate::process::support::children(&needle).is_empty())
            .await;
        let words = fs::read(format!("/proc/{supervisor}/cmdline")).unwrap();
        let expected = [own.path.as_os_str().to_owned(), OsString::from("__launch")];
        let seen: Vec<_> = words.strip_suffix(&[0]).unwrap().split(|byte| *byte == 0).collect();
        assert_eq!(seen, expected.each_ref().map(|word| word.as_encoded_bytes()));
        let variables = fs::read_to_string(format!("/proc/{supervisor}/environ")).unwrap();
        assert!(variables.starts_with(RUN_MARK) && !variables.contains("SECRET"), "{variables}");
        piped.process.kill().await;
    }
}
