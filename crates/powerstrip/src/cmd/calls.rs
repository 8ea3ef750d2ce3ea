use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, Subcommand};
use config::Span;
use gateway::call_operations::{ListCalls, ShowCall};
use operations::calls::{
    CallOrder, CallPage, CallQuery, CallRecord, CallSummary, CallTrace, DamagedCall,
};
use proto::time::Time;
use proto::{Clock, clean};
use serde_json::Value;

use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;
use terminal::table::{Cell, Record, Table};
use terminal::{Style, Tone, shown};

const EXAMPLES: &str = "\
Examples:
  powerstrip calls                                  the last calls, and why some of them failed
  powerstrip calls tail -f --server crm             calls of a server's tools, as they end
  powerstrip calls tail --failed --since 15m        what went wrong in the last quarter of an hour
  powerstrip calls show 3f2a91c0                    all that is known about a call

A call is named by its trace id; the first characters are enough for one of the last calls. Arguments and results are
kept only where the config has `audit: { payloads: redacted }`.";

/// How often new calls are asked for.
const POLL: Duration = Duration::from_millis(500);

/// How many calls are searched for a shortened trace id.
const SEARCHED: u32 = 500;

/// The length of a whole trace id.
const TRACE_LENGTH: usize = 36;

/// List calls that have ended, and show one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CallsCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the last calls, the newest at the end
    #[command(visible_aliases = ["ls", "list"])]
    Tail(Tail),
    /// Show the calls of a trace, with the message of a failure
    Show(Show),
}

#[derive(Debug, Default, Args)]
struct Tail {
    /// Print calls as they end, until interrupted.
    #[arg(short, long)]
    follow: bool,
    /// The most calls to begin with.
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Only calls of this server's tools.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Only calls of this tool.
    #[arg(long, value_name = "ID")]
    tool: Option<String>,
    /// Only calls with this outcome: `OK`, or a code such as `TIMEOUT`.
    #[arg(long, value_name = "CODE")]
    code: Option<String>,
    /// Only calls that failed.
    #[arg(long, conflicts_with = "code")]
    failed: bool,
    /// Only calls of this person, program or agent.
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,
    /// Only calls whose tool, caller, code or message contains this text.
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// Only calls that began within this time, such as `15m`.
    #[arg(long, value_name = "TIME")]
    since: Option<Span>,
}

#[derive(Debug, Args)]
struct Show {
    /// The trace id, or its first characters.
    #[arg(value_name = "TRACE")]
    trace: String,
}

impl CallsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open_existing(context, &loaded).await?;
        let (style, as_json) = (Style::stdout(&context.environment), context.global.json);
        let done = match (self.action.unwrap_or(Action::Tail(Tail::default())), &access) {
            (Action::Tail(tail), Some(access)) => tail.run(access, style, as_json).await,
            (Action::Show(Show { trace }), Some(access)) => {
                show(access, trace, style, as_json).await
            }
            // There are no calls where there is no data folder.
            (Action::Tail(_), None) => print_all(&[], style, as_json),
            (Action::Show(_), None) => Err(anyhow::anyhow!("there are no calls")),
        };
        if let Some(access) = access {
            access.close().await;
        }
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Tail {
    fn query(&self) -> CallQuery {
        let since = self.since.map(|span| {
            let span = u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX);
            Time::from_unix_ms(Clock::default().unix_ms().saturating_sub(span))
        });
        CallQuery {
            since_at: since,
            server: self.server.clone(),
            tool: self.tool.clone(),
            code: self.code.clone().or_else(|| self.failed.then(|| "failed".to_owned())),
            caller: self.caller.clone(),
            text: self.text.clone(),
            limit: Some(self.limit.unwrap_or(20)),
            ..CallQuery::default()
        }
    }

    async fn run(self, access: &Access, style: Style, as_json: bool) -> anyhow::Result<()> {
        let mut query = self.query();
        let CallPage { mut calls, mut damaged, .. } =
            access.run_unsettled::<ListCalls>(&query).await?;
        calls.reverse();
        if !self.follow {
            note_damaged(&damaged);
            return print_all(&calls, style, as_json);
        }
        // Any row that is recorded from now on has a higher number than the newest of all rows.
        let newest = CallQuery { limit: Some(1), ..CallQuery::default() };
        let newest = access.run_unsettled::<ListCalls>(&newest).await?;
        let numbers = calls.iter().chain(&newest.calls).map(|call| call.number);
        let damaged_numbers = damaged.iter().chain(&newest.damaged).map(|row| row.number);
        let shown = numbers.chain(damaged_numbers).max().unwrap_or(0);
        query.order = CallOrder::Recorded;
        query.limit = Some(SEARCHED);
        query.cursor = Some(format!("0-{shown}"));
        loop {
            note_damaged(&damaged);
            for call in &calls {
                print(call, style, as_json)?;
            }
            tokio::select! {
                () = tokio::time::sleep(POLL) => {}
                _ = tokio::signal::ctrl_c() => return Ok(()),
            }
            let page = access.run_unsettled::<ListCalls>(&query).await?;
            (calls, damaged, query.cursor) = (page.calls, page.damaged, page.next);
        }
    }
}

fn note_damaged(rows: &[DamagedCall]) {
    for row in rows {
        terminal::note(row);
    }
}

fn print_all(calls: &[CallSummary], style: Style, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return Ok(terminal::record(&calls)?);
    }
    if calls.is_empty() {
        return Ok(terminal::line("no calls")?);
    }
    let mut table = Table::new(["TIME", "TOOL", "OUTCOME", "TOOK", "CALLER", "TRACE"])
        .right(["TOOK"])
        .cut(["TOOL", "CALLER"]);
    for call in calls {
        table.row([
            Cell::new(proto::time::rfc3339(call.at_unix_ms)).tone(Tone::Faint),
            Cell::new(&call.tool).tone(Tone::Strong),
            outcome(call),
            Cell::new(took(call.duration_us)),
            Cell::new(caller(call)),
            Cell::new(call.trace_id),
        ]);
        if let Some(message) = call.shown_message() {
            table.detail(Cell::new(message).tone(Tone::Faint));
        }
    }
    Ok(table.print(style)?)
}

/// Prints one call on one line, and the message of its failure below it.
fn print(call: &CallSummary, style: Style, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return Ok(terminal::record_line(call)?);
    }
    let at = style.faint(proto::time::rfc3339(call.at_unix_ms));
    terminal::line(format_args!(
        "{at}  {}  {}  {}  {}  {}",
        style.bold(shown(&call.tool)),
        outcome(call).painted(style),
        took(call.duration_us),
        shown(&caller(call)),
        style.faint(call.trace_id),
    ))?;
    if let Some(message) = call.shown_message() {
        terminal::line(style.faint(format_args!("  {}", shown(&message))))?;
    }
    Ok(())
}

fn outcome(call: &CallSummary) -> Cell {
    let shown = call.outcome();
    let tone = match &*shown {
        "OK" => Tone::Good,
        _ if call.is_ok() => Tone::Doubtful,
        _ => Tone::Bad,
    };
    Cell::new(&shown).tone(tone)
}

fn caller(call: &CallSummary) -> String {
    match &call.agent {
        Some(agent) => format!("{} as {agent}", call.subject),
        None => call.subject.clone(),
    }
}

fn took(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..10_000 => format!("{:.1} ms", us as f64 / 1e3),
        10_000..1_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

async fn show(access: &Access, trace: String, style: Style, as_json: bool) -> anyhow::Result<()> {
    let trace = resolve(access, trace).await?;
    let details = access.run_unsettled::<ShowCall>(&CallTrace { trace }).await?;
    note_damaged(&details.damaged);
    if as_json {
        return Ok(terminal::record(&details.calls)?);
    }
    for (index, call) in details.calls.iter().enumerate() {
        if index > 0 {
            terminal::line("")?;
        }
        facts(call).print(style)?;
        for (name, content) in [("arguments", &call.arguments), ("result", &call.result)] {
            if let Some(content) = content {
                terminal::line(style.faint(format_args!("{name}:")))?;
                terminal::line(laid_out(content))?;
            }
        }
        if call.truncated {
            terminal::line(style.faint("(too long to be kept whole)"))?;
        }
    }
    Ok(())
}

/// JSON on several lines, without characters that act on the terminal; a text that was cut as it is.
fn laid_out(content: &Value) -> String {
    match content {
        Value::String(cut) => clean::visible(cut),
        content => clean::visible_json(&format!("{content:#}")),
    }
}

fn facts(call: &CallRecord) -> Record {
    let summary = &call.summary;
    let mut record = Record::new();
    record.field("tool", Cell::new(&summary.tool).tone(Tone::Strong));
    record.maybe("version", Some(&summary.version).filter(|version| !version.is_empty()));
    record.field("outcome", outcome(summary));
    record.maybe("message", summary.shown_message());
    record.maybe("blame", summary.blame.as_ref());
    record.field("decision", Cell::new(&summary.decision));
    record.field("caller", Cell::new(format_args!("{} of {}", caller(summary), summary.tenant)));
    record.field("door", Cell::new(&summary.door));
    record.field("started", Cell::new(proto::time::rfc3339(summary.at_unix_ms)));
    record.field("took", Cell::new(took(summary.duration_us)));
    record.field("trace", Cell::new(summary.trace_id));
    record.field("arguments", Cell::new(format_args!("digest {}", call.arguments_digest)));
    record
}

/// The whole trace id of one of the last calls whose id begins so.
async fn resolve(access: &Access, prefix: String) -> anyhow::Result<String> {
    if prefix.len() >= TRACE_LENGTH {
        return Ok(prefix);
    }
    let query = CallQuery { limit: Some(SEARCHED), ..CallQuery::default() };
    let calls = access.run_unsettled::<ListCalls>(&query).await?.calls;
    let mut traces: Vec<_> = calls.iter().map(|call| call.trace_id.to_string()).collect();
    traces.retain(|trace| trace.starts_with(&prefix));
    traces.sort();
    traces.dedup();
    match traces.as_slice() {
        [trace] => Ok(trace.clone()),
        [] => bail!(
            "none of the last {SEARCHED} calls has a trace id that begins with `{}`",
            shown(&prefix)
        ),
        several => bail!("{} trace ids begin with `{}`", several.len(), shown(&prefix)),
    }
}
