//! What is kept of a call in addition to its audit row: the message of its failure and, where the config asks for it, its
//! arguments and result.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::sql::{Connection, Row, query};
use crate::{Database, StoreError};

/// What is kept of a call in addition to its audit row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallDetail {
    /// The message of its failure.
    pub message: Option<String>,
    /// The server whose own words the message is.
    pub answered_by: Option<String>,
    /// Its arguments, as JSON; not complete if `truncated` is set.
    pub arguments: Option<String>,
    /// Its result, likewise.
    pub result: Option<String>,
    /// Whether arguments or result were too long to be kept whole.
    pub truncated: bool,
}

impl CallDetail {
    /// The bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.message, &self.answered_by, &self.arguments, &self.result];
        texts.into_iter().flatten().map(String::len).sum()
    }
}

impl Database {
    /// Deletes the details of calls that began before a time. Their audit rows stay.
    pub async fn sweep_call_details(&self, before_unix_ms: u64) -> Result<u64, StoreError> {
        let delete = query("DELETE FROM call_details WHERE at_ms < $1").bind(before_unix_ms);
        self.sql.execute(delete).await
    }
}

pub(crate) async fn insert(
    connection: &mut Connection,
    id: Uuid,
    at_unix_ms: u64,
    detail: &CallDetail,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO call_details (id, at_ms, message, arguments, result, truncated, answered_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(id.as_bytes().as_slice())
    .bind(at_unix_ms)
    .bind(detail.message.as_deref())
    .bind(detail.arguments.as_deref())
    .bind(detail.result.as_deref())
    .bind(u64::from(detail.truncated))
    .bind(detail.answered_by.as_deref())
    .execute(connection)
    .await
    .map(drop)
}

/// The detail of an audit row, if one is stored.
pub(crate) fn read(row: &Row) -> Result<Option<CallDetail>, StoreError> {
    let Some(truncated) = row.optional::<i64>("truncated")? else { return Ok(None) };
    Ok(Some(CallDetail {
        message: row.optional("message")?,
        answered_by: row.optional("answered_by")?,
        arguments: row.optional("payload_arguments")?,
        result: row.optional("result")?,
        truncated: truncated != 0,
    }))
}
