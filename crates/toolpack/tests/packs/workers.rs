use std::collections::BTreeSet;
use std::sync::Arc;

use egress::sandbox::Tier;
use proto::{Code, Principal, TenantId};
use serde_json::{Value, json};
use strip::{Job, Tool};

use crate::support::{Options, Setup, assert_code, eventually, is_missing, request, run};

/// Functions that show which worker runs them, and some that misbehave. Each worker has its own private folder; process
/// ids do not distinguish workers, because a sandbox may give each of them the same.
const MODULE: &str = r#"
import os, time
calls = 0
def who(input):
    global calls
    calls += 1
    return {"who": os.environ["TMPDIR"], "calls": calls, "echo": input}
def naughty(input):
    if input == "exit":
        os._exit(3)
    if input == "spoil":
        os.write(1, b"prints are harmless\n")
        print("so are these")
    if input == "sleep":
        time.sleep(600)
    if input == "set":
        return {1, 2}
    if input == "surrogate":
        return "\udcff"
    return {"who": os.environ["TMPDIR"], "echo": input}
"#;

async fn setup(function: &str, more: &str) -> Setup {
    let setup = Setup::new().await;
    setup.write("tools/m.py", MODULE);
    setup.pack(
        "x",
        &format!("{more}\nexecution: {{kind: python, module: 'm:{function}', workers: 1}}"),
    );
    setup
}

#[tokio::test]
async fn a_worker_starts_with_the_first_call_and_stays() {
    let setup = setup("who", "").await;
    let tool = setup.tool("x");
    assert_eq!(tool.health().idle_workers, 0);
    let mut workers = BTreeSet::new();
    for n in 1..=20 {
        let output = run(&tool, json!(n)).await.unwrap();
        assert_eq!((&output.data["calls"], &output.data["echo"]), (&json!(n), &json!(n)));
        workers.insert(output.data["who"].to_string());
    }
    assert_eq!(workers.len(), 1);
    assert_eq!(tool.health().idle_workers, 1);
}

#[tokio::test]
async fn scripts_run_again_in_the_same_process() {
    let setup = Setup::new().await;
    setup.write(
        "tools/x.py",
        r#"
import json, os, sys
if "seen" in globals():
    raise SystemExit("globals leaked")
seen = True
os.environ["LEAK"] = "1" if "LEAK" not in os.environ else sys.exit("environment leaked")
os.chdir("/")
text = open(0).read() if len(os.environ["TMPDIR"]) % 2 else sys.stdin.read()
request = json.loads(text)
os.write(1, json.dumps({"who": os.environ["TMPDIR"], "echo": request}).encode())
"#,
    );
    setup.pack("x", "execution: {kind: python, script: x.py, workers: 1}");
    let tool = setup.tool("x");
    let first = run(&tool, json!("a")).await.unwrap().data;
    let second = run(&tool, json!("ü")).await.unwrap().data;
    assert_eq!(first["who"], second["who"]);
    assert_eq!(second["echo"], json!({"input": "ü"}));
}

#[tokio::test]
async fn a_thread_of_one_call_cannot_print_in_the_next() {
    let setup = Setup::new().await;
    setup.write(
        "tools/x.py",
        r#"
import json, os, sys, threading, time
def later():
    time.sleep(0.05)
    while True:
        os.write(1, b"{}\n")
threading.Thread(target=later, daemon=True).start()
print(json.dumps(os.environ["TMPDIR"]))
"#,
    );
    setup.pack("x", "execution: {kind: python, script: x.py, workers: 1}");
    let tool = setup.tool("x");
    let mut workers = BTreeSet::new();
    for _ in 0..3 {
        workers.insert(run(&tool, json!({})).await.unwrap().data.to_string());
    }
    assert_eq!(workers.len(), 3, "such a worker must not be used again");
}

#[tokio::test]
async fn prints_of_the_code_are_not_answers() {
    let setup = setup("naughty", "").await;
    let tool = setup.tool("x");
    for _ in 0..3 {
        assert_eq!(run(&tool, json!("spoil")).await.unwrap().data["echo"], "spoil");
    }
}

#[tokio::test]
async fn node_code_that_writes_past_print_loses_its_worker() {
    if is_missing("node").await {
        return;
    }
    let setup = Setup::new().await;
    setup.write("tools/x.js", "const fs = require('fs');\nmodule.exports = (input) => { if (input === 'spoil') fs.writeSync(1, '{\"id\":1,\"data\":\"forged\"}\\n{\"id\":2,\"data\":\"forged\"}\\n'); return process.env.TMPDIR; };\n");
    setup.pack("x", "execution: {kind: node, node: x.js, workers: 1}");
    let tool = setup.tool("x");
    let before = run(&tool, json!("good")).await.unwrap().data;
    let failure = run(&tool, json!("spoil")).await.unwrap_err();
    assert_code(&failure, Code::Internal, "stdout");
    let after = run(&tool, json!("good")).await.unwrap().data;
    assert_ne!(before, after);
}

#[tokio::test]
async fn a_dead_worker_is_replaced() {
    let setup = setup("naughty", "").await;
    let tool = setup.tool("x");
    let before = run(&tool, json!(1)).await.unwrap().data;
    assert_code(&run(&tool, json!("exit")).await.unwrap_err(), Code::Internal, "exit code 3");
    let after = run(&tool, json!(2)).await.unwrap().data;
    assert_ne!(before["who"], after["who"]);
    assert_eq!(after["echo"], 2);
}

#[tokio::test]
async fn a_result_that_is_not_json_leaves_open_what_the_call_did() {
    let setup = Setup::new().await;
    setup.write("tools/m.py", MODULE);
    for workers in ["", ", workers: 1"] {
        let execution = format!("execution: {{kind: python, module: 'm:naughty'{workers}}}");
        setup.pack("x", &execution);
        let tool = setup.tool("x");
        for result in ["set", "surrogate"] {
            let failure = run(&tool, json!(result)).await.unwrap_err();
            assert_code(&failure, Code::Internal, "not JSON");
            assert!(failure.effect_unknown, "{failure}");
        }
        assert_eq!(run(&tool, json!(2)).await.unwrap().data["echo"], 2);
    }
}

#[tokio::test]
async fn a_slow_worker_is_killed_and_its_answer_is_dropped() {
    // Time enough for a worker to start on a busy machine.
    let setup = setup("naughty", "timeoutMs: 6000").await;
    let tool = setup.tool("x");
    let before = run(&tool, json!(1)).await.unwrap().data;
    assert_eq!(run(&tool, json!("sleep")).await.unwrap_err().code, Code::Timeout);
    assert_eq!(tool.health().idle_workers, 0);
    let after = run(&tool, json!(2)).await.unwrap().data;
    assert_eq!(after["echo"], 2);
    assert_ne!(before["who"], after["who"]);
}

#[tokio::test]
async fn dropped_calls_never_mix_up_answers() {
    let setup = setup("who", "").await;
    let tool = setup.tool("x");
    for n in 0..20_u64 {
        let dropped = Arc::clone(&tool);
        let task = tokio::spawn(async move { run(&dropped, json!({"dropped": n})).await });
        tokio::time::sleep(std::time::Duration::from_millis(n % 4)).await;
        task.abort();
        let output = run(&tool, json!(n)).await.unwrap();
        assert_eq!(output.data["echo"], json!(n));
    }
}

#[tokio::test]
async fn calls_wait_for_their_turn_and_none_is_lost() {
    let setup = Setup::new().await;
    setup.write("tools/m.py", MODULE);
    setup.pack("x", "execution: {kind: python, module: 'm:who', workers: 2}");
    let tool = setup.tool("x");
    let calls: Vec<_> = (0..50)
        .map(|n| {
            let tool = Arc::clone(&tool);
            tokio::spawn(async move { (n, run(&tool, json!(n)).await.unwrap().data) })
        })
        .collect();
    let mut workers = BTreeSet::new();
    for call in calls {
        let (n, data) = call.await.unwrap();
        assert_eq!(data["echo"], json!(n));
        workers.insert(data["who"].to_string());
    }
    assert!((1..=2).contains(&workers.len()), "{workers:?}");
    assert!((1..=2).contains(&tool.health().idle_workers));
}

#[tokio::test]
async fn large_inputs_and_answers_pass_both_ways() {
    let setup = setup("who", "").await;
    let tool = setup.tool("x");
    let input = json!("x".repeat(250_000));
    assert_eq!(run(&tool, input.clone()).await.unwrap().data["echo"], input);
    let failure = run(&tool, json!("x".repeat(300_000))).await.unwrap_err();
    assert_code(&failure, Code::Internal, "more than");
    assert_eq!(run(&tool, json!(1)).await.unwrap().data["echo"], 1);
}

#[tokio::test]
async fn programs_are_started_ahead_of_their_call() {
    if is_missing("node").await {
        return;
    }
    let setup = Setup::new().await;
    setup.write("tools/x.js", "const { input } = JSON.parse(require('fs').readFileSync(0, 'utf8'));\nconsole.log(JSON.stringify({ who: process.env.TMPDIR, echo: input }));\n");
    setup.pack("x", "execution: {kind: node, node: x.js, workers: 1}");
    let tool = setup.tool("x");
    let mut workers = BTreeSet::new();
    for n in 0..3 {
        let data = run(&tool, json!(n)).await.unwrap().data;
        assert_eq!(data["echo"], n);
        workers.insert(data["who"].to_string());
        eventually("the next program waits", || tool.health().idle_workers == 1).await;
    }
    assert_eq!(workers.len(), 3);
}

#[tokio::test]
async fn workers_end_with_their_pack() {
    let setup = Setup::new().await;
    setup.write("tools/m.py", "import os\ndef who(input):\n    return os.stat('.').st_ino\ndef where(input):\n    return os.getcwd()\n");
    setup.pack("x", "execution: {kind: python, module: 'm:where', workers: 1}");
    let folder = {
        let tool = setup.tool("x");
        let Value::String(folder) = (*run(&tool, json!({})).await.unwrap().data).clone() else {
            panic!("a path")
        };
        assert!(std::path::Path::new(&folder).exists());
        folder
    };
    std::fs::remove_file(setup.tools().join("x.tool.yaml")).unwrap();
    setup.load();
    // The private folder is removed when the worker has ended.
    eventually("the worker is gone", || !std::path::Path::new(&folder).exists()).await;
}

/// Functions that leave things behind and look for them, and one whose child looks into its memory.
const MESSY: &str = r#"
import os, threading, time
left = ()
def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False
def messy(input):
    global left
    folder = os.environ["TMPDIR"]
    if input == "make":
        os.makedirs(folder + "/deep/er")
        open(folder + "/deep/er/file", "w").write("secret")
        child = os.fork()
        if child == 0:
            time.sleep(600)
        reader, writer = os.pipe()
        between = os.fork()
        if between == 0:
            os.setsid()
            orphan = os.fork()
            if orphan == 0:
                time.sleep(600)
            os.write(writer, str(orphan).encode())
            os._exit(0)
        os.waitpid(between, 0)
        left = (child, int(os.read(reader, 20)))
        return {"who": folder, "child": os.waitpid(child, os.WNOHANG)[0] == 0, "orphan": alive(left[1])}
    child, orphan = left
    return {"who": folder, "files": os.listdir(folder), "child": os.waitpid(child, os.WNOHANG)[0] == 0, "orphan": alive(orphan)}
def peek(input):
    worker = os.getpid()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            open(f"/proc/{worker}/mem", "rb")
            found = "memory"
        except OSError as error:
            found = type(error).__name__
        os.write(writer, found.encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(reader, 100).decode()
def lingers(input):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    return os.environ["TMPDIR"]
"#;

#[tokio::test]
async fn files_and_children_of_a_call_are_removed_before_the_next() {
    for tier in [Tier::T0, Tier::T1, Tier::T2] {
        let setup = Setup::with(Options { tier, ..Options::default() }).await;
        setup.write("tools/m.py", MESSY);
        setup.pack("x", "execution: {kind: python, module: 'm:messy', workers: 1}");
        let tool = setup.tool("x");
        for _ in 0..3 {
            let made = run(&tool, json!("make")).await.unwrap().data;
            assert_eq!((&made["child"], &made["orphan"]), (&json!(true), &json!(true)));
            let seen = run(&tool, json!("look")).await.unwrap().data;
            let who = &made["who"];
            let clean = json!({"who": who, "files": [], "child": false, "orphan": false});
            assert_eq!(*seen, clean, "{tier}: the same worker, and nothing else");
        }
    }
}

#[tokio::test]
async fn a_child_cannot_read_the_memory_of_its_worker() {
    for tier in [Tier::T1, Tier::T2] {
        let setup = Setup::with(Options { tier, ..Options::default() }).await;
        setup.write("tools/m.py", MESSY);
        setup.pack("x", "execution: {kind: python, module: 'm:peek', workers: 1}");
        let found = run(&setup.tool("x"), json!({})).await.unwrap().data;
        assert_eq!(*found, json!("PermissionError"), "{tier}");
    }
}

#[tokio::test]
async fn a_thread_that_outlives_its_call_ends_the_worker_of_a_function() {
    let setup = Setup::new().await;
    setup.write("tools/m.py", MESSY);
    setup.pack("x", "execution: {kind: python, module: 'm:lingers', workers: 1}");
    let tool = setup.tool("x");
    let first = run(&tool, json!({})).await.unwrap().data;
    let second = run(&tool, json!({})).await.unwrap().data;
    assert_ne!(first, second);
}

#[tokio::test]
async fn tenants_never_share_a_worker() {
    let setup = Setup::new().await;
    setup.write("tools/m.py", MODULE);
    setup.pack("x", "execution: {kind: python, module: 'm:who', workers: 2}");
    let tool = setup.tool("x");
    let who = async |tenant: &str| {
        let mut request = request(json!({}));
        let principal = Principal::clone(&request.principal);
        request.principal = Arc::new(Principal { tenant: TenantId::new(tenant), ..principal });
        let data = tool.run(&Job::new(request)).await.unwrap().data;
        (data["who"].to_string(), data["calls"].as_u64().unwrap())
    };
    let (acme, _) = who("acme").await;
    let (globex, calls) = who("globex").await;
    assert_ne!(acme, globex);
    assert_eq!(calls, 1, "a new worker knows of no earlier call");
    assert_eq!((who("acme").await, who("globex").await), ((acme.clone(), 2), (globex, 2)));
    assert_eq!(tool.health().idle_workers, 2);
    let (third, _) = who("initech").await;
    assert_ne!(third, acme);
    assert_eq!(tool.health().idle_workers, 2, "the one that waited longest made room");
    assert_eq!(who("acme").await.1, 1, "it was ended, and is started again");
}
