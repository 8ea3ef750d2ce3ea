use prompts::Snapshot;
use proto::{
    Discovery, Health as ListedHealth, ListedCaps, ListedTool, Principal, ServerInfo, ToolId,
};

use crate::Health;
use crate::agents::View;
use crate::catalog::Entry;

pub(crate) fn describe(
    principal: &Principal,
    view: &View,
    prompts: &Snapshot,
    health: &Health,
) -> Discovery {
    // An agent reads schemas under its own path.
    let door = principal.agent.as_ref().map(|agent| format!("/agents/{agent}")).unwrap_or_default();
    Discovery {
        server: ServerInfo {
            name: "powerstrip".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        tools: view.listed().map(|entry| listed(entry, &door)).collect(),
        quarantined: view.tools().quarantined().iter().map(|held| held.listed()).collect(),
        prompts: prompts.listed(),
        health: ListedHealth {
            status: if health.ready { "ok" } else { "degraded" }.to_owned(),
            uptime_sec: health.uptime.as_secs(),
        },
    }
}

/// A server may name its tools with characters that a path cannot hold.
fn in_path(id: &ToolId) -> String {
    let mut path = String::with_capacity(id.as_str().len());
    for byte in id.as_str().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path
}

fn listed(entry: &Entry, door: &str) -> ListedTool {
    let descriptor = &entry.descriptor;
    let base = {
        let (id, major) = (in_path(&descriptor.id), descriptor.version.major);
        format!("{door}/mcp/schema/{id}@{major}")
    };
    ListedTool {
        name: descriptor.id.to_string(),
        version: descriptor.version.to_string(),
        description: descriptor.description.clone(),
        input_schema_ref: format!("{base}/input"),
        output_schema_ref: descriptor.output_schema.as_ref().map(|_| format!("{base}/output")),
        caps: ListedCaps {
            timeout_ms: u64::try_from(entry.limits.timeout.as_millis()).unwrap_or(u64::MAX),
            max_input_bytes: entry.limits.max_input_bytes,
            max_output_bytes: entry.limits.max_output_bytes,
            network: descriptor.caps.network.clone(),
        },
        deprecated: entry.superseded_by.is_some(),
    }
}
