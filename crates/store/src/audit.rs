//! The audit trail as it is stored.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use proto::{Digest, Principal, TraceId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::sql::{Batch, Connection, Value};
use crate::{CallDetail, StoreError, call_details};

/// The columns that differ from row to row; the others are those of its kind.
const OWN_COLUMNS: usize = 5;

/// How many rows one statement inserts.
const WIDEST: usize = 256;

static INSERTS: LazyLock<Batch> = LazyLock::new(|| {
    let table = "audit_rows (trace, at_ms, kind, arguments, duration_us)";
    Batch::insert_into(WIDEST, table, OWN_COLUMNS, "")
});

/// Inserts rows with a detail. Most rows have none, and do not pay for the column.
static INSERTS_WITH_DETAIL: LazyLock<Batch> = LazyLock::new(|| {
    let table = "audit_rows (trace, at_ms, kind, arguments, duration_us, detail)";
    Batch::insert_into(WIDEST, table, OWN_COLUMNS + 1, "")
});

/// The audit row of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    pub trace: TraceId,
    pub at_unix_ms: u64,
    /// The caller; scopes are not stored.
    pub caller: Arc<Principal>,
    pub door: Cow<'static, str>,
    pub tool: Arc<str>,
    pub version: Arc<str>,
    pub definition: Option<Digest>,
    pub arguments: Digest,
    /// How a call ended: `ran`, `replayed`, `shared`, `asked`, `refused`, `failed`, `abandoned` or, if the process ended
    /// first, `interrupted`; or the decision about it: `approved`, `rejected` or, without a decision, `expired`; or
    /// `removed` for a protection that a changed config no longer has.
    pub decision: Cow<'static, str>,
    /// `OK`, or the error code.
    pub outcome: Cow<'static, str>,
    pub blame: Option<Cow<'static, str>>,
    pub duration_us: u64,
}

/// A row to insert.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRow<'a> {
    pub(crate) row: &'a AuditRow,
    /// The number of its kind.
    pub(crate) kind: i64,
    pub(crate) detail: Option<&'a CallDetail>,
}

/// Inserts rows and their details, in their order.
pub(crate) async fn insert(
    connection: &mut Connection,
    rows: &[NewRow<'_>],
) -> Result<(), StoreError> {
    for alike in rows.chunk_by(|one, next| one.detail.is_some() == next.detail.is_some()) {
        let mut detailed = Vec::new();
        for new in alike {
            if let Some(detail) = new.detail {
                let id = Uuid::new_v4();
                call_details::insert(connection, id, new.row.at_unix_ms, detail).await?;
                detailed.push((new, id));
            }
        }
        if detailed.is_empty() {
            INSERTS.execute(connection, alike, values).await?;
            continue;
        }
        INSERTS_WITH_DETAIL
            .execute(connection, &detailed, |(new, id)| {
                let mut values = values(new).to_vec();
                values.push(id.as_bytes().as_slice().into());
                values
            })
            .await?;
    }
    Ok(())
}

fn values<'q>(new: &NewRow<'q>) -> [Value<'q>; OWN_COLUMNS] {
    [
        new.row.trace.as_bytes().as_slice().into(),
        new.row.at_unix_ms.into(),
        new.kind.into(),
        (&new.row.arguments).into(),
        new.row.duration_us.into(),
    ]
}
