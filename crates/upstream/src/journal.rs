//! What happened at a server: the lines that its processes wrote to stderr, its last error and how often it failed. It
//! is kept when a process ends, and when the server is restarted or its config changes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use operations::servers::{LogLine, LogSource, ServerLogs};
use proto::{Clock, Scrubber, clean};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;

use crate::scrub::scrubbed;

/// How many lines are kept.
const MAX_LINES: usize = 1_000;

/// How many bytes of text are kept.
const MAX_BYTES: usize = 256 * 1024;

/// How much of it is shown with the state of a server.
const MAX_TAIL_BYTES: usize = 8_192;

/// A longer line is shown up to here.
const MAX_LINE_BYTES: usize = 4_096;

/// Of a longer line only the start is read; secrets are looked for in all of it.
const MAX_READ_BYTES: usize = 64 * 1024;

/// The mark of lines that were written to stdout.
const STDOUT: &str = "[stdout] ";

/// A server that keeps failing is logged once in this time.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The log of one server.
pub(crate) struct Journal {
    server: String,
    clock: Clock,
    /// How often a process ended by itself or did not start.
    failures: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    lines: VecDeque<LogLine>,
    bytes: usize,
    last_number: u64,
    last_error: Option<LastError>,
    /// Whether the last line in the gateway's log says that the server is down.
    reported_down: bool,
    reported_at: Option<Instant>,
    failed_at: Option<Instant>,
    /// Failures since the last line in the gateway's log.
    unreported: u64,
}

/// The last error of a server.
#[derive(Clone, Debug)]
pub(crate) struct LastError {
    pub(crate) message: String,
    pub(crate) at_unix_ms: u64,
}

impl Journal {
    pub(crate) fn new(server: &str, clock: Clock) -> Self {
        let (failures, inner) = (AtomicU64::new(0), Mutex::default());
        Self { server: server.to_owned(), clock, failures, inner }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Adds a line about the server.
    pub(crate) fn note(&self, pid: Option<u32>, line: String) {
        self.add(LogSource::Gateway, pid, line);
    }

    fn add(&self, source: LogSource, pid: Option<u32>, line: String) {
        let at_unix_ms = self.clock.unix_ms();
        let mut inner = self.inner();
        inner.last_number += 1;
        inner.bytes += line.len();
        let number = inner.last_number;
        inner.lines.push_back(LogLine { number, at_unix_ms, source, pid, line });
        while (inner.lines.len() > MAX_LINES || inner.bytes > MAX_BYTES)
            && let Some(oldest) = inner.lines.pop_front()
        {
            inner.bytes -= oldest.line.len();
        }
    }

    /// Lines after a number, the newest of them, and the number to continue after.
    pub(crate) fn lines(&self, after: Option<u64>, limit: usize) -> ServerLogs {
        let inner = self.inner();
        let after = after.unwrap_or(0);
        let newer = inner.lines.iter().rev().take_while(|line| line.number > after);
        let mut lines: Vec<_> = newer.take(limit).cloned().collect();
        lines.reverse();
        ServerLogs { lines, next: inner.last_number.max(after) }
    }

    /// The end of what a process wrote to stderr, as one text.
    pub(crate) fn stderr_tail(&self, pid: Option<u32>) -> Option<String> {
        let inner = self.inner();
        let mut left = MAX_TAIL_BYTES;
        let from_it = |line: &&LogLine| line.source == LogSource::Stderr && line.pid == pid;
        let newest = inner.lines.iter().rev().filter(from_it);
        let tail = newest.take_while(|line| {
            let fits = line.line.len() < left;
            left = left.saturating_sub(line.line.len() + 1);
            fits
        });
        let tail: Vec<_> = tail.map(|line| line.line.as_str()).collect();
        (!tail.is_empty()).then(|| tail.into_iter().rev().collect::<Vec<_>>().join("\n"))
    }

    /// The last line that a process wrote, shortened: to stderr, or else to stdout.
    pub(crate) fn last_line(&self, pid: Option<u32>) -> Option<String> {
        let inner = self.inner();
        let newest = inner.lines.iter().rev();
        let written = newest.filter(|line| line.source == LogSource::Stderr && line.pid == pid);
        let on_stdout = |line: &&LogLine| line.line.starts_with(STDOUT);
        let last = written.clone().find(|line| !on_stdout(line)).or(written.clone().next())?;
        let text = last.line.strip_prefix(STDOUT).unwrap_or(&last.line);
        Some(clean::line(&text.chars().take(200).collect::<String>()))
    }

    pub(crate) fn last_error(&self) -> Option<LastError> {
        self.inner().last_error.clone()
    }

    /// Notes an error that does not mean that the server is down.
    pub(crate) fn note_error(&self, message: String) {
        let at_unix_ms = self.clock.unix_ms();
        self.inner().last_error = Some(LastError { message, at_unix_ms });
    }

    /// Notes that a process has ended by itself or did not start.
    pub(crate) fn process_failed(&self, why: &str) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        self.is_down(why);
    }

    /// Notes that a process did not start for one caller, which says nothing about the process that the tools are listed
    /// from.
    pub(crate) fn caller_start_failed(&self, why: &str) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        self.note_error(why.to_owned());
        let (server, why) = (&self.server, clean::line(why));
        self.note(None, format!("a process for one caller did not start: {why}"));
        tracing::warn!(server, why, "a process for one caller did not start");
    }

    /// Notes that the server cannot be used. The gateway's log gets a line when that begins, and then one a minute.
    pub(crate) fn is_down(&self, why: &str) {
        self.is_down_at(why, Instant::now());
    }

    fn is_down_at(&self, why: &str, now: Instant) {
        self.note_error(why.to_owned());
        let (begins, before) = {
            let mut inner = self.inner();
            let is_due = inner.reported_at.is_none_or(|at| now.duration_since(at) >= LOG_INTERVAL);
            let begins = !inner.reported_down;
            inner.failed_at = Some(now);
            if !begins && !is_due {
                inner.unreported += 1;
                return;
            }
            inner.reported_down = true;
            inner.reported_at = Some(now);
            (begins, std::mem::take(&mut inner.unreported))
        };
        self.note(None, format!("down: {}", clean::line(why)));
        let (server, why) = (&self.server, clean::line(why));
        if begins {
            tracing::warn!(server, why, "a server is down; it is tried again");
        } else {
            tracing::warn!(server, why, failures = before + 1, "a server is still down");
        }
    }

    /// Notes that the server works, unless it has failed within `quiet`: one that starts and ends again and again would
    /// fill the log with both.
    pub(crate) fn is_up(&self, quiet: Duration) {
        self.is_up_at(quiet, Instant::now());
    }

    fn is_up_at(&self, quiet: Duration, now: Instant) {
        let before = {
            let mut inner = self.inner();
            let failed_lately = inner.failed_at.is_some_and(|at| now.duration_since(at) < quiet);
            if !inner.reported_down || failed_lately {
                return;
            }
            inner.reported_down = false;
            inner.reported_at = None;
            std::mem::take(&mut inner.unreported)
        };
        self.note(None, "ready".to_owned());
        tracing::info!(server = self.server, failures = before, "a server is ready again");
    }

    /// Reads what a process writes to stderr to its end, so that the process never blocks on it.
    pub(crate) async fn follow(
        &self,
        mut stderr: impl AsyncRead + Unpin,
        pid: Option<u32>,
        secrets: &Scrubber,
    ) {
        let mut piece = [0; 4_096];
        let mut pending = Vec::new();
        // Whether the rest of a long line is being skipped.
        let mut skips = false;
        while let Ok(length @ 1..) = stderr.read(&mut piece).await {
            let mut read = &piece[..length];
            if skips {
                let Some(end) = read.iter().position(|byte| *byte == b'\n') else { continue };
                read = &read[end..];
                skips = false;
            }
            pending.extend_from_slice(read);
            if let Some(end) = pending.iter().rposition(|byte| *byte == b'\n') {
                let rest = pending.split_off(end + 1);
                self.add_text("", &pending, pid, secrets);
                pending = rest;
            } else if pending.len() >= MAX_READ_BYTES {
                self.add_text("", &pending, pid, secrets);
                pending.clear();
                skips = true;
            }
        }
        self.add_text("", &pending, pid, secrets);
    }

    /// Adds what a process wrote to stdout before its handshake and is not MCP: it may say why the process ends.
    pub(crate) fn add_stdout(&self, bytes: &[u8], pid: Option<u32>, secrets: &Scrubber) {
        self.add_text(STDOUT, &bytes[..bytes.len().min(MAX_READ_BYTES)], pid, secrets);
    }

    fn add_text(&self, mark: &str, bytes: &[u8], pid: Option<u32>, secrets: &Scrubber) {
        // Control sequences are removed before secrets, because they could split one.
        let text = clean::text(&String::from_utf8_lossy(bytes)).0.replace('\r', "\n");
        let text = scrubbed(&secrets.text(&text));
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            let line = match line.len() {
                0..=MAX_LINE_BYTES => format!("{mark}{line}"),
                _ => format!("{mark}{}…", &line[..line.floor_char_boundary(MAX_LINE_BYTES)]),
            };
            self.add(LogSource::Stderr, pid, line);
        }
    }
}

#[cfg(test)]
mod tests;
