//! The audit trail as it is read: page by page, narrowed by filters.

use std::sync::Arc;

use proto::{Principal, TraceId, Via};

use crate::sql::{Query, Row, query};
use crate::{AuditRow, CallDetail, Database, StoreError, call_details};

/// A filter that no index helps with looks at so many rows for each page.
const MAX_SCANNED: i64 = 200_000;

const COLUMNS: &str = "a.seq, a.trace, a.at_ms, a.tenant, a.owner, a.agent, a.door, a.tool, a.version, a.definition, \
                       a.arguments, a.decision, a.outcome, a.blame, a.duration_us";

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
    /// Calls of tools of this server.
    pub server: Option<String>,
    /// Only calls that failed, whatever their code.
    pub failed: bool,
    /// A text in tool, caller, code or message, in upper or lower case.
    pub text: Option<String>,
    pub since_unix_ms: Option<u64>,
    pub until_unix_ms: Option<u64>,
    pub order: AuditOrder,
    /// Only rows after the position at which an earlier page ended.
    pub after: Option<AuditPosition>,
    pub limit: u32,
}

/// The order of audit rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditOrder {
    /// By the time at which calls began, newest first.
    #[default]
    Newest,
    /// By the time at which calls began, oldest first.
    Oldest,
    /// By duration, the longest first. Of very many rows only the newest count.
    Slowest,
    /// As they were written: a row that is added later comes later.
    Recorded,
}

/// Where a page of the audit trail ends: the next one continues there, whatever rows were added since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditPosition {
    /// What the order compares first: the time in milliseconds, or the duration in microseconds.
    pub key: u64,
    pub number: i64,
}

/// An audit row with its number and what else is stored about the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    pub number: i64,
    pub row: AuditRow,
    pub detail: Option<CallDetail>,
}

/// An audit row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRecord {
    pub number: i64,
    /// None if the trace cannot be read either.
    pub trace: Option<TraceId>,
    /// The first column that cannot be read. It is `tenant` where the kind of the row cannot be found.
    pub column: &'static str,
}

/// Audit rows with their details, and where the next page begins if there are more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditRecords {
    pub records: Vec<AuditRecord>,
    /// The rows of the page that cannot be read.
    pub damaged: Vec<DamagedRecord>,
    pub next: Option<AuditPosition>,
}

impl Default for AuditFilter {
    fn default() -> Self {
        Self {
            trace: None,
            tenant: None,
            tool: None,
            outcome: None,
            caller: None,
            server: None,
            failed: false,
            text: None,
            since_unix_ms: None,
            until_unix_ms: None,
            order: AuditOrder::default(),
            after: None,
            limit: 100,
        }
    }
}

impl Database {
    /// The audit rows that match a filter; an error if one of them is damaged.
    pub async fn audit_rows(&self, filter: AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        let (rows, _) = self.select_audit(&filter, COLUMNS).await?;
        rows.iter().map(read).collect()
    }

    /// The audit rows that match a filter with the messages of failures, and where the next page begins. Arguments and
    /// results are not read.
    pub async fn audit_messages(&self, filter: AuditFilter) -> Result<AuditRecords, StoreError> {
        let columns = format!(
            "{COLUMNS}, d.message, d.answered_by, NULL AS payload_arguments, NULL AS result, \
                 d.truncated"
        );
        self.select_records(&filter, &columns).await
    }

    /// Audit rows with all that is stored about the calls.
    pub async fn audit_records(&self, filter: AuditFilter) -> Result<AuditRecords, StoreError> {
        let columns = format!(
            "{COLUMNS}, d.message, d.answered_by, d.arguments AS payload_arguments, d.result, d.truncated"
        );
        self.select_records(&filter, &columns).await
    }

    async fn select_records(
        &self,
        filter: &AuditFilter,
        columns: &str,
    ) -> Result<AuditRecords, StoreError> {
        let (rows, next) = self.select_audit(filter, columns).await?;
        let (records, damaged) = (Vec::with_capacity(rows.len()), Vec::new());
        let mut found = AuditRecords { records, damaged, next };
        for row in &rows {
            let number = row.get("seq")?;
            let record = |row: &Row| -> Result<AuditRecord, StoreError> {
                Ok(AuditRecord { number, row: read(row)?, detail: call_details::read(row)? })
            };
            match record(row) {
                Ok(record) => found.records.push(record),
                Err(error) => {
                    let Some(column) = error.damaged_column() else { return Err(error) };
                    tracing::error!(%error, number, "an audit row is damaged and is left out");
                    let trace = row.get("trace").ok();
                    found.damaged.push(DamagedRecord { number, trace, column });
                }
            }
        }
        Ok(found)
    }

    async fn select_audit(
        &self,
        filter: &AuditFilter,
        columns: &str,
    ) -> Result<(Vec<Row>, Option<AuditPosition>), StoreError> {
        let mut select = query(format!("SELECT {columns} FROM (SELECT * FROM audit WHERE true"));
        select = narrow(select, filter);
        if filter.text.is_some() || filter.order == AuditOrder::Slowest {
            select = select.push(" ORDER BY at_ms DESC, seq DESC LIMIT ").push_bind(MAX_SCANNED);
        }
        select = select.push(") AS a LEFT JOIN call_details d ON d.id = a.detail WHERE true");
        if let Some(text) = &filter.text {
            select = contains(select, text);
        }
        // One more than asked for shows whether there is another page.
        let limit = i64::from(filter.limit).saturating_add(1);
        let (order, key) = match filter.order {
            AuditOrder::Newest => ("a.at_ms DESC, a.seq DESC", "at_ms"),
            AuditOrder::Oldest => ("a.at_ms, a.seq", "at_ms"),
            AuditOrder::Slowest => ("a.duration_us DESC, a.seq DESC", "duration_us"),
            // The number alone is the position.
            AuditOrder::Recorded => ("a.seq", "seq"),
        };
        select = select.push(" ORDER BY ").push(order).push(" LIMIT ").push_bind(limit);
        let mut found = self.sql.all(select).await?;
        let shown = usize::try_from(filter.limit).unwrap_or(usize::MAX);
        let more = found.len() > shown;
        found.truncate(shown);
        let position = |row: &Row| {
            Some(AuditPosition { key: row.get(key).ok()?, number: row.get("seq").ok()? })
        };
        // Rows whose position is damaged are before all others, or behind them.
        let first = || filter.after.is_none().then(|| first_position(filter.order));
        let next = more.then(|| found.iter().rev().find_map(position).or_else(first));
        Ok((found, next.flatten()))
    }
}

/// The position before all rows whose own one can be read.
fn first_position(order: AuditOrder) -> AuditPosition {
    match order {
        AuditOrder::Newest | AuditOrder::Slowest => {
            AuditPosition { key: u64::MAX, number: i64::MAX }
        }
        AuditOrder::Oldest | AuditOrder::Recorded => AuditPosition::default(),
    }
}

/// Adds the conditions on audit rows and their kinds.
fn narrow<'q>(mut select: Query<'q>, filter: &'q AuditFilter) -> Query<'q> {
    let trace = filter.trace.as_ref().map(|trace| trace.as_bytes().as_slice());
    select = select
        .and("trace = ", trace)
        .and("tenant = ", filter.tenant.as_deref())
        .and("tool = ", filter.tool.as_deref())
        .and("outcome = ", filter.outcome.as_deref())
        .and("at_ms >= ", filter.since_unix_ms)
        .and("at_ms < ", filter.until_unix_ms);
    if filter.failed {
        select = select.push(" AND outcome <> 'OK'");
    }
    if let Some(caller) = filter.caller.as_deref() {
        select = select.push(" AND (owner = ").push_bind(caller);
        select = select.push(" OR agent = ").push_bind(caller).push(")");
    }
    if let Some(server) = &filter.server {
        select = of_server(select, server);
    }
    if let Some(after) = filter.after {
        let key = match filter.order {
            AuditOrder::Newest => "(at_ms, seq) < (",
            AuditOrder::Oldest => "(at_ms, seq) > (",
            AuditOrder::Slowest => "(duration_us, seq) < (",
            AuditOrder::Recorded => {
                return select.push(" AND seq > ").push_bind(after.number);
            }
        };
        select = select.push(" AND ").push(key).push_bind(after.key);
        select = select.push(", ").push_bind(after.number).push(")");
    }
    select
}

/// Adds the condition that a call was of a tool of this server: ids are `server:tool`.
pub(crate) fn of_server<'q>(select: Query<'q>, server: &str) -> Query<'q> {
    let length = i64::try_from(server.chars().count() + 1).unwrap_or(i64::MAX);
    select
        .push(" AND substr(tool, 1, CAST(")
        .push_bind(length)
        .push(" AS INTEGER)) = ")
        .push_bind(format!("{server}:"))
}

fn contains<'q>(select: Query<'q>, text: &str) -> Query<'q> {
    let mut pattern = String::from("%");
    for character in text.to_lowercase().chars() {
        if matches!(character, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(character);
    }
    pattern.push('%');
    let columns = ["a.tool", "a.owner", "a.agent", "a.outcome", "a.decision", "d.message"];
    let mut select = select.push(" AND (false");
    for column in columns {
        select = select.push(" OR lower(").push(column).push(") LIKE ");
        select = select.push_bind(pattern.clone()).push(" ESCAPE '!'");
    }
    select.push(")")
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
            via: Via::Local,
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
