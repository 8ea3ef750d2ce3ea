//! What an approval covers in addition to the arguments: the idempotency key, the code, and one run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use approvals::{Decider, Decision, Extent, Standing, Verdict};
use proto::{Code, digest};
use serde_json::json;
use strip::{Output, Request};

use super::{Gate, write, writing};
use crate::support::{ask, code, setup, tool};

fn keyed(key: &str) -> Request {
    let mut call = write(1);
    call.idempotency_key = Some(key.to_owned());
    call
}

fn standing(arguments: Extent) -> Decision {
    let standing = Some(Standing { arguments, run: false, seconds: Some(60) });
    Decision { decision: Verdict::Approve, reason: None, standing }
}

#[tokio::test]
async fn an_idempotency_key_is_shown_and_approved_with_its_call() {
    let gate = Gate::within(30.0).await;
    let row = gate.abandoned(keyed("pay-\u{202e}1")).await;
    assert_eq!(crate::approvals::view(&row)["idempotencyKey"], "pay-\u{202e}1");
    gate.approve(&row.id).await.unwrap();
    for other in [keyed("pay-2"), write(1)] {
        let other = gate.begin(other);
        let waiting = gate.waits(1).await.remove(0);
        assert_eq!(gate.runs(), 0, "the approval is of a call with another key");
        gate.reject(&waiting.id, "not this one").await.unwrap();
        assert_eq!(code(&other.await.unwrap()), Some(Code::Denied));
    }
    assert!(gate.setup.strip.call(keyed("pay-\u{202e}1")).await.result.is_ok());
    assert_eq!(gate.runs(), 1);
}

#[tokio::test]
async fn a_standing_rule_for_these_arguments_is_for_this_key() {
    let gate = Gate::within(30.0).await;
    let first = gate.begin(keyed("a"));
    let row = gate.waits(1).await.remove(0);
    gate.approvals.decide(&row.id, &Decider::Operator, standing(Extent::These)).await.unwrap();
    assert!(first.await.unwrap().result.is_ok());
    assert!(gate.setup.strip.call(keyed("a")).await.result.is_ok());
    let other = gate.begin(keyed("b"));
    gate.waits(1).await;
    assert_eq!(gate.runs(), 1, "another key is asked about");
    other.abort();
}

#[tokio::test]
async fn a_gated_call_cannot_be_verified() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let adder = tool("crm.sum", move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(Output::new(json!({"sum": 1}))) })
    });
    let gate = Gate::at(setup(vec![adder]).await, runs, 30.0).await;
    let mut call = ask("crm.sum", json!({}));
    call.verify = true;
    let answer = gate.setup.strip.call(call).await;
    assert_eq!(code(&answer), Some(Code::InvalidInput), "one approval is for one run");
    assert!(answer.result.unwrap_err().message.contains("verify"));
    assert_eq!((gate.runs(), gate.pending().await.len()), (0, 0), "and no approval is requested");
    assert_eq!(&*gate.setup.rows().await[0].decision, "refused");
}

#[tokio::test]
async fn approvals_and_rules_hold_for_the_code_that_was_there() {
    let on_disk = Arc::new(Mutex::new("old"));
    let runs = Arc::new(AtomicUsize::new(0));
    let mut writes = writing(&runs);
    writes.code = Some(Arc::clone(&on_disk));
    let gate = Gate::at(setup(vec![writes]).await, runs, 30.0).await;

    let row = gate.abandoned(write(1)).await;
    assert_eq!(row.code, Some(digest(b"old")));
    gate.approve(&row.id).await.unwrap();
    *on_disk.lock().unwrap() = "new";
    let changed = gate.begin(write(1));
    let waiting = gate.waits(1).await.remove(0);
    assert_eq!((gate.runs(), waiting.code), (0, Some(digest(b"new"))));
    gate.approvals.decide(&waiting.id, &Decider::Operator, standing(Extent::Any)).await.unwrap();
    assert!(changed.await.unwrap().result.is_ok());
    assert!(gate.setup.strip.call(write(2)).await.result.is_ok(), "the rule is for this code");
    *on_disk.lock().unwrap() = "newer";
    let again = gate.begin(write(2));
    gate.waits(1).await;
    assert_eq!(gate.runs(), 2, "other code is asked about again");
    again.abort();
}

#[tokio::test]
async fn the_tool_learns_which_code_was_approved() {
    let on_disk = Arc::new(Mutex::new("old"));
    let runs = Arc::new(AtomicUsize::new(0));
    let mut shows = tool("crm.write", |call| {
        Box::pin(async move { Ok(Output::new(json!({"code": call.approved_code}))) })
    })
    .with(|descriptor| descriptor.deterministic = false);
    shows.code = Some(Arc::clone(&on_disk));
    let gate = Gate::at(setup(vec![shows]).await, runs, 30.0).await;
    let call = gate.begin(write(1));
    let row = gate.waits(1).await.remove(0);
    *on_disk.lock().unwrap() = "new";
    gate.approve(&row.id).await.unwrap();
    assert_eq!(call.await.unwrap().result.unwrap()["code"], json!(digest(b"old")));
}
