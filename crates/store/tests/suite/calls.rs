//! Calls that begin, end, and are cut off in between.

use proto::digest;
use store::{AuditRow, AuditTrail, CallChange, CallRecord, CallState, Database};

use crate::support::{all_rows, raw, row, until};

fn interrupted(at_unix_ms: u64) -> AuditRow {
    AuditRow { decision: "interrupted".into(), outcome: "UNAVAILABLE".into(), ..row(at_unix_ms) }
}

fn record(state: CallState) -> CallRecord {
    let row = row(1);
    CallRecord {
        key: digest(b"key"),
        caller: row.caller,
        tool: row.tool,
        arguments: row.arguments,
        state,
        at_unix_ms: 1,
        expires_unix_ms: 1_000,
    }
}

async fn begun(database: &sqlx::SqlitePool) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM calls_begun").fetch_one(database).await.unwrap()
}

#[tokio::test]
async fn a_call_that_is_cut_off_becomes_a_row_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let raw = raw(folder.path()).await;
    let trail = AuditTrail::start(database.clone());
    let _cut_off = trail.begin(interrupted(7)).await.unwrap();
    let (durable, receipt) = trail.begin_durably(interrupted(8)).await.unwrap();
    receipt.committed().await.unwrap();
    until("the long call is noted", || async { begun(&raw).await == 2 }).await;
    trail.finish(row(8), Some(durable)).await.unwrap().committed().await.unwrap();
    assert_eq!(begun(&raw).await, 1, "what has ended is not kept as begun");
    trail.close().await.unwrap();

    assert_eq!(database.close_interrupted_calls().await.unwrap(), 1);
    assert_eq!(database.close_interrupted_calls().await.unwrap(), 0, "once");
    let rows = all_rows(&database).await;
    let said: Vec<_> = rows.iter().map(|row| (row.at_unix_ms, &*row.decision)).collect();
    assert_eq!(said, [(8, "ran"), (7, "interrupted")]);
    assert_eq!(begun(&raw).await, 0);
}

#[tokio::test]
async fn a_quick_call_is_never_written_as_begun() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let raw = raw(folder.path()).await;
    sqlx::query(
        "CREATE TRIGGER no_begun BEFORE INSERT ON calls_begun \
         BEGIN SELECT RAISE(ABORT, 'a quick call was written as begun'); END",
    )
    .execute(&raw)
    .await
    .unwrap();
    let trail = AuditTrail::start(database.clone());
    // Both are taken in before the writer can run: this runtime has one thread.
    let begun = trail.begin(interrupted(1)).await.unwrap();
    trail.finish(row(1), Some(begun)).await.unwrap();
    let (begun, _) = trail.begin_durably(interrupted(2)).await.unwrap();
    trail.finish(row(2), Some(begun)).await.unwrap().committed().await.unwrap();
    trail.close().await.unwrap();
    assert_eq!(all_rows(&database).await.len(), 2);
}

#[tokio::test]
async fn a_record_is_there_when_a_later_row_is() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let trail = AuditTrail::start(database.clone());
    let key = digest(b"key");
    let found = async || database.call_record(&key, 10).await.unwrap().map(|found| found.state);
    for state in
        [CallState::Begun, CallState::Answered(Some("{}".into())), CallState::Answered(None)]
    {
        trail.change_calls(CallChange::Save(record(state.clone()))).await.unwrap();
        trail.record(row(1)).await.unwrap().committed().await.unwrap();
        assert_eq!(found().await, Some(state));
    }
    trail.change_calls(CallChange::Forget(key)).await.unwrap().committed().await.unwrap();
    assert_eq!(found().await, None);
}

/// Answers wait for the writer in a bounded part of the memory.
#[tokio::test]
async fn many_large_answers_wait_for_room_and_all_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let trail = AuditTrail::start(database.clone());
    let large = "x".repeat(1 << 20);
    for number in 0..48_u64 {
        let record = CallRecord {
            key: digest(&number.to_le_bytes()),
            ..record(CallState::Answered(Some(large.clone())))
        };
        trail.change_calls(CallChange::Save(record)).await.unwrap();
    }
    trail.close().await.unwrap();
    let mut kept = 0;
    for number in 0..48_u64 {
        let found = database.call_record(&digest(&number.to_le_bytes()), 10).await.unwrap();
        kept += usize::from(found.unwrap().state != CallState::Answered(None));
    }
    assert!((12..=20).contains(&kept), "one caller keeps 16 MiB, give or take a batch: {kept}");
}
