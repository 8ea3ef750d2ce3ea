//! The audit trail as people read it: page by page, and counted.

use std::sync::Arc;

use store::{AuditFilter, AuditOrder, AuditRow, AuditStats, CallDetail, StatsFilter};

use crate::support::{on_both_engines, principal, row};

on_both_engines! {
    async fn pages_continue_where_the_last_one_ended_whatever_was_added_since(test) {
        // Several rows of the same time: a position is more than a time.
        let rows: Vec<_> = (0..25).map(|number| row(number / 5)).collect();
        let database = test.containing(&rows).await;
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let filter = AuditFilter { after, limit: 7, ..AuditFilter::default() };
            let page = database.audit_messages(filter).await.unwrap();
            assert!(page.records.len() <= 7);
            seen.extend(page.records.iter().map(|record| record.row.trace));
            if after.is_none() {
                let late = store::CommitQueue::start(database.clone());
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
}

fn detailed(message: &str) -> Option<Box<CallDetail>> {
    Some(Box::new(CallDetail {
        message: Some(message.to_owned()),
        answered_by: Some("crm".to_owned()),
        ..CallDetail::default()
    }))
}

on_both_engines! {
    async fn details_are_kept_with_rows_and_swept(test) {
        let (database, queue) = test.started().await;
        let failed = AuditRow { outcome: "TIMEOUT".into(), decision: "failed".into(), ..row(2) };
        let content = CallDetail {
            message: None,
            answered_by: None,
            arguments: Some("{\"a\":1}".to_owned()),
            result: Some("[2".to_owned()),
            truncated: true,
        };
        queue.finish(row(1), None, None).await.unwrap();
        queue.finish(failed.clone(), None, detailed("no answer")).await.unwrap();
        queue.finish(row(3), None, Some(Box::new(content.clone()))).await.unwrap();
        queue.close().await.unwrap();

        let newest = AuditFilter::default();
        let all = database.audit_records(newest.clone()).await.unwrap().records;
        let details: Vec<_> = all.iter().map(|record| record.detail.clone()).collect();
        assert_eq!(details, [Some(content), detailed("no answer").map(|detail| *detail), None]);
        assert_eq!(all[1].row, failed);
        let listed = database.audit_messages(newest.clone()).await.unwrap().records;
        assert_eq!(listed[0].detail.as_ref().unwrap().arguments, None, "a list has no content");
        assert_eq!(listed[1].detail, all[1].detail);

        assert_eq!(database.sweep_call_details(3).await.unwrap(), 1);
        let left = database.audit_records(newest).await.unwrap().records;
        let kept: Vec<_> = left.iter().map(|record| record.detail.is_some()).collect();
        assert_eq!(kept, [true, false, false], "audit rows stay");
    }

    async fn texts_servers_and_orders_select_calls(test) {
        let (database, queue) = test.started().await;
        for (at, tool, duration_us, message) in [
            (1, "crm:find", 30, Some("Cannot reach 100% of it")),
            (2, "crmx:find", 10, None),
            (3, "demo.echo", 20, None),
        ] {
            let outcome = if message.is_some() { "UNAVAILABLE" } else { "OK" };
            let called = AuditRow { tool: tool.into(), duration_us, outcome: outcome.into(), ..row(at) };
            queue.finish(called, None, message.and_then(detailed)).await.unwrap();
        }
        queue.close().await.unwrap();
        let found = async |filter: AuditFilter| -> Vec<u64> {
            let page = database.audit_messages(filter).await.unwrap();
            page.records.iter().map(|record| record.row.at_unix_ms).collect()
        };
        let text = |text: &str| AuditFilter { text: Some(text.to_owned()), ..AuditFilter::default() };
        assert_eq!(found(text("cannot REACH")).await, [1]);
        assert_eq!(found(text("100% of")).await, [1]);
        assert!(found(text("100_ of")).await.is_empty(), "no pattern");
        assert_eq!(found(text("find")).await, [2, 1]);
        let server = Some("crm".to_owned());
        assert_eq!(found(AuditFilter { server, ..AuditFilter::default() }).await, [1]);
        assert_eq!(found(AuditFilter { failed: true, ..AuditFilter::default() }).await, [1]);
        for (order, expected) in [
            (AuditOrder::Newest, [3, 2, 1]),
            (AuditOrder::Oldest, [1, 2, 3]),
            (AuditOrder::Slowest, [1, 3, 2]),
            (AuditOrder::Recorded, [1, 2, 3]),
        ] {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let filter = AuditFilter { order, after, limit: 1, ..AuditFilter::default() };
                let page = database.audit_messages(filter).await.unwrap();
                seen.extend(page.records.iter().map(|record| record.row.at_unix_ms));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(seen, expected, "{order:?}, page by page");
        }
    }

    async fn calls_are_counted_with_their_durations(test) {
        let mut rows: Vec<_> = (1..=100).map(row).collect();
        for (index, row) in rows.iter_mut().enumerate() {
            row.duration_us = 1_000 - 10 * index as u64;
            row.tool = if index < 40 { "crm:find" } else { "demo.echo" }.into();
            row.outcome = if index % 10 == 0 { "TIMEOUT" } else { "OK" }.into();
            row.decision = "ran".into();
        }
        // A decision about a call is no call.
        rows.push(AuditRow { decision: "approved".into(), ..row(101) });
        let database = test.containing(&rows).await;
        let filter = StatsFilter { tenant: Some("acme".to_owned()), ..StatsFilter::default() };
        let all = database.audit_stats(&filter).await.unwrap();
        let expected =
            AuditStats { calls: 100, failed: 10, p50_us: 500, p95_us: 950, last_unix_ms: 100 };
        assert_eq!(all, expected);
        let tools = database.audit_stats_by_tool(&filter, 1).await.unwrap();
        assert_eq!((tools.len(), tools[0].0.as_str(), tools[0].1.calls), (1, "demo.echo", 60));
        let server = Some("crm".to_owned());
        let crm = StatsFilter { server, since_unix_ms: 21, ..filter.clone() };
        assert_eq!(database.audit_stats(&crm).await.unwrap().calls, 20);
        let times = database.audit_stats_by_time(&filter, 50).await.unwrap();
        let times: Vec<_> = times.iter().map(|(stretch, stats)| (*stretch, stats.calls)).collect();
        assert_eq!(times, [(0, 49), (1, 50), (2, 1)]);
        let other = StatsFilter { tenant: Some("globex".to_owned()), ..filter };
        assert_eq!(database.audit_stats(&other).await.unwrap(), AuditStats::default());
    }

    async fn a_database_of_the_first_version_is_brought_up_to_date(test) {
        let script = test.pick(
            include_str!("../../migrations/sqlite/0001_first.sql"),
            include_str!("../../migrations/postgres/0001_first.sql"),
        );
        if test.url().is_none() {
            std::fs::write(test.folder().join("powerstrip.db"), "").unwrap();
        }
        let (kind, trace) = (test.pick("x'03'", "'\\x03'"), "00".repeat(16));
        let trace = match test.url() {
            None => format!("x'{trace}'"),
            Some(_) => format!("'\\x{trace}'"),
        };
        let sum = match test.url() {
            None => format!("x'{}'", "11".repeat(32)),
            Some(_) => format!("'\\x{}'", "11".repeat(32)),
        };
        let version = proto::digest(script.as_bytes());
        test.execute(&format!(
            "{script}; CREATE TABLE schema_versions (version BIGINT NOT NULL PRIMARY KEY, digest TEXT NOT NULL); \
             INSERT INTO schema_versions (version, digest) VALUES (1, '{version}'); \
             INSERT INTO audit_kinds (id, digest, tenant, owner, door, tool, version, decision, outcome) \
             VALUES (1, {kind}, 'acme', 'ann', 'mcp', 'crm:find', '1', 'failed', 'TIMEOUT'); \
             INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us) VALUES ({trace}, 5, 1, {sum}, 7)"
        ))
        .await
        .unwrap();
        let (database, queue) = test.started().await;
        let failed = AuditRow { outcome: "TIMEOUT".into(), ..row(6) };
        queue.finish(failed, None, detailed("no answer")).await.unwrap();
        queue.close().await.unwrap();
        let records = database.audit_records(AuditFilter::default()).await.unwrap().records;
        let messages: Vec<_> = records
            .iter()
            .map(|record| (record.row.at_unix_ms, record.detail.as_ref().and_then(|d| d.message.as_deref())))
            .collect();
        assert_eq!(messages, [(6, Some("no answer")), (5, None)]);
    }
}
