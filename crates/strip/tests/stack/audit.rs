use std::sync::atomic::Ordering;

use proto::{canonical, digest};
use serde_json::json;

use crate::support::{ask, bench, echo, tool};

#[tokio::test]
async fn every_call_leaves_one_row_whatever_became_of_it() {
    let failing = tool("t.panic", |_| panic!("boom"));
    let bench = bench(vec![echo("t.echo"), failing]).await;
    let ran = bench.call("t.echo", json!({"q": "secret words"})).await;
    bench.call("t.echo", json!({"q": "secret words"})).await;
    bench.call("t.echo", json!("no object")).await;
    bench.call("t.panic", json!({})).await;
    bench.call("t.unknown", json!({})).await;

    let rows = bench.rows().await;
    let told: Vec<_> =
        rows.iter().rev().map(|row| (&*row.tool, &*row.decision, &*row.outcome)).collect();
    assert_eq!(
        told,
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
    let bench = bench(vec![hanging]).await;
    let mut call = Box::pin(bench.strip.call(ask("t.hang", json!({}))));
    while runs.load(Ordering::SeqCst) == 0 {
        assert!(futures_util::poll!(&mut call).is_pending());
        tokio::task::yield_now().await;
    }
    drop(call);
    tokio::task::yield_now().await;
    let rows = bench.rows().await;
    assert_eq!((&*rows[0].decision, &*rows[0].outcome), ("abandoned", "CANCELLED"));
}
