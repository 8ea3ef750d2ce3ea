//! Calls with an idempotency key, and calls that have begun and not ended.

use std::sync::Arc;

use proto::{Digest, Principal};
use serde::{Deserialize, Serialize};

use crate::sql::{Connection, in_transaction, query};
use crate::{AuditRow, Database, StoreError};

/// The most bytes of recorded answers.
pub(crate) struct AnswerBudget {
    of_caller: i64,
    of_all: i64,
}

/// The length of a trace id and of a digest as they are stored.
const TRACE_BYTES: usize = 16;
const DIGEST_BYTES: usize = 32;

pub(crate) const ANSWER_BUDGET: AnswerBudget =
    AnswerBudget { of_caller: 16 << 20, of_all: 256 << 20 };

/// The record of a call with an idempotency key, so that a retry after a crash does not run it twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The digest over tenant, caller, tool and the caller's key.
    pub key: Digest,
    /// The caller; scopes are not stored.
    pub caller: Arc<Principal>,
    pub tool: Arc<str>,
    pub arguments: Digest,
    pub state: CallState,
    pub at_unix_ms: u64,
    pub expires_unix_ms: u64,
}

/// The state of a recorded call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallState {
    /// The tool may have run.
    Begun,
    /// The tool has run; the answer as text, unless it was too large or was dropped for newer ones.
    Answered(Option<String>),
}

/// The record of an earlier call with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    pub arguments: Digest,
    pub state: CallState,
}

/// A change of the recorded calls, committed in the order of the audit trail.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum CallChange {
    /// Stores a record in place of an earlier one with the same key.
    Save(CallRecord),
    /// Removes the record of this key: the call did not take effect and may run again.
    Forget(Digest),
}

impl CallChange {
    /// How many bytes wait in memory until the change is committed.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Save(CallRecord { state: CallState::Answered(Some(answer)), .. }) => answer.len(),
            Self::Save(_) | Self::Forget(_) => 0,
        }
    }
}

/// A call that has begun and not ended; `row` is its audit row if it never ends.
pub(crate) struct BegunRow<'a> {
    pub(crate) writer: &'a str,
    pub(crate) number: u64,
    pub(crate) row: &'a AuditRow,
    pub(crate) kind: i64,
}

impl Database {
    /// The record of a call with this key that has not expired.
    pub async fn call_record(
        &self,
        key: &Digest,
        now_unix_ms: u64,
    ) -> Result<Option<RecordedCall>, StoreError> {
        let select = query(
            "SELECT arguments, state, answer FROM call_records WHERE key = $1 AND expires_ms > $2",
        );
        let row = self.sql.first(select.bind(key).bind(now_unix_ms)).await?;
        let Some(row) = row else { return Ok(None) };
        let state = match row.get::<String>("state")?.as_str() {
            "begun" => CallState::Begun,
            "answered" => CallState::Answered(row.optional("answer")?),
            state => {
                return Err(StoreError::Unreadable { column: "state", value: state.to_owned() });
            }
        };
        Ok(Some(RecordedCall { arguments: row.get("arguments")?, state }))
    }

    /// Deletes records that have expired, and the oldest answers beyond the byte budget.
    pub async fn sweep_call_records(&self, now_unix_ms: u64) -> Result<(), StoreError> {
        let delete = query("DELETE FROM call_records WHERE expires_ms <= $1").bind(now_unix_ms);
        self.sql.execute(delete).await?;
        self.trim_answers(&ANSWER_BUDGET).await
    }

    /// Drops the oldest answers beyond the budget. Their rows stay, so that the calls do not run again.
    pub(crate) async fn trim_answers(&self, budget: &AnswerBudget) -> Result<(), StoreError> {
        let update = query(
            "UPDATE call_records SET answer = NULL, bytes = 0 WHERE id IN (SELECT id FROM \
             (SELECT id, \
              sum(bytes) OVER (PARTITION BY tenant, owner, agent ORDER BY at_ms DESC, id DESC) AS of_caller, \
              sum(bytes) OVER (ORDER BY at_ms DESC, id DESC) AS of_all \
              FROM call_records WHERE bytes > 0) AS kept WHERE of_caller > $1 OR of_all > $2)",
        );
        self.sql.execute(update.bind(budget.of_caller).bind(budget.of_all)).await.map(drop)
    }

    /// Appends an audit row for each call that had begun when an earlier process ended; returns how many there were.
    /// In place of a damaged trace, digest of arguments or time, the row has zeros. A damaged kind stays as it is: lists
    /// say that the row is damaged. Only the owner of the data folder may call it, before any call is accepted.
    pub async fn close_interrupted_calls(&self) -> Result<u64, StoreError> {
        let dialect = self.sql.dialect();
        let trace = dialect.bytes_or_zeros("trace", TRACE_BYTES);
        let arguments = dialect.bytes_or_zeros("arguments", DIGEST_BYTES);
        let at = format!("CASE WHEN {} THEN at_ms ELSE 0 END", dialect.is_count("at_ms"));
        in_transaction!(self.sql, |transaction| {
            let closed = query(format!(
                "INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us) \
                 SELECT {trace}, {at}, kind, {arguments}, 0 FROM calls_begun ORDER BY at_ms",
            ))
            .execute(transaction.connection())
            .await?;
            query("DELETE FROM calls_begun").execute(transaction.connection()).await?;
            closed
        })
    }
}

/// Stores that a call has begun.
pub(crate) async fn insert_begun(
    connection: &mut Connection,
    begun: &BegunRow<'_>,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO calls_begun (writer, number, trace, at_ms, kind, arguments) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(begun.writer)
    .bind(begun.number)
    .bind(begun.row.trace.as_bytes().as_slice())
    .bind(begun.row.at_unix_ms)
    .bind(begun.kind)
    .bind(&begun.row.arguments)
    .execute(connection)
    .await
    .map(drop)
}

/// Deletes the note that a call has begun.
pub(crate) async fn delete_begun(
    connection: &mut Connection,
    writer: &str,
    number: u64,
) -> Result<(), StoreError> {
    let delete = query("DELETE FROM calls_begun WHERE writer = $1 AND number = $2");
    delete.bind(writer).bind(number).execute(connection).await.map(drop)
}

/// Applies a change of the recorded calls.
pub(crate) async fn apply(
    connection: &mut Connection,
    change: &CallChange,
) -> Result<(), StoreError> {
    let record = match change {
        CallChange::Save(record) => record,
        CallChange::Forget(key) => {
            let delete = query("DELETE FROM call_records WHERE key = $1").bind(key);
            return delete.execute(connection).await.map(drop);
        }
    };
    let (state, answer) = match &record.state {
        CallState::Begun => ("begun", None),
        CallState::Answered(answer) => ("answered", answer.as_deref()),
    };
    query(
        "INSERT INTO call_records \
         (key, tenant, owner, agent, tool, arguments, state, answer, bytes, at_ms, expires_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (key) DO UPDATE SET arguments = excluded.arguments, state = excluded.state, \
         answer = excluded.answer, bytes = excluded.bytes, at_ms = excluded.at_ms, \
         expires_ms = excluded.expires_ms",
    )
    .bind(&record.key)
    .bind(record.caller.tenant.as_str())
    .bind(&record.caller.subject)
    .bind(record.caller.agent.as_deref())
    .bind(&*record.tool)
    .bind(&record.arguments)
    .bind(state)
    .bind(answer)
    .bind(answer.map_or(0, |answer| answer.len() as u64))
    .bind(record.at_unix_ms)
    .bind(record.expires_unix_ms)
    .execute(connection)
    .await
    .map(drop)
}

#[cfg(test)]
mod tests;
