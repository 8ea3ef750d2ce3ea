//! Tables that other suites do not cover: keys, vault, files, uploads, references, runs and questions.

use std::sync::Arc;

use proto::{FileId, FileKind, SlotType, TenantId, TraceId, UploadId, digest};
use serde_json::json;
use store::{
    CommitQueue, FileFilter, FileRecord, ForeignReference, KeyRow, ObjectKey, Origin, PlanEdgeRow,
    QuestionRow, QuestionState, RunCallRow, RunChanges, RunFilter, RunName, RunRow, Settlement,
    UploadRow, VaultRow, VaultSlot,
};

use crate::support::{on_both_engines, principal, random, row};

pub(crate) fn key(id: &str, name: &str) -> KeyRow {
    KeyRow {
        id: id.to_owned(),
        hash: digest(id.as_bytes()),
        name: name.to_owned(),
        kind: "api".to_owned(),
        tenant: "acme".to_owned(),
        subject: "ann".to_owned(),
        agent: None,
        scopes: vec!["tools:call".to_owned()],
        created_unix_ms: 1,
        expires_unix_ms: Some(9),
        revoked_unix_ms: None,
        used_unix_ms: None,
    }
}

pub(crate) fn file(size: u64, created_ms: u64) -> FileRecord {
    FileRecord {
        id: FileId::from_random(FileKind::File, random()),
        tenant: TenantId::new("acme"),
        owner: "ann".to_owned(),
        kind: FileKind::File,
        name: "a.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        size,
        sha256: [7; 32],
        object: ObjectKey::random(),
        created_ms,
        expires_ms: (created_ms == 3).then_some(50),
        run: None,
        origin: (created_ms == 1).then(|| Origin {
            server: "crm".to_owned(),
            reference: Some("ref".to_owned()),
            agent: None,
        }),
        text: None,
    }
}

pub(crate) fn run(id: &str, state: &str, touched: u64) -> RunRow {
    RunRow {
        id: id.to_owned(),
        tenant: "acme".to_owned(),
        subject: "ann".to_owned(),
        agent: None,
        kind: "named".to_owned(),
        name: Some("report".to_owned()),
        state: state.to_owned(),
        summary: None,
        artifacts: vec!["one".to_owned()],
        data_tools: touched,
        created_unix_ms: 1,
        touched_unix_ms: touched,
    }
}

on_both_engines! {
    async fn names_of_keys_are_unique_until_they_are_revoked(test) {
        let database = test.open().await;
        assert!(database.add_key(&key("a", "laptop")).await.unwrap());
        assert!(!database.add_key(&key("b", "laptop")).await.unwrap());
        database.revoke_key("a", 5).await.unwrap();
        database.revoke_key("a", 6).await.unwrap();
        database.note_key_use("a", 7).await.unwrap();
        assert!(database.add_key(&key("b", "laptop")).await.unwrap());
        let revoked =
            KeyRow { revoked_unix_ms: Some(5), used_unix_ms: Some(7), ..key("a", "laptop") };
        assert_eq!(database.keys().await.unwrap().rows, [revoked, key("b", "laptop")]);
    }

    async fn plan_edges_belong_to_a_tenant_and_the_oldest_go_first(test) {
        let database = test.open().await;
        let edge = |field: &str, count, last_unix_ms| PlanEdgeRow {
            from_tool: "a:make".to_owned(),
            from_field: field.to_owned(),
            to_tool: "b:use".to_owned(),
            to_argument: "x".to_owned(),
            count,
            last_unix_ms,
        };
        database.save_plan_edges("acme", &[edge("a", 1, 1), edge("b", 1, 2)], 10).await.unwrap();
        database.save_plan_edges("acme", &[edge("a", 2, 3), edge("c", 1, 4)], 2).await.unwrap();
        assert_eq!(database.plan_edges("acme").await.unwrap(), [edge("a", 2, 3), edge("c", 1, 4)]);
        assert_eq!(database.plan_edges("globex").await.unwrap(), []);
    }

    async fn a_sealed_row_replaces_the_one_in_its_slot(test) {
        let database = test.open().await;
        let slot = VaultSlot {
            kind: "token",
            server: "crm".to_owned(),
            tenant: "acme".to_owned(),
            owner: "ann".to_owned(),
            issuer: "https://issuer.example".to_owned(),
        };
        for (sealed, at_ms) in [(vec![0, 1], 1), (vec![255; 1000], 2)] {
            let row = VaultRow { slot: slot.clone(), sealed, at_ms };
            database.save_vault_row(&row).await.unwrap();
            assert_eq!(database.vault_rows("token", "crm").await.unwrap(), std::slice::from_ref(&row));
            assert_eq!(database.vault_rows_of("token", "acme", "ann").await.unwrap().rows, [row]);
            assert_eq!(database.vault_rows_of("token", "acme", "amy").await.unwrap().rows, []);
            assert_eq!(database.vault_rows_of("secret", "acme", "ann").await.unwrap().rows, []);
        }
        database.remove_vault_row(&slot).await.unwrap();
        assert_eq!(database.vault_rows("token", "crm").await.unwrap(), []);
    }

    async fn files_are_listed_counted_and_removed(test) {
        let database = test.open().await;
        let acme = TenantId::new("acme");
        let files = [file(10, 1), file(20, 2), file(30, 3)];
        for file in &files {
            assert!(database.add_file(file, Some(60)).await.unwrap());
        }
        assert!(!database.add_file(&file(1, 4), Some(60)).await.unwrap(), "the quota is used up");
        assert!(database.add_file(&file(1, 5), None).await.unwrap());
        assert_eq!(database.tenant_bytes(&acme).await.unwrap(), 61);
        let filter = |after| FileFilter {
            tenant: acme.clone(),
            kind: Some(FileKind::File),
            run: None,
            after,
            limit: 10,
            now_ms: 50,
        };
        let listed = database.files(&filter(Some((4, files[2].id.clone())))).await.unwrap().rows;
        assert_eq!(listed, [files[1].clone(), files[0].clone()], "one has expired");
        assert_eq!(database.file(&acme, &files[2].id, 49).await.unwrap(), Some(files[2].clone()));
        let origin = database.file_of_origin(&principal("ann", None), "crm", "ref", 9).await;
        assert_eq!(origin.unwrap(), Some(files[0].clone()));
        let agent = database.file_of_origin(&principal("ann", Some("bot")), "crm", "ref", 9).await;
        assert_eq!(agent.unwrap(), None);

        let text = ObjectKey::random();
        assert!(!database.set_file_text(&files[0].id, &text, 5, Some(65)).await.unwrap());
        assert!(database.set_file_text(&files[0].id, &text, 5, Some(66)).await.unwrap());
        assert!(!database.set_file_text(&files[0].id, &text, 5, None).await.unwrap(), "once");
        assert_eq!(database.tenant_bytes(&acme).await.unwrap(), 66);
        let other = ObjectKey::random();
        let keys = [text, other.clone(), files[1].object.clone()];
        assert_eq!(database.unknown_objects(&keys).await.unwrap(), [other]);
        assert_eq!(database.unknown_objects(&[]).await.unwrap(), []);
        let expired = database.remove_expired_files(50).await.unwrap();
        assert_eq!(expired.len(), 1);
        assert_eq!(expired[0].as_ref().unwrap().object, files[2].object);
        assert_eq!(database.remove_expired_files(50).await.unwrap().len(), 0);
        let removed = database.remove_file(&acme, &files[0].id).await.unwrap();
        assert!(removed.is_some_and(|removed| removed.text.is_some()));
        assert_eq!(database.remove_file(&acme, &files[0].id).await.unwrap(), None);
        assert_eq!(database.tenant_bytes(&acme).await.unwrap(), 21);
    }

    async fn uploads_stay_within_number_and_quota(test) {
        let database = test.open().await;
        let acme = TenantId::new("acme");
        let upload = |size| UploadRow {
            id: UploadId::from_random(random()),
            tenant: acme.clone(),
            owner: "ann".to_owned(),
            name: "big".to_owned(),
            size,
            created_ms: 1,
            expires_ms: 10,
        };
        assert!(database.add_file(&file(10, 1), None).await.unwrap());
        let first = upload(50);
        assert!(database.add_upload(&first, 2, Some(100)).await.unwrap());
        assert!(!database.add_upload(&upload(41), 2, Some(100)).await.unwrap(), "too large");
        assert!(database.add_upload(&upload(40), 2, Some(100)).await.unwrap());
        assert!(!database.add_upload(&upload(1), 2, None).await.unwrap(), "too many");
        assert_eq!(database.upload(None, &first.id).await.unwrap(), Some(first.clone()));
        assert_eq!(database.uploads_of(&acme).await.unwrap(), 2);
        test.execute(&format!("UPDATE uploads SET id = '?' WHERE id <> '{}'", first.id)).await.unwrap();
        let mut expired = database.expired_uploads(10).await.unwrap();
        expired.sort();
        assert_eq!(expired, ["?", first.id.as_str()], "also one with a damaged id");
        database.remove_upload(first.id.as_str()).await.unwrap();
        assert_eq!(database.upload(None, &first.id).await.unwrap(), None);
    }

    async fn a_reference_is_known_to_the_caller_that_received_it(test) {
        let database = test.open().await;
        let reference = |server: &str, uri: Option<&str>| ForeignReference {
            tenant: TenantId::new("acme"),
            subject: "ann".to_owned(),
            agent: None,
            reference: "ref".to_owned(),
            server: server.to_owned(),
            uri: uri.map(str::to_owned),
            expires_ms: 10,
        };
        let rows = [reference("b", None), reference("A", Some("x:y")), reference("b", Some("x:z"))];
        database.remember_references(&rows).await.unwrap();
        let of = async |agent| {
            database.foreign_references(&principal("ann", agent), "ref", 9).await.unwrap()
        };
        assert_eq!(of(None).await, [rows[1].clone(), rows[2].clone()]);
        assert_eq!(of(Some("bot")).await, []);
        database.forget_references(10).await.unwrap();
        assert_eq!(of(None).await, []);
    }

    async fn runs_are_stored_with_audit_rows_and_never_count_back(test) {
        let database = test.open().await;
        let queue = CommitQueue::start(database.clone());
        let call = RunCallRow {
            run: "r1".to_owned(),
            trace: TraceId::random(),
            tool: "t".to_owned(),
            started_unix_ms: 1,
            ended_unix_ms: 2,
            outcome: "OK".to_owned(),
            made: vec!["\u{0}odd".to_owned()],
            used: Vec::new(),
        };
        let calls: Vec<_> =
            (1..90).map(|at| RunCallRow { started_unix_ms: at, ..call.clone() }).collect();
        let changes = |run, calls| Arc::new(RunChanges { runs: vec![run], calls });
        let stale = RunRow { artifacts: Vec::new(), ..run("r1", "active", 3) };
        // The same run twice, in one group and in the next.
        queue.save_runs(&changes(run("r1", "completed", 5), calls.clone())).await.unwrap();
        queue.save_runs(&changes(stale.clone(), Vec::new())).await.unwrap();
        queue.record(row(1)).await.unwrap().committed().await.unwrap();
        assert_eq!(database.run_calls("r1").await.unwrap(), calls);
        assert_eq!(database.run(None, "r1").await.unwrap(), Some(run("r1", "completed", 5)));
        queue.save_runs(&changes(stale, Vec::new())).await.unwrap().committed().await.unwrap();
        assert_eq!(database.run(None, "r1").await.unwrap(), Some(run("r1", "completed", 5)));

        database.save_runs(&[run("r2", "active", 4)], &[]).await.unwrap();
        let name = RunName {
            tenant: "acme",
            subject: "ann",
            agent: None,
            kind: "named",
            name: Some("report"),
        };
        assert_eq!(database.run_named(name).await.unwrap().unwrap().id, "r2", "the newest");
        assert_eq!(database.run_named(RunName { name: None, ..name }).await.unwrap(), None);
        let filter = |state: Option<&str>| RunFilter {
            tenant: Some("acme".to_owned()),
            state: state.map(str::to_owned),
            ..RunFilter::default()
        };
        let ids = async |filter: RunFilter| {
            let runs = database.runs(&filter).await.unwrap();
            runs.rows.into_iter().map(|run| run.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(filter(None)).await, ["r1", "r2"]);
        assert_eq!(ids(filter(Some("active"))).await, ["r2"]);
        assert_eq!(ids(RunFilter { offset: 1, limit: Some(5), ..filter(None) }).await, ["r2"]);
        assert_eq!(database.forget_runs(5).await.unwrap(), 1);
        assert_eq!(ids(filter(None)).await, ["r1"]);
    }

    async fn a_question_is_settled_once(test) {
        let database = test.open().await;
        let question = |id: &str, slot: &str| QuestionRow {
            id: id.to_owned(),
            run: "r1".to_owned(),
            tenant: "acme".to_owned(),
            slot_id: slot.to_owned(),
            slot_type: SlotType::Text,
            prompt: "Which?".to_owned(),
            options: vec!["a".to_owned()],
            check: Some("outline".to_owned()),
            state: QuestionState::Open,
            answer: None,
            answered_by: None,
            asked_unix_ms: 1,
            settled_unix_ms: None,
        };
        database.ask_question(&run("r1", "waiting", 1), &question("q1", "one")).await.unwrap();
        assert!(database.ask_question(&run("r1", "waiting", 1), &question("q2", "one")).await.is_err());
        database.ask_question(&run("r1", "waiting", 1), &question("q3", "two")).await.unwrap();
        let answer = json!({"text": "nul \u{0}"});
        let settlement = Settlement {
            question: "q1",
            state: QuestionState::Answered,
            answer: Some(&answer),
            by: Some("ann"),
            at_unix_ms: 2,
        };
        assert!(database.settle_question(settlement).await.unwrap());
        assert!(!database.settle_question(settlement).await.unwrap());
        let questions = database.run_questions("r1").await.unwrap();
        assert_eq!(questions[0].answer, Some(answer));
        assert_eq!(questions[1], question("q3", "two"));
    }

    async fn a_damaged_question_is_not_read(test) {
        let database = test.open().await;
        let question = QuestionRow {
            id: "q1".to_owned(),
            run: "r1".to_owned(),
            tenant: "acme".to_owned(),
            slot_id: "one".to_owned(),
            slot_type: SlotType::Confirm,
            prompt: "Go on?".to_owned(),
            options: Vec::new(),
            check: None,
            state: QuestionState::Open,
            answer: None,
            answered_by: None,
            asked_unix_ms: 1,
            settled_unix_ms: None,
        };
        database.ask_question(&run("r1", "waiting", 1), &question).await.unwrap();
        for (column, damaged, whole) in [
            ("slot_type", "confirmed", "confirm"),
            ("state", "opened", "open"),
            ("answer", "answered", "open"),
        ] {
            let set = if column == "answer" { "state" } else { column };
            test.execute(&format!("UPDATE run_questions SET {set} = '{damaged}'")).await.unwrap();
            let read = database.run_questions("r1").await;
            let error = read.expect_err(column).to_string();
            assert!(error.contains(column), "{error}");
            test.execute(&format!("UPDATE run_questions SET {set} = '{whole}'")).await.unwrap();
        }
        assert_eq!(database.run_questions("r1").await.unwrap(), [question]);
    }
}
