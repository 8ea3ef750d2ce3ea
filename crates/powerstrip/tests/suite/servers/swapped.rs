//! An approval covers the code and the idempotency key that the reviewer saw.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Gateway, Response, send};

use crate::servers::approvals::Reviewer;
use crate::servers::support::wait_until_listed;

const GATED: &str = "skills:
  asked: { tools: ['pack.*'], auto_approve: false, approval_timeout: 60s }
";

fn pack(program: &Path) -> String {
    format!(
        "id: pack.act\nversion: 1.0.0\ndescription: Acts.\ndeterministic: false\n\
         inputSchema: {{ type: object }}\noutputSchema: {{ type: object }}\n\
         execution: {{ kind: cli, cmd: ['{}'] }}\n",
        program.display()
    )
}

/// Replaces a program atomically.
fn install(program: &Path, text: &str) {
    let replacement = program.with_extension("new");
    fs::write(&replacement, text).unwrap();
    fs::set_permissions(&replacement, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(replacement, program).unwrap();
}

fn script_printing(word: &str) -> String {
    format!("#!/bin/sh\necho '{{\"ran\": \"{word}\"}}'\n")
}

async fn gateway(program: &Path) -> Gateway {
    let setup = Gateway::with().file("tools/act.tool.yaml", &pack(program)).config(GATED);
    let gateway = setup.start().await;
    wait_until_listed(&gateway, "pack_act").await;
    gateway
}

fn assert_denied(answer: &Response) {
    let error = &answer.body["errors"][0];
    assert_eq!((answer.status, &error["code"]), (403, &json!("DENIED")), "{answer:?}");
    assert!(error["message"].as_str().unwrap().contains("code changed"), "{answer:?}");
}

#[tokio::test]
async fn a_program_replaced_during_approval_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("act");
    install(&program, &script_printing("old"));
    let gateway = gateway(&program).await;
    let reviewer = Reviewer::of(&gateway);
    let input = json!({});

    let call = gateway.call("pack.act", &input);
    let (answer, shown) = tokio::join!(call, reviewer.decide_next("approve"));
    assert_eq!(answer.body["data"], json!({"ran": "old"}), "{answer:?}");

    let call = gateway.call("pack.act", &input);
    let (answer, _) = tokio::join!(call, async {
        let row = reviewer.waiting().await;
        install(&program, &script_printing("new"));
        let id = row["id"].as_str().unwrap();
        let standing = json!({"decision": "approve", "standing": {"arguments": "any"}});
        assert_eq!(reviewer.decide(id, &standing).await.status, 200);
    });
    assert_denied(&answer);

    // Neither the approval nor the standing rule covers the new program.
    let call = gateway.call("pack.act", &input);
    let (answer, _) = tokio::join!(call, reviewer.decide_next("approve"));
    assert_eq!(answer.body["data"], json!({"ran": "new"}), "{answer:?}");
    install(&program, &script_printing("old"));
    let answer = gateway.call("pack.act", &input).await;
    assert_eq!(answer.body["data"], json!({"ran": "old"}), "the rule is for this one: {answer:?}");
    assert!(shown["code"].is_string(), "{shown}");
}

#[tokio::test]
async fn an_approval_shows_and_covers_the_idempotency_key() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("act");
    install(&program, &script_printing("old"));
    let gateway = gateway(&program).await;
    let reviewer = Reviewer::of(&gateway);
    let keyed = |key: &'static str| {
        let url = gateway.url("/mcp/tool/pack.act");
        let request = reqwest::Client::new().post(url).header("idempotency-key", key);
        send(request.json(&json!({})))
    };
    let row: Value = tokio::select! {
        answer = keyed("first") => panic!("the call was not approved: {answer:?}"),
        row = reviewer.waiting() => row,
    };
    assert_eq!(row["idempotencyKey"], "first");
    let id = row["id"].as_str().unwrap();
    assert_eq!(reviewer.decide(id, &json!({"decision": "approve"})).await.status, 200);
    let (answer, other) = tokio::join!(keyed("second"), reviewer.decide_next("reject"));
    assert_eq!((answer.status, &other["idempotencyKey"]), (403, &json!("second")), "{answer:?}");
    assert_eq!(keyed("first").await.status, 200, "the approval was for this key");
}
