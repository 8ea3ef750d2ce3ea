use std::collections::HashSet;

use store::{CommitQueue, StoreError};

use crate::support::{all_rows, on_both_engines, row, until};

on_both_engines! {
    async fn a_committed_row_is_visible_to_other_connections(test) {
        let (_database, queue) = test.started().await;
        for expected in 1..=20_i64 {
            queue.record(row(1)).await.unwrap().committed().await.unwrap();
            let count = test.number("SELECT count(*) FROM audit").await;
            assert_eq!(count, expected);
        }
        assert_eq!(queue.failing(), None);
    }

    async fn rows_that_no_caller_waits_for_are_committed_after_a_moment(test) {
        let (database, queue) = test.started().await;
        for at in 0..3 {
            queue.record(row(at)).await.unwrap();
        }
        until("the commit", || async { all_rows(&database).await.len() == 3 }).await;
        // And once more, after the writer has slept.
        queue.record(row(3)).await.unwrap();
        until("the second commit", || async { all_rows(&database).await.len() == 4 }).await;
    }

    async fn no_row_of_many_tasks_is_lost_or_doubled(test) {
        let (database, queue) = test.started().await;
        let tasks: Vec<_> = (0..8_u64)
            .map(|task| {
                let queue = queue.clone();
                tokio::spawn(async move {
                    let mut traces = Vec::new();
                    for number in 0..1_000 {
                        let row = row(task * 1_000 + number);
                        traces.push(row.trace);
                        let receipt = queue.record(row).await.unwrap();
                        if number % 100 == task {
                            receipt.committed().await.unwrap();
                        }
                    }
                    traces
                })
            })
            .collect();
        let mut sent = HashSet::new();
        for task in tasks {
            sent.extend(task.await.unwrap());
        }
        queue.close().await.unwrap();
        let rows = all_rows(&database).await;
        assert_eq!(rows.len(), 8_000);
        assert_eq!(rows.iter().map(|row| row.trace).collect::<HashSet<_>>(), sent);
    }

    async fn closing_drains_and_then_refuses(test) {
        let (database, queue) = test.started().await;
        let mut receipts = Vec::new();
        for at in 0..5_000 {
            receipts.push(queue.record(row(at)).await.unwrap());
        }
        let other = queue.clone();
        queue.close().await.unwrap();
        assert_eq!(all_rows(&database).await.len(), 5_000);
        assert!(matches!(other.record(row(1)).await.unwrap_err(), StoreError::AuditClosed));
        other.close().await.unwrap();
        for receipt in receipts {
            receipt.committed().await.unwrap();
        }
        assert_eq!(other.failing(), None);
    }

    async fn a_trail_without_handles_still_writes_submitted_rows(test) {
        let (database, queue) = test.started().await;
        for at in 0..100 {
            queue.record(row(at)).await.unwrap();
        }
        drop(queue);
        until("the last commit", || async { all_rows(&database).await.len() == 100 }).await;
    }

    async fn two_trails_on_one_database_do_not_disturb_each_other(test) {
        let (database, first) = test.started().await;
        let second = CommitQueue::start(database.clone());
        for at in 0..50 {
            first.record(row(at)).await.unwrap();
            second.record(row(at)).await.unwrap().committed().await.unwrap();
        }
        first.close().await.unwrap();
        second.close().await.unwrap();
        assert_eq!(all_rows(&database).await.len(), 100);
    }

    async fn rows_wait_out_a_failure_and_are_written_once(test) {
        let (database, queue) = test.started().await;
        test.execute(test.pick(
            "CREATE TRIGGER broken BEFORE INSERT ON audit_rows WHEN NEW.at_ms = 13 \
             BEGIN SELECT RAISE(ABORT, 'the disk made a noise'); END",
            "ALTER TABLE audit_rows ADD CONSTRAINT \"the disk made a noise\" CHECK (at_ms <> 13)",
        ))
        .await
        .unwrap();

        queue.record(row(1)).await.unwrap().committed().await.unwrap();
        let mut receipts = Vec::new();
        for at in 10..20 {
            receipts.push(queue.record(row(at)).await.unwrap());
        }
        for receipt in receipts {
            let error = receipt.committed().await.unwrap_err();
            assert!(matches!(error, StoreError::AuditFailing(_)), "{error}");
            assert!(error.to_string().contains("the disk made a noise"), "{error}");
        }
        assert!(queue.failing().unwrap().contains("the disk made a noise"));
        assert!(queue.record(row(20)).await.is_err());
        assert_eq!(all_rows(&database).await.len(), 1, "a batch goes in whole or not at all");

        test.execute(test.pick(
            "DROP TRIGGER broken",
            "ALTER TABLE audit_rows DROP CONSTRAINT \"the disk made a noise\"",
        ))
        .await
        .unwrap();
        until("recovery", || async { queue.failing().is_none() }).await;
        queue.record(row(21)).await.unwrap().committed().await.unwrap();
        let ats: Vec<_> = all_rows(&database).await.iter().map(|row| row.at_unix_ms).rev().collect();
        assert_eq!(ats, [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21]);
    }
}
