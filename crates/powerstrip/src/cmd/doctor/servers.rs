//! The servers of the config: which of them cannot be used, by cause, and what to do.

use config::Loaded;
use gateway::server_operations::ListServers;
use operations::NoInput;
use operations::servers::{ServerState, ServerSummary, causes};

use super::CheckResult;
use crate::access::Access;
use crate::context::Context;

/// How many names are listed for one cause.
const NAMED: usize = 8;

/// A line for each cause, or one that all servers can be used. Without a running gateway, the servers are started.
pub(super) async fn check(context: &Context, loaded: &Loaded) -> Vec<CheckResult> {
    if loaded.config.servers.is_empty() {
        return Vec::new();
    }
    let warning = |detail| CheckResult { what: "servers", ok: true, warning: true, detail };
    let mut servers = match list(context, loaded).await {
        Ok(servers) => servers,
        Err(error) => return vec![warning(format!("they cannot be listed: {error:#}"))],
    };
    // Their faults are listed with their lines.
    servers.retain(|server| server.state != ServerState::Invalid);
    let broken = causes(&servers);
    if broken.is_empty() {
        let detail = format!("{} in use", servers.iter().filter(|server| !server.disabled).count());
        return vec![CheckResult { what: "servers", ok: true, warning: false, detail }];
    }
    let line = |cause: &operations::servers::Cause| {
        let names = cause.servers.iter().take(NAMED).map(String::as_str);
        let names = names.collect::<Vec<_>>().join(", ");
        let more = cause.servers.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        warning(format!("{names}{more}: {}; {}", cause.cause, cause.fix))
    };
    broken.iter().map(line).collect()
}

async fn list(context: &Context, loaded: &Loaded) -> anyhow::Result<Vec<ServerSummary>> {
    let folder = &loaded.config.data_dir;
    let existed = folder.exists();
    let access = Access::open(context, loaded, None).await?;
    let listed = access.run::<ListServers>(&NoInput {}).await;
    access.close().await;
    if !existed {
        // This command only looks; the next one starts with an empty folder as before.
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(listed?.servers)
}
