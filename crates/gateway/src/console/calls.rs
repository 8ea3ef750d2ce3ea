//! Calls of the audit trail: listed, shown and counted.

use config::Span;
use operations::calls::{
    Bucket, CallDetails, CallOrder, CallPage, CallQuery, CallRecord, CallSummary, DamagedCall,
    Overview, OverviewQuery, ToolStats,
};
use operations::scope::AUDIT_READ;
use operations::{Caller, OperationError};
use proto::time::Time;
use proto::{ADMIN, Code, TraceId};
use serde_json::Value;
use store::{
    AuditFilter, AuditOrder, AuditPosition, AuditRecord, AuditStats, DamagedRecord, MAX_COUNTED,
    StatsFilter,
};

use super::{GatewayConsole, unreadable};

/// How many calls are listed.
const DEFAULT_CALLS: u32 = 100;
const MAX_CALLS: u32 = 500;

/// How many calls of a trace are shown.
const MAX_TRACE_CALLS: u32 = 500;

const DEFAULT_RANGE: &str = "1h";
const BUCKETS: u64 = 60;

/// How many tools an overview lists.
const DEFAULT_TOOLS: u32 = 10;
const MAX_TOOLS: u32 = 1_000;

impl GatewayConsole {
    pub(super) async fn list_calls(
        &self,
        caller: &Caller,
        query: CallQuery,
    ) -> Result<CallPage, OperationError> {
        let order = query.order;
        let cursor = query.cursor.clone();
        let filter = self.filter(caller, query)?;
        let found = self.strip.commits().messages(filter).await.map_err(unreadable)?;
        let mut next = found.next.map(write_cursor);
        if order == CallOrder::Recorded && next.is_none() {
            // A tail goes on after its last call, or where it was.
            let numbers = found.records.iter().map(|record| record.number);
            let last = numbers.chain(found.damaged.iter().map(|row| row.number)).max();
            let last = last.map(|number| AuditPosition { key: 0, number });
            next = last.map(write_cursor).or(cursor).or(Some("0-0".to_owned()));
        }
        let calls = found.records.into_iter().map(summarize).collect();
        Ok(CallPage { calls, damaged: found.damaged.into_iter().map(name_damaged).collect(), next })
    }

    fn filter(&self, caller: &Caller, query: CallQuery) -> Result<AuditFilter, OperationError> {
        let since = one_time("since", query.since_at, query.since_unix_ms)?;
        let until = one_time("until", query.until_at, query.until_unix_ms)?;
        let within = match (&query.range, since) {
            (Some(_), Some(_)) => {
                let message = "`range` and `since_at` exclude each other";
                return Err(OperationError::invalid(message));
            }
            (Some(range), None) => Some(self.clock.unix_ms().saturating_sub(read_range(range)?)),
            (None, since) => since,
        };
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        let code = given(query.code);
        let failed = code.as_deref().is_some_and(|code| code.eq_ignore_ascii_case("failed"));
        Ok(AuditFilter {
            trace: None,
            tenant: caller.tenant().map(str::to_owned),
            tool: given(query.tool),
            outcome: code.filter(|_| !failed).map(|code| code.to_ascii_uppercase()),
            caller: given(query.caller),
            server: given(query.server),
            failed,
            text: given(query.text),
            since_unix_ms: within,
            until_unix_ms: until,
            order: match query.order {
                CallOrder::Newest => AuditOrder::Newest,
                CallOrder::Oldest => AuditOrder::Oldest,
                CallOrder::Slowest => AuditOrder::Slowest,
                CallOrder::Recorded => AuditOrder::Recorded,
            },
            after: query.cursor.as_deref().map(read_cursor).transpose()?,
            limit: query.limit.unwrap_or(DEFAULT_CALLS).clamp(1, MAX_CALLS),
        })
    }

    pub(super) async fn show_call(
        &self,
        caller: &Caller,
        trace: &str,
    ) -> Result<CallDetails, OperationError> {
        let none = || {
            let message = "there is no call with this trace; a call is listed shortly after it has \
                           ended (`powerstrip calls tail` lists the last ones)";
            OperationError::not_found(message)
        };
        let id: TraceId = serde_json::from_value(trace.into()).map_err(|_| none())?;
        let filter = AuditFilter {
            trace: Some(id),
            tenant: caller.tenant().map(str::to_owned),
            order: AuditOrder::Oldest,
            limit: MAX_TRACE_CALLS,
            ..AuditFilter::default()
        };
        let found = self.strip.commits().records(filter).await.map_err(unreadable)?;
        let damaged: Vec<_> = found.damaged.into_iter().map(name_damaged).collect();
        if found.records.is_empty() {
            let first = damaged.first();
            return Err(
                first.map_or_else(none, |row| OperationError::new(Code::Internal, row.to_string()))
            );
        }
        let principal = &caller.principal;
        let sees_content =
            caller.is_operator() || principal.holds(ADMIN) || principal.holds(AUDIT_READ);
        let show = |record| show(record, sees_content);
        Ok(CallDetails { calls: found.records.into_iter().map(show).collect(), damaged })
    }

    pub(super) async fn count_calls(
        &self,
        caller: &Caller,
        query: OverviewQuery,
    ) -> Result<Overview, OperationError> {
        let range = read_range(query.range.as_deref().unwrap_or(DEFAULT_RANGE))?;
        let until_unix_ms = self.clock.unix_ms();
        let since_unix_ms = until_unix_ms.saturating_sub(range);
        let filter = StatsFilter {
            tenant: caller.tenant().map(str::to_owned),
            server: query.server,
            since_unix_ms,
        };
        let tools = query.tools.unwrap_or(DEFAULT_TOOLS).min(MAX_TOOLS);
        let bucket_ms = range.div_ceil(BUCKETS).max(1);
        let database = self.strip.commits().database();
        let (all, damaged, by_tool, by_time) = tokio::try_join!(
            database.audit_stats(&filter),
            database.audit_damaged(&filter),
            database.audit_stats_by_tool(&filter, tools),
            database.audit_stats_by_time(&filter, bucket_ms),
        )
        .map_err(unreadable)?;
        let mut series: Vec<_> = (0..BUCKETS)
            .map(|number| Bucket {
                at_unix_ms: since_unix_ms + number * bucket_ms,
                calls: 0,
                errors: 0,
                p50_ms: None,
                p95_ms: None,
            })
            .collect();
        for (number, stats) in by_time {
            // Calls of this very moment belong to the last bucket.
            let number = usize::try_from(number.min(BUCKETS - 1)).unwrap_or(0);
            if let Some(bucket) = series.get_mut(number) {
                bucket.calls += stats.calls;
                bucket.errors += stats.failed;
                bucket.p50_ms = milliseconds(&stats, stats.p50_us);
                bucket.p95_ms = milliseconds(&stats, stats.p95_us);
            }
        }
        let tool_stats = |(tool, stats): (String, AuditStats)| ToolStats {
            tool,
            calls: stats.calls,
            errors: stats.failed,
            p50_ms: stats.p50_us as f64 / 1e3,
            p95_ms: stats.p95_us as f64 / 1e3,
            last_unix_ms: stats.last_unix_ms,
        };
        Ok(Overview {
            since_unix_ms,
            until_unix_ms,
            calls: all.calls,
            errors: all.failed,
            error_rate: if all.calls == 0 { 0.0 } else { all.failed as f64 / all.calls as f64 },
            p50_ms: milliseconds(&all, all.p50_us),
            p95_ms: milliseconds(&all, all.p95_us),
            top_tools: by_tool.into_iter().map(tool_stats).collect(),
            bucket_ms,
            series,
            partial: all.calls >= u64::from(MAX_COUNTED),
            damaged,
        })
    }
}

/// A duration of calls in milliseconds; none without calls.
pub(super) fn milliseconds(stats: &AuditStats, us: u64) -> Option<f64> {
    (stats.calls > 0).then(|| us as f64 / 1e3)
}

/// A time that is set under its name or under its deprecated one.
fn one_time(
    name: &str,
    time: Option<Time>,
    unix_ms: Option<u64>,
) -> Result<Option<u64>, OperationError> {
    if time.is_some() && unix_ms.is_some() {
        let message = format!("`{name}_at` and `{name}_unix_ms` exclude each other");
        return Err(OperationError::invalid(message));
    }
    Ok(time.map(Time::unix_ms).or(unix_ms))
}

/// The milliseconds of a span such as `15m`.
fn read_range(text: &str) -> Result<u64, OperationError> {
    let span: Span = text.parse().map_err(|why| {
        OperationError::invalid(format!("`range` is a time such as `15m`, `1h` or `7d`: {why}"))
    })?;
    Ok(u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX))
}

fn read_cursor(text: &str) -> Result<AuditPosition, OperationError> {
    let read = || {
        let (key, number) = text.split_once('-')?;
        Some(AuditPosition { key: key.parse().ok()?, number: number.parse().ok()? })
    };
    read().ok_or_else(|| OperationError::invalid("`cursor` is not the `next` of a list of calls"))
}

fn write_cursor(position: AuditPosition) -> String {
    format!("{}-{}", position.key, position.number)
}

fn name_damaged(DamagedRecord { number, trace, column }: DamagedRecord) -> DamagedCall {
    DamagedCall { number, trace_id: trace, column: column.to_owned() }
}

fn summarize(record: AuditRecord) -> CallSummary {
    let AuditRecord { number, row, detail } = record;
    let (message, answered_by) =
        detail.map(|detail| (detail.message, detail.answered_by)).unwrap_or_default();
    CallSummary {
        number,
        trace_id: row.trace,
        at_unix_ms: row.at_unix_ms,
        tenant: row.caller.tenant.to_string(),
        subject: row.caller.subject.clone(),
        agent: row.caller.agent.clone(),
        door: row.door.into_owned(),
        tool: row.tool.to_string(),
        version: row.version.to_string(),
        decision: row.decision.into_owned(),
        code: row.outcome.into_owned(),
        blame: row.blame.map(|blame| blame.into_owned()),
        duration_us: row.duration_us,
        message,
        answered_by,
    }
}

fn show(mut record: AuditRecord, sees_content: bool) -> CallRecord {
    let detail = record.detail.as_mut();
    let (arguments, result, truncated) = match detail.filter(|_| sees_content) {
        Some(detail) => (detail.arguments.take(), detail.result.take(), detail.truncated),
        None => (None, None, false),
    };
    // may fail: a text that was cut is not JSON any more, and is shown as it is.
    let content = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
    CallRecord {
        arguments_digest: record.row.arguments.to_string(),
        definition_digest: record.row.definition.map(|digest| digest.to_string()),
        arguments: arguments.map(content),
        result: result.map(content),
        truncated,
        summary: summarize(record),
    }
}
