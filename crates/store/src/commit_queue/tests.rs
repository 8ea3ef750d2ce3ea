use std::time::Duration;

use proto::{Principal, TenantId, TraceId, Via, digest};
use tempfile::TempDir;

use super::commit::Committer;
use super::writer::Writer;
use super::*;
use crate::sql::{Sql, Sqlite};
use crate::{AuditFilter, CallRecord, CallState, RunCallRow, RunRow};

fn row() -> AuditRow {
    AuditRow {
        trace: TraceId::random(),
        at_unix_ms: 1,
        caller: Arc::new(Principal {
            tenant: TenantId::new("local"),
            subject: "someone".into(),
            agent: None,
            scopes: Vec::new(),
            via: Via::Local,
        }),
        door: "mcp".into(),
        tool: "server:tool".into(),
        version: "1.0.0".into(),
        definition: None,
        arguments: digest(b"{}"),
        decision: "ran".into(),
        outcome: "OK".into(),
        blame: None,
        duration_us: 1,
    }
}

async fn opened() -> (TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    (folder, database)
}

fn sqlite(database: &Database) -> &Sqlite {
    match &database.sql {
        Sql::Sqlite(sqlite) => sqlite,
        Sql::Postgres(_) => panic!("the database is PostgreSQL"),
    }
}

async fn stored(database: &Database) -> usize {
    let filter = AuditFilter { limit: u32::MAX, ..AuditFilter::default() };
    database.audit_rows(filter).await.unwrap().len()
}

async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A queue without a writer task.
async fn unwritten() -> (TempDir, CommitQueue) {
    let (folder, database) = opened().await;
    (folder, CommitQueue(Arc::new(Handle(Arc::new(Shared::new()), database))))
}

/// Submits rows until the queue fails; returns how many were accepted, and the errors of their receipts.
async fn record_until_failing(queue: &CommitQueue) -> (usize, Vec<String>) {
    let (mut taken, mut refusals) = (0, Vec::new());
    for _ in 0..10_000 {
        let Ok(receipt) = queue.record(row()).await else { break };
        taken += 1;
        if let Err(error) = receipt.committed().await {
            refusals.push(error.to_string());
        }
    }
    (taken, refusals)
}

#[tokio::test]
async fn a_full_disk_is_reported_and_loses_nothing() {
    let (folder, database) = opened().await;
    sqlite(&database).break_writer(folder.path(), "max_page_count", "20").await;
    let queue = CommitQueue::start(database.clone());

    let (taken, refusals) = record_until_failing(&queue).await;
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert!(refusals[0].contains("database or disk is full"), "{refusals:?}");
    assert!(queue.failing().unwrap().contains("database or disk is full"));
    let refused = queue.record(row()).await.unwrap_err();
    assert!(matches!(refused, StoreError::AuditFailing(_)), "{refused}");
    assert_eq!(stored(&database).await, taken - 1);

    sqlite(&database).repair_writer(folder.path());
    until("recovery", || queue.failing().is_none()).await;
    queue.record(row()).await.unwrap().committed().await.unwrap();
    assert_eq!(stored(&database).await, taken + 1);
    queue.close().await.unwrap();
}

#[tokio::test]
async fn a_read_only_database_is_reported_and_loses_nothing() {
    let (folder, database) = opened().await;
    sqlite(&database).break_writer(folder.path(), "query_only", "ON").await;
    let queue = CommitQueue::start(database.clone());

    let receipts = [queue.record(row()).await.unwrap(), queue.record(row()).await.unwrap()];
    for receipt in &receipts {
        let error = receipt.committed().await.unwrap_err().to_string();
        assert!(error.contains("readonly"), "{error}");
    }
    sqlite(&database).repair_writer(folder.path());
    until("recovery", || queue.failing().is_none()).await;
    assert_eq!(stored(&database).await, 2);
    for receipt in &receipts {
        receipt.committed().await.unwrap();
    }
}

#[tokio::test]
async fn calls_that_end_during_an_outage_get_their_rows_when_it_is_over() {
    let (folder, database) = opened().await;
    let queue = CommitQueue::start(database.clone());
    let mut begun = Vec::new();
    for _ in 0..3 {
        let (call, receipt) = queue.begin_durably(row()).await.unwrap();
        receipt.committed().await.unwrap();
        begun.push(call);
    }
    sqlite(&database).break_writer(folder.path(), "query_only", "ON").await;
    let outage = queue.record(row()).await.unwrap();
    outage.committed().await.unwrap_err();
    assert!(queue.failing().is_some());
    assert!(queue.begin(row()).await.is_err(), "no call begins during an outage");

    // Memory is full, except for calls that have begun.
    let room = queue.0.0.room.forget_permits(MAX_ROWS);
    let refused = queue.finish(row(), None, None).await.unwrap_err();
    assert!(matches!(refused, StoreError::AuditFailing(_)), "{refused}");
    for call in begun {
        let receipt = queue.finish(row(), Some(call), None).await.unwrap();
        receipt.committed().await.unwrap_err();
    }

    sqlite(&database).repair_writer(folder.path());
    until("recovery", || queue.failing().is_none()).await;
    queue.0.0.room.add_permits(room);
    queue.record(row()).await.unwrap().committed().await.unwrap();
    assert_eq!(stored(&database).await, 5);
    assert_eq!(database.close_interrupted_calls().await.unwrap(), 0, "no call is left as begun");
    until("memory is free again", || queue.0.0.room.available_permits() == MAX_ROWS).await;
    queue.close().await.unwrap();
}

#[tokio::test]
async fn rows_that_cannot_be_written_at_the_end_are_counted() {
    let (folder, database) = opened().await;
    sqlite(&database).break_writer(folder.path(), "query_only", "ON").await;
    let queue = CommitQueue::start(database.clone());
    for _ in 0..3 {
        queue.record(row()).await.unwrap();
    }
    let error = queue.close().await.unwrap_err().to_string();
    assert!(error.contains("3 rows were not written") && error.contains("readonly"), "{error}");
    assert!(queue.failing().is_some());
    assert!(matches!(queue.record(row()).await.unwrap_err(), StoreError::AuditFailing(_)));
}

/// The changes of one kind each that a call can leave.
async fn submit_all_kinds(queue: &CommitQueue, begun: BegunCall) {
    let detail = CallDetail { message: Some("no".to_owned()), ..CallDetail::default() };
    queue.finish(row(), Some(begun), Some(Box::new(detail))).await.unwrap();
    queue.end_call(CallChange::Save(record("kept"))).await.unwrap();
    queue.end_call(CallChange::Save(record("dropped"))).await.unwrap();
    queue.end_call(CallChange::Forget(digest(b"dropped"))).await.unwrap();
    let call = RunCallRow {
        run: "r".to_owned(),
        trace: TraceId::random(),
        tool: "server:tool".to_owned(),
        started_unix_ms: 1,
        ended_unix_ms: 2,
        outcome: "OK".to_owned(),
        made: vec!["file_1".to_owned()],
        used: Vec::new(),
    };
    let run = RunRow {
        id: "r".to_owned(),
        tenant: "local".to_owned(),
        subject: "someone".to_owned(),
        agent: None,
        kind: "session".to_owned(),
        name: None,
        state: "open".to_owned(),
        summary: None,
        artifacts: Vec::new(),
        data_tools: 1,
        created_unix_ms: 1,
        touched_unix_ms: 2,
    };
    let changes = RunChanges { runs: vec![run], calls: vec![call] };
    queue.save_last_runs(Arc::new(changes)).await.unwrap();
}

fn record(key: &str) -> CallRecord {
    CallRecord {
        key: digest(key.as_bytes()),
        caller: row().caller,
        tool: "server:tool".into(),
        arguments: digest(b"{}"),
        state: CallState::Answered(Some("\u{1}\"☃".to_owned())),
        at_unix_ms: 1,
        expires_unix_ms: u64::MAX >> 1,
    }
}

#[tokio::test]
async fn rows_that_cannot_be_written_at_the_end_are_written_at_the_next_start() {
    let (folder, database) = opened().await;
    let queue = CommitQueue::start_in(database.clone(), folder.path());
    let (begun, receipt) = queue.begin_durably(row()).await.unwrap();
    receipt.committed().await.unwrap();
    sqlite(&database).break_writer(folder.path(), "query_only", "ON").await;
    queue.record(row()).await.unwrap().committed().await.unwrap_err();
    submit_all_kinds(&queue, begun).await;
    let started = Instant::now();
    let error = queue.close().await.unwrap_err().to_string();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert!(error.contains("6 rows were not written") && error.contains("next start"), "{error}");

    let spilled = || {
        std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().starts_with("unwritten-"))
    };
    let file = spilled().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let refused = CommitQueue::recover(&database, folder.path()).await.unwrap_err().to_string();
    assert!(refused.contains("move the file away"), "{refused}");
    let text = std::fs::read(file.path()).unwrap();

    sqlite(&database).repair_writer(folder.path());
    // The second time as if the process had ended before the file was removed.
    for _ in 0..2 {
        std::fs::write(file.path(), &text).unwrap();
        assert_eq!(CommitQueue::recover(&database, folder.path()).await.unwrap(), 6);
        assert!(spilled().is_none());
        assert_eq!(stored(&database).await, 2);
    }
    assert_eq!(CommitQueue::recover(&database, folder.path()).await.unwrap(), 0);
    assert_eq!(database.close_interrupted_calls().await.unwrap(), 0, "the call has ended");
    let kept = database.call_record(&digest(b"kept"), 1).await.unwrap().unwrap();
    assert_eq!(kept.state, record("kept").state);
    assert_eq!(database.call_record(&digest(b"dropped"), 1).await.unwrap(), None);
    let filter = AuditFilter { limit: 10, ..AuditFilter::default() };
    let messages = database.audit_messages(filter).await.unwrap();
    assert_eq!(format!("{messages:?}").matches("Some(\"no\")").count(), 1, "{messages:?}");
    assert_eq!(database.run_calls("r").await.unwrap().len(), 1);
}

/// A database that takes a statement and never answers.
#[tokio::test]
async fn a_writer_that_gets_no_answer_ends_and_stores_its_rows() {
    let (folder, database) = opened().await;
    let queue = CommitQueue::start_in(database.clone(), folder.path());
    // The only connection that writes.
    let held = sqlite(&database).writer.acquire().await.unwrap();
    queue.record(row()).await.unwrap();
    let started = Instant::now();
    let error = queue.close().await.unwrap_err().to_string();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert!(error.contains("did not answer in time"), "{error}");
    drop(held);
    assert_eq!(CommitQueue::recover(&database, folder.path()).await.unwrap(), 1);
    assert_eq!(stored(&database).await, 1);
}

/// The commit went through but its answer was lost: the second try must not write the rows again.
#[tokio::test]
async fn a_retry_does_not_write_twice() {
    let (_folder, database) = opened().await;
    let mut committer = Committer::new(database.clone());
    let batch = [row(), row()].map(|row| Change::Row { row, ends: None, detail: None });
    for _ in 0..3 {
        committer.append(&batch, 2).await.unwrap();
        assert_eq!(stored(&database).await, 2);
    }
}

#[tokio::test]
async fn a_caller_waits_while_memory_is_full_and_no_row_is_dropped() {
    let (_folder, database) = opened().await;
    let queue = CommitQueue::start(database.clone());
    queue.0.0.room.forget_permits(MAX_ROWS - 10);
    for _ in 0..10 {
        queue.record(row()).await.unwrap();
    }
    let mut waiting = Box::pin(queue.record(row()));
    tokio::select! {
        biased;
        _ = &mut waiting => panic!("there was no memory for this row"),
        () = std::future::ready(()) => {}
    }
    waiting.await.unwrap();
    queue.close().await.unwrap();
    assert_eq!(stored(&database).await, 11);
}

#[tokio::test]
async fn a_caller_that_waits_for_memory_receives_a_failure() {
    let (_folder, queue) = unwritten().await;
    queue.0.0.room.forget_permits(MAX_ROWS);
    let (result, ()) = tokio::join!(queue.record(row()), async {
        queue.0.0.publish(0, State::Failing("the disk is gone".into()));
    });
    let error = result.unwrap_err().to_string();
    assert_eq!(error, "the audit trail cannot be written: the disk is gone");
}

#[tokio::test]
async fn a_caller_that_waits_for_memory_receives_the_end() {
    let (_folder, queue) = unwritten().await;
    queue.0.0.room.forget_permits(MAX_ROWS);
    let (result, ()) = tokio::join!(queue.record(row()), async { queue.0.0.end() });
    assert!(matches!(result.unwrap_err(), StoreError::AuditClosed));
}

#[tokio::test]
async fn a_stopped_writer_leaves_no_caller_waiting() {
    let (_folder, database) = opened().await;
    let (_folder, queue) = unwritten().await;
    let receipt = queue.record(row()).await.unwrap();
    let writer = Writer::new(database, Arc::clone(&queue.0.0), None);
    let (result, ()) = tokio::join!(receipt.committed(), async { drop(writer) });
    assert!(result.unwrap_err().to_string().contains("its writer was stopped"));
    let error = queue.record(row()).await.unwrap_err().to_string();
    assert!(error.contains("its writer was stopped"), "{error}");
    assert!(queue.failing().is_some());
    assert!(queue.close().await.is_err());
}
