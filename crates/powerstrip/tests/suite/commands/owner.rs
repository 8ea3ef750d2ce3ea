use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use store::{AuditFilter, Database};
use testkit::Gateway;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::commands::pipe::Pipe;
use crate::commands::project::{Project, run_in};

pub(crate) async fn run(
    folder: &Path,
    arguments: &'static [&'static str],
) -> testkit::CommandOutput {
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || run_in(&folder, arguments, "", &[])).await.unwrap()
}

fn owner_pid(folder: &Path) -> u32 {
    std::fs::read_to_string(folder.join(".powerstrip/lock")).unwrap().trim().parse().unwrap()
}

/// Starts `powerstrip serve` in a folder and waits until it listens.
pub(crate) async fn serve(folder: &Path) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_powerstrip"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("http://127.0.0.1:") {
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return child;
        }
    }
    panic!("the server ended");
}

async fn stop(mut server: Child) {
    let pid = rustix::process::Pid::from_raw(server.id().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.wait().await.unwrap().success());
}

#[test]
fn commands_that_look_say_that_no_gateway_runs_and_create_nothing() {
    let project = Project::new();
    for (arguments, printed) in [
        (&["approvals"][..], "no call waits for a decision"),
        (&["approvals", "rules"], "no standing rules"),
        (&["runs"], "no runs: a call with `--run NAME`"),
        (&["runs", "ls", "--state", "failed"], "no runs in the state `failed`"),
        (&["workflows"], "no workflows: "),
        (&["workflows", "ls", "--state", "paused"], "no workflows in the state `paused`"),
        (&["calls"], "no calls"),
    ] {
        let looked = project.run(arguments);
        assert!(looked.ok().contains(printed), "{looked:?}");
        assert!(looked.stderr.contains("no gateway runs here: the data folder"), "{looked:?}");
        let as_json = project.run(&[arguments, &["--json"]].concat());
        assert_eq!(as_json.json_of(0), json!([]), "{as_json:?}");
    }
    for arguments in [["runs", "show", "x"], ["workflows", "show", "x"], ["calls", "show", "x"]] {
        assert!(project.run(&arguments).failed(1).contains("there are no "));
    }
    assert!(!project.path().join(".powerstrip").exists());
    project.run(&["keys"]).ok();
    let looked = project.run(&["runs"]);
    assert!(looked.ok().contains("no runs: a call"), "{looked:?}");
    assert!(looked.stderr.contains("no gateway runs on the data folder"), "{looked:?}");
}

const SLOW: &str = "id: slow.nap\nversion: 1.0.0\ndescription: Sleeps for a while and says so.\n\
    deterministic: false\ninputSchema: {type: object}\noutputSchema: {type: object}\n\
    execution: {kind: cli, cmd: [sleep, '20']}\n";

#[tokio::test]
async fn commands_go_through_a_running_server() {
    let gateway = Gateway::with().config("limits: { rate: { tool: 2/1h } }").start().await;
    // Only a long-running strip can count to two.
    for expected in [Some(0), Some(0), Some(1)] {
        let ended = run(gateway.folder(), &["call", "time.now", "--json"]).await;
        assert_eq!(ended.code, expected, "{ended:?}");
    }
    let listed = run(gateway.folder(), &["tools", "--json"]).await.json_of(0);
    let served = gateway.get("/mcp/discover").await.body;
    assert_eq!(listed["tools"], served["tools"]);
    assert_eq!(owner_pid(gateway.folder()), gateway.pid());
}

#[tokio::test]
async fn a_call_through_a_running_server_is_audited_as_cli() {
    let project = Project::new();
    let server = serve(project.path()).await;
    run(project.path(), &["call", "time.now"]).await.ok();
    let mut pipe = Pipe::start(project.path(), &[]);
    pipe.initialize().await;
    pipe.echo("x").await;
    assert_eq!(pipe.close().await.0, Some(0));
    stop(server).await;
    let database = Database::open(&project.path().join(".powerstrip")).await.unwrap();
    let rows = database.audit_rows(AuditFilter::default()).await.unwrap();
    let calls: Vec<_> = rows.iter().map(|row| (&*row.tool, &*row.door)).collect();
    assert_eq!(calls, [("demo.echo", "mcp-stdio"), ("time.now", "cli")]);
}

#[tokio::test]
async fn prompts_come_from_a_running_server() {
    let gateway = Gateway::with()
        .file("prompts/packs/a/b.v1.md", "Hello {{ name }}.\n")
        .file(
            "prompts/packs/a/b.spec.yaml",
            "description: Says hello to someone.\n\
             inputSchema: {type: object, properties: {name: {type: string, description: Who.}}, required: [name]}\n",
        )
        .start()
        .await;
    assert!(run(gateway.folder(), &["prompts"]).await.ok().contains("a/b"));
    assert_eq!(run(gateway.folder(), &["prompts", "get", "a/b"]).await.ok(), "Hello {{ name }}.\n");
    let rendered =
        run(gateway.folder(), &["prompts", "render", "a/b", "--arguments", "{\"name\":\"Ada\"}"])
            .await;
    assert_eq!(rendered.ok().trim_end(), "Hello Ada.");
    let refused = run(gateway.folder(), &["prompts", "render", "a/b"]).await;
    assert!(refused.failed(1).contains("name"), "{refused:?}");
    assert!(run(gateway.folder(), &["prompts", "get", "a/c"]).await.failed(1).contains("a/c"));
}

#[tokio::test]
async fn many_stdio_processes_share_one_server() {
    let gateway = Gateway::start().await;
    let mut pipes: Vec<_> = (0..4).map(|_| Pipe::start(gateway.folder(), &[])).collect();
    for (number, pipe) in pipes.iter_mut().enumerate() {
        pipe.initialize().await;
        let text = number.to_string();
        assert_eq!(pipe.echo(&text).await["result"]["structuredContent"], json!({"message": text}));
    }
    assert_eq!(owner_pid(gateway.folder()), gateway.pid());
}

#[tokio::test]
async fn commands_go_through_a_running_stdio_process() {
    let project = Project::new();
    let mut pipe = Pipe::start(project.path(), &[]);
    pipe.initialize().await;
    assert_eq!(owner_pid(project.path()), pipe.pid());
    run(project.path(), &["call", "demo.echo", "--input", "{\"message\":\"x\"}"]).await.ok();
    let mut second = Pipe::start(project.path(), &[]);
    second.initialize().await;
    assert_eq!(second.echo("x").await["result"]["structuredContent"], json!({"message": "x"}));
    assert_eq!(owner_pid(project.path()), pipe.pid());
}

#[tokio::test]
async fn a_server_takes_over_from_a_stdio_process() {
    let project = Project::new();
    let mut pipe = Pipe::start(project.path(), &[]);
    pipe.initialize().await;
    let mut second = Pipe::start(project.path(), &[]);
    second.initialize().await;
    assert_eq!(owner_pid(project.path()), pipe.pid());

    let server = serve(project.path()).await;
    assert_eq!(owner_pid(project.path()), server.id().unwrap());
    for pipe in [&mut pipe, &mut second] {
        let answer = pipe.echo_eventually("still here").await;
        assert_eq!(answer["result"]["structuredContent"], json!({"message": "still here"}));
    }
    assert_eq!(pipe.close().await.0, Some(0));
}

#[tokio::test]
async fn a_stdio_process_takes_over_from_a_crashed_server() {
    let project = Project::new();
    let mut server = serve(project.path()).await;
    let mut pipes = [Pipe::start(project.path(), &[]), Pipe::start(project.path(), &[])];
    for pipe in &mut pipes {
        pipe.initialize().await;
    }
    server.kill().await.unwrap();
    for pipe in &mut pipes {
        let answer = pipe.echo_eventually("still here").await;
        assert_eq!(answer["result"]["structuredContent"], json!({"message": "still here"}));
    }
    let owner = owner_pid(project.path());
    assert!(pipes.iter().any(|pipe| pipe.pid() == owner), "one of them holds the folder now");

    let [first, second] = pipes;
    let (holder, mut other) = if first.pid() == owner { (first, second) } else { (second, first) };
    holder.kill().await;
    other.echo_eventually("last one").await;
}

#[tokio::test]
async fn a_lost_request_gets_an_error() {
    let project = Project::new();
    project.write("tools/slow.tool.yaml", SLOW);
    let mut server = serve(project.path()).await;
    let mut pipe = Pipe::start(project.path(), &[]);
    pipe.initialize().await;
    let id = pipe.ask("tools/call", &json!({"name": "slow.nap", "arguments": {}})).await;
    // The session exists, so the call has been sent when a later request is answered.
    pipe.request("tools/list", &json!({})).await;
    server.kill().await.unwrap();
    let answer = pipe.answer(id).await;
    assert_eq!(
        answer["error"]["data"],
        json!({"code": "UNAVAILABLE", "retryable": true}),
        "{answer}"
    );
    assert!(answer["error"]["message"].as_str().unwrap().contains("Try again"));
    pipe.echo_eventually("goes on").await;
}

#[tokio::test]
async fn a_server_that_stops_lets_calls_of_stdio_processes_finish() {
    let project = Project::new();
    let short = SLOW.replace("[sleep, '20']", "[sh, -c, 'sleep 2; echo {}']");
    project.write("tools/slow.tool.yaml", &short);
    let server = serve(project.path()).await;
    let mut pipe = Pipe::start(project.path(), &[]);
    pipe.initialize().await;
    let id = pipe.ask("tools/call", &json!({"name": "slow.nap", "arguments": {}})).await;
    // The call has begun when a later request is answered.
    pipe.request("tools/list", &json!({})).await;
    stop(server).await;
    let answer = pipe.answer(id).await;
    assert_eq!(answer["result"]["structuredContent"], json!({}), "{answer}");
    assert_ne!(answer["result"]["isError"], true, "{answer}");
}

#[tokio::test]
async fn a_stdio_process_that_stops_lets_calls_of_all_sessions_finish() {
    let project = Project::new();
    let short = SLOW.replace("[sleep, '20']", "[sh, -c, 'sleep 2; echo {}']");
    project.write("tools/slow.tool.yaml", &short);
    // The first process holds the data folder once it has answered.
    let mut owner = Pipe::start(project.path(), &[]);
    owner.initialize().await;
    let mut other = Pipe::start(project.path(), &[]);
    other.initialize().await;
    let mut calls = Vec::new();
    for pipe in [&mut owner, &mut other] {
        calls.push(pipe.ask("tools/call", &json!({"name": "slow.nap", "arguments": {}})).await);
        // The call has begun when a later request is answered.
        pipe.request("tools/list", &json!({})).await;
    }
    assert_eq!(owner_pid(project.path()), owner.pid());
    owner.terminate();
    for (pipe, id) in [(&mut owner, calls[0]), (&mut other, calls[1])] {
        let answer = pipe.answer(id).await;
        assert_eq!(answer["result"]["structuredContent"], json!({}), "{answer}");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
    }
    let going_on = other.echo_eventually("goes on").await;
    assert_eq!(going_on["result"]["structuredContent"], json!({"message": "goes on"}));
}

#[tokio::test]
async fn stdio_processes_survive_server_restarts() {
    let project = Project::new();
    let mut pipe = Pipe::start(project.path(), &[]);
    pipe.initialize().await;
    for round in 0..3 {
        let server = serve(project.path()).await;
        pipe.echo_eventually(&format!("served {round}")).await;
        stop(server).await;
        pipe.echo_eventually(&format!("alone {round}")).await;
    }
    assert_eq!(pipe.close().await.0, Some(0));
}

#[tokio::test]
async fn many_calls_at_once_on_an_empty_folder_all_succeed() {
    let project = Project::new();
    let calls = (0..6)
        .map(|_| run(project.path(), &["call", "demo.echo", "--input", "{\"message\":\"x\"}"]));
    for ended in futures_util::future::join_all(calls).await {
        ended.ok();
    }
}

#[tokio::test]
async fn long_data_folder_paths_work() {
    let project = Project::new();
    let deep = "deep/".repeat(30);
    project.write(&format!("{deep}/powerstrip.yaml"), "{}\n");
    let folder = project.path().join(deep);
    let mut pipe = Pipe::start(&folder, &[]);
    pipe.initialize().await;
    let ended =
        run(&folder, &["call", "demo.echo", "--input", "{\"message\":\"x\"}", "--json"]).await;
    assert_eq!(ended.json_of(0)["ok"], json!(true));
    assert_eq!(owner_pid(&folder), pipe.pid());
}

#[tokio::test]
async fn a_legacy_session_survives_a_takeover() {
    let project = Project::new();
    let mut pipe = Pipe::start(project.path(), &[]);
    pipe.initialize().await;
    let _server = serve(project.path()).await;
    // A legacy client is notified that lists may have changed and continues without a new handshake.
    let notice: Value = pipe.read().await;
    assert_eq!(notice["method"], "notifications/tools/list_changed");
    let tools = pipe.request("tools/list", &json!({})).await;
    assert!(tools["result"]["tools"].is_array(), "{tools}");
}
