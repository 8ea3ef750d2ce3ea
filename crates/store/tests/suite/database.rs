use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use proto::{Principal, TenantId, digest};
use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use store::{AuditFilter, AuditRow, AuditTrail, Database, StoreError};

use crate::support::{all_rows, raw, row};

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(key, name)| ((*key).to_owned(), (*name).to_owned())).collect()
}

/// A folder with a database in which these rows are committed.
async fn holding(rows: &[AuditRow]) -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    let trail = AuditTrail::start(database.clone());
    for row in rows {
        trail.record(row.clone()).await.unwrap();
    }
    trail.close().await.unwrap();
    (folder, database)
}

#[tokio::test]
async fn folder_and_files_are_for_their_owner_only() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a new").join("100% odd? #folder");
    let database = Database::open(&folder).await.unwrap();
    database.save_wire_names(&pairs(&[("a:b", "a__b")])).await.unwrap();

    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.contains(&folder.join("powerstrip.db")), "{files:?}");
    assert!(files.contains(&folder.join("powerstrip.db-wal")), "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn wire_names_stay_swap_and_never_clash() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    assert!(database.wire_names().await.unwrap().is_empty());
    database.save_wire_names(&[]).await.unwrap();

    database.save_wire_names(&pairs(&[("b", "y"), ("a", "x"), ("ö\"'\u{0}", "z")])).await.unwrap();
    database.save_wire_names(&pairs(&[("a", "y"), ("b", "x")])).await.unwrap();
    let swapped = pairs(&[("a", "y"), ("b", "x"), ("ö\"'\u{0}", "z")]);
    assert_eq!(database.wire_names().await.unwrap(), swapped);

    let clash = database.save_wire_names(&pairs(&[("c", "new"), ("d", "x")])).await.unwrap_err();
    assert!(clash.to_string().contains("wire_names.wire_name"), "{clash}");
    assert_eq!(database.wire_names().await.unwrap(), swapped, "all or none");

    database.save_wire_names(&pairs(&[("c", "new")])).await.unwrap();
    database.close().await;
    let reopened = Database::open(folder.path()).await.unwrap();
    assert_eq!(reopened.wire_names().await.unwrap().len(), 4);
}

#[tokio::test]
async fn the_last_list_of_each_server_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).await.unwrap();
    assert_eq!(database.server_list("crm").await.unwrap(), None);
    let long = format!("{{\"tools\":\"{}\"}}", "ö'\u{0}".repeat(500_000));
    database.save_server_list("crm", "{}").await.unwrap();
    database.save_server_list("crm", &long).await.unwrap();
    database.save_server_list("cr%", "[]").await.unwrap();
    database.close().await;

    let reopened = Database::open(folder.path()).await.unwrap();
    assert_eq!(reopened.server_list("crm").await.unwrap(), Some(long));
    assert_eq!(reopened.server_list("cr%").await.unwrap().as_deref(), Some("[]"));
    assert_eq!(reopened.server_list("CRM").await.unwrap(), None, "names are exact");
}

#[tokio::test]
async fn rows_come_back_as_they_went_in() {
    let odd = AuditRow {
        at_unix_ms: i64::MAX as u64,
        caller: Arc::new(Principal {
            tenant: TenantId::new(""),
            subject: "null\u{0}byte, \"quotes\", 'quotes', emoji 🦀, \u{202e}".into(),
            agent: None,
            scopes: Vec::new(),
        }),
        door: "x".repeat(100_000).into(),
        definition: None,
        blame: Some("caller".into()),
        duration_us: 0,
        ..row(0)
    };
    let rows = [row(1), odd, row(0)];
    let (_folder, database) = holding(&rows).await;
    let [first, odd, last] = rows;
    assert_eq!(all_rows(&database).await, [odd, first, last]);
}

#[tokio::test]
async fn numbers_past_those_of_sql_are_the_largest_it_has() {
    let (_folder, database) = holding(&[AuditRow { duration_us: u64::MAX, ..row(u64::MAX) }]).await;
    let rows = all_rows(&database).await;
    assert_eq!((rows[0].at_unix_ms, rows[0].duration_us), (i64::MAX as u64, i64::MAX as u64));
}

#[tokio::test]
async fn filters_narrow_and_the_newest_come_first() {
    let mut rows: Vec<_> = (0..300).map(row).collect();
    rows[7].tool = "other:tool".into();
    rows[8].tool = "other:tool".into();
    rows[8].outcome = "TIMEOUT".into();
    rows[9].outcome = "TIMEOUT".into();
    let (_folder, database) = holding(&rows).await;
    let found = async |filter: AuditFilter| -> Vec<u64> {
        let rows = database.audit_rows(filter).await.unwrap();
        rows.iter().map(|row| row.at_unix_ms).collect()
    };
    let all = AuditFilter::default;

    assert_eq!(found(all()).await, (200..300).rev().collect::<Vec<_>>());
    assert_eq!(found(AuditFilter { limit: 2, ..all() }).await, [299, 298]);
    assert_eq!(found(AuditFilter { limit: 0, ..all() }).await, [0_u64; 0]);
    assert_eq!(found(AuditFilter { trace: Some(rows[42].trace), ..all() }).await, [42]);
    assert_eq!(found(AuditFilter { trace: Some(row(0).trace), ..all() }).await, [0_u64; 0]);
    let tool = Some("other:tool".to_owned());
    let outcome = Some("TIMEOUT".to_owned());
    let tenant = Some("nobody".to_owned());
    assert_eq!(found(AuditFilter { tenant, ..all() }).await, [0_u64; 0]);
    assert_eq!(found(AuditFilter { tool: tool.clone(), ..all() }).await, [8, 7]);
    assert_eq!(found(AuditFilter { outcome: outcome.clone(), ..all() }).await, [9, 8]);
    assert_eq!(found(AuditFilter { tool, outcome, ..all() }).await, [8]);
    assert_eq!(found(AuditFilter { since_unix_ms: Some(298), ..all() }).await, [299, 298]);
    assert_eq!(found(AuditFilter { since_unix_ms: Some(u64::MAX), ..all() }).await, [0_u64; 0]);
    let injection = Some("' OR 1 = 1 --".to_owned());
    assert_eq!(found(AuditFilter { tool: injection, ..all() }).await, [0_u64; 0]);
}

#[tokio::test]
async fn audit_rows_cannot_be_changed_or_removed() {
    let (folder, database) = holding(&[row(1), row(2)]).await;
    let raw = raw(folder.path()).await;
    for statement in [
        "UPDATE audit_kinds SET outcome = 'OK'",
        "UPDATE audit_rows SET kind = 7 WHERE at_ms = 1",
        "DELETE FROM audit_kinds",
        "DELETE FROM audit_rows",
    ] {
        let error = sqlx::query(statement).execute(&raw).await.unwrap_err().to_string();
        assert!(error.contains("append-only"), "{statement}: {error}");
    }
    assert_eq!(all_rows(&database).await.len(), 2);
}

#[tokio::test]
async fn a_damaged_row_is_an_error_and_not_a_wrong_answer() {
    let (folder, database) = holding(&[]).await;
    sqlx::query(
        "INSERT INTO audit_kinds (id, tenant, owner, door, tool, version, decision, outcome) \
         VALUES (1, '', '', '', '', '', '', ''); \
         INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us) VALUES (x'0102', 0, 1, x'03', 0)",
    )
    .execute(&raw(folder.path()).await)
    .await
    .unwrap();
    let error = database.audit_rows(AuditFilter::default()).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains("0102"), "{error}");
}

#[tokio::test]
async fn what_calls_have_in_common_is_written_once() {
    let (folder, database) =
        holding(&[row(1), row(2), AuditRow { blame: Some("".into()), ..row(3) }]).await;
    database.close().await;
    let reopened = Database::open(folder.path()).await.unwrap();
    let trail = AuditTrail::start(reopened.clone());
    trail.record(row(4)).await.unwrap().committed().await.unwrap();
    let kinds: i64 = sqlx::query_scalar("SELECT count(*) FROM audit_kinds")
        .fetch_one(&raw(folder.path()).await)
        .await
        .unwrap();
    assert_eq!(kinds, 2, "an empty blame is not the same as none");
    assert_eq!(all_rows(&reopened).await.len(), 4);
}

#[tokio::test]
async fn rows_of_an_earlier_version_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new()
        .filename(folder.path().join("powerstrip.db"))
        .create_if_missing(true);
    let old = SqlitePool::connect_with(options).await.unwrap();
    let migration = |version, sql: &'static str| {
        Migration::new(version, "old".into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(vec![
        migration(1, include_str!("../../migrations/sqlite/0001_first.sql")),
        migration(2, include_str!("../../migrations/sqlite/0002_server_lists.sql")),
    ])
    .run(&old)
    .await
    .unwrap();
    for at in 1..=3 {
        sqlx::query(
            "INSERT INTO audit (trace, at_ms, tenant, owner, door, tool, version, arguments, decision, outcome, \
             blame, duration_us) VALUES (zeroblob(16), ?1, 'acme', 'ann', 'http', 't', '1.0.0', zeroblob(32), 'ran', \
             'OK', iif(?1 = 2, 'tool', NULL), 7)",
        )
        .bind(at)
        .execute(&old)
        .await
        .unwrap();
    }
    old.close().await;

    let database = Database::open(folder.path()).await.unwrap();
    let rows = all_rows(&database).await;
    let told: Vec<_> = rows.iter().map(|row| (row.at_unix_ms, row.blame.as_deref())).collect();
    assert_eq!(told, [(3, None), (2, Some("tool")), (1, None)]);
    assert_eq!(rows[0].caller.subject, "ann");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let (folder, database) = holding(&[row(1)]).await;
    database.close().await;
    let raw = raw(folder.path()).await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (999, 'of tomorrow', true, x'00', 0)",
    )
    .execute(&raw)
    .await
    .unwrap();
    let error = Database::open(folder.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerDatabase { found: 999, .. }), "{error}");
    assert!(error.to_string().contains("newer Powerstrip"), "{error}");
}

#[tokio::test]
async fn a_schema_that_is_not_ours_is_refused() {
    let (folder, database) = holding(&[]).await;
    database.close().await;
    sqlx::query("UPDATE _sqlx_migrations SET checksum = x'00'")
        .execute(&raw(folder.path()).await)
        .await
        .unwrap();
    let error = Database::open(folder.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Migration { .. }), "{error}");
}

#[tokio::test]
async fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("powerstrip.db");
    let text = "a shopping list, ".repeat(1000);
    fs::write(&file, &text).unwrap();
    let error = Database::open(folder.path()).await.unwrap_err().to_string();
    assert!(error.contains("powerstrip.db") && error.contains("not a database"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_file_in_the_folders_place_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Database::open(file.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

#[tokio::test]
async fn hashes_are_kept_apart_by_every_bit() {
    let rows: Vec<_> =
        (0..64_u64).map(|n| AuditRow { arguments: digest(&n.to_le_bytes()), ..row(n) }).collect();
    let (_folder, database) = holding(&rows).await;
    let mut back = all_rows(&database).await;
    back.reverse();
    assert_eq!(back, rows);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_opens_at_the_same_time_finds_one_schema() {
    let folder = tempfile::tempdir().unwrap();
    let openings: Vec<_> = (0..8)
        .map(|_| {
            let path = folder.path().to_owned();
            tokio::spawn(async move { Database::open(&path).await })
        })
        .collect();
    for opening in openings {
        let database = opening.await.unwrap().unwrap();
        assert!(all_rows(&database).await.is_empty());
    }
}
