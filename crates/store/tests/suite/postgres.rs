//! What only PostgreSQL can get wrong: several writers, restarts of the server, and a second gateway.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proto::{FileId, FileKind, TenantId, digest};
use store::{ApprovalRow, ApprovalState, CommitQueue, Database, FileRecord, ObjectKey, StoreError};

use crate::support::{Server, TestDatabase, all_rows, random, row, until};

#[tokio::test]
async fn a_second_gateway_is_refused_until_the_first_ends() {
    let Some(test) = TestDatabase::postgres().await else { return };
    let first = test.open().await;
    let error = test.try_open().await.unwrap_err();
    assert!(matches!(error, StoreError::OtherGateway { .. }), "{error}");
    assert!(error.to_string().contains("another gateway is using the database"), "{error}");
    first.save_server_list("crm", "{}").await.unwrap();
    first.close().await;
    let second = test.open().await;
    assert_eq!(second.server_list("crm").await.unwrap().as_deref(), Some("{}"));
    drop(second);
    test.open().await;
}

/// Ends all connections of the gateways that use the database.
async fn disconnect(test: &TestDatabase) {
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND application_name = 'powerstrip'";
    test.execute(end).await.unwrap();
}

#[tokio::test]
async fn a_gateway_that_lost_its_connections_goes_on_or_gives_way() {
    let Some(test) = TestDatabase::postgres().await else { return };
    let first = test.open().await;
    first.save_server_list("crm", "{}").await.unwrap();
    disconnect(&test).await;
    until("reconnecting", || async { first.save_server_list("crm", "[]").await.is_ok() }).await;
    assert!(matches!(test.try_open().await.unwrap_err(), StoreError::OtherGateway { .. }));

    // The second one starts while the first is disconnected.
    let second = loop {
        disconnect(&test).await;
        if let Ok(second) = test.try_open().await {
            break second;
        }
    };
    let mut refused = None;
    until("the refusal", || {
        let first = first.clone();
        async move {
            matches!(first.save_server_list("crm", "1").await, Err(StoreError::TakenOver { .. }))
        }
    })
    .await;
    refused.get_or_insert(first.save_server_list("crm", "2").await.unwrap_err());
    assert!(refused.unwrap().to_string().contains("another gateway has taken over"));
    assert_eq!(second.server_list("crm").await.unwrap().as_deref(), Some("[]"));
}

#[tokio::test]
async fn wrong_urls_are_refused_without_repeating_the_password() {
    for url in ["postgres://u:geheim@host:nonsense/x", "nonsense geheim"] {
        let error = Database::connect(url).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("geheim"), "{error:?}");
    }
    let error = Database::connect("postgres://u:geheim@127.0.0.1:1/x").await.unwrap_err();
    assert!(error.to_string().contains("postgres://127.0.0.1:1/x"), "{error}");
    assert!(!format!("{error} {error:?}").contains("geheim"), "{error:?}");
}

fn approval(n: u64) -> ApprovalRow {
    ApprovalRow {
        id: format!("id-{n}"),
        tenant: "acme".to_owned(),
        owner: "ann".to_owned(),
        agent: None,
        decider: false,
        tool: "crm.write".to_owned(),
        version: "1.0.0".to_owned(),
        definition: digest(b"definition"),
        code: None,
        idempotency_key: None,
        request_reason: None,
        arguments: Some("{}".to_owned()),
        arguments_bytes: 2,
        arguments_digest: digest(b"{}"),
        files: "[]".to_owned(),
        fingerprint: digest(&n.to_le_bytes()),
        trace: "trace".to_owned(),
        run: None,
        door: "http".to_owned(),
        created_unix_ms: n,
        deadline_unix_ms: 1_000,
        state: ApprovalState::Pending,
        decided_by: None,
        decided_via: None,
        reason: None,
        decided_unix_ms: None,
        good_until_unix_ms: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn limits_hold_for_parallel_inserts() {
    let Some(test) = TestDatabase::postgres().await else { return };
    let database = test.open().await;
    let tasks: Vec<_> = (0..40_u64)
        .map(|n| {
            let database = database.clone();
            tokio::spawn(async move {
                let file = FileRecord {
                    id: FileId::from_random(FileKind::File, random()),
                    tenant: TenantId::new("acme"),
                    owner: "ann".to_owned(),
                    kind: FileKind::File,
                    name: "a".to_owned(),
                    media_type: "text/plain".to_owned(),
                    size: 10,
                    sha256: [0; 32],
                    object: ObjectKey::random(),
                    created_ms: n,
                    expires_ms: None,
                    run: None,
                    origin: None,
                    text: None,
                };
                let approved = database.add_approval(&approval(n), 7).await.unwrap();
                (approved, database.add_file(&file, Some(95)).await.unwrap())
            })
        })
        .collect();
    let (mut approvals, mut files) = (0, 0);
    for task in tasks {
        let (approval, file) = task.await.unwrap();
        approvals += usize::from(approval);
        files += usize::from(file);
    }
    assert_eq!((approvals, files), (7, 9));
    assert_eq!(database.tenant_bytes(&TenantId::new("acme")).await.unwrap(), 90);
}

/// Rows are recorded and keys added all the time while the server restarts; what was acknowledged is there afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_restart_of_the_server_loses_nothing_acknowledged() {
    let Some(server) = Server::start() else { return };
    let test = TestDatabase::on_server(&server.url).await;
    let database = test.open().await;
    let queue = CommitQueue::start(database.clone());
    let ended = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..4_u64)
        .map(|task| {
            let (database, queue, ended) = (database.clone(), queue.clone(), Arc::clone(&ended));
            tokio::spawn(async move {
                let (mut rows, mut lists) = (HashSet::new(), Vec::new());
                for number in 0_u64.. {
                    if ended.load(Ordering::Relaxed) {
                        break;
                    }
                    let row = row(number);
                    let trace = row.trace;
                    if let Ok(receipt) = queue.record(row).await
                        && receipt.committed().await.is_ok()
                    {
                        rows.insert(trace);
                    }
                    let name = format!("{task} {number}");
                    match database.save_server_list(&name, "{}").await {
                        Ok(()) => lists.push(name),
                        Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                    }
                }
                (rows, lists)
            })
        })
        .collect();
    for mode in ["fast", "immediate", "fast"] {
        tokio::time::sleep(Duration::from_millis(500)).await;
        tokio::task::block_in_place(|| server.restart(mode));
    }
    until("recovery", || async {
        let written = queue.record(row(1)).await;
        match written {
            Ok(receipt) => receipt.committed().await.is_ok(),
            Err(_) => false,
        }
    })
    .await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    ended.store(true, Ordering::Relaxed);
    let (mut rows, mut lists) = (HashSet::new(), Vec::new());
    for task in tasks {
        let (some_rows, some_lists) = task.await.unwrap();
        rows.extend(some_rows);
        lists.extend(some_lists);
    }
    queue.close().await.unwrap();
    let stored = all_rows(&database).await;
    let traces: HashSet<_> = stored.iter().map(|row| row.trace).collect();
    assert_eq!(traces.len(), stored.len(), "no row is stored twice");
    assert!(rows.len() > 20 && lists.len() > 20, "{} rows, {} lists", rows.len(), lists.len());
    assert!(rows.is_subset(&traces), "{} rows are lost", rows.difference(&traces).count());
    for name in lists {
        assert!(database.server_list(&name).await.unwrap().is_some(), "{name} is lost");
    }
}
