//! A file that is fetched from another server for a gated call is shown for approval, and is what the tool then gets.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use approvals::{Extent, Standing};
use proto::Code;
use serde_json::{Value, json};

use super::{Decider, Decision, Gate, Verdict, ask, code, principal};
use crate::foreign_references::{TextServer, by, two_servers};

async fn gate() -> (Gate, Arc<TextServer>) {
    let (setup, hr, _) = two_servers().await;
    let gate = Gate::gating(setup, Arc::new(AtomicUsize::new(0)), "far:*", 30.0).await;
    by(&gate.setup, &principal("acme", "ann"), "hr:issue", json!({})).await.result.unwrap();
    (gate, hr)
}

fn take() -> strip::Request {
    ask("far:take", json!({"file_id": "item-7"}))
}

/// Deletes what was kept of the reference, so that it is fetched again.
async fn forget(gate: &Gate) {
    let ann = principal("acme", "ann");
    let files = gate.setup.strip.files();
    for file in files.list(&ann, files::Listing::default()).await.unwrap().files {
        files.delete(&ann, file.id.as_str()).await.unwrap();
    }
}

#[tokio::test]
async fn a_fetched_file_is_shown_and_is_what_runs() {
    let (gate, _) = gate().await;
    let call = gate.begin(take());
    let row = gate.waits(1).await.remove(0);
    let shown = crate::approvals::view(&row)["files"][0].clone();
    let hash = proto::digest(b"what hr keeps").to_string();
    assert_eq!(
        (&shown["id"], &shown["size"], &shown["sha256"]),
        (&json!("item-7"), &json!(13), &json!(hash))
    );
    gate.approve(&row.id).await.unwrap();
    assert_eq!(call.await.unwrap().result.unwrap()["got"], "what hr keeps");
}

#[tokio::test]
async fn a_file_that_replaces_an_approved_one_does_not_run() {
    let (gate, hr) = gate().await;
    let call = gate.begin(take());
    let row = gate.waits(1).await.remove(0);
    by(&gate.setup, &principal("acme", "ann"), "evil:issue", json!({})).await.result.unwrap();
    gate.approve(&row.id).await.unwrap();
    let answer = call.await.unwrap();
    assert_eq!(code(&answer), Some(Code::InvalidInput), "{:?}", answer.result);

    let bob = |call| strip::Request { principal: principal("acme", "bob"), ..call };
    by(&gate.setup, &principal("acme", "bob"), "hr:issue", json!({})).await.result.unwrap();
    let call = gate.begin(bob(take()));
    let row = gate.waits(1).await.remove(0);
    *hr.keeps.lock().unwrap() = "something else";
    forget(&gate).await;
    gate.approve(&row.id).await.unwrap();
    let answer = call.await.unwrap();
    assert_eq!(code(&answer), Some(Code::Denied), "{:?}", answer.result);
}

#[tokio::test]
async fn a_standing_rule_about_these_arguments_is_about_what_is_in_their_files() {
    let (gate, hr) = gate().await;
    let call = gate.begin(take());
    let row = gate.waits(1).await.remove(0);
    let standing = Standing { arguments: Extent::These, run: false, seconds: None };
    let decision = Decision { decision: Verdict::Approve, reason: None, standing: Some(standing) };
    gate.approvals.decide(&row.id, &Decider::Operator, decision).await.unwrap();
    call.await.unwrap().result.unwrap();
    assert_eq!(gate.begin(take()).await.unwrap().result.unwrap()["got"], "what hr keeps");
    *hr.keeps.lock().unwrap() = "something else";
    forget(&gate).await;
    let call = gate.begin(take());
    let waits = tokio::time::timeout(Duration::from_secs(30), gate.waits(1)).await;
    assert!(waits.is_ok(), "it is asked about again");
    call.abort();
}

#[tokio::test]
async fn more_files_than_a_person_is_shown_are_not_asked_about() {
    let (gate, _) = gate().await;
    let ids: Vec<_> = (0..33).map(|n| Value::from(format!("file_{n:032x}"))).collect();
    let input = json!({"file_id": "item-7", "documents": ids});
    let answer = gate.begin(ask("far:take", input)).await.unwrap();
    assert_eq!(code(&answer), Some(Code::InvalidInput), "{:?}", answer.result);
    assert!(answer.result.unwrap_err().message.contains("33 files"));
}
