//! The audit trail as it is stored and read.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use proto::{Digest, Principal, TraceId};

use crate::sql::{Connection, Row, Value, query, value_rows};
use crate::{Database, StoreError};

/// The columns that differ from row to row; the others are those of its kind.
const OWN_COLUMNS: usize = 5;

/// The most rows that are counted at once, so that an overview takes no longer than a tenth of a second.
const MAX_COUNTED: i64 = 50_000;

/// Statements that insert so many rows at once. One row at a time would be a trip to the database each; with a few
/// widths, any number of rows takes few statements, and all of them stay prepared.
static INSERTS: LazyLock<[(usize, String); 5]> = LazyLock::new(|| {
    [256, 64, 16, 4, 1].map(|rows| {
        let columns = "trace, at_ms, kind, arguments, duration_us";
        let values = value_rows(rows, OWN_COLUMNS);
        (rows, format!("INSERT INTO audit_rows ({columns}) VALUES {values}"))
    })
});

/// The audit row of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Which audit rows to show; a field that is `None` does not narrow the choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFilter {
    pub trace: Option<TraceId>,
    /// Only calls of this tenant; set for every caller that is not the operator.
    pub tenant: Option<String>,
    pub tool: Option<String>,
    pub outcome: Option<String>,
    /// Calls of this subject, or of this agent.
    pub caller: Option<String>,
    pub since_unix_ms: Option<u64>,
    pub until_unix_ms: Option<u64>,
    /// Only rows older than the position at which an earlier page ended.
    pub after: Option<AuditPosition>,
    pub limit: u32,
}

/// Where a page of the audit trail ends: the next one continues there, whatever rows were added since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditPosition {
    pub at_unix_ms: u64,
    pub number: i64,
}

/// Audit rows, newest first, and where the next page begins if there are more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    pub rows: Vec<AuditRow>,
    pub next: Option<AuditPosition>,
}

/// How many calls began within a stretch of time, and how many of them failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditCount {
    /// The number of the stretch, counted from the first.
    pub stretch: u64,
    pub calls: u64,
    pub failed: u64,
}

impl Default for AuditFilter {
    fn default() -> Self {
        Self {
            trace: None,
            tenant: None,
            tool: None,
            outcome: None,
            caller: None,
            since_unix_ms: None,
            until_unix_ms: None,
            after: None,
            limit: 100,
        }
    }
}

impl Database {
    /// The audit rows that match a filter, newest first.
    pub async fn audit_rows(&self, filter: AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        self.audit_page(filter).await.map(|page| page.rows)
    }

    /// The audit rows that match a filter, newest first, and where the next page begins.
    pub async fn audit_page(&self, filter: AuditFilter) -> Result<AuditPage, StoreError> {
        let trace = filter.trace.as_ref().map(|trace| trace.as_bytes().as_slice());
        let mut select = query(
            "SELECT trace, at_ms, tenant, owner, agent, door, tool, version, definition, arguments, decision, outcome, \
             blame, duration_us, seq FROM audit WHERE true",
        )
        .and("trace = ", trace)
        .and("tenant = ", filter.tenant)
        .and("tool = ", filter.tool)
        .and("outcome = ", filter.outcome)
        .and("at_ms >= ", filter.since_unix_ms)
        .and("at_ms < ", filter.until_unix_ms);
        if let Some(caller) = filter.caller {
            select = select.push(" AND (owner = ").push_bind(caller.clone());
            select = select.push(" OR agent = ").push_bind(caller).push(")");
        }
        if let Some(after) = filter.after {
            select = select.push(" AND (at_ms, seq) < (").push_bind(after.at_unix_ms);
            select = select.push(", ").push_bind(after.number).push(")");
        }
        // One more than asked for shows whether there is another page.
        let limit = i64::from(filter.limit).saturating_add(1);
        select = select.push(" ORDER BY at_ms DESC, seq DESC LIMIT ").push_bind(limit);
        let found = self.sql.all(select).await?;
        let shown = &found[..found.len().min(usize::try_from(filter.limit).unwrap_or(usize::MAX))];
        let last = shown.last().filter(|_| shown.len() < found.len());
        let next = last.map(|last| -> Result<AuditPosition, StoreError> {
            Ok(AuditPosition { at_unix_ms: last.get("at_ms")?, number: last.get("seq")? })
        });
        Ok(AuditPage {
            next: next.transpose()?,
            rows: shown.iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    /// How many calls of a tenant, or of all, began in each stretch since a time. Of very many only the newest count.
    pub async fn audit_counts(
        &self,
        tenant: Option<&str>,
        since_unix_ms: u64,
        stretch_ms: u64,
    ) -> Result<Vec<AuditCount>, StoreError> {
        let select = query(
            "SELECT (at_ms - $1) / $2 AS stretch, count(*) AS calls, count(*) FILTER (WHERE outcome <> 'OK') AS failed \
             FROM (SELECT at_ms, outcome FROM audit WHERE at_ms >= $1 AND ($3 IS NULL OR tenant = $3) \
             ORDER BY at_ms DESC LIMIT $4) AS newest GROUP BY stretch ORDER BY stretch",
        )
        .bind(since_unix_ms)
        .bind(stretch_ms.max(1))
        .bind(tenant)
        .bind(MAX_COUNTED);
        let read = |row: &Row| {
            Ok(AuditCount {
                stretch: row.get("stretch")?,
                calls: row.get("calls")?,
                failed: row.get("failed")?,
            })
        };
        self.sql.all(select).await?.iter().map(read).collect()
    }
}

/// Inserts rows, each with the number of its kind.
pub(crate) async fn insert(
    connection: &mut Connection,
    rows: &[(&AuditRow, i64)],
) -> Result<(), StoreError> {
    let mut rest = rows;
    while let Some((width, sql)) =
        INSERTS.iter().find(|(width, _)| (1..=rest.len()).contains(width))
    {
        let (next, later) = rest.split_at(*width);
        query(sql.as_str()).bind_all(next.iter().flat_map(values)).execute(connection).await?;
        rest = later;
    }
    Ok(())
}

fn values<'q>((row, kind): &(&'q AuditRow, i64)) -> [Value<'q>; OWN_COLUMNS] {
    [
        row.trace.as_bytes().as_slice().into(),
        row.at_unix_ms.into(),
        (*kind).into(),
        (&row.arguments).into(),
        row.duration_us.into(),
    ]
}

fn read(row: &Row) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        trace: row.get("trace")?,
        at_unix_ms: row.get("at_ms")?,
        caller: Arc::new(Principal {
            tenant: row.get("tenant")?,
            subject: row.get("owner")?,
            agent: row.optional("agent")?,
            scopes: Vec::new(),
        }),
        door: row.get::<String>("door")?.into(),
        tool: row.get::<String>("tool")?.into(),
        version: row.get::<String>("version")?.into(),
        definition: row.optional("definition")?,
        arguments: row.get("arguments")?,
        decision: row.get::<String>("decision")?.into(),
        outcome: row.get::<String>("outcome")?.into(),
        blame: row.optional::<String>("blame")?.map(Into::into),
        duration_us: row.get("duration_us")?,
    })
}
