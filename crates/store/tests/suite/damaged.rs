//! Damaged rows: each is named, and keeps no other row from being read or written.

use std::sync::Arc;

use proto::{TenantId, digest};
use store::{
    ApprovalFilter, ApprovalRuleRow, ApprovalState, DamagedName, DamagedPin, DamagedRow, Database,
    FileFilter, KeyRow, Pin, PinnedDefinition, RunChanges, RunFilter, StoreError, VaultRow,
    VaultSlot,
};

use crate::approvals::{row as approval, ruling};
use crate::support::{all_rows, on_both_engines, row};
use crate::tables::{file, key, run};

/// A rule for the arguments that were shown.
fn rule(id: &str) -> ApprovalRuleRow {
    ApprovalRuleRow {
        id: id.to_owned(),
        tenant: "acme".to_owned(),
        owner: "owner-0".to_owned(),
        agent: None,
        tool: "crm.write".to_owned(),
        definition: digest(b"definition"),
        code: None,
        arguments_digest: Some(digest(b"{}")),
        arguments: Some("{}".to_owned()),
        run: None,
        created_by: "me".to_owned(),
        created_unix_ms: 2_000,
        expires_unix_ms: 9_000,
        uses: 0,
    }
}

/// Approves the approval of this number, and adds a rule.
async fn approve(database: &Database, n: u64, rule: &ApprovalRuleRow) {
    let id = approval(n, "acme").id;
    let approved = ruling(ApprovalState::Approved, 2_000, true);
    assert!(database.rule_on_approval(&id, &approved, Some(rule)).await.unwrap());
}

fn named(rows: &[DamagedRow]) -> Vec<(&str, Option<&str>, &str)> {
    rows.iter().map(|row| (&*row.id, row.tenant.as_deref(), &*row.column)).collect()
}

on_both_engines! {
    async fn a_damaged_run_does_not_stop_the_audit_trail(test) {
        let (database, queue) = test.started().await;
        let long = format!("'{}'", "{".repeat(500));
        let blob = test.pick("x'00ff'", "'{'");
        for (n, damage) in ["'{'", "''", "'null'", "'[1]'", long.as_str(), blob].into_iter().enumerate() {
            let id = format!("r{n}");
            database.save_runs(&[run(&id, "open", 1)], &[]).await.unwrap();
            let sql = format!("UPDATE runs SET artifacts = {damage} WHERE id = '{id}'");
            test.execute(&sql).await.unwrap();
            let runs = vec![run(&id, "completed", 2), run("other", "open", n as u64)];
            queue.save_runs(&Arc::new(RunChanges { runs, calls: Vec::new() })).await.unwrap();
            let written = queue.record(row(n as u64)).await.unwrap().committed().await;
            assert!(written.is_ok(), "{damage}: {written:?}");
        }
        assert_eq!(queue.failing(), None);
        assert_eq!(all_rows(&database).await.len(), 6);
        let listed = database.runs(&RunFilter::default()).await.unwrap();
        assert!(listed.rows.iter().any(|run| run.id == "other" && run.data_tools == 5));
        assert_eq!(
            (listed.rows.len() + listed.damaged.len(), named(&listed.damaged)[0].2),
            (7, "artifacts")
        );
        let short = listed.rows.iter().find(|row| row.id == "r0");
        assert_eq!(short, Some(&run("r0", "completed", 2)), "what was lost is written again");
    }

    async fn a_damaged_note_of_the_writer_loses_no_row(test) {
        let (database, queue) = test.started().await;
        queue.record(row(0)).await.unwrap().committed().await.unwrap();
        for (n, damage) in ["9000000000000", "0", test.pick("'x'", "-1")].into_iter().enumerate() {
            test.execute(&format!("UPDATE audit_writers SET written = {damage}")).await.unwrap();
            queue.record(row(n as u64 + 1)).await.unwrap().committed().await.unwrap();
        }
        assert_eq!(queue.failing(), None);
        assert_eq!(all_rows(&database).await.len(), 4);
    }

    async fn a_damaged_row_is_named_and_the_others_of_its_list_are_read(test) {
        let database = test.open().await;
        for n in 0..4 {
            assert!(database.add_approval(&approval(n, "acme"), 100).await.unwrap());
        }
        approve(&database, 2, &rule("one")).await;
        approve(&database, 3, &rule("two")).await;
        database.save_runs(&[run("r1", "open", 1), run("r2", "open", 2)], &[]).await.unwrap();
        // SQLite keeps a value of any type in any column.
        let file_list = test.pick("files = x'5b5d'", "state = 'opened'");
        let column = test.pick("files", "state");
        let short = test.pick("x'7b'", "'\\x7b'");
        test.execute(&format!("UPDATE approvals SET {file_list} WHERE id IN ('id-000000', 'id-000002')"))
            .await
            .unwrap();
        test.execute(&format!("UPDATE approval_rules SET definition = {short} WHERE id = 'one'"))
            .await
            .unwrap();
        test.execute("UPDATE runs SET artifacts = '{' WHERE id = 'r1'").await.unwrap();

        let mut filter = ApprovalFilter { limit: 1, ..ApprovalFilter::default() };
        let (mut found, mut damaged) = (Vec::new(), Vec::new());
        loop {
            let page = database.approvals(&filter).await.unwrap();
            found.extend(page.rows.into_iter().map(|row| row.id));
            damaged.extend(page.damaged);
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        assert_eq!(found, ["id-000003", "id-000001"], "also behind a page that is damaged");
        let acme = Some("acme");
        assert_eq!(named(&damaged), [("id-000002", acme, column), ("id-000000", acme, column)]);
        let one = database.approval(acme, "id-000000").await;
        assert!(matches!(one, Err(StoreError::Unreadable { .. })), "{one:?}");
        assert_eq!(database.approval(Some("globex"), "id-000000").await.unwrap(), None);

        let rules = database.approval_rules().await.unwrap();
        assert_eq!(rules.rows, [rule("two")]);
        assert_eq!(named(&rules.damaged), [("one", acme, "definition")]);

        let runs = database.runs(&RunFilter::default()).await.unwrap();
        assert_eq!(runs.rows, [run("r2", "open", 2)]);
        assert_eq!(named(&runs.damaged), [("r1", acme, "artifacts")]);
        let owners = database.runs_named(acme, "report").await.unwrap();
        assert_eq!(owners.len(), 2, "its name still leads to the damaged one");
        assert!(matches!(database.run(acme, "r1").await, Err(StoreError::Unreadable { .. })));
        assert_eq!(database.run(Some("globex"), "r1").await.unwrap(), None);
    }

    /// A reviewer would be shown another call than the one that would run.
    async fn an_approval_that_is_not_as_it_was_stored_is_damaged_and_can_be_ended(test) {
        let database = test.open().await;
        let changes = [
            "tool = 'text.stats'", "owner = 'x'", "agent = 'y'", "decider = true", "files = '[{}]'",
            "idempotency_key = NULL", "request_reason = 'because'", "run = 'r'", "trace = 't'",
            "deadline_ms = deadline_ms + 1",
        ];
        for (change, n) in changes.into_iter().zip((0..).step_by(5)) {
            let whole = approval(n, "acme");
            assert!(database.add_approval(&whole, 100).await.unwrap());
            assert_eq!(database.approval(None, &whole.id).await.unwrap(), Some(whole.clone()));
            let sql = format!("UPDATE approvals SET {change} WHERE id = '{}'", whole.id);
            test.execute(&sql).await.unwrap();
            let read = database.approval(None, &whole.id).await;
            let column = read.as_ref().err().and_then(StoreError::damaged_column);
            assert_eq!(column, Some("request_digest"), "{change}: {read:?}");
            let equal = database.matching_approvals(&whole.fingerprint, 1_000).await.unwrap();
            assert!(equal.is_empty(), "{change}: {equal:?}");
            let foreign = database.damaged_approval(Some("globex"), &whole.id).await.unwrap();
            assert_eq!(foreign, None);
            let left = database.damaged_approval(Some("acme"), &whole.id).await.unwrap().unwrap();
            assert_eq!((left.arguments, left.version), (whole.arguments, whole.version));
            let rejected = ruling(ApprovalState::Rejected, 2_000, true);
            assert!(database.rule_on_approval(&whole.id, &rejected, None).await.unwrap(), "{change}");
        }
    }

    async fn damaged_times_of_approvals_do_not_hide_the_times_of_others(test) {
        let database = test.open().await;
        for n in 0..4 {
            assert!(database.add_approval(&approval(n, "acme"), 100).await.unwrap());
        }
        approve(&database, 2, &rule("one")).await;
        approve(&database, 3, &rule("two")).await;
        test.execute(
            "UPDATE approvals SET deadline_ms = -1 WHERE id = 'id-000000'; \
             UPDATE approvals SET good_until_ms = -1 WHERE id = 'id-000002'",
        )
        .await
        .unwrap();
        let pending = database.pending_approvals().await.unwrap();
        assert_eq!(pending.iter().map(|span| &*span.id).collect::<Vec<_>>(), ["id-000001"]);
        let unused = database.unused_approvals().await.unwrap();
        assert_eq!(unused.len(), 1);
        let (id, from, until) = (&*unused[0].id, unused[0].from_unix_ms, unused[0].until_unix_ms);
        assert_eq!((id, from, until), ("id-000003", 2_000, 3_000));
    }

    /// Read as a rule for any arguments, it would allow more than was approved.
    async fn a_rule_without_the_digest_of_its_arguments_is_damaged(test) {
        let database = test.open().await;
        for n in 0..3 {
            assert!(database.add_approval(&approval(n, "acme"), 100).await.unwrap());
        }
        let any = ApprovalRuleRow { arguments: None, arguments_digest: None, ..rule("any") };
        approve(&database, 0, &rule("a")).await;
        approve(&database, 1, &rule("b")).await;
        approve(&database, 2, &any).await;
        test.execute(
            "UPDATE approval_rules SET arguments_digest = NULL WHERE id = 'a'; \
             UPDATE approval_rules SET arguments = NULL WHERE id = 'b'",
        )
        .await
        .unwrap();
        let rules = database.approval_rules().await.unwrap();
        assert_eq!(rules.rows, [any]);
        let acme = Some("acme");
        assert_eq!(
            named(&rules.damaged),
            [("a", acme, "arguments_digest"), ("b", acme, "arguments")]
        );
    }

    /// Read as it is, it would allow other calls than were approved.
    async fn a_rule_that_is_not_as_it_was_stored_is_damaged_and_can_be_removed(test) {
        let database = test.open().await;
        let other = test.pick("zeroblob(32)", "sha256('0')");
        let digests = ["arguments_digest", "definition", "code"].map(|column| format!("{column} = {other}"));
        let mut changes = vec![
            "run = NULL", "owner = 'amy'", "agent = 'bot'", "tenant = 'globex'", "tool = 'text.stats'",
            "arguments = '{\"n\":1}'", "created_by = 'you'", "created_ms = created_ms - 1",
            "expires_ms = expires_ms + 1",
        ];
        changes.extend(digests.iter().map(String::as_str));
        for (change, n) in changes.into_iter().zip(0..) {
            assert!(database.add_approval(&approval(n, "acme"), 100).await.unwrap());
            let id = format!("rule-{n}");
            let in_a_run = ApprovalRuleRow { run: Some("r".to_owned()), ..rule(&id) };
            approve(&database, n, &in_a_run).await;
            assert!(database.count_approval_rule_use(&id, 3_000).await.unwrap());
            let used = ApprovalRuleRow { uses: 1, ..in_a_run };
            assert_eq!(database.approval_rules().await.unwrap().rows, [used], "uses may change");
            let sql = format!("UPDATE approval_rules SET {change} WHERE id = '{id}'");
            test.execute(&sql).await.unwrap();
            let rules = database.approval_rules().await.unwrap();
            assert_eq!(rules.rows, [], "{change}");
            let damaged: Vec<_> = rules.damaged.iter().map(|row| (&*row.id, &*row.column)).collect();
            assert_eq!(damaged, [(id.as_str(), "rule_digest")], "{change}");
            database.remove_approval_rule(&id).await.unwrap();
        }
        assert!(database.add_approval(&approval(99, "acme"), 100).await.unwrap());
        approve(&database, 99, &rule("earlier")).await;
        test.execute("UPDATE approval_rules SET rule_digest = NULL").await.unwrap();
        let rules = database.approval_rules().await.unwrap();
        assert_eq!(rules.rows, [rule("earlier")], "earlier versions wrote no digest");
    }

    /// Each is revoked without being read; then nothing remains to be done about it.
    async fn damaged_keys_are_named_until_they_are_revoked(test) {
        let database = test.open().await;
        let mut damages = vec!["scopes = ''", "scopes = 'null'", "expires_ms = -1", "revoked_ms = -1"];
        damages.push(test.pick("hash = x'00'", "hash = '\\x00'"));
        damages.push(test.pick("scopes = x'5b5d'", "scopes = '{'"));
        damages.push(test.pick("expires_ms = 'soon'", "created_ms = -1"));
        assert!(database.add_key(&key("whole", "whole")).await.unwrap());
        for (n, damage) in damages.iter().enumerate() {
            let id = format!("k{n}");
            assert!(database.add_key(&key(&id, &id)).await.unwrap());
            let sql = format!("UPDATE access_keys SET {damage} WHERE id = '{id}'");
            test.execute(&sql).await.unwrap();
        }
        let listed = database.keys().await.unwrap();
        assert_eq!(listed.rows, [key("whole", "whole")]);
        assert_eq!(listed.damaged.len(), damages.len());
        for row in &listed.damaged {
            assert!(database.revoke_damaged_key(&row.id, 5).await.unwrap());
        }
        assert!(!database.revoke_damaged_key("other", 5).await.unwrap());
        let listed = database.keys().await.unwrap();
        let revoked = KeyRow { revoked_unix_ms: Some(5), ..key("k3", "k3") };
        assert_eq!(listed.rows, [revoked, key("whole", "whole")]);
        assert_eq!(listed.damaged, []);
    }

    async fn a_damaged_file_is_named_and_the_others_are_on_their_pages(test) {
        let database = test.open().await;
        let acme = TenantId::new("acme");
        let files: Vec<_> = (4..8).map(|created| file(1, created)).collect();
        for file in &files {
            assert!(database.add_file(file, None).await.unwrap());
        }
        let damages = ["kind = '?'", test.pick("sha256 = x'00'", "sha256 = '\\x00'")];
        for (file, damage) in [&files[1], &files[3]].into_iter().zip(damages) {
            let sql = format!("UPDATE files SET {damage} WHERE id = '{}'", file.id);
            test.execute(&sql).await.unwrap();
        }
        let mut filter =
            FileFilter { tenant: acme.clone(), kind: None, run: None, after: None, limit: 1, now_ms: 9 };
        let (mut found, mut damaged) = (Vec::new(), Vec::new());
        loop {
            let page = database.files(&filter).await.unwrap();
            found.extend(page.rows);
            damaged.extend(page.damaged);
            let Some((created, id)) = page.next else { break };
            filter.after = Some((created, id.parse().unwrap()));
        }
        assert_eq!(found, [files[2].clone(), files[0].clone()]);
        let [last, second] = [&files[3], &files[1]].map(|file| file.id.to_string());
        let expected = [(&*last, Some("acme"), "sha256"), (&*second, Some("acme"), "kind")];
        assert_eq!(named(&damaged), expected);
        let one = database.file(&acme, &files[1].id, 9).await;
        assert!(matches!(one, Err(StoreError::Unreadable { .. })), "{one:?}");
        assert_eq!(database.file(&TenantId::new("globex"), &files[1].id, 9).await.unwrap(), None);
    }

    async fn a_damaged_secret_or_collection_is_named_and_the_others_are_listed(test) {
        let database = test.open().await;
        for server in ["a", "b"] {
            let slot = VaultSlot {
                kind: "secret",
                server: server.to_owned(),
                tenant: "acme".to_owned(),
                owner: "ann".to_owned(),
                issuer: String::new(),
            };
            database.save_vault_row(&VaultRow { slot, sealed: vec![1], at_ms: 1 }).await.unwrap();
        }
        test.execute("UPDATE vault SET at_ms = -1 WHERE server = 'a'").await.unwrap();
        let listed = database.vault_rows_of("secret", "acme", "ann").await.unwrap();
        assert_eq!((listed.rows.len(), &*listed.rows[0].slot.server), (1, "b"));
        assert_eq!(named(&listed.damaged), [("a", None, "at_ms")]);
        assert_eq!(database.vault_rows("secret", "a").await.unwrap(), []);

        let columns = "tenant, name, chunks, vectors, bytes, words, languages, revision, removed, updated_ms";
        let values = "('acme', 'one', 0, 0, 0, 0, '', 1, 0, -1), ('acme', 'two', 0, 0, 0, 0, '', 1, 0, 1)";
        test.execute(&format!("INSERT INTO collections ({columns}) VALUES {values}")).await.unwrap();
        let listed = database.collections("acme").await.unwrap();
        assert_eq!((listed.rows.len(), &*listed.rows[0].name), (1, "two"));
        assert_eq!(named(&listed.damaged), [("one", Some("acme"), "updated_ms")]);
    }

    async fn damaged_pins_and_wire_names_say_what_can_be_read_of_them(test) {
        let database = test.open().await;
        let pin = |tool: &str| Pin {
            server: "crm".to_owned(),
            tool: tool.to_owned(),
            form: 2,
            digests: "00".to_owned(),
        };
        let pinned = |tool| PinnedDefinition { pin: pin(tool), definition: "{}".to_owned() };
        database.add_pins(&["a", "b", "c"].map(pinned)).await.unwrap();
        test.execute("UPDATE pins SET form = -1 WHERE tool = 'a'").await.unwrap();
        let names = ["a", "b", "c"].map(|key| (key.to_owned(), format!("{key}-name")));
        database.save_wire_names(&names).await.unwrap();
        let text = |text: &str| Some(text.to_owned());
        let mut damaged = vec![DamagedPin { server: text("crm"), tool: text("a") }];
        let mut whole = 3;
        // SQLite keeps a value of any type in any column.
        if test.url().is_none() {
            test.execute(
                "UPDATE pins SET tool = x'00' WHERE tool = 'b'; \
                 UPDATE wire_names SET wire_name = x'00' WHERE tool_key = 'a'; \
                 UPDATE wire_names SET tool_key = x'00' WHERE tool_key = 'b'",
            )
            .await
            .unwrap();
            damaged.push(DamagedPin { server: text("crm"), tool: None });
            whole = 1;
        }
        let stored = database.pins().await.unwrap();
        assert!(stored.pins.contains(&pin("c")), "{stored:?}");
        assert!(damaged.iter().all(|pin| stored.damaged.contains(pin)), "{stored:?}");
        assert_eq!(stored.pins.len() + stored.damaged.len(), 3);
        let stored = database.wire_names().await.unwrap();
        assert_eq!((stored.pairs.len(), stored.pairs.last()), (whole, names.last()));
        if test.url().is_none() {
            let name_of = DamagedName::NameOf("a".to_owned());
            assert_eq!(stored.damaged.len(), 2);
            assert!(stored.damaged.contains(&name_of), "{stored:?}");
            assert!(stored.damaged.contains(&DamagedName::ToolOf("b-name".to_owned())), "{stored:?}");
        }
    }
}
