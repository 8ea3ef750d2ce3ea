use std::sync::Arc;

use proto::{Principal, TenantId, Via, digest};

use super::*;

fn record(name: &str, subject: &str, at: u64, state: CallState) -> CallRecord {
    CallRecord {
        key: digest(name.as_bytes()),
        caller: Arc::new(Principal {
            tenant: TenantId::new("acme"),
            subject: subject.to_owned(),
            agent: None,
            scopes: Vec::new(),
            via: Via::Local,
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

async fn state(database: &Database, name: &str, now: u64) -> Option<CallState> {
    let found = database.call_record(&digest(name.as_bytes()), now).await.unwrap();
    found.map(|found| found.state)
}

#[tokio::test]
async fn the_oldest_answers_go_first_and_their_calls_stay_known() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let mut connection = database.sql.writer().await.unwrap();
    for (name, subject, at) in
        [("a1", "ann", 1), ("b1", "bob", 2), ("a2", "ann", 3), ("b2", "bob", 4), ("a3", "ann", 5)]
    {
        let change = CallChange::Save(record(name, subject, at, answered(100)));
        apply(&mut connection, &change).await.unwrap();
    }
    let kept = async |names: [&str; 5]| {
        let mut kept = Vec::new();
        for name in names {
            match state(&database, name, 10).await {
                Some(CallState::Answered(Some(_))) => kept.push(name.to_owned()),
                Some(CallState::Answered(None)) => {}
                other => panic!("{name}: {other:?}"),
            }
        }
        kept
    };
    drop(connection);
    let names = ["a1", "b1", "a2", "b2", "a3"];
    database.trim_answers(&AnswerBudget { of_caller: 200, of_all: 1_000 }).await.unwrap();
    assert_eq!(kept(names).await, ["b1", "a2", "b2", "a3"]);
    database.trim_answers(&AnswerBudget { of_caller: 200, of_all: 250 }).await.unwrap();
    assert_eq!(kept(names).await, ["b2", "a3"]);
}

#[tokio::test]
async fn expired_records_are_not_found_and_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let mut connection = database.sql.writer().await.unwrap();
    for record in [record("old", "ann", 1, CallState::Begun), record("new", "ann", 9, answered(5))]
    {
        apply(&mut connection, &CallChange::Save(record)).await.unwrap();
    }
    drop(connection);
    assert_eq!(state(&database, "old", 1_000).await, Some(CallState::Begun));
    assert_eq!(state(&database, "old", 1_001).await, None);
    database.sweep_call_records(1_001).await.unwrap();
    assert_eq!(state(&database, "old", 0).await, None, "it is gone");
    assert_eq!(state(&database, "new", 1_001).await, Some(answered(5)));
}
