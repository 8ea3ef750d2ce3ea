//! The flags that every capability server takes.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;

use crate::Limits;

/// How a server is started. Without `--listen` it speaks MCP over stdin and stdout.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Serve streamable HTTP at /mcp on this address (port 0 picks a free one; the URL is printed)
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<SocketAddr>,

    /// Accept this Host header too, such as the name other machines know this one by
    #[arg(long = "allow-host", value_name = "HOST")]
    pub allow_hosts: Vec<String>,

    /// Accept browser requests from this origin too, such as `https://app.example.com:443`
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origins: Vec<String>,

    /// Largest request in bytes
    #[arg(long, value_name = "BYTES")]
    pub max_body_bytes: Option<usize>,

    /// Largest answer in bytes
    #[arg(long, value_name = "BYTES")]
    pub max_output_bytes: Option<usize>,

    /// Longest call in milliseconds, for tools that do not name their own
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,

    /// How long calls in flight may go on after a signal to stop
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    pub drain_ms: u64,

    /// What is logged to stderr
    #[arg(long, value_name = "FILTER", env = "POWERSTRIP_LOG", default_value = "info,rmcp=warn")]
    pub log: String,
}

impl Options {
    /// The server's own limits, with what the flags say put in their place.
    pub(crate) fn limits(&self, own: Limits) -> Limits {
        Limits {
            body_bytes: self.max_body_bytes.unwrap_or(own.body_bytes),
            output_bytes: self.max_output_bytes.unwrap_or(own.output_bytes),
            timeout: self.timeout_ms.map_or(own.timeout, Duration::from_millis),
        }
    }

    pub(crate) fn drain(&self) -> Duration {
        Duration::from_millis(self.drain_ms)
    }
}
