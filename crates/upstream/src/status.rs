use std::time::Duration;

use operations::servers::ProcessView;
pub(crate) use operations::servers::ServerState as State;
use proto::{Scrubber, clean};
use serde::Serialize;
use serde_json::Value;

use crate::era::Era;

/// The longest tool name and the longest reason of a fault.
const MAX_NAME_CHARS: usize = 80;
const MAX_REASON_CHARS: usize = 1_000;

/// A tool that was listed but is not offered, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListFault {
    /// The server's own name for it, shortened.
    pub tool: String,
    pub reason: String,
}

impl ListFault {
    /// Both texts may come from the server: they are shortened and made safe for terminals and logs.
    pub(crate) fn new(tool: &str, reason: &str) -> Self {
        let tool = tool.chars().take(MAX_NAME_CHARS).collect::<String>();
        let reason = reason.chars().take(MAX_REASON_CHARS).collect::<String>();
        Self { tool: clean::line(&tool), reason: clean::line(&reason) }
    }
}

/// The state of one server, for the dashboard and `powerstrip servers`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    pub name: String,
    /// `stdio`, `http`, `sse` or `openapi`.
    pub transport: &'static str,
    pub state: State,
    pub era: Option<Era>,
    /// Name and version, as the server says.
    pub server: Option<Value>,
    /// Its capabilities, as it states them.
    pub capabilities: Option<Value>,
    /// How many tools are offered to the catalog.
    pub tools: usize,
    /// How long ago they were listed.
    pub list_age: Option<Duration>,
    /// Tools that were listed but are not offered; at most 100 are kept.
    pub faults: Vec<ListFault>,
    pub last_error: Option<String>,
    pub last_error_unix_ms: Option<u64>,
    /// Whether it registered itself.
    pub announced: bool,
    /// Why it is not used.
    pub reason: Option<String>,
    /// When a server that is down is tried again.
    pub retry_in: Option<Duration>,
    /// The end of what the process wrote to stderr.
    pub stderr_tail: Option<String>,
    pub replicas: Vec<ReplicaStatus>,
    /// Sessions or processes held for callers.
    pub sessions: usize,
    pub processes: Vec<ProcessView>,
    /// How often a process of this server ended by itself or did not start.
    pub restarts: u64,
    /// Messages that belong to no request, arrived twice, or could not be read.
    pub odd_messages: u64,
    /// Whether clients see the server's name in front of its tools.
    pub prefix: bool,
}

impl Status {
    /// Removes secrets of the server's config from all texts.
    pub(crate) fn scrub(&mut self, secrets: &Scrubber) {
        if secrets.is_empty() {
            return;
        }
        let replicas = self.replicas.iter_mut();
        let of_replicas = replicas.flat_map(|one| [Some(&mut one.url), one.last_error.as_mut()]);
        let of_faults = self.faults.iter_mut().flat_map(|one| [&mut one.tool, &mut one.reason]);
        let texts = self.last_error.iter_mut().chain(&mut self.stderr_tail).chain(&mut self.reason);
        for text in texts.chain(of_replicas.flatten()).chain(of_faults) {
            *text = secrets.text(text).into_owned();
        }
    }
}

/// The state of one URL of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplicaStatus {
    pub url: String,
    pub era: Option<Era>,
    /// Calls under way.
    pub outstanding: usize,
    /// Whether calls are sent there now.
    pub admitted: bool,
    pub last_error: Option<String>,
}
