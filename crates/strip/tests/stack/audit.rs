use std::sync::atomic::Ordering;

use proto::{canonical, digest};
use serde_json::json;

use crate::support::{ask, echo, setup, tool};

#[tokio::test]
async fn every_call_leaves_one_row_whatever_became_of_it() {
    let failing = tool("t.panic", |_| panic!("boom"));
    let setup = setup(vec![echo("t.echo"), failing]).await;
    let ran = setup.call("t.echo", json!({"q": "secret words"})).await;
    setup.call("t.echo", json!({"q": "secret words"})).await;
    setup.call("t.echo", json!("no object")).await;
    setup.call("t.panic", json!({})).await;
    setup.call("t.unknown", json!({})).await;

    let rows = setup.rows().await;
    let outcomes: Vec<_> =
        rows.iter().rev().map(|row| (&*row.tool, &*row.decision, &*row.outcome)).collect();
    assert_eq!(
        outcomes,
        [
            ("t.echo", "ran", "OK"),
            ("t.echo", "replayed", "OK"),
            ("t.echo", "refused", "INVALID_INPUT"),
            ("t.panic", "failed", "INTERNAL"),
            ("t.unknown", "refused", "NOT_FOUND"),
        ]
    );
    let first = rows.last().unwrap();
    assert_eq!(first.trace, ran.meta.trace_id);
    assert_eq!((first.caller.tenant.as_str(), first.caller.subject.as_str()), ("acme", "ann"));
    assert_eq!(first.arguments, digest(&canonical::bytes(&json!({"q": "secret words"}))));
    assert!(first.definition.is_some());
    assert!(!format!("{rows:?}").contains("secret words"), "arguments are hashed, never stored");
}

#[tokio::test]
async fn a_call_whose_caller_left_leaves_its_row_too() {
    let hanging = tool("t.hang", |_| Box::pin(std::future::pending()));
    let runs = std::sync::Arc::clone(&hanging.runs);
    let setup = setup(vec![hanging]).await;
    let mut call = Box::pin(setup.strip.call(ask("t.hang", json!({}))));
    while runs.load(Ordering::SeqCst) == 0 {
        assert!(futures_util::poll!(&mut call).is_pending());
        tokio::task::yield_now().await;
    }
    drop(call);
    tokio::task::yield_now().await;
    let rows = setup.rows().await;
    assert_eq!((&*rows[0].decision, &*rows[0].outcome), ("abandoned", "CANCELLED"));
}
