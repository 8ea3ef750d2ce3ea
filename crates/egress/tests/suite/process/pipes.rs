//! Pipes: caps, and children that do not play along.

use std::time::{Duration, Instant};

use egress::process::{RunError, Spec};
use egress::sandbox::Tier;

use crate::process::support::{alive, eventually, needle, python, run, rungs, runner, said};

#[tokio::test]
async fn a_gigabyte_is_cut_short() {
    for (_, runner) in rungs().await {
        let needle = needle();
        let script = "import sys\nfor _ in range(1024): sys.stdout.write('x' * (1 << 20))";
        let begun = Instant::now();
        let error = run(&runner, python(script).arg(&needle)).await.unwrap_err();
        let RunError::TooMuchOutput { size, limit, .. } = error else { panic!("{error}") };
        assert_eq!(limit, 262_144);
        assert!(size > limit && size < limit + (1 << 20), "{size}");
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert!(alive(&needle).is_empty());
    }
}

#[tokio::test]
async fn output_of_exactly_the_cap_passes() {
    let spec = python("print('x' * 1000, end='')").stdout_cap(1000);
    assert_eq!(run(&runner(Tier::T2).await, spec).await.unwrap().stdout.len(), 1000);
}

#[tokio::test]
async fn a_child_that_never_reads_does_not_block() {
    for (_, runner) in rungs().await {
        let spec = python("print('done')").stdin(vec![b'x'; 10 << 20]);
        assert_eq!(said(&run(&runner, spec).await.unwrap()), "done");
    }
}

#[tokio::test]
async fn a_file_is_read_from_stdin_without_the_right_to_open_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    std::fs::write(&path, vec![b'x'; 10 << 20]).unwrap();
    for (_, runner) in rungs().await {
        let script = "import sys; print(len(sys.stdin.buffer.read()))";
        let spec = python(script).stdin_file(&path);
        assert_eq!(said(&run(&runner, spec).await.unwrap()), (10 << 20).to_string());
        let unread = python("print('done')").stdin_file(&path);
        assert_eq!(said(&run(&runner, unread).await.unwrap()), "done");
        let missing = python("print('done')").stdin_file(folder.path().join("missing"));
        let error = run(&runner, missing).await.unwrap_err();
        assert!(matches!(error, RunError::Pipe(_)), "{error}");
    }
}

#[tokio::test]
async fn a_child_that_never_reads_and_stays_is_timed_out() {
    for (_, runner) in rungs().await {
        let needle = needle();
        let spec = python("import time; time.sleep(60)")
            .arg(&needle)
            .stdin(vec![b'x'; 10 << 20])
            .deadline(Duration::from_millis(300));
        let begun = Instant::now();
        let error = run(&runner, spec).await.unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
        assert!(begun.elapsed() < Duration::from_millis(1300), "{:?}", begun.elapsed());
        assert!(alive(&needle).is_empty());
    }
}

#[tokio::test]
async fn reading_and_writing_at_once_does_not_deadlock() {
    for (_, runner) in rungs().await {
        let bytes = vec![b'x'; 4 << 20];
        let spec = Spec::new("cat").stdin(bytes.clone()).stdout_cap(8 << 20);
        assert_eq!(run(&runner, spec).await.unwrap().stdout, bytes);
    }
}

#[tokio::test]
async fn a_child_that_closes_stdout_early_still_gets_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import os, sys; os.close(1); os.close(2); n = len(sys.stdin.buffer.read()); \
                  os._exit(0 if n == 1 << 20 else 1)";
    for (_, runner) in rungs().await {
        let spec = python(script).folder(folder.path()).stdin(vec![b'x'; 1 << 20]);
        assert!(run(&runner, spec).await.unwrap().exit.success());
    }
}

#[tokio::test]
async fn of_stderr_the_end_is_kept() {
    for (_, runner) in rungs().await {
        let script = "import sys; sys.stderr.write('x' * (1 << 20) + 'the end')";
        let finished = run(&runner, python(script).stderr_cap(100)).await.unwrap();
        assert_eq!(finished.stderr.len(), 100);
        assert!(finished.stderr.ends_with(b"the end"));
        assert_eq!(finished.stderr_dropped, (1 << 20) + 7 - 100);
    }
}

#[tokio::test]
async fn stderr_is_returned_after_the_deadline() {
    let script = "import sys, time; print('why', file=sys.stderr, flush=True); time.sleep(60)";
    // Time enough to say it.
    let spec = python(script).deadline(Duration::from_secs(5));
    let error = run(&runner(Tier::T2).await, spec).await.unwrap_err();
    assert!(matches!(error, RunError::TimedOut { stderr, .. } if stderr == b"why\n"));
}

#[tokio::test]
async fn a_background_process_that_holds_stdout_does_not_hold_the_run() {
    for (_, runner) in rungs().await {
        let needle = needle();
        let script = format!("sh -c 'sleep 60; : {needle}' & echo done");
        let begun = Instant::now();
        let finished =
            run(&runner, Spec::new("sh").args(["-c", &script]).env("PATH", "/usr/bin:/bin"));
        assert_eq!(said(&finished.await.unwrap()), "done");
        assert!(begun.elapsed() < Duration::from_secs(10));
        eventually("the background process dies", || alive(&needle).is_empty()).await;
    }
}
