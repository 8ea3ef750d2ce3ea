use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Principal, TenantId, TraceId, digest};
use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;
use store::{AuditFilter, AuditRow, Database};

pub(crate) fn row(at_unix_ms: u64) -> AuditRow {
    AuditRow {
        trace: TraceId::random(),
        at_unix_ms,
        caller: Arc::new(Principal {
            tenant: TenantId::new("acme"),
            subject: "someone@example.com".into(),
            agent: Some("research".into()),
            scopes: Vec::new(),
        }),
        door: "mcp".into(),
        tool: "server:tool".into(),
        version: "1.2.3".into(),
        definition: Some(digest(b"definition")),
        arguments: digest(b"{}"),
        decision: "ran".into(),
        outcome: "OK".into(),
        blame: None,
        duration_us: 1234,
    }
}

/// Past the store: a connection as any other program would make it.
pub(crate) async fn raw(data_dir: &Path) -> SqlitePool {
    let options = SqliteConnectOptions::new().filename(data_dir.join("powerstrip.db"));
    SqlitePool::connect_with(options).await.unwrap()
}

pub(crate) async fn all_rows(database: &Database) -> Vec<AuditRow> {
    let filter = AuditFilter { limit: u32::MAX, ..AuditFilter::default() };
    database.audit_rows(filter).await.unwrap()
}

pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !condition().await {
        assert!(Instant::now() < patience, "{what} did not come about");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
