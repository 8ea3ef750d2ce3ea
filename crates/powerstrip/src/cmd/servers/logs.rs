//! `servers logs`: what a server wrote to stderr, and what the gateway noted about it.

use std::time::Duration;

use clap::Args;
use gateway::server_operations::ReadLogs;
use operations::servers::{LogLine, LogQuery, LogSource};

use crate::access::Access;
use terminal::{Style, shown};

/// How often new lines are asked for.
const POLL: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub(super) struct Logs {
    /// The server's name.
    name: String,
    /// Print new lines as they come, until interrupted.
    #[arg(short, long)]
    follow: bool,
    /// The most lines to begin with.
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    lines: usize,
}

impl Logs {
    pub(super) async fn run(
        self,
        access: &Access,
        style: Style,
        as_json: bool,
    ) -> anyhow::Result<()> {
        let mut query = LogQuery { name: self.name, after: None, limit: Some(self.lines) };
        let mut logs = access.run::<ReadLogs>(&query).await?;
        if logs.lines.is_empty() && !self.follow && !as_json {
            terminal::note(
                "nothing was logged: the server wrote nothing to stderr and has not failed",
            );
        }
        loop {
            for line in &logs.lines {
                print(line, style, as_json)?;
            }
            if !self.follow {
                return Ok(());
            }
            query.after = Some(logs.next);
            query.limit = None;
            tokio::select! {
                () = tokio::time::sleep(POLL) => {}
                _ = tokio::signal::ctrl_c() => return Ok(()),
            }
            logs = access.run_unsettled::<ReadLogs>(&query).await?;
        }
    }
}

/// Prints one line of a log.
pub(super) fn print(line: &LogLine, style: Style, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return Ok(terminal::record_line(line)?);
    }
    let at = style.faint(proto::time::rfc3339(line.at_unix_ms));
    let text = match line.source {
        LogSource::Stderr => shown(&line.line),
        LogSource::Gateway => style.doubtful(format_args!("[gateway] {}", shown(&line.line))),
    };
    Ok(terminal::line(format_args!("{at}  {text}"))?)
}
