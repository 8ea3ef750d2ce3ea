//! An operator watches servers and calls, and switches servers, by commands and over HTTP.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Gateway, Response, eventually, send};

use crate::servers::support::{command, fixture, over_stdio, wait_until_listed};

/// A server that writes a line to stderr when it starts, in a config with comments.
fn talkative() -> String {
    format!(
        "# Our servers.\nservers:\n  # It greets.\n  near:\n    command: sh   # a shell\n    args: [-c, 'echo starting up >&2; \
         exec {}']\n",
        fixture().display()
    )
}

/// Sends a request with the admin token.
async fn as_admin(gateway: &Gateway, path: &str) -> Response {
    let request = reqwest::Client::new().post(gateway.url(path)).json(&json!({}));
    send(request.bearer_auth(gateway.admin_token())).await
}

async fn state(gateway: &Gateway) -> Value {
    command(gateway, &["servers", "show", "near"]).await["state"].clone()
}

async fn wait_for_state(gateway: &Gateway, expected: &str) {
    eventually(&format!("the server is {expected}"), || async {
        (state(gateway).await == json!(expected)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_server_is_shown_restarted_disabled_and_enabled() {
    let gateway = Gateway::with().config(&talkative()).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    let greeted = gateway.call("near:greet", &json!({"name": "Ada"})).await;
    assert_eq!(greeted.body["ok"], json!(true), "{greeted:?}");

    let before = eventually("the call is counted", || async {
        let shown = command(&gateway, &["servers", "show", "near"]).await;
        (shown["calls"]["count"] == json!(1)).then_some(shown)
    })
    .await;
    for (key, expected) in [("state", "ready"), ("kind", "stdio"), ("transport", "stdio")] {
        assert_eq!(before[key], json!(expected), "{before}");
    }
    assert!(
        before["calls"]["p95Ms"].is_number() && before["processes"][0]["started_at"].is_string()
    );
    let offered: Vec<_> = before["offered"].as_array().unwrap().iter().map(|t| &t["id"]).collect();
    assert!(offered.contains(&&json!("near:greet")), "{before}");
    let printed = gateway.run(&["servers", "show", "near"]).await;
    for part in ["near:greet", "starting up", "1 in the last hour, 0 failed"] {
        assert!(printed.ok().contains(part), "{part}: {printed:?}");
    }

    let restarted = gateway.run(&["servers", "restart", "near"]).await;
    assert!(restarted.ok().contains("is restarted"), "{restarted:?}");
    let after = eventually("it runs again", || async {
        let shown = command(&gateway, &["servers", "show", "near"]).await;
        (shown["state"] == json!("ready")).then_some(shown)
    })
    .await;
    assert_ne!(after["processes"][0]["pid"], before["processes"][0]["pid"]);
    let log = gateway.run(&["servers", "logs", "near"]).await;
    assert_eq!(log.ok().matches("starting up").count(), 2, "kept across the restart: {log:?}");
    assert!(log.ok().contains("[gateway] restarted by the operator"), "{log:?}");
    let lines = gateway.get("/v1/servers/near/logs").await.body;
    let next = lines["next"].as_u64().unwrap();
    assert_eq!(lines["lines"].as_array().unwrap().last().unwrap()["number"], json!(next));
    let newer = gateway.get(&format!("/v1/servers/near/logs?after={next}")).await.body;
    assert_eq!(newer["lines"], json!([]), "{newer}");

    let file = gateway.folder().join("powerstrip.yaml");
    let written = fs::read_to_string(&file).unwrap();
    let unsigned = reqwest::Client::new().post(gateway.url("/v1/servers/near/disable"));
    assert_eq!(send(unsigned.json(&json!({}))).await.status, 403, "the local user is no operator");
    let disabled = as_admin(&gateway, "/v1/servers/near/disable").await;
    assert_eq!(
        (disabled.status, &disabled.body["state"]),
        (200, &json!("disabled")),
        "{disabled:?}"
    );
    let edited = fs::read_to_string(&file).unwrap();
    assert!(edited.contains("disabled: true"), "{edited}");
    for comment in ["# Our servers.", "# It greets.", "# a shell"] {
        assert!(edited.contains(comment), "{edited}");
    }
    wait_for_state(&gateway, "disabled").await;
    let refused = as_admin(&gateway, "/v1/servers/near/restart").await;
    assert!(refused.body.to_string().contains("powerstrip enable near"), "{refused:?}");
    let enabled = as_admin(&gateway, "/v1/servers/near/enable").await;
    assert_eq!(enabled.status, 200, "{enabled:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), written, "byte for byte as it was");
    wait_for_state(&gateway, "ready").await;

    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let read_only = as_admin(&gateway, "/v1/servers/near/disable").await;
    assert_eq!(read_only.status, 503, "{read_only:?}");
    assert!(read_only.body.to_string().contains("read-only"), "{read_only:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    assert_eq!(state(&gateway).await, json!("ready"));

    let rows = command(&gateway, &["calls", "tail", "--text", "servers."]).await;
    let decisions: Vec<_> = rows.as_array().unwrap().iter().map(|row| &row["decision"]).collect();
    assert_eq!(decisions, ["restarted", "disabled", "attempted", "enabled", "attempted"], "{rows}");
    assert_eq!(rows[1]["subject"], json!("admin"));
    assert_eq!(rows[1]["tool"], json!("servers.disable:near"));
}

#[tokio::test]
async fn a_broken_server_leaves_its_words_and_few_log_lines() {
    let broken = "servers:\n  broken: { command: sh, args: [-c, 'echo the licence has expired >&2; exit 3'] }\n";
    let gateway = Gateway::with().config(broken).start().await;
    let shown = eventually("it was tried several times", || async {
        let shown = command(&gateway, &["servers", "show", "broken"]).await;
        (shown["restarts"].as_u64() >= Some(4)).then_some(shown)
    })
    .await;
    assert!(shown["lastError"].as_str().unwrap().contains("exit code 3"), "{shown}");
    assert!(shown["last_error_at"].is_string() && shown["reason"].is_string(), "{shown}");
    let log = gateway.run(&["servers", "logs", "broken"]).await;
    assert!(log.ok().matches("the licence has expired").count() >= 4, "{log:?}");
    assert!(log.ok().contains("it ended with exit code 3"), "{log:?}");
    let logged = gateway.log();
    let about = logged.lines().filter(|line| line.contains("broken")).count();
    assert_eq!(about, 1, "one line when it went down, and the next a minute later: {logged}");
    let unknown = gateway.run(&["servers", "logs", "nothing"]).await;
    assert!(unknown.failed(1).contains("there is no server `nothing`"), "{unknown:?}");
}

#[tokio::test]
async fn calls_are_listed_and_shown_with_their_messages() {
    let gateway =
        Gateway::with().config(&format!("servers:\n{}", over_stdio("near"))).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    gateway.call("near:greet", &json!({"name": "Ada"})).await;
    let failed = gateway.call("demo.echo", &json!({"message": 7})).await.body;
    let trace = failed["meta"]["traceId"].as_str().unwrap();
    let rows = eventually("both are recorded", || async {
        let rows = command(&gateway, &["calls"]).await;
        (rows.as_array().map(Vec::len) == Some(2)).then_some(rows)
    })
    .await;
    assert_eq!((&rows[0]["tool"], &rows[1]["tool"]), (&json!("near:greet"), &json!("demo.echo")));
    assert!(rows[0]["message"].is_null() && rows[0]["at"].is_string(), "{rows}");
    assert_eq!(rows[1]["message"], failed["errors"][0]["message"], "{rows}");

    let tail = gateway.run(&["calls", "tail", "--failed"]).await;
    let message = failed["errors"][0]["message"].as_str().unwrap();
    assert!(tail.ok().contains(message) && !tail.ok().contains("near:greet"), "{tail:?}");
    let of_server = command(&gateway, &["calls", "tail", "--server", "near"]).await;
    assert_eq!(of_server.as_array().map(Vec::len), Some(1), "{of_server}");
    let shown = gateway.run(&["calls", "show", &trace[..8]]).await;
    for part in [message, "INVALID_INPUT", trace, "refused"] {
        assert!(shown.ok().contains(part), "{part}: {shown:?}");
    }
    let unknown = gateway.run(&["calls", "show", "00000000"]).await;
    assert!(unknown.failed(1).contains("trace id"), "{unknown:?}");
    let counted = gateway.get("/v1/overview?range=15m").await.body;
    assert_eq!((&counted["calls"], &counted["errors"]), (&json!(2), &json!(1)), "{counted}");
    assert_eq!(counted["series"].as_array().map(Vec::len), Some(60), "{counted}");
    let wrong = gateway.get("/v1/overview?range=soon").await;
    assert_eq!(wrong.body["errors"][0]["code"], json!("INVALID_INPUT"), "{wrong:?}");
}

/// Whether a text is anywhere in the database of a data folder.
fn is_stored(folder: &Path, text: &str) -> bool {
    let files =
        fs::read_dir(folder.join(".powerstrip")).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.to_string_lossy().contains("powerstrip.db"))
        .any(|file| fs::read(file).unwrap().windows(text.len()).any(|part| part == text.as_bytes()))
}

#[tokio::test]
async fn arguments_and_results_are_kept_only_where_the_config_asks() {
    const CANARY: &str = "canary-of-the-arguments";
    const SECRET: &str = "hunter2-hunter2-hunter2";
    let server = format!(
        "servers:\n  near: {{ command: '{}', env: {{ CRM_TOKEN: {{ env: CRM_TOKEN }} }} }}\n",
        fixture().display()
    );
    for (config, kept) in
        [(server.clone(), false), (format!("{server}audit: {{ payloads: redacted }}\n"), true)]
    {
        let gateway = Gateway::with().config(&config).env("CRM_TOKEN", SECRET).start().await;
        wait_until_listed(&gateway, "near__greet").await;
        let message = format!("{CANARY} {SECRET}");
        let answer = gateway.call("demo.echo", &json!({"message": message})).await.body;
        assert_eq!(answer["ok"], json!(true), "{answer}");
        let trace = answer["meta"]["traceId"].as_str().unwrap();
        let variables = [("CRM_TOKEN", SECRET)];
        let shown = eventually("it is recorded", || async {
            let shown = gateway.run_with(&["calls", "show", trace, "--json"], &variables).await;
            (shown.code == Some(0)).then(|| shown.json())
        })
        .await;
        let arguments = shown[0]["arguments"]["message"].as_str();
        assert_eq!(arguments, kept.then_some(&*format!("{CANARY} ****")), "{shown}");
        assert_eq!(shown[0]["result"].is_object(), kept, "{shown}");
        // Where tests run on PostgreSQL, there is no such file.
        if gateway.folder().join(".powerstrip/powerstrip.db").exists() {
            assert_eq!(is_stored(gateway.folder(), CANARY), kept);
        }
        assert!(!is_stored(gateway.folder(), SECRET), "no secret is ever stored");
    }
}

#[tokio::test]
async fn a_gated_call_says_where_to_decide_and_keeps_to_its_timeout() {
    let gated = "skills:\n  asked: { tools: ['demo.echo'], auto_approve: false, approval_timeout: 60s }\n\
                 agents:\n  bot: { skills: [asked] }\n";
    let gateway = Gateway::with().config(gated).start().await;
    let call = ["call", "demo.echo", "--input", r#"{"message":"hi"}"#];
    let began = Instant::now();
    let late = gateway.run(&[&call[..], &["--timeout", "5s"]].concat()).await;
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let said = late.failed(1);
    let dashboard = gateway.url("/dashboard/approvals/");
    for part in [
        "waiting for approval of demo.echo",
        "powerstrip approvals approve ",
        "TIMEOUT",
        &dashboard,
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let pending = command(&gateway, &["approvals"]).await;
    let id = pending[0]["id"].as_str().unwrap();
    assert!(said.contains(&format!("approvals approve {}", &id[..8])), "{said}");
    gateway.run(&["approvals", "approve", &id[..8]]).await.ok();
    let answered = gateway.run(&call).await;
    assert!(answered.ok().contains("hi") && !answered.stderr.contains("waiting"), "{answered:?}");
}
