#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use proto::{Principal, TenantId, digest};

use super::*;

fn record(name: &str, subject: &str, at: u64, state: CallState) -> CallRecord {
    CallRecord {
        key: digest(name.as_bytes()),
        caller: Arc::new(Principal {
            tenant: TenantId::new("acme"),
            subject: subject.to_owned(),
            agent: None,
            scopes: Vec::new(),
        }),
        tool: "t.act".into(),
        arguments: digest(b"{}"),
        state,
        at_unix_ms: at,
        expires_unix_ms: 1_000 + at,
    }
}

fn answered(bytes: usize) -> CallState {
    CallState::Answered(Some("x".repeat(bytes)))
}

async fn state(sqlite: &Sqlite, name: &str, now: u64) -> Option<CallState> {
    let found = sqlite.call_record(&digest(name.as_bytes()), now).await.unwrap();
    found.map(|found| found.state)
}

#[tokio::test]
async fn the_oldest_answers_go_first_and_their_calls_stay_known() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path()).await.unwrap();
    let mut connection = sqlite.writer.acquire().await.unwrap();
    for (name, subject, at) in
        [("a1", "ann", 1), ("b1", "bob", 2), ("a2", "ann", 3), ("b2", "bob", 4), ("a3", "ann", 5)]
    {
        save(&mut connection, &record(name, subject, at, answered(100))).await.unwrap();
    }
    let kept = async |names: [&str; 5]| {
        let mut kept = Vec::new();
        for name in names {
            match state(&sqlite, name, 10).await {
                Some(CallState::Answered(Some(_))) => kept.push(name.to_owned()),
                Some(CallState::Answered(None)) => {}
                other => panic!("{name}: {other:?}"),
            }
        }
        kept
    };
    let names = ["a1", "b1", "a2", "b2", "a3"];
    trim(&mut connection, &Budget { of_caller: 200, of_all: 1_000 }).await.unwrap();
    assert_eq!(kept(names).await, ["b1", "a2", "b2", "a3"]);
    trim(&mut connection, &Budget { of_caller: 200, of_all: 250 }).await.unwrap();
    assert_eq!(kept(names).await, ["b2", "a3"]);
}

#[tokio::test]
async fn expired_records_are_not_found_and_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path()).await.unwrap();
    let mut connection = sqlite.writer.acquire().await.unwrap();
    save(&mut connection, &record("old", "ann", 1, CallState::Begun)).await.unwrap();
    save(&mut connection, &record("new", "ann", 9, answered(5))).await.unwrap();
    drop(connection);
    assert_eq!(state(&sqlite, "old", 1_000).await, Some(CallState::Begun));
    assert_eq!(state(&sqlite, "old", 1_001).await, None);
    sqlite.sweep_call_records(1_001).await.unwrap();
    assert_eq!(state(&sqlite, "old", 0).await, None, "it is gone");
    assert_eq!(state(&sqlite, "new", 1_001).await, Some(answered(5)));
}
