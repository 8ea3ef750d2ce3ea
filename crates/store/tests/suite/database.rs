use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use proto::{Principal, TenantId, Via, digest};
use store::{AuditFilter, AuditRow, CommitQueue, Database, StoreError};

use crate::support::{TestDatabase, all_rows, on_both_engines, row};

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(key, name)| ((*key).to_owned(), (*name).to_owned())).collect()
}

#[tokio::test]
async fn folder_and_files_are_accessible_to_their_owner_only() {
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

on_both_engines! {
    async fn wire_names_stay_swap_and_never_clash(test) {
        let database = test.open().await;
        assert!(database.wire_names().await.unwrap().pairs.is_empty());
        database.save_wire_names(&[]).await.unwrap();

        database.save_wire_names(&pairs(&[("b", "y"), ("a", "x"), ("ö\"'\u{0}", "z")])).await.unwrap();
        database.save_wire_names(&pairs(&[("a", "y"), ("b", "x")])).await.unwrap();
        let swapped = pairs(&[("a", "y"), ("b", "x"), ("ö\"'\u{0}", "z")]);
        assert_eq!(database.wire_names().await.unwrap().pairs, swapped);

        let clash = database.save_wire_names(&pairs(&[("c", "new"), ("d", "x")])).await.unwrap_err();
        assert!(clash.to_string().contains("wire_name"), "{clash}");
        assert_eq!(database.wire_names().await.unwrap().pairs, swapped, "all or none");

        database.save_wire_names(&pairs(&[("c", "new")])).await.unwrap();
        database.close().await;
        let reopened = test.open().await;
        assert_eq!(reopened.wire_names().await.unwrap().pairs.len(), 4);
    }

    async fn bare_names_have_their_last_owners(test) {
        let database = test.open().await;
        assert!(database.bare_names().await.unwrap().is_empty());
        database.save_bare_names(&[]).await.unwrap();
        let many: Vec<_> = (0..1_200).map(|n| (format!("t{n:04}"), format!("a:t{n:04}"))).collect();
        database.save_bare_names(&many).await.unwrap();
        database.save_bare_names(&pairs(&[("t0001", "a:t0001 b:t0001"), ("z'\"", "c:z")])).await.unwrap();
        database.close().await;
        let stored = test.open().await.bare_names().await.unwrap();
        assert_eq!(stored.len(), 1_201);
        assert_eq!(stored[1], ("t0001".to_owned(), "a:t0001 b:t0001".to_owned()));
        assert_eq!(stored[1_200], ("z'\"".to_owned(), "c:z".to_owned()));
    }

    async fn the_last_list_of_each_server_is_stored(test) {
        let database = test.open().await;
        assert_eq!(database.server_list("crm").await.unwrap(), None);
        let long = format!("{{\"tools\":\"{}\"}}", "ö'\u{0}".repeat(500_000));
        database.save_server_list("crm", "{}").await.unwrap();
        database.save_server_list("crm", &long).await.unwrap();
        database.save_server_list("cr%", "[]").await.unwrap();
        database.close().await;

        let reopened = test.open().await;
        assert_eq!(reopened.server_list("crm").await.unwrap(), Some(long));
        assert_eq!(reopened.server_list("cr%").await.unwrap().as_deref(), Some("[]"));
        assert_eq!(reopened.server_list("CRM").await.unwrap(), None, "names are exact");
    }

    async fn rows_come_back_as_they_went_in(test) {
        let odd = AuditRow {
            at_unix_ms: i64::MAX as u64,
            caller: Arc::new(Principal {
                tenant: TenantId::new(""),
                subject: "null\u{0}byte, \"quotes\", 'quotes', emoji 🦀, \u{202e}".into(),
                agent: None,
                scopes: Vec::new(),
 via: Via::Local,
}),
            door: "x".repeat(100_000).into(),
            definition: None,
            blame: Some("caller".into()),
            duration_us: 0,
            ..row(0)
        };
        let rows = [row(1), odd, row(0)];
        let database = test.containing(&rows).await;
        let [first, odd, last] = rows;
        assert_eq!(all_rows(&database).await, [odd, first, last]);
    }

    async fn numbers_too_large_for_sql_become_its_largest(test) {
        let database = test.containing(&[AuditRow { duration_us: u64::MAX, ..row(u64::MAX) }]).await;
        let rows = all_rows(&database).await;
        assert_eq!((rows[0].at_unix_ms, rows[0].duration_us), (i64::MAX as u64, i64::MAX as u64));
    }

    async fn filters_narrow_and_the_newest_come_first(test) {
        let mut rows: Vec<_> = (0..300).map(row).collect();
        rows[7].tool = "other:tool".into();
        rows[8].tool = "other:tool".into();
        rows[8].outcome = "TIMEOUT".into();
        rows[9].outcome = "TIMEOUT".into();
        let database = test.containing(&rows).await;
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
        let tenant = Some("unknown".to_owned());
        assert_eq!(found(AuditFilter { tenant, ..all() }).await, [0_u64; 0]);
        assert_eq!(found(AuditFilter { tool: tool.clone(), ..all() }).await, [8, 7]);
        assert_eq!(found(AuditFilter { outcome: outcome.clone(), ..all() }).await, [9, 8]);
        assert_eq!(found(AuditFilter { tool, outcome, ..all() }).await, [8]);
        assert_eq!(found(AuditFilter { since_unix_ms: Some(298), ..all() }).await, [299, 298]);
        assert_eq!(found(AuditFilter { since_unix_ms: Some(u64::MAX), ..all() }).await, [0_u64; 0]);
        let injection = Some("' OR 1 = 1 --".to_owned());
        assert_eq!(found(AuditFilter { tool: injection, ..all() }).await, [0_u64; 0]);
    }

    async fn audit_rows_cannot_be_changed_or_removed(test) {
        let database = test.containing(&[row(1), row(2)]).await;
        for statement in [
            "UPDATE audit_kinds SET outcome = 'OK'",
            "UPDATE audit_rows SET kind = 7 WHERE at_ms = 1",
            "DELETE FROM audit_kinds",
            "DELETE FROM audit_rows",
        ] {
            let error = test.execute(statement).await.unwrap_err().to_string();
            assert!(error.contains("append-only"), "{statement}: {error}");
        }
        assert_eq!(all_rows(&database).await.len(), 2);
    }

    async fn a_damaged_row_is_an_error_and_not_a_wrong_answer(test) {
        let database = test.containing(&[]).await;
        let (short, digest) = (test.pick("x'0102'", "'\\x0102'"), test.pick("x'03'", "'\\x03'"));
        test.execute(&format!(
            "INSERT INTO audit_kinds (id, digest, tenant, owner, door, tool, version, decision, outcome) \
             VALUES (1, {digest}, '', '', '', '', '', '', ''); \
             INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us) VALUES ({short}, 0, 1, {digest}, 0)"
        ))
        .await
        .unwrap();
        let error = database.audit_rows(AuditFilter::default()).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("0102"), "{error}");
    }

    async fn common_columns_of_calls_are_written_once(test) {
        let database = test.containing(&[row(1), row(2), AuditRow { blame: Some("".into()), ..row(3) }]).await;
        database.close().await;
        let reopened = test.open().await;
        let queue = CommitQueue::start(reopened.clone());
        queue.record(row(4)).await.unwrap().committed().await.unwrap();
        let kinds = test.number("SELECT count(*) FROM audit_kinds").await;
        assert_eq!(kinds, 2, "an empty blame is not the same as none");
        assert_eq!(all_rows(&reopened).await.len(), 4);
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_development_version_is_refused_and_left_alone() {
    let test = TestDatabase::sqlite();
    fs::write(test.folder().join("powerstrip.db"), "").unwrap();
    test.execute("CREATE TABLE _sqlx_migrations (version BIGINT)").await.unwrap();
    let error = test.try_open().await.unwrap_err();
    assert!(matches!(error, StoreError::OtherSchema { .. }), "{error}");
    assert!(error.to_string().contains("powerstrip.db"), "{error}");
    assert!(error.to_string().contains("move it away"), "{error}");
    assert_eq!(test.number("SELECT count(*) FROM sqlite_master").await, 1);
}

on_both_engines! {
    async fn a_database_of_a_newer_version_is_refused(test) {
        let database = test.containing(&[row(1)]).await;
        database.close().await;
        let insert = "INSERT INTO schema_versions (version, digest) VALUES (999, 'of tomorrow')";
        test.execute(insert).await.unwrap();
        let error = test.try_open().await.unwrap_err();
        assert!(matches!(error, StoreError::NewerDatabase { found: 999, .. }), "{error}");
        assert!(error.to_string().contains("newer Powerstrip"), "{error}");
    }

    async fn a_schema_that_is_not_ours_is_refused(test) {
        let database = test.containing(&[]).await;
        database.close().await;
        test.execute("UPDATE schema_versions SET digest = 'another'").await.unwrap();
        let error = test.try_open().await.unwrap_err();
        assert!(matches!(error, StoreError::OtherSchema { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("powerstrip.db");
    let text = "a shopping list, ".repeat(1000);
    fs::write(&file, &text).unwrap();
    let error = Database::open(folder.path()).await.unwrap_err().to_string();
    assert!(error.contains("powerstrip.db") && error.contains("not a database"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_file_instead_of_the_folder_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Database::open(file.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

on_both_engines! {
    async fn digests_differ_by_every_bit(test) {
        let rows: Vec<_> =
            (0..64_u64).map(|n| AuditRow { arguments: digest(&n.to_le_bytes()), ..row(n) }).collect();
        let database = test.containing(&rows).await;
        let mut back = all_rows(&database).await;
        back.reverse();
        assert_eq!(back, rows);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_open_at_the_same_time_find_one_schema() {
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
