//! The audit trail as people read it: page by page, and counted.

use std::sync::Arc;

use proto::{Principal, TenantId};
use store::{AuditCount, AuditFilter, AuditRow, Database};

use crate::support::row;

async fn holding(rows: &[AuditRow]) -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let trail = store::AuditTrail::start(database.clone());
    for row in rows {
        trail.record(row.clone()).await.unwrap();
    }
    trail.close().await.unwrap();
    (folder, database)
}

#[tokio::test]
async fn pages_go_on_where_the_last_one_ended_whatever_came_in_since() {
    // Several rows of the same moment: the place is more than a time.
    let rows: Vec<_> = (0..25).map(|number| row(number / 5)).collect();
    let (_folder, database) = holding(&rows).await;
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

#[tokio::test]
async fn callers_and_ends_of_time_narrow() {
    let mut rows: Vec<_> = (0..6).map(row).collect();
    let principal = |subject: &str, agent: Option<&str>| {
        Arc::new(Principal {
            tenant: TenantId::new("acme"),
            subject: subject.to_owned(),
            agent: agent.map(str::to_owned),
            scopes: Vec::new(),
        })
    };
    rows[1].caller = principal("bob", None);
    rows[2].caller = principal("carol", Some("bob"));
    let (_folder, database) = holding(&rows).await;
    let found = async |filter: AuditFilter| -> Vec<u64> {
        let rows = database.audit_rows(filter).await.unwrap();
        rows.iter().map(|row| row.at_unix_ms).collect()
    };
    let caller = Some("bob".to_owned());
    assert_eq!(found(AuditFilter { caller, ..AuditFilter::default() }).await, [2, 1]);
    let until_unix_ms = Some(2);
    assert_eq!(found(AuditFilter { until_unix_ms, ..AuditFilter::default() }).await, [1, 0]);
}

#[tokio::test]
async fn calls_are_counted_by_stretches_of_time() {
    let mut rows: Vec<_> = [5, 10, 11, 19, 20, 39].map(row).into();
    rows[2].outcome = "TIMEOUT".into();
    let (_folder, database) = holding(&rows).await;
    let count = |stretch, calls, failed| AuditCount { stretch, calls, failed };
    let counted = database.audit_counts(Some("acme"), 10, 10).await.unwrap();
    assert_eq!(counted, [count(0, 3, 1), count(1, 1, 0), count(2, 1, 0)]);
    assert_eq!(database.audit_counts(None, 10, 10).await.unwrap(), counted);
    assert_eq!(database.audit_counts(Some("globex"), 0, 10).await.unwrap(), []);
}
