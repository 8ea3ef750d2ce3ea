//! What an operator does with a running gateway: watch its servers and calls, and switch servers.

mod calls;
mod switch;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use operations::calls::{CallDetails, CallPage, CallQuery, CallTrace, Overview, OverviewQuery};
use operations::servers::{
    CallStats, LogQuery, ServerChange, ServerDetail, ServerList, ServerLogs, ServerName,
    ServerSwitch, ServerTool,
};
use operations::{Caller, Console, OperationError};
use proto::{Clock, Code, clean};
use store::{StatsFilter, StoreError};
use strip::Strip;
use upstream::{Registry, Upstream, Upstreams};

use super::servers;
pub(super) use switch::Audited;
pub use switch::ConfigSource;

/// How many lines of a server's log are shown with it.
const SHOWN_LINES: usize = 200;

/// The most lines that are returned at once.
const MAX_LINES: usize = 1_000;

const HOUR_MS: u64 = 3_600_000;

/// The console of one gateway.
pub struct GatewayConsole {
    upstreams: Arc<Upstreams>,
    registry: Arc<Registry>,
    strip: Arc<Strip>,
    clock: Clock,
    /// Set where the config file is followed.
    config: OnceLock<std::sync::Weak<dyn ConfigSource>>,
    /// Serializes changes of the config file.
    editing: tokio::sync::Mutex<()>,
}

impl GatewayConsole {
    pub(super) fn new(
        upstreams: &Arc<Upstreams>,
        registry: &Arc<Registry>,
        strip: &Arc<Strip>,
    ) -> Self {
        Self {
            upstreams: Arc::clone(upstreams),
            registry: Arc::clone(registry),
            strip: Arc::clone(strip),
            clock: strip.clock().clone(),
            config: OnceLock::new(),
            editing: tokio::sync::Mutex::default(),
        }
    }

    /// Names where the config comes from; only the first call has an effect.
    pub fn set_config(&self, source: std::sync::Weak<dyn ConfigSource>) {
        let _ = self.config.set(source);
    }

    fn upstream(&self, name: &str) -> Result<Arc<Upstream>, OperationError> {
        self.upstreams.get(name).ok_or_else(|| {
            let shown: String = clean::visible(name).chars().take(200).collect();
            let message = format!("there is no server `{shown}`; `powerstrip servers` lists them");
            OperationError::not_found(message)
        })
    }

    fn tools_of(&self, server: &str) -> Vec<ServerTool> {
        let source = servers::source(server);
        let snapshot = self.strip.catalog().snapshot();
        let entries = snapshot.entries().iter().filter(|entry| entry.source == source);
        entries
            .map(|entry| ServerTool {
                id: entry.descriptor.id.to_string(),
                wire_name: entry.wire.clone(),
                title: entry.descriptor.title.clone(),
                description: entry.descriptor.description.clone(),
            })
            .collect()
    }
}

#[async_trait]
impl Console for GatewayConsole {
    fn servers(&self) -> ServerList {
        let servers = servers::summaries(&self.upstreams, &self.registry, &self.strip);
        ServerList { servers }
    }

    async fn server(
        &self,
        caller: &Caller,
        ServerName { name }: ServerName,
    ) -> Result<ServerDetail, OperationError> {
        let upstream = self.upstream(&name)?;
        let (summary, processes) = servers::summary(&upstream, &self.registry, &self.strip);
        let filter = StatsFilter {
            tenant: caller.tenant().map(str::to_owned),
            server: Some(name.clone()),
            since_unix_ms: self.clock.unix_ms().saturating_sub(HOUR_MS),
        };
        let stats = self.strip.commits().database().audit_stats(&filter).await;
        let stats = stats.map_err(unreadable)?;
        Ok(ServerDetail {
            summary,
            processes,
            stderr: upstream.log_lines(None, SHOWN_LINES).lines,
            offered: self.tools_of(&name),
            calls: CallStats {
                count: stats.calls,
                errors: stats.failed,
                p50_ms: calls::milliseconds(&stats, stats.p50_us),
                p95_ms: calls::milliseconds(&stats, stats.p95_us),
            },
        })
    }

    fn logs(&self, query: &LogQuery) -> Result<ServerLogs, OperationError> {
        let limit = query.limit.unwrap_or(MAX_LINES).min(MAX_LINES);
        Ok(self.upstream(&query.name)?.log_lines(query.after, limit))
    }

    async fn switch(
        &self,
        caller: &Caller,
        ServerName { name }: ServerName,
        switch: ServerSwitch,
    ) -> Result<ServerChange, OperationError> {
        self.switch_server(caller, &name, switch).await
    }

    async fn calls(&self, caller: &Caller, query: CallQuery) -> Result<CallPage, OperationError> {
        self.list_calls(caller, query).await
    }

    async fn call(&self, caller: &Caller, input: CallTrace) -> Result<CallDetails, OperationError> {
        self.show_call(caller, &input.trace).await
    }

    async fn overview(
        &self,
        caller: &Caller,
        query: OverviewQuery,
    ) -> Result<Overview, OperationError> {
        self.count_calls(caller, query).await
    }
}

fn unreadable(error: StoreError) -> OperationError {
    tracing::warn!(%error, "the audit trail cannot be read");
    OperationError::new(Code::Unavailable, "the audit trail cannot be read at present")
}
