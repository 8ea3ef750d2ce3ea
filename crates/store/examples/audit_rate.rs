//! How many audit rows a second reach the disk: `cargo run --release -p store --example audit_rate [ROWS]`.
#![expect(clippy::print_stdout, reason = "a measurement prints its result")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Principal, TenantId, TraceId, Via, digest};
use store::{AuditFilter, AuditRow, CommitQueue, Database};

const TASKS: u64 = 8;

fn row(number: u64) -> AuditRow {
    AuditRow {
        trace: TraceId::random(),
        at_unix_ms: 1_767_225_600_000 + number,
        caller: Arc::new(Principal {
            tenant: TenantId::new("local"),
            subject: "someone@example.com".into(),
            agent: Some("research".into()),
            scopes: Vec::new(),
            via: Via::Local,
        }),
        door: "mcp".into(),
        tool: "doc-parser-mcp:extract_text".into(),
        version: "1.4.2".into(),
        definition: Some(digest(b"definition")),
        arguments: digest(&number.to_le_bytes()),
        decision: "ran".into(),
        outcome: "OK".into(),
        blame: None,
        duration_us: number,
    }
}

fn report(what: &str, rows: u64, took: Duration) {
    println!("{what}: {:.0} rows/s ({rows} in {took:.2?})", rows as f64 / took.as_secs_f64());
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rows: u64 = std::env::args().nth(1).map_or(Ok(500_000), |text| text.parse())?;
    let folder = tempfile::tempdir_in(".")?;
    let database = Database::open(folder.path()).await?;
    let queue = CommitQueue::start(database.clone());

    let mut last = TraceId::random();
    for (what, wait, rows) in [("unawaited", false, rows), ("awaited by 8 tasks", true, rows / 100)]
    {
        let started = Instant::now();
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let queue = queue.clone();
                tokio::spawn(async move {
                    for number in 0..rows / TASKS {
                        let receipt = queue.record(row(task + number * TASKS)).await?;
                        if wait {
                            receipt.committed().await?;
                        }
                    }
                    Ok::<_, store::StoreError>(())
                })
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        let row = row(0);
        last = row.trace;
        queue.record(row).await?.committed().await?;
        report(what, rows, started.elapsed());
    }

    let started = Instant::now();
    let filter = AuditFilter { trace: Some(last), ..AuditFilter::default() };
    assert_eq!(database.audit_rows(filter).await?.len(), 1);
    println!("one trace found in {:.2?}", started.elapsed());

    queue.close().await?;
    database.close().await;
    Ok(())
}
