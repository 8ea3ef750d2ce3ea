//! Statistics of the audit trail: how many calls there were, how many failed, and how long they took.

use crate::audit_query::of_server;
use crate::sql::{Dialect, Query, Row, query};
use crate::{Database, Listed, StoreError};

/// The most rows that are counted at once, so that an overview takes no longer than a tenth of a second.
pub const MAX_COUNTED: u32 = 50_000;

/// The rows of calls; the audit trail also has rows of decisions about them.
const CALLS: &str = "decision IN ('ran', 'replayed', 'shared', 'asked', 'refused', 'failed', 'abandoned', 'interrupted')";

/// Which calls are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatsFilter {
    /// Only calls of this tenant; set for every caller that is not the operator.
    pub tenant: Option<String>,
    /// Calls of tools of this server.
    pub server: Option<String>,
    pub since_unix_ms: u64,
}

/// How many calls there were, how many of them failed, and how long they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditStats {
    pub calls: u64,
    pub failed: u64,
    /// Half of the calls took no longer. Zero without calls.
    pub p50_us: u64,
    /// 95 of 100 calls took no longer.
    pub p95_us: u64,
    /// When the last one began.
    pub last_unix_ms: u64,
}

impl Database {
    /// Statistics of all calls together. Of very many only the newest count, as in the two functions below.
    pub async fn audit_stats(&self, filter: &StatsFilter) -> Result<AuditStats, StoreError> {
        let rows = self.sql.all(grouped(self.sql.dialect(), filter, "0", "")).await?;
        rows.first().map_or(Ok(AuditStats::default()), read)
    }

    /// Statistics of the tools with the most calls.
    pub async fn audit_stats_by_tool(
        &self,
        filter: &StatsFilter,
        limit: u32,
    ) -> Result<Vec<(String, AuditStats)>, StoreError> {
        let end = " ORDER BY calls DESC, grouping_key LIMIT ";
        let select = grouped(self.sql.dialect(), filter, "tool", end);
        let rows = self.sql.all(select.push_bind(limit)).await?;
        // A text may still be one that is not UTF-8.
        let read = |row: &Row| Ok((row.get("grouping_key")?, read(row)?));
        Ok(Listed::read("audit_kinds", "grouping_key", &rows, read)?.rows)
    }

    /// Statistics of each stretch of time that has calls; stretches are numbered from the filter's time.
    pub async fn audit_stats_by_time(
        &self,
        filter: &StatsFilter,
        stretch_ms: u64,
    ) -> Result<Vec<(u64, AuditStats)>, StoreError> {
        // Both are numbers, which are safe to write into a statement.
        let (since, stretch) = (filter.since_unix_ms, stretch_ms.max(1));
        let stretch = format!("(at_ms - {since}) / {stretch}");
        let select = grouped(self.sql.dialect(), filter, &stretch, " ORDER BY grouping_key");
        let rows = self.sql.all(select.once()).await?;
        rows.iter().map(|row| Ok((row.get("grouping_key")?, read(row)?))).collect()
    }

    /// How many of the newest rows cannot be counted, because one of the columns that the statistics need is damaged.
    pub async fn audit_damaged(&self, filter: &StatsFilter) -> Result<u64, StoreError> {
        let columns = "tool, decision, outcome, at_ms, duration_us";
        let select = query(format!(
            "SELECT count(*) AS damaged FROM (SELECT {columns} FROM audit WHERE at_ms >= "
        ));
        let countable = countable(self.sql.dialect());
        let select = newest(select, filter).push(&format!(" WHERE NOT ({countable})"));
        self.sql.first(select).await?.map_or(Ok(0), |row| row.get("damaged"))
    }
}

/// Whether all columns of a row that the statistics need can be read.
fn countable(dialect: Dialect) -> String {
    let texts = ["tool", "decision", "outcome"].map(|column| dialect.is_text(column));
    let counts = ["at_ms", "duration_us"].map(|column| dialect.is_count(column));
    [texts.join(" AND "), counts.join(" AND ")].join(" AND ")
}

/// Statistics of the newest calls by an expression over their columns.
fn grouped(dialect: Dialect, filter: &StatsFilter, key: &str, end: &str) -> Query<'static> {
    let countable = countable(dialect);
    let select = query(format!(
        "SELECT grouping_key, count(*) AS calls, count(*) FILTER (WHERE outcome <> 'OK') AS failed, \
         min(duration_us) FILTER (WHERE place * 100 >= of_group * 50) AS p50, \
         min(duration_us) FILTER (WHERE place * 100 >= of_group * 95) AS p95, max(at_ms) AS last_ms \
         FROM (SELECT grouping_key, outcome, duration_us, at_ms, \
               row_number() OVER (PARTITION BY grouping_key ORDER BY duration_us) AS place, \
               count(*) OVER (PARTITION BY grouping_key) AS of_group \
         FROM (SELECT {key} AS grouping_key, outcome, duration_us, at_ms FROM audit \
               WHERE {CALLS} AND {countable} AND at_ms >= "
    ));
    newest(select, filter).push(") AS placed GROUP BY grouping_key").push(end)
}

/// Ends a subquery of audit rows whose last condition is about their time.
fn newest(select: Query<'static>, filter: &StatsFilter) -> Query<'static> {
    let mut select = select.push_bind(filter.since_unix_ms).and("tenant = ", filter.tenant.clone());
    if let Some(server) = &filter.server {
        select = of_server(select, server);
    }
    select.push(" ORDER BY at_ms DESC LIMIT ").push_bind(MAX_COUNTED).push(") AS newest")
}

fn read(row: &Row) -> Result<AuditStats, StoreError> {
    Ok(AuditStats {
        calls: row.get("calls")?,
        failed: row.get("failed")?,
        p50_us: row.get("p50")?,
        p95_us: row.get("p95")?,
        last_unix_ms: row.get("last_ms")?,
    })
}
