//! A dead, hanging or crashing server affects only its own callers.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use testkit::{Gateway, McpServer, eventually};

use crate::servers::support::{
    HttpFixture, command, fixture, listed, over_http, over_stdio, wait_until_listed,
};

async fn greet(gateway: &Gateway, server: &str) -> Value {
    gateway.call(&format!("{server}:greet"), &json!({"name": "Ada"})).await.body
}

#[tokio::test]
async fn a_dead_server_is_reported_and_recovers() {
    let far = HttpFixture::start().await;
    let servers = format!("servers:\n{}{}", over_stdio("near"), over_http("far", &far.url));
    let gateway = Gateway::with().config(&servers).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    wait_until_listed(&gateway, "far__greet").await;

    let place = far.kill().await;
    let answer = eventually("the dead server is noticed", || async {
        let answer = greet(&gateway, "far").await;
        (answer["ok"] == json!(false)).then_some(answer)
    })
    .await;
    assert_eq!(answer["errors"][0]["code"], json!("UNAVAILABLE"), "{answer}");
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("`far`"), "{message}");
    assert_eq!(greet(&gateway, "near").await["ok"], json!(true));
    assert!(listed(&gateway).await.contains(&"far__greet".to_owned()), "the last list is served");
    assert_eq!(gateway.get("/readyz").await.status, 200, "the gateway itself is well");

    let _far = HttpFixture::at(place).await;
    eventually("the server is back", || async {
        (greet(&gateway, "far").await["ok"] == json!(true)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn hanging_servers_delay_no_other_server() {
    // Accepts connections and never answers.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", silent.local_addr().expect("an address"));
    let servers = format!(
        "servers:\n  asleep: {{ command: sleep, args: ['1000'] }}\n{}{}",
        over_http("silent", &url),
        over_stdio("near")
    );
    let began = Instant::now();
    let gateway = Gateway::with().config(&servers).start().await;
    assert_eq!(gateway.call("demo.echo", &json!({"message": "hi"})).await.body["ok"], json!(true));
    wait_until_listed(&gateway, "near__greet").await;
    assert_eq!(greet(&gateway, "near").await["ok"], json!(true));
    // Each of the two has a minute to start.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(gateway.stop().await, Some(0));
}

#[tokio::test]
async fn the_state_of_each_server_is_shown() {
    let far = HttpFixture::start().await;
    let servers = format!(
        "servers:\n  broken: {{ command: sh, args: [-c, 'echo it is broken >&2; exit 3'] }}\n  \
         off: {{ command: nothing, disabled: true }}\n{}",
        over_http("far", &far.url)
    );
    let gateway = Gateway::with().config(&servers).start().await;
    wait_until_listed(&gateway, "far__greet").await;
    let shown = eventually("the broken server is down, with its last stderr lines", || async {
        let shown = command(&gateway, &["servers"]).await;
        let is_read = shown[0]["stderrTail"].is_string() && shown[1]["tools"] != json!(0);
        (shown[0]["state"] == json!("down") && is_read).then_some(shown)
    })
    .await;
    let names: Vec<_> = shown.as_array().expect("a list").iter().map(|s| &s["name"]).collect();
    assert_eq!(names, ["broken", "far", "off"]);
    assert!(shown[0]["lastError"].is_string(), "{shown}");
    assert!(shown[0]["stderrTail"].as_str().expect("stderr").contains("it is broken"), "{shown}");
    assert_eq!(shown[1]["state"], json!("ready"));
    assert_eq!(shown[1]["era"], json!("modern"));
    assert!(shown[1]["tools"].as_u64().expect("a number") > 3, "{shown}");
    assert_eq!(shown[2]["state"], json!("disabled"));
}

#[tokio::test]
async fn the_last_tool_list_survives_a_restart() {
    let data = tempfile::tempdir().expect("a folder");
    let far = HttpFixture::start().await;
    let config = format!(
        "data_dir: '{}'\nservers:\n{}",
        data.path().join("data").display(),
        over_http("far", &far.url)
    );
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "far__greet").await;
    assert_eq!(gateway.stop().await, Some(0));
    let _place = far.kill().await;

    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "far__greet").await;
    let answer = greet(&gateway, "far").await;
    assert_eq!(answer["errors"][0]["code"], json!("UNAVAILABLE"), "{answer}");
}

/// A server that writes its process id to a file before it starts.
fn entry_writing_pid(file: &Path) -> String {
    let script = format!("echo $$ > {}; exec {}", file.display(), fixture().display());
    format!("servers:\n  near: {{ command: sh, args: [-c, '{script}'] }}\n")
}

fn pid(file: &Path) -> Pid {
    let text = std::fs::read_to_string(file).expect("the server has begun");
    Pid::from_raw(text.trim().parse().expect("a process id")).expect("a process id")
}

#[tokio::test]
async fn no_server_process_survives_the_gateway() {
    let folder = tempfile::tempdir().expect("a folder");
    for murdered in [false, true] {
        let file = folder.path().join(format!("pid-{murdered}"));
        let gateway = Gateway::with().config(&entry_writing_pid(&file)).start().await;
        wait_until_listed(&gateway, "near__greet").await;
        let server = pid(&file);
        test_kill_process(server).expect("it lives");
        if murdered {
            let gateway = Pid::from_raw(gateway.pid().cast_signed()).expect("a process id");
            kill_process(gateway, Signal::KILL).expect("it can be killed");
        } else {
            assert_eq!(gateway.stop().await, Some(0));
        }
        eventually("the server is gone", || async {
            test_kill_process(server).is_err().then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn no_descendant_of_a_server_survives_a_killed_gateway() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let (pids, server) = (file.display(), fixture());
    let server = server.display();
    // A server behind a shell, one that hangs behind a shell, and one that starts a daemon.
    let servers = format!(
        "servers:\n  \
         shell: {{ command: sh, args: [-c, 'exec 3<&0; {server} <&3 & echo $! >> {pids}; wait'] }}\n  \
         hung: {{ command: sh, args: [-c, 'sleep 1000 & echo $! >> {pids}; wait'] }}\n  \
         daemon: {{ command: sh, args: [-c, '(setsid sleep 1000 <&- >&- 2>&- & echo $! >> {pids}); exec {server}'] }}\n"
    );
    let gateway = Gateway::with().config(&servers).start().await;
    wait_until_listed(&gateway, "shell__greet").await;
    wait_until_listed(&gateway, "daemon__greet").await;
    let descendants = eventually("all have begun", || async {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let pids = text.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?));
        let pids: Vec<Pid> = pids.collect();
        (pids.len() == 3).then_some(pids)
    })
    .await;
    for pid in &descendants {
        test_kill_process(*pid).expect("it lives");
    }
    let gateway = Pid::from_raw(gateway.pid().cast_signed()).expect("a process id");
    kill_process(gateway, Signal::KILL).expect("it can be killed");
    eventually("all are gone", || async {
        descendants.iter().all(|pid| test_kill_process(*pid).is_err()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn server_text_cannot_control_the_terminal() {
    let evil = "x\u{1b}[2J\u{1b}]0;owned\u{7}\nforged  ready  stdio  modern  99 tools\u{202e}";
    let tools = vec![
        json!({"name": "good", "inputSchema": {"type": "object"}}),
        json!({"name": evil, "inputSchema": {"type": "object"}}),
    ];
    let far = McpServer::start(tools).await;
    let servers = format!(
        "servers:\n  broken: {{ command: printf, args: ['\\033[2J\\rforged\\n'] }}\n  \
         loud: {{ command: sh, args: [-c, 'printf \"\\033[2J\\rwiped\\n\" >&2; exit 3'] }}\n{}",
        over_http("far", &far.url())
    );
    let gateway = Gateway::with().config(&servers).start().await;
    wait_until_listed(&gateway, "far__good").await;
    eventually("the noisy server is down", || async {
        let shown = command(&gateway, &["servers"]).await;
        (shown[2]["state"] == json!("down") && shown[2]["stderrTail"].is_string()).then_some(())
    })
    .await;
    // Text of a caller as well.
    gateway.call("no\u{1b}[2J%0Aforged", &json!({})).await;
    let (printed, logged) = (gateway.run(&["servers"]).await.stdout, gateway.log());
    for (place, text) in [("terminal", &printed), ("log", &logged)] {
        assert!(text.contains("forged"), "{place}: {text}");
        let odd = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(odd), "{place}: {text:?}");
        let forged =
            text.lines().find(|line| line.starts_with("forged") || line.starts_with("wiped"));
        assert_eq!(forged, None, "{place}: {text}");
    }
}

#[tokio::test]
async fn commands_reach_servers_without_a_gateway() {
    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    let alone = tempfile::tempdir().expect("a folder");
    let data = alone.path().join("data");
    let data = data.to_str().expect("a path");
    let input = r#"{"name":"Ada"}"#;
    let answer =
        command(&gateway, &["call", "near:greet", "--input", input, "--data-dir", data]).await;
    assert_eq!(answer["ok"], json!(true), "{answer}");
}
