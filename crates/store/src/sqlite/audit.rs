use std::sync::{Arc, LazyLock};

use proto::{Clock, Digest, Principal, TenantId, TraceId};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqlitePool, SqliteRow};
use sqlx::{Arguments as _, Connection as _, QueryBuilder, Row as _};
use uuid::Uuid;

use super::calls;
use super::kinds::Kinds;
use crate::trail::Entry;
use crate::{AuditCount, AuditFilter, AuditPage, AuditPlace, AuditRow, StoreError};

/// What a writer noted is of use only to its own retries, which do not come days later.
const WRITER_NOTE_MS: u64 = 24 * 60 * 60 * 1000;

const COLUMNS: &str = "trace, at_ms, tenant, owner, agent, door, tool, version, definition, \
    arguments, decision, outcome, blame, duration_us";

/// What a row has for itself; its kind says the rest.
const OWN_COLUMNS: [&str; 5] = ["trace", "at_ms", "kind", "arguments", "duration_us"];

/// A statement that inserts so many rows at once.
struct Insert {
    rows: usize,
    sql: String,
}

/// One row at a time would be a trip to SQLite's thread each, and a JSON array, taken apart in SQL, costs three times
/// the CPU. A few widths: any number of rows takes few statements, and all of them stay prepared.
static INSERTS: LazyLock<[Insert; 5]> = LazyLock::new(|| {
    [256, 64, 16, 4, 1].map(|rows| {
        let values = vec!["(?, ?, ?, ?, ?)"; rows].join(", ");
        let columns = OWN_COLUMNS.join(", ");
        Insert { rows, sql: format!("INSERT INTO audit_rows ({columns}) VALUES {values}") }
    })
});

pub(super) async fn insert(
    connection: &mut SqliteConnection,
    kinds: &Kinds,
    entries: &[Entry],
    writer: &str,
    written: u64,
) -> Result<(), sqlx::Error> {
    let now = Clock::default().unix_ms();
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let (numbers, given) = kinds.numbers(&mut transaction, entries).await?;
    let ended = entries.iter().zip(&numbers).filter_map(|(entry, number)| match entry {
        Entry::Row { row, .. } => Some((row, (*number)?)),
        Entry::Begun { .. } | Entry::Call(_) => None,
    });
    let numbered: Vec<_> = ended.collect();
    let mut rest = numbered.as_slice();
    while let Some(insert) = INSERTS.iter().find(|insert| (1..=rest.len()).contains(&insert.rows)) {
        let (next, later) = rest.split_at(insert.rows);
        sqlx::query_with(insert.sql.as_str(), bound(next)?).execute(&mut *transaction).await?;
        rest = later;
    }
    calls::note_begun(&mut transaction, entries, &numbers, writer).await?;
    calls::apply(&mut transaction, entries).await?;
    sqlx::query(
        "INSERT INTO audit_writers (writer, written, at_ms) VALUES (?1, ?2, ?3) \
         ON CONFLICT (writer) DO UPDATE SET written = excluded.written, at_ms = excluded.at_ms",
    )
    .bind(writer)
    .bind(integer(written))
    .bind(integer(now))
    .execute(&mut *transaction)
    .await?;
    if written == entries.len() as u64 {
        sqlx::query("DELETE FROM audit_writers WHERE at_ms < ?1")
            .bind(integer(now.saturating_sub(WRITER_NOTE_MS)))
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    kinds.remember(given);
    Ok(())
}

/// The rows' values in the order of `OWN_COLUMNS`.
fn bound(rows: &[(&AuditRow, i64)]) -> Result<SqliteArguments, sqlx::Error> {
    let mut values = SqliteArguments::default();
    values.reserve(rows.len() * OWN_COLUMNS.len(), 0);
    let mut bind = |(row, kind): &(&AuditRow, i64)| -> Result<(), BoxDynError> {
        values.add(row.trace.as_bytes().as_slice())?;
        values.add(integer(row.at_unix_ms))?;
        values.add(*kind)?;
        values.add(row.arguments.as_bytes().as_slice())?;
        values.add(integer(row.duration_us))
    };
    rows.iter().try_for_each(&mut bind).map_err(sqlx::Error::Encode)?;
    Ok(values)
}

pub(super) async fn written(readers: &SqlitePool, writer: &str) -> Result<u64, StoreError> {
    let written: Option<i64> =
        sqlx::query_scalar("SELECT written FROM audit_writers WHERE writer = ?1")
            .bind(writer)
            .fetch_optional(readers)
            .await?;
    Ok(written.map_or(0, unsigned))
}

pub(super) async fn page(
    readers: &SqlitePool,
    filter: AuditFilter,
) -> Result<AuditPage, StoreError> {
    let mut query = QueryBuilder::new("SELECT ");
    query.push(COLUMNS).push(", seq FROM audit WHERE 1 = 1");
    if let Some(trace) = filter.trace {
        query.push(" AND trace = ").push_bind(trace_bytes(trace));
    }
    if let Some(tenant) = filter.tenant {
        query.push(" AND tenant = ").push_bind(tenant);
    }
    if let Some(tool) = filter.tool {
        query.push(" AND tool = ").push_bind(tool);
    }
    if let Some(outcome) = filter.outcome {
        query.push(" AND outcome = ").push_bind(outcome);
    }
    if let Some(caller) = filter.caller {
        query.push(" AND (owner = ").push_bind(caller.clone());
        query.push(" OR agent = ").push_bind(caller).push(")");
    }
    if let Some(since) = filter.since_unix_ms {
        query.push(" AND at_ms >= ").push_bind(integer(since));
    }
    if let Some(until) = filter.until_unix_ms {
        query.push(" AND at_ms < ").push_bind(integer(until));
    }
    if let Some(after) = filter.after {
        query.push(" AND (at_ms, seq) < (").push_bind(integer(after.at_unix_ms));
        query.push(", ").push_bind(after.number).push(")");
    }
    // One more than asked for tells whether there is another page.
    let limit = i64::from(filter.limit);
    query.push(" ORDER BY at_ms DESC, seq DESC LIMIT ").push_bind(limit.saturating_add(1));
    let found = query.build().fetch_all(readers).await?;
    let shown = &found[..found.len().min(usize::try_from(filter.limit).unwrap_or(usize::MAX))];
    let last = shown.last().filter(|_| shown.len() < found.len());
    let next = last.map(|last| -> Result<AuditPlace, StoreError> {
        Ok(AuditPlace { at_unix_ms: unsigned(last.try_get(1)?), number: last.try_get(14)? })
    });
    Ok(AuditPage {
        next: next.transpose()?,
        rows: shown.iter().map(row).collect::<Result<_, _>>()?,
    })
}

/// The most rows that are counted at once: what takes longer than a tenth of a second is no overview.
const MAX_COUNTED: i64 = 50_000;

pub(super) async fn counts(
    readers: &SqlitePool,
    tenant: Option<&str>,
    since_unix_ms: u64,
    stretch_ms: u64,
) -> Result<Vec<AuditCount>, StoreError> {
    let since = integer(since_unix_ms);
    let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
        "SELECT (at_ms - ?1) / ?2 AS stretch, count(*), sum(outcome <> 'OK') FROM \
         (SELECT at_ms, outcome FROM audit WHERE at_ms >= ?1 AND (?3 IS NULL OR tenant = ?3) \
          ORDER BY at_ms DESC LIMIT ?4) \
         GROUP BY stretch ORDER BY stretch",
    )
    .bind(since)
    .bind(integer(stretch_ms.max(1)))
    .bind(tenant)
    .bind(MAX_COUNTED)
    .fetch_all(readers)
    .await?;
    let count = |(stretch, calls, failed): (i64, i64, i64)| AuditCount {
        stretch: unsigned(stretch),
        calls: unsigned(calls),
        failed: unsigned(failed),
    };
    Ok(rows.into_iter().map(count).collect())
}

fn row(row: &SqliteRow) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        trace: trace(row.try_get(0)?)?,
        at_unix_ms: unsigned(row.try_get(1)?),
        caller: Arc::new(Principal {
            tenant: TenantId::new(row.try_get::<String, _>(2)?),
            subject: row.try_get(3)?,
            agent: row.try_get(4)?,
            scopes: Vec::new(),
        }),
        door: row.try_get::<String, _>(5)?.into(),
        tool: row.try_get::<String, _>(6)?.into(),
        version: row.try_get::<String, _>(7)?.into(),
        definition: row.try_get::<Option<&[u8]>, _>(8)?.map(sum).transpose()?,
        arguments: sum(row.try_get(9)?)?,
        decision: row.try_get::<String, _>(10)?.into(),
        outcome: row.try_get::<String, _>(11)?.into(),
        blame: row.try_get::<Option<String>, _>(12)?.map(Into::into),
        duration_us: unsigned(row.try_get(13)?),
    })
}

fn trace_bytes(trace: TraceId) -> Vec<u8> {
    trace.as_bytes().to_vec()
}

pub(super) fn trace(bytes: &[u8]) -> Result<TraceId, StoreError> {
    let uuid = Uuid::from_slice(bytes).map(|uuid| uuid.to_string()).unwrap_or_else(|_| hex(bytes));
    parsed("the trace id", &uuid)
}

pub(super) fn sum(bytes: &[u8]) -> Result<Digest, StoreError> {
    parsed("the hash", &hex(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parsed<'a, T: Deserialize<'a>>(column: &'static str, text: &'a str) -> Result<T, StoreError> {
    T::deserialize(IntoDeserializer::<ValueError>::into_deserializer(text))
        .map_err(|_| StoreError::Unreadable { column, value: text.chars().take(100).collect() })
}

/// A number as SQL knows it; databases have no unsigned ones.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
