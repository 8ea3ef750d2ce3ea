//! A wrong entry below `servers` turns off that server and no other.

use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::servers::support::{command, fixture, listed, over_stdio, wait_until_listed};

const WRONG: &str = "  odd: { comand: x }\n  \
    both: { command: x, url: 'http://127.0.0.1:9/mcp' }\n  \
    text: sk-canary-of-test\n  \
    typed: { command: x, args: --port }\n  \
    far: { url: 'http://127.0.0.1:9/mcp', tpyo: x }\n";

async fn server(gateway: &Gateway, name: &str) -> Value {
    let servers = command(gateway, &["servers"]).await;
    let mut servers = servers.as_array().expect("servers").iter();
    servers.find(|server| server["name"] == json!(name)).expect("the server").clone()
}

#[tokio::test]
async fn wrong_entries_are_reported_and_all_other_servers_start() {
    let servers = format!("servers:\n{}{WRONG}", over_stdio("near"));
    let skills = "skills:\n  all: { servers: [near, odd, text] }\n";
    let gateway = Gateway::with().config(&servers).config(skills).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    let log = gateway.log();
    for key in ["servers.odd.comand", "servers.both.url", "servers.text", "servers.typed.args"] {
        assert!(log.contains(key), "{key}: {log}");
    }

    for (name, kind, line, says) in [
        ("odd", "unknown", ":4: ", "`comand`: unknown key; did you mean `command`?"),
        ("both", "stdio", ":5: ", "`url`: a server has a command or a URL, not both"),
        ("text", "unknown", ":6: ", "expected keys and values, found text"),
        ("typed", "stdio", ":7: ", "`args`: expected a list, found text"),
        ("far", "http", ":8: ", "`tpyo`: unknown key"),
    ] {
        let shown = server(&gateway, name).await;
        assert_eq!((&shown["state"], &shown["kind"]), (&json!("invalid"), &json!(kind)), "{shown}");
        let reason = shown["reason"].as_str().expect("a reason");
        assert!(reason.contains(says) && reason.contains(line), "{name}: {reason}");
        assert!(reason.contains("powerstrip.yaml:"), "{reason}");
        assert!(reason.contains(&format!("`powerstrip remove {name}`")), "{reason}");

        let answer = gateway.call(&format!("{name}:greet"), &json!({})).await.body;
        let error = &answer["errors"][0];
        assert_eq!(error["code"], json!("UNAVAILABLE"), "{answer}");
        assert_eq!(error["details"]["state"], json!("invalid"), "{answer}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(says) && message.contains("`powerstrip check`"), "{message}");
        assert!(
            !message.contains("powerstrip.yaml"),
            "callers do not learn where it is: {message}"
        );
    }

    let checked = gateway.run(&["check", "--json"]).await.json_of(1);
    let findings = checked["findings"].as_array().expect("findings");
    let errors = findings.iter().filter(|finding| finding["severity"] == json!("error"));
    assert_eq!(errors.count(), 5, "{checked}");
    let examined = gateway.run(&["doctor", "--json"]).await.json_of(0);
    let warnings = examined["checks"].as_array().expect("checks").iter();
    assert_eq!(warnings.filter(|found| found["warning"] == json!(true)).count(), 5, "{examined}");
    let shown = gateway.run(&["config", "show"]).await;
    assert!(
        shown.ok().contains("near:") && shown.stderr.contains("servers.odd.comand"),
        "{shown:?}"
    );
    let restarted = gateway.run(&["servers", "restart", "odd"]).await;
    assert!(restarted.stderr.contains("did you mean `command`?"), "{restarted:?}");
    assert!(!gateway.log().contains("canary") && !shown.stdout.contains("canary"));
}

#[tokio::test]
async fn a_reload_follows_entries_that_are_corrected_and_broken() {
    let stays = format!("listen: 127.0.0.1:0\nservers:\n{}", over_stdio("near"));
    let config = format!("servers:\n{}{WRONG}", over_stdio("near"));
    let gateway = Gateway::with().config(&config).start().await;
    wait_until_listed(&gateway, "near__greet").await;

    gateway.write("powerstrip.yaml", &format!("{stays}{}", over_stdio("odd")));
    wait_until_listed(&gateway, "odd__greet").await;

    let broken = format!("  odd: {{ command: '{}', timeuot: 5s }}\n", fixture().display());
    gateway.write("powerstrip.yaml", &format!("{stays}{broken}"));
    eventually("its tools are gone", || async {
        (!listed(&gateway).await.iter().any(|name| name.starts_with("odd__"))).then_some(())
    })
    .await;
    let reason = server(&gateway, "odd").await["reason"].to_string();
    assert!(reason.contains("did you mean `timeout`?"), "{reason}");
    assert!(listed(&gateway).await.contains(&"near__greet".to_owned()));
}

#[tokio::test]
async fn a_call_waits_for_a_server_that_starts() {
    let wait = "while [ ! -e go ]; do sleep 0.01; done; exec \"$0\"";
    let entry =
        json!({"command": "sh", "args": ["-c", wait, fixture()], "timeout": "60s"}).to_string();
    let gateway = Gateway::with().config(&format!("servers:\n  slow: {entry}\n")).start().await;
    let shown = gateway.get("/v1/servers/slow").await.body;
    assert_eq!(shown["state"], json!("starting"), "{shown}");
    let call = async {
        let answer = gateway.call("slow:greet", &json!({"name": "Ada"})).await.body;
        assert_eq!(answer["ok"], json!(true), "{answer}");
    };
    let start = async {
        // The call is under way when the server starts.
        tokio::task::yield_now().await;
        gateway.write("go", "");
    };
    tokio::join!(call, start);
    assert_eq!(server(&gateway, "slow").await["state"], json!("ready"));
}
