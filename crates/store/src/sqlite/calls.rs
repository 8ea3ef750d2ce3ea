//! Calls with an idempotency key, and calls that have begun and not ended.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use proto::Digest;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection as _, Row as _};

use super::audit::{integer, sum};
use super::{Sqlite, settle};
use crate::trail::Entry;
use crate::{AuditRow, CallChange, CallRecord, CallState, FoundCall, StoreError};

/// The most bytes of answers that are kept.
struct Budget {
    of_caller: i64,
    of_all: i64,
}

const BUDGET: Budget = Budget { of_caller: 16 << 20, of_all: 256 << 20 };

/// After so many bytes of new answers the budget is enforced again.
const TRIM_AFTER: u64 = 4 << 20;

/// Bytes of answers that were written since the budget was last enforced.
#[derive(Debug, Default)]
pub(super) struct Untrimmed(AtomicU64);

impl Untrimmed {
    /// Counts committed entries, and enforces the budget when enough has come in.
    pub(super) async fn add(&self, connection: &mut SqliteConnection, entries: &[Entry]) {
        let bytes: usize = entries.iter().map(Entry::answer_bytes).sum();
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if bytes == 0 || self.0.fetch_add(bytes, Ordering::Relaxed) + bytes < TRIM_AFTER {
            return;
        }
        self.0.store(0, Ordering::Relaxed);
        if let Err(error) = trim(connection, &BUDGET).await {
            tracing::warn!(%error, "recorded answers could not be held to their budget; the next sweep tries again");
        }
    }
}

impl Sqlite {
    pub(crate) async fn call_record(
        &self,
        key: &Digest,
        now_ms: u64,
    ) -> Result<Option<FoundCall>, StoreError> {
        let row = sqlx::query(
            "SELECT arguments, state, answer FROM call_records WHERE key = $1 AND expires_ms > $2",
        )
        .bind(key.as_bytes().as_slice())
        .bind(integer(now_ms))
        .fetch_optional(&self.readers)
        .await?;
        row.as_ref().map(found).transpose()
    }

    pub(crate) async fn sweep_call_records(&self, now_ms: u64) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = async {
            sqlx::query("DELETE FROM call_records WHERE expires_ms <= $1")
                .bind(integer(now_ms))
                .execute(&mut *connection)
                .await?;
            trim(&mut connection, &BUDGET).await
        };
        let result = result.await;
        settle(connection, result)
    }

    pub(crate) async fn close_interrupted_calls(&self) -> Result<u64, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let closed = sqlx::query(
                "INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us) \
                 SELECT trace, at_ms, kind, arguments, 0 FROM calls_begun ORDER BY at_ms",
            )
            .execute(&mut *transaction)
            .await?;
            sqlx::query("DELETE FROM calls_begun").execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(closed.rows_affected())
        };
        let result = result.await;
        settle(connection, result)
    }
}

fn found(row: &SqliteRow) -> Result<FoundCall, StoreError> {
    let state: String = row.try_get("state")?;
    let state = match state.as_str() {
        "begun" => CallState::Begun,
        "answered" => CallState::Answered(row.try_get("answer")?),
        _ => return Err(StoreError::Unreadable { column: "a call's state", value: state }),
    };
    Ok(FoundCall { arguments: sum(row.try_get("arguments")?)?, state })
}

/// Writes which calls have begun and which have ended. A call that does both in one transaction needs no row.
pub(super) async fn note_begun(
    connection: &mut SqliteConnection,
    entries: &[Entry],
    kinds: &[Option<i64>],
    writer: &str,
) -> Result<(), sqlx::Error> {
    let mut ended: HashSet<u64> = entries.iter().filter_map(Entry::ends).collect();
    for (entry, kind) in entries.iter().zip(kinds) {
        if let (Entry::Begun { number, row }, Some(kind)) = (entry, kind)
            && !ended.remove(number)
        {
            insert_begun(connection, (writer, *number), row, *kind).await?;
        }
    }
    for number in ended {
        sqlx::query("DELETE FROM calls_begun WHERE writer = $1 AND number = $2")
            .bind(writer)
            .bind(integer(number))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

async fn insert_begun(
    connection: &mut SqliteConnection,
    (writer, number): (&str, u64),
    row: &AuditRow,
    kind: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO calls_begun (writer, number, trace, at_ms, kind, arguments) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(writer)
    .bind(integer(number))
    .bind(row.trace.as_bytes().as_slice())
    .bind(integer(row.at_unix_ms))
    .bind(kind)
    .bind(row.arguments.as_bytes().as_slice())
    .execute(connection)
    .await
    .map(drop)
}

/// Applies the changes of recorded calls.
pub(super) async fn apply(
    connection: &mut SqliteConnection,
    entries: &[Entry],
) -> Result<(), sqlx::Error> {
    for entry in entries {
        let Entry::Call(change) = entry else { continue };
        match &**change {
            CallChange::Save(record) => save(connection, record).await?,
            CallChange::Forget(key) => {
                sqlx::query("DELETE FROM call_records WHERE key = $1")
                    .bind(key.as_bytes().as_slice())
                    .execute(&mut *connection)
                    .await?;
            }
        }
    }
    Ok(())
}

async fn save(connection: &mut SqliteConnection, record: &CallRecord) -> Result<(), sqlx::Error> {
    let (state, answer) = match &record.state {
        CallState::Begun => ("begun", None),
        CallState::Answered(answer) => ("answered", answer.as_deref()),
    };
    sqlx::query(
        "INSERT INTO call_records \
         (key, tenant, owner, agent, tool, arguments, state, answer, bytes, at_ms, expires_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (key) DO UPDATE SET arguments = excluded.arguments, state = excluded.state, \
         answer = excluded.answer, bytes = excluded.bytes, at_ms = excluded.at_ms, \
         expires_ms = excluded.expires_ms",
    )
    .bind(record.key.as_bytes().as_slice())
    .bind(record.caller.tenant.as_str())
    .bind(&record.caller.subject)
    .bind(record.caller.agent.as_deref())
    .bind(&*record.tool)
    .bind(record.arguments.as_bytes().as_slice())
    .bind(state)
    .bind(answer)
    .bind(integer(answer.map_or(0, |answer| answer.len() as u64)))
    .bind(integer(record.at_unix_ms))
    .bind(integer(record.expires_unix_ms))
    .execute(connection)
    .await
    .map(drop)
}

/// Lets go of the oldest answers beyond the budgets. Their rows stay, so that the calls do not run again.
async fn trim(connection: &mut SqliteConnection, budget: &Budget) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE call_records SET answer = NULL, bytes = 0 WHERE id IN (SELECT id FROM \
         (SELECT id, \
          sum(bytes) OVER (PARTITION BY tenant, owner, agent ORDER BY at_ms DESC, id DESC) AS of_caller, \
          sum(bytes) OVER (ORDER BY at_ms DESC, id DESC) AS of_all \
          FROM call_records WHERE bytes > 0) AS kept WHERE of_caller > $1 OR of_all > $2)",
    )
    .bind(budget.of_caller)
    .bind(budget.of_all)
    .execute(connection)
    .await
    .map(drop)
}

#[cfg(test)]
mod tests;
