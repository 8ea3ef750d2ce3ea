//! Damaged rows of the audit trail: each is named, and hides no other one.

use store::{AuditFilter, AuditOrder, AuditRecords, StatsFilter};

use crate::support::{TestDatabase, on_both_engines, row};

/// Adds damaged copies of the first row; returns how many.
async fn add_damaged(test: &TestDatabase) -> usize {
    let short = test.pick("x'00'", "'\\x00'::bytea");
    let mut copies = vec![
        format!("trace, 5, kind, {short}, duration_us"),
        "trace, 6, 999999, arguments, duration_us".to_owned(),
        format!("{short}, 7, kind, arguments, -1"),
    ];
    // SQLite keeps a value of any type in any column.
    if test.url().is_none() {
        copies.push(format!("trace, {short}, kind, arguments, duration_us"));
    }
    for columns in &copies {
        let insert = "INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us)";
        let sql = format!("{insert} SELECT {columns} FROM audit_rows WHERE seq = 1");
        test.execute(&sql).await.unwrap();
    }
    copies.len()
}

fn named(page: &AuditRecords) -> Vec<(i64, &str, bool)> {
    page.damaged.iter().map(|row| (row.number, row.column, row.trace.is_some())).collect()
}

on_both_engines! {
    async fn a_damaged_audit_row_is_named_and_the_others_are_listed(test) {
        let database = test.containing(&[1, 2, 3, 4].map(row)).await;
        let damaged = add_damaged(test).await;
        let page = database.audit_messages(AuditFilter::default()).await.unwrap();
        let times: Vec<_> = page.records.iter().map(|record| record.row.at_unix_ms).collect();
        assert_eq!(times, [4, 3, 2, 1]);
        let mut expected =
            vec![(8, "at_ms", true), (7, "trace", false), (6, "tenant", true), (5, "arguments", true)];
        expected.retain(|(_, column, _)| damaged == 4 || *column != "at_ms");
        assert_eq!(named(&page), expected);

        let tenant = Some("acme".to_owned());
        let page = database.audit_messages(AuditFilter { tenant, ..AuditFilter::default() }).await;
        expected.retain(|(_, column, _)| *column != "tenant");
        assert_eq!(named(&page.unwrap()), expected, "whose row it was is not known");
    }

    async fn pages_go_on_behind_a_damaged_audit_row(test) {
        let database = test.containing(&[1, 2, 3, 4].map(row)).await;
        let all = 4 + add_damaged(test).await;
        for order in
            [AuditOrder::Newest, AuditOrder::Oldest, AuditOrder::Slowest, AuditOrder::Recorded]
        {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let filter = AuditFilter { order, after, limit: 1, ..AuditFilter::default() };
                let page = database.audit_messages(filter).await.unwrap();
                seen.extend(page.records.iter().map(|record| record.number));
                seen.extend(page.damaged.iter().map(|row| row.number));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            seen.sort_unstable();
            let expected: Vec<_> = (1_i64..).take(all).collect();
            assert_eq!(seen, expected, "{order:?}, each once");
        }
    }

    async fn statistics_count_the_other_rows_and_how_many_are_damaged(test) {
        let database = test.containing(&[1, 2, 3, 4].map(row)).await;
        let damaged = add_damaged(test).await as u64;
        let filter = StatsFilter::default();
        let stats = database.audit_stats(&filter).await.unwrap();
        assert_eq!((stats.calls, stats.p50_us, stats.last_unix_ms), (5, 1234, 5));
        let tools = database.audit_stats_by_tool(&filter, 9).await.unwrap();
        assert_eq!(tools, [("server:tool".to_owned(), stats)]);
        let times = database.audit_stats_by_time(&filter, 100).await.unwrap();
        assert_eq!(times, [(0, stats)]);
        // The digest of the arguments does not matter here.
        assert_eq!(database.audit_damaged(&filter).await.unwrap(), damaged - 1);
        let tenant = Some("acme".to_owned());
        let of_tenant = StatsFilter { tenant, ..filter };
        assert_eq!(database.audit_damaged(&of_tenant).await.unwrap(), damaged - 2);
    }
}
