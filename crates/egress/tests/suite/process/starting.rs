//! Finding and starting programs: names, arguments, environment, folder, limits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use egress::process::{
    Exit, Limits, RUN_MARK, RunError, Runner, Sha256, Spec, copy_with_digest, open_regular,
};
use egress::sandbox::{Mode, Policy, Tier};

use crate::process::support::{python, run, rungs, runner, said};

#[tokio::test]
async fn a_missing_program_has_its_own_error() {
    let runner = runner(Tier::T2).await;
    for name in ["no-such-program-anywhere", "/no/such/file", ""] {
        let error = run(&runner, Spec::new(name)).await.unwrap_err();
        assert!(matches!(&error, RunError::NotFound { program } if program == name), "{error}");
    }
}

#[tokio::test]
async fn a_script_without_its_interpreter_is_missing_too() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("tool");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for (_, runner) in rungs().await {
        let error = run(&runner, Spec::new(&script)).await.unwrap_err();
        assert!(matches!(error, RunError::NotFound { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_program_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool");
    fs::write(&file, [0x7f, b'E', b'L', b'F', 0, 0, 0, 0]).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let error = run(&runner(Tier::T2).await, Spec::new(&file)).await.unwrap_err();
    assert!(matches!(&error, RunError::Exec { reason, .. } if !reason.is_empty()), "{error}");
}

#[tokio::test]
async fn a_program_runs_only_with_the_digest_that_was_asked_for() {
    let digest = |path: &Path| -> Sha256 {
        copy_with_digest(&mut open_regular(path).unwrap(), &mut std::io::sink()).unwrap().0
    };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("tool");
    fs::write(&script, "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for (tier, runner) in rungs().await {
        let program = runner.locate("python3").await.unwrap();
        let python = python("import json, sys; print('ran' if json else '')");
        for (spec, path) in [(python, &program), (Spec::new(&script), &script)] {
            let right = spec.clone().digest(digest(path));
            assert_eq!(said(&run(&runner, right).await.unwrap()), "ran", "{tier} {path:?}");
            let error = run(&runner, spec.digest([7; 32])).await.unwrap_err();
            assert!(matches!(error, RunError::Changed { .. }), "{tier} {path:?}: {error}");
        }
    }
}

#[tokio::test]
async fn arguments_meet_no_shell() {
    let hostile = ["; echo owned", "$(id)", "`id`", "a\nb", "*", "--", "-o/etc/x", "@file", ""];
    let print = "import sys, json; print(json.dumps(sys.argv[1:]))";
    for (_, runner) in rungs().await {
        let finished = run(&runner, python(print).args(hostile)).await.unwrap();
        let seen: Vec<String> = serde_json::from_str(&said(&finished)).unwrap();
        assert_eq!(seen, hostile);
    }
}

#[tokio::test]
async fn the_environment_is_what_was_named() {
    assert!(std::env::var_os("PATH").is_some(), "something to leak");
    let print = "import os; print(' '.join(sorted(os.environ)))";
    for (_, runner) in rungs().await {
        let spec = python(print).env("GIVEN", "1");
        let seen = said(&run(&runner, spec).await.unwrap());
        // Python itself adds LC_CTYPE when no locale is set.
        let names: Vec<_> = seen.split(' ').filter(|name| *name != "LC_CTYPE").collect();
        assert_eq!(names, ["GIVEN", RUN_MARK, "TMPDIR"]);
    }
}

#[tokio::test]
async fn without_a_folder_the_child_has_its_own_and_it_vanishes() {
    let script = "import os, tempfile; open('note', 'w').write('x'); \
                  tempfile.NamedTemporaryFile(); print(os.getcwd())";
    for (_, runner) in rungs().await {
        let first = said(&run(&runner, python(script)).await.unwrap());
        let second = said(&run(&runner, python(script)).await.unwrap());
        assert_ne!(first, second);
        assert!(!fs::exists(&first).unwrap());
        assert!(!fs::exists(&second).unwrap());
    }
}

#[tokio::test]
async fn private_folders_are_made_below_the_given_folder() {
    let base = tempfile::tempdir().unwrap();
    let below = base.path().join("scratch");
    for (_, runner) in rungs().await {
        let runner = runner.scratch_in(&below);
        let mode = "import os; print(oct(os.stat(os.environ['TMPDIR']).st_mode & 0o777))";
        assert_eq!(said(&run(&runner, python(mode)).await.unwrap()), "0o700");
        let seen = said(&run(&runner, python("import os; print(os.getcwd())")).await.unwrap());
        assert!(Path::new(&seen).starts_with(below.canonicalize().unwrap()));
        assert_eq!(fs::read_dir(&below).unwrap().count(), 0);
    }
    fs::write(base.path().join("file"), "").unwrap();
    let runner = runner(Tier::T2).await.scratch_in(base.path().join("file"));
    let error = run(&runner, python("")).await.unwrap_err();
    assert!(matches!(error, RunError::Scratch(_)), "{error}");
}

#[tokio::test]
async fn a_named_folder_is_where_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("note"), "here").unwrap();
    for (_, runner) in rungs().await {
        let spec = python("print(open('note').read())").folder(folder.path());
        assert_eq!(said(&run(&runner, spec).await.unwrap()), "here");
    }
    let missing = folder.path().join("missing");
    let spec = python("").folder(&missing);
    let error = run(&runner(Tier::T2).await, spec).await.unwrap_err();
    assert!(matches!(error, RunError::WorkingFolder { path } if path == missing));
}

#[tokio::test]
async fn limits_hold() {
    let script = "import resource as r; print([r.getrlimit(getattr(r, 'RLIMIT_' + n))[1] for n in \
                  ['CORE', 'NOFILE', 'FSIZE', 'DATA', 'CPU']])";
    let limits = Limits {
        memory: 1 << 30,
        file_size: 1000,
        open_files: 99,
        cpu_seconds: Some(7),
        ..Limits::default()
    };
    for (_, runner) in rungs().await {
        let seen = said(&run(&runner, python(script).limits(limits)).await.unwrap());
        assert_eq!(seen, "[0, 99, 1000, 1073741824, 7]");

        let greedy = python("bytearray(2 << 30)").limits(limits);
        let finished = run(&runner, greedy).await.unwrap();
        assert_eq!(finished.exit, Exit::Code(1));
        assert!(String::from_utf8_lossy(&finished.stderr).contains("MemoryError"));
    }
}

#[tokio::test]
async fn a_file_past_the_limit_ends_the_child() {
    let script = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); \
                  open('big', 'wb').write(b'x' * 2000)";
    for (_, runner) in rungs().await {
        let limits = Limits { file_size: 1000, ..Limits::default() };
        let finished = run(&runner, python(script).limits(limits)).await.unwrap();
        assert_eq!(finished.exit, Exit::Signal(25));
    }
}

#[tokio::test]
async fn node_starts_within_the_default_limits() {
    for (_, runner) in rungs().await {
        let spec = Spec::new("node").args(["-e", "console.log([1,2].map(x => x * 2).join())"]);
        match run(&runner, spec).await {
            // Hosts without node have nothing to show here.
            Err(RunError::NotFound { .. }) => return,
            finished => assert_eq!(said(&finished.unwrap()), "2,4"),
        }
    }
}

#[tokio::test]
async fn a_host_that_cannot_confine_runs_nothing_that_requires_it() {
    let poor = runner(Tier::T0).await;
    let required = Policy::new().mode(Mode::Required(Tier::T1));
    let error = run(&poor, python("").policy(required)).await.unwrap_err();
    assert!(matches!(error, RunError::Tier(missing) if missing.needed == Tier::T1), "{error}");

    let auto = run(&poor, python("print('ran')")).await.unwrap();
    assert_eq!(auto.tier, Tier::T0);
}

#[tokio::test]
async fn an_executable_that_is_no_launcher_is_refused() {
    assert!(matches!(Runner::new().await.unwrap_err(), RunError::NoLauncher));
    for other in ["/bin/true", "/bin/echo"] {
        assert!(matches!(Runner::with_launcher(other).await.unwrap_err(), RunError::NoLauncher));
    }
    let missing = Runner::with_launcher("/no/such/launcher").await.unwrap_err();
    assert!(matches!(missing, RunError::Launcher(_)));
}

#[tokio::test]
async fn many_children_at_once_keep_apart() {
    let runner = runner(Tier::T2).await;
    let runs = (0..20).map(|number| {
        let spec = Spec::new("cat").stdin(format!("{number}")).deadline(Duration::from_secs(20));
        run(&runner, spec)
    });
    for (number, finished) in futures_util::future::join_all(runs).await.into_iter().enumerate() {
        assert_eq!(said(&finished.unwrap()), number.to_string());
    }
}
