//! The audit trail as people read it: page by page, and counted.

use std::sync::Arc;

use store::{AuditCount, AuditFilter};

use crate::support::{on_both_engines, principal, row};

on_both_engines! {
    async fn pages_continue_where_the_last_one_ended_whatever_was_added_since(test) {
        // Several rows of the same time: a position is more than a time.
        let rows: Vec<_> = (0..25).map(|number| row(number / 5)).collect();
        let database = test.containing(&rows).await;
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let filter = AuditFilter { after, limit: 7, ..AuditFilter::default() };
            let page = database.audit_page(filter).await.unwrap();
            assert!(page.rows.len() <= 7);
            seen.extend(page.rows.iter().map(|row| row.trace));
            if after.is_none() {
                let late = store::AuditTrail::start(database.clone());
                late.record(row(9)).await.unwrap();
                late.close().await.unwrap();
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let expected: Vec<_> = rows.iter().rev().map(|row| row.trace).collect();
        assert_eq!(seen, expected, "each once, newest first");
    }

    async fn filters_by_caller_and_time_narrow(test) {
        let mut rows: Vec<_> = (0..6).map(row).collect();
        rows[1].caller = Arc::new(principal("bob", None));
        rows[2].caller = Arc::new(principal("carol", Some("bob")));
        let database = test.containing(&rows).await;
        let found = async |filter: AuditFilter| -> Vec<u64> {
            let rows = database.audit_rows(filter).await.unwrap();
            rows.iter().map(|row| row.at_unix_ms).collect()
        };
        let caller = Some("bob".to_owned());
        assert_eq!(found(AuditFilter { caller, ..AuditFilter::default() }).await, [2, 1]);
        let until_unix_ms = Some(2);
        assert_eq!(found(AuditFilter { until_unix_ms, ..AuditFilter::default() }).await, [1, 0]);
    }

    async fn calls_are_counted_by_stretches_of_time(test) {
        let mut rows: Vec<_> = [5, 10, 11, 19, 20, 39].map(row).into();
        rows[2].outcome = "TIMEOUT".into();
        let database = test.containing(&rows).await;
        let count = |stretch, calls, failed| AuditCount { stretch, calls, failed };
        let counted = database.audit_counts(Some("acme"), 10, 10).await.unwrap();
        assert_eq!(counted, [count(0, 3, 1), count(1, 1, 0), count(2, 1, 0)]);
        assert_eq!(database.audit_counts(None, 10, 10).await.unwrap(), counted);
        assert_eq!(database.audit_counts(Some("globex"), 0, 10).await.unwrap(), []);
    }
}
