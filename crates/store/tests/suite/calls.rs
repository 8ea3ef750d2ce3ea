//! Calls that begin, end, and are cut off in between.

use proto::digest;
use store::{AuditFilter, AuditRow, CallChange, CallRecord, CallState, CommitQueue};

use crate::support::{all_rows, on_both_engines, row, until};

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

const BEGUN: &str = "SELECT count(*) FROM calls_begun";

on_both_engines! {
    async fn a_call_that_is_cut_off_becomes_a_row_at_the_next_start(test) {
        let database = test.open().await;
        let queue = CommitQueue::start(database.clone());
        let _cut_off = queue.begin(interrupted(7)).await.unwrap();
        let (durable, receipt) = queue.begin_durably(interrupted(8)).await.unwrap();
        receipt.committed().await.unwrap();
        until("the long call is noted", || async { test.number(BEGUN).await == 2 }).await;
        queue.finish(row(8), Some(durable), None).await.unwrap().committed().await.unwrap();
        assert_eq!(test.number(BEGUN).await, 1, "a call that has ended is not stored as begun");
        queue.close().await.unwrap();

        assert_eq!(database.close_interrupted_calls().await.unwrap(), 1);
        assert_eq!(database.close_interrupted_calls().await.unwrap(), 0, "once");
        let rows = all_rows(&database).await;
        let decisions: Vec<_> = rows.iter().map(|row| (row.at_unix_ms, &*row.decision)).collect();
        assert_eq!(decisions, [(8, "ran"), (7, "interrupted")]);
        assert_eq!(test.number(BEGUN).await, 0);
    }

    async fn a_damaged_call_that_was_cut_off_becomes_a_row_with_what_can_be_read(test) {
        let (database, queue) = test.started().await;
        let _cut_off = [
            queue.begin(interrupted(7)).await.unwrap(),
            queue.begin(interrupted(8)).await.unwrap(),
            queue.begin(interrupted(9)).await.unwrap(),
        ];
        until("the calls are noted", || async { test.number(BEGUN).await == 3 }).await;
        queue.close().await.unwrap();
        test.execute("UPDATE calls_begun SET kind = 999999 WHERE at_ms = 8").await.unwrap();
        test.execute(test.pick(
            "UPDATE calls_begun SET trace = 'x', arguments = 7, at_ms = x'00' WHERE at_ms = 7",
            "UPDATE calls_begun SET trace = '\\x00', arguments = '\\x00', at_ms = -1 WHERE at_ms = 7",
        ))
        .await
        .unwrap();

        assert_eq!(database.close_interrupted_calls().await.unwrap(), 3);
        assert_eq!(test.number(BEGUN).await, 0);
        let page = database.audit_messages(AuditFilter::default()).await.unwrap();
        let closed: Vec<_> = page
            .records
            .iter()
            .map(|record| (record.row.at_unix_ms, &*record.row.decision))
            .collect();
        assert_eq!(closed, [(9, "interrupted"), (0, "interrupted")]);
        let zeros = &page.records[1].row;
        assert_eq!((*zeros.trace.as_bytes(), *zeros.arguments.as_bytes()), ([0; 16], [0; 32]));
        assert_eq!((page.damaged.len(), page.damaged[0].column), (1, "tenant"));
    }

    async fn a_quick_call_is_never_written_as_begun(test) {
        let database = test.open().await;
        test.execute(test.pick(
            "CREATE TRIGGER no_begun BEFORE INSERT ON calls_begun \
             BEGIN SELECT RAISE(ABORT, 'a quick call was written as begun'); END",
            "ALTER TABLE calls_begun ADD CHECK (number < 0)",
        ))
        .await
        .unwrap();
        let queue = CommitQueue::start(database.clone());
        // Both are submitted before the writer can run: this runtime has one thread.
        let begun = queue.begin(interrupted(1)).await.unwrap();
        queue.finish(row(1), Some(begun), None).await.unwrap();
        let (begun, _) = queue.begin_durably(interrupted(2)).await.unwrap();
        queue.finish(row(2), Some(begun), None).await.unwrap().committed().await.unwrap();
        queue.close().await.unwrap();
        assert_eq!(all_rows(&database).await.len(), 2);
    }

    async fn a_record_is_there_when_a_later_row_is(test) {
        let database = test.open().await;
        let queue = CommitQueue::start(database.clone());
        let key = digest(b"key");
        let found = async || database.call_record(&key, 10).await.unwrap().map(|found| found.state);
        for state in
            [CallState::Begun, CallState::Answered(Some("{}".into())), CallState::Answered(None)]
        {
            queue.change_calls(CallChange::Save(record(state.clone()))).await.unwrap();
            queue.record(row(1)).await.unwrap().committed().await.unwrap();
            assert_eq!(found().await, Some(state));
        }
        queue.change_calls(CallChange::Forget(key)).await.unwrap().committed().await.unwrap();
        assert_eq!(found().await, None);
    }

    /// Answers that wait for the writer take a bounded part of the memory.
    async fn many_large_answers_wait_for_memory_and_all_are_written(test) {
        let database = test.open().await;
        let queue = CommitQueue::start(database.clone());
        let large = "x".repeat(1 << 20);
        let mut last = None;
        for number in 0..48_u64 {
            let record = CallRecord {
                key: digest(&number.to_le_bytes()),
                ..record(CallState::Answered(Some(large.clone())))
            };
            last = Some(queue.change_calls(CallChange::Save(record)).await.unwrap());
        }
        // A queue that is closed first gives a slow database two seconds.
        last.unwrap().committed().await.unwrap();
        queue.close().await.unwrap();
        let mut kept = 0;
        for number in 0..48_u64 {
            let found = database.call_record(&digest(&number.to_le_bytes()), 10).await.unwrap();
            kept += usize::from(found.unwrap().state != CallState::Answered(None));
        }
        assert!((12..=20).contains(&kept), "one caller keeps 16 MiB, give or take a batch: {kept}");
    }
}
