//! `servers show`: one server with its processes, log, tools and calls.

use gateway::server_operations::ShowServer;
use operations::servers::{ServerDetail, ServerName};

use super::{details, logs};
use crate::access::Access;
use terminal::table::{Cell, Record, Table};
use terminal::{Style, Tone, time};

/// How many lines of the log are printed.
const LINES: usize = 20;

pub(super) async fn run(
    access: &Access,
    name: String,
    style: Style,
    as_json: bool,
) -> anyhow::Result<()> {
    let server = access.run::<ShowServer>(&ServerName { name }).await?;
    if as_json {
        return Ok(terminal::record(&server)?);
    }
    facts(&server).print(style)?;
    if !server.offered.is_empty() {
        terminal::line("")?;
        let mut table = Table::new(["TOOL", "DESCRIPTION"]);
        for tool in &server.offered {
            let first = tool.description.lines().next().unwrap_or_default();
            table.row([Cell::new(&tool.id).tone(Tone::Strong), Cell::new(first)]);
        }
        table.print(style)?;
    }
    let log = &server.stderr[server.stderr.len().saturating_sub(LINES)..];
    if !log.is_empty() {
        terminal::line("")?;
        log.iter().try_for_each(|line| logs::print(line, style, false))?;
    }
    Ok(())
}

fn facts(server: &ServerDetail) -> Record {
    let (summary, calls) = (&server.summary, &server.calls);
    let mut record = Record::new();
    record.field("name", Cell::new(&summary.name).tone(Tone::Strong));
    record.field("state", Cell::state(summary.state.as_str()));
    record.field("kind", Cell::new(&summary.kind));
    record.maybe("era", summary.era.as_ref());
    record.field("tools", Cell::new(summary.tools));
    record.field("restarts", Cell::new(summary.restarts));
    for process in &server.processes {
        let since = time::ago(process.started_unix_ms);
        record.field("process", Cell::new(format_args!("{}, started {since}", process.pid)));
    }
    for replica in &summary.replicas {
        let state = if replica.admitted { "in use" } else { "not in use" };
        record.field("url", Cell::new(format_args!("{} ({state})", replica.url)));
    }
    let took = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"));
    record.field(
        "calls",
        Cell::new(format_args!(
            "{} in the last hour, {} failed, p50 {}, p95 {}",
            calls.count,
            calls.errors,
            took(calls.p50_ms),
            took(calls.p95_ms)
        )),
    );
    let stderr = |cell: &Cell| !cell.text().starts_with("stderr: ");
    for detail in details(summary, false).into_iter().filter(stderr) {
        record.field("", detail);
    }
    record
}
