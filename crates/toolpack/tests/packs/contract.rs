//! Scripts that break the contract.

use std::time::Duration;

use proto::Code;
use serde_json::json;
use strip::Tool;

use crate::support::{Setup, assert_code, call, eventually};

/// Each script as a fresh process, and in a warm worker.
const MODES: [&str; 2] = ["", ", workers: 1"];

async fn fails(script: &str, words: &str) {
    let setup = Setup::new().await;
    setup.write("tools/x.py", script);
    for mode in MODES {
        setup.pack("x", &format!("execution: {{kind: python, script: x.py{mode}}}"));
        let failure = setup.failure("x", json!({"n": 1})).await;
        assert_code(&failure, Code::Internal, words);
    }
}

#[tokio::test]
async fn garbage() {
    fails("print('hello there')", "`hello there`, which is not JSON").await;
}

#[tokio::test]
async fn two_lines() {
    fails("print(1)\nprint(2)", "2 lines").await;
}

#[tokio::test]
async fn nothing() {
    fails("pass", "printed nothing").await;
}

#[tokio::test]
async fn a_gigabyte() {
    let script = "import sys\nfor _ in range(1024):\n    sys.stdout.write('x' * 1048576)\n";
    let setup = Setup::new().await;
    setup.write("tools/x.py", script);
    for mode in MODES {
        setup.pack("x", &format!("execution: {{kind: python, script: x.py{mode}}}"));
        let failure = setup.failure("x", json!({})).await;
        assert_eq!(failure.code, Code::Internal, "{failure}");
    }
    setup.write("tools/y.py", "print('\"' + 'x' * 300000 + '\"')");
    for mode in MODES {
        setup.pack("y", &format!("execution: {{kind: python, script: y.py{mode}}}"));
        let failure = setup.failure("y", json!({})).await;
        assert_code(&failure, Code::Internal, "more than");
        let details = failure.details.unwrap();
        assert!(details["size"].as_u64() > details["limit"].as_u64(), "{details}");
    }
}

#[tokio::test]
async fn a_non_zero_exit() {
    fails("import sys\nprint(1)\nsys.exit('no rows left')", "no rows left").await;
    fails("import sys\nprint(1)\nsys.exit(7)", "exit code 7").await;
    fails("raise RuntimeError('too green')", "RuntimeError: too green").await;
}

#[tokio::test]
async fn an_exit_code_states_a_failure_only_where_nothing_else_was_printed() {
    let setup = Setup::new().await;
    for (code, unknown) in [
        ("import sys\nsys.exit(7)", false),
        ("raise RuntimeError('too green')", false),
        ("import sys\nprint(1)\nsys.exit(7)", true),
        ("print(1)\nraise RuntimeError('too late')", true),
        ("import sys\nsys.exit(137)", true),
        ("import sys\nsys.exit(-9)", true),
    ] {
        setup.write("tools/x.py", code);
        for workers in ["", ", workers: 1"] {
            setup.pack("x", &format!("execution: {{kind: python, script: x.py{workers}}}"));
            let failure = setup.failure("x", json!({})).await;
            let found = (failure.code, failure.effect_unknown);
            assert_eq!(found, (Code::Internal, unknown), "{code}{workers}");
        }
    }
}

#[tokio::test]
async fn death_by_signal() {
    fails("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9").await;
}

#[tokio::test]
async fn a_reported_failure_keeps_its_code_whatever_the_exit() {
    let setup = Setup::new().await;
    setup.write("tools/x.py", "import json, sys\nprint(json.dumps({'ok': False, 'errors': [{'code': 'NOT_FOUND', 'message': 'no such row'}]}))\nsys.exit(json.loads(sys.stdin.readline())['input'])");
    for mode in MODES {
        setup.pack("x", &format!("execution: {{kind: python, script: x.py{mode}}}"));
        for exit in [0, 1] {
            assert_code(&setup.failure("x", json!(exit)).await, Code::NotFound, "no such row");
        }
    }
}

#[tokio::test]
async fn envelopes_are_opened() {
    let setup = Setup::new().await;
    setup.write(
        "tools/x.py",
        "print('{\"ok\":true,\"data\":{\"a\":1},\"meta\":{\"warnings\":[\"old\"]},\"errors\":[]}')",
    );
    for mode in MODES {
        setup.pack("x", &format!("execution: {{kind: python, script: x.py{mode}}}"));
        let output = setup.run("x", json!({})).await.unwrap();
        assert_eq!(*output.data, json!({"a": 1}));
        assert_eq!(output.warnings[0], "old");
    }
}

#[tokio::test]
async fn a_child_that_never_reads_still_answers() {
    let setup = Setup::new().await;
    setup.pack("x", "execution: {kind: cli, cmd: [echo, '1']}");
    assert_eq!(setup.data("x", json!("x".repeat(500_000))).await, json!(1));
}

#[tokio::test]
async fn a_timeout_leaves_no_process() {
    let setup = Setup::new().await;
    setup.write("tools/x.py", "import os, sys, time\nopen(os.environ['MARK'] if 'MARK' in os.environ else 'started', 'w').close()\ntime.sleep(600)");
    for mode in MODES {
        setup
            .pack("x", &format!("timeoutMs: 300\nexecution: {{kind: python, script: x.py{mode}}}"));
        assert_code(&setup.failure("x", json!({})).await, Code::Timeout, "300 ms");
    }
    assert_eq!(setup.tool("x").health().idle_workers, 0);
}

#[tokio::test]
async fn a_dropped_call_ends_its_process() {
    let setup = Setup::new().await;
    let script = "import os, time\nroot = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))\nopen(os.path.join(root, 'out', str(os.getpid())), 'w').close()\nwhile True:\n    time.sleep(0.01)\n    open(os.path.join(root, 'out', 'beat'), 'w').write(str(time.time()))\n";
    // A folder for each: a script of the first round that ends late does not write into the second's.
    for (mode, folder) in MODES.into_iter().zip(["first", "second"]) {
        setup.write("tools/x.py", &script.replace("out", folder));
        let out = setup.root().join(folder);
        std::fs::create_dir(&out).unwrap();
        setup.pack("x", &format!("caps: {{files: {{write: [../{folder}]}}}}\nexecution: {{kind: python, script: x.py{mode}}}"));
        let tool = setup.tool("x");
        let running = tokio::spawn(async move { tool.run(&call(json!({}))).await });
        let beat = out.join("beat");
        eventually("the script beats", || beat.exists()).await;
        running.abort();
        let _ = running.await;
        // An ended process no longer changes the file.
        let changed = || std::fs::metadata(&beat).unwrap().modified().unwrap();
        eventually("the script is dead", || {
            let before = changed();
            std::thread::sleep(Duration::from_millis(200));
            before == changed()
        })
        .await;
    }
}

#[tokio::test]
async fn a_cancelled_call_comes_back_at_once() {
    let setup = Setup::new().await;
    setup.pack("x", "execution: {kind: cli, cmd: [sleep, '600']}");
    let tool = setup.tool("x");
    let call = call(json!({}));
    call.cancel().cancel();
    assert_eq!(tool.run(&call).await.unwrap_err().code, Code::Unavailable);
}

#[tokio::test]
async fn a_call_ends_at_the_callers_timeout() {
    let setup = Setup::new().await;
    setup.pack("x", "execution: {kind: cli, cmd: [sleep, '600']}");
    let mut call = call(json!({}));
    call.timeout = Some(Duration::from_millis(100));
    assert_eq!(setup.tool("x").run(&call).await.unwrap_err().code, Code::Timeout);
}

/// Log lines of this thread, for a test to read.
#[derive(Clone, Default)]
struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn stderr_goes_to_the_log_with_the_trace_id() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let setup = Setup::new().await;
    setup.write("tools/x.py", "import sys\nprint('a word to the log', file=sys.stderr)\nprint(1)");
    setup.pack("x", "execution: {kind: python, script: x.py}");
    let call = call(json!({}));
    let output = setup.tool("x").run(&call).await.unwrap();
    assert_eq!(*output.data, json!(1));
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let line = text.lines().find(|line| line.contains("a word to the log")).unwrap();
    assert!(line.contains(&call.request().trace.to_string()) && line.contains("demo.x"), "{line}");
}
