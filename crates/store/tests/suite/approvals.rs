use std::time::{Duration, Instant};

use proto::digest;
use store::{ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, Ruling, StoreError};

use crate::support::on_both_engines;

pub(crate) fn row(n: u64, tenant: &str) -> ApprovalRow {
    let arguments = format!("{{\"n\":{n}}}");
    ApprovalRow {
        id: format!("id-{n:06}"),
        tenant: tenant.to_owned(),
        owner: format!("owner-{}", n % 200),
        agent: n.is_multiple_of(2).then(|| "bot".to_owned()),
        decider: false,
        tool: "crm.write".to_owned(),
        version: "1.0.0".to_owned(),
        definition: digest(b"definition"),
        code: n.is_multiple_of(3).then(|| digest(b"code")),
        idempotency_key: n.is_multiple_of(5).then(|| "a key".to_owned()),
        request_reason: n.is_multiple_of(3).then(|| "it is final".to_owned()),
        arguments_bytes: arguments.len() as u64,
        arguments_digest: digest(arguments.as_bytes()),
        fingerprint: digest(arguments.as_bytes()),
        arguments: Some(arguments),
        files: "[]".to_owned(),
        trace: "trace".to_owned(),
        run: None,
        door: "http".to_owned(),
        created_unix_ms: 1_000 + n / 7,
        deadline_unix_ms: 50_000,
        state: ApprovalState::Pending,
        decided_by: None,
        decided_via: None,
        reason: None,
        decided_unix_ms: None,
        good_until_unix_ms: None,
    }
}

pub(crate) fn ruling(state: ApprovalState, at: u64, in_time: bool) -> Ruling<'static> {
    let good = Some(at + 1_000);
    Ruling {
        state,
        by: "me",
        via: "cli",
        reason: Some("so"),
        at_unix_ms: at,
        good_until_unix_ms: good,
        in_time,
    }
}

on_both_engines! {
    async fn each_change_of_state_happens_once_and_in_its_time(test) {
        let database = test.open().await;
        for n in 0..4 {
            assert!(database.add_approval(&row(n, "acme"), 100).await.unwrap());
        }
        let approved = ruling(ApprovalState::Approved, 2_000, true);
        assert!(!database.consume_approval("id-000000", 2_000).await.unwrap(), "it is not approved");
        assert!(database.rule_on_approval("id-000000", &approved, None).await.unwrap());
        assert!(!database.rule_on_approval("id-000000", &approved, None).await.unwrap(), "once");
        let rejected = ruling(ApprovalState::Rejected, 2_000, true);
        assert!(!database.rule_on_approval("id-000000", &rejected, None).await.unwrap());
        assert!(!database.consume_approval("id-000000", 3_000).await.unwrap(), "its time is over");
        assert!(database.consume_approval("id-000000", 2_999).await.unwrap());
        assert!(!database.consume_approval("id-000000", 2_999).await.unwrap(), "single use");

        let late = ruling(ApprovalState::Approved, 50_000, true);
        assert!(!database.rule_on_approval("id-000001", &late, None).await.unwrap(), "too late");
        let expired = ruling(ApprovalState::Expired, 1, false);
        assert!(
            database.rule_on_approval("id-000001", &expired, None).await.unwrap(),
            "whatever the clock says"
        );

        assert!(database.rule_on_approval("id-000002", &rejected, None).await.unwrap());
        let alike = |n: u64, now| {
            let database = database.clone();
            async move { database.matching_approvals(&row(n, "acme").fingerprint, now).await.unwrap().len() }
        };
        assert_eq!((alike(2, 2_500).await, alike(2, 9_000).await, alike(3, 9_000).await), (1, 0, 1));
        assert!(database.mark_rejection_reported("id-000002").await.unwrap());
        assert!(!database.mark_rejection_reported("id-000002").await.unwrap());
        assert_eq!((alike(2, 2_500).await, alike(0, 2_500).await, alike(1, 2_500).await), (0, 0, 0));

        assert_eq!(database.approval(Some("globex"), "id-000003").await.unwrap(), None);
        let one = database.approval(Some("acme"), "id-000003").await.unwrap();
        assert_eq!(one, Some(row(3, "acme")), "all of it is stored");
        database.forget_approvals(10_000).await.unwrap();
        let all = ApprovalFilter { limit: 10, ..ApprovalFilter::default() };
        let left = database.approvals(&all).await.unwrap();
        assert_eq!(
            left.rows.iter().map(|row| &*row.id).collect::<Vec<_>>(),
            ["id-000003"],
            "pending ones stay"
        );
    }

    async fn ten_thousand_pending_are_paged_quickly_and_each_is_listed_once(test) {
        let database = test.open().await;
        let columns = "id, tenant, owner, decider, tool, version, definition, arguments, arguments_digest, files, \
            fingerprint, trace, door, created_ms, deadline_ms, state";
        let values = test.pick(
            "WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n < 19999) \
            SELECT printf('id-%06d', n), CASE n % 2 WHEN 0 THEN 'acme' ELSE 'globex' END, 'owner', false, 'crm.write', \
            '1.0.0', zeroblob(32), printf('{\"n\":%d}', n), zeroblob(32), '[]', randomblob(32), 'trace', 'http', \
            1000 + n / 7, 90000, CASE WHEN n < 10000 THEN 'pending' ELSE 'consumed' END FROM counted",
            "SELECT 'id-' || lpad(n::text, 6, '0'), CASE n % 2 WHEN 0 THEN 'acme' ELSE 'globex' END, 'owner', false, \
            'crm.write', '1.0.0', sha256('0'), '{\"n\":' || n || '}', sha256('0'), '[]', sha256(n::text::bytea), 'trace', \
            'http', 1000 + n / 7, 90000, CASE WHEN n < 10000 THEN 'pending' ELSE 'consumed' END \
            FROM generate_series(0, 19999) AS n",
        );
        test.execute(&format!("INSERT INTO approvals ({columns}) {values}")).await.unwrap();
        for (tenant, expected) in [(None, 10_000), (Some("acme"), 5_000)] {
            let mut filter = ApprovalFilter {
                tenant: tenant.map(str::to_owned),
                state: Some(ApprovalState::Pending),
                after: None,
                limit: 100,
            };
            let mut seen = Vec::new();
            let mut times = Vec::new();
            loop {
                let began = Instant::now();
                let page = database.approvals(&filter).await.unwrap();
                times.push(began.elapsed());
                seen.extend(page.rows.into_iter().map(|row| row.id));
                filter.after = page.next;
                if filter.after.is_none() {
                    break;
                }
            }
            assert_eq!(seen.len(), expected);
            times.sort();
            // The usual page: the slowest one shows what else the machine does.
            let time = times[times.len() / 2];
            assert!(seen.is_sorted() && time < Duration::from_millis(50), "{time:?}");
        }
        assert_eq!(database.pending_approvals().await.unwrap().len(), 10_000);
        let more = ApprovalRow { owner: "owner".to_owned(), agent: None, ..row(99_999, "acme") };
        assert!(!database.add_approval(&more, 5_000).await.unwrap(), "its caller has 5,000 pending ones");
        assert!(database.add_approval(&more, 5_001).await.unwrap());
    }

    async fn an_approval_without_arguments_is_not_stored(test) {
        let database = test.open().await;
        let without = ApprovalRow { arguments: None, ..row(0, "acme") };
        let refused = database.add_approval(&without, 1).await;
        assert!(matches!(refused, Err(StoreError::NoArguments)), "{refused:?}");
        assert_eq!(database.pending_approvals().await.unwrap(), []);
    }

    async fn a_standing_rule_is_stored_with_its_decision_or_not_at_all(test) {
        let database = test.open().await;
        assert!(database.add_approval(&row(0, "acme"), 1).await.unwrap());
        let standing = |id: &str| ApprovalRuleRow {
            id: id.to_owned(),
            tenant: "acme".to_owned(),
            owner: "owner-0".to_owned(),
            agent: None,
            tool: "crm.write".to_owned(),
            definition: digest(b"definition"),
            code: Some(digest(b"code")),
            arguments_digest: None,
            arguments: None,
            run: None,
            created_by: "me".to_owned(),
            created_unix_ms: 2_000,
            expires_unix_ms: 9_000,
            uses: 0,
        };
        let approved = ruling(ApprovalState::Approved, 2_000, true);
        let (one, two) = (standing("one"), standing("two"));
        assert!(database.rule_on_approval("id-000000", &approved, Some(&one)).await.unwrap());
        assert!(!database.rule_on_approval("id-000000", &approved, Some(&two)).await.unwrap());
        assert_eq!(database.approval_rules().await.unwrap().rows, [one]);
    }
}
