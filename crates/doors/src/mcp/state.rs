//! What all MCP connections share.

use std::sync::Arc;

use proto::wire;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use strip::Strip;
use strip::agents::ApprovalRule;
use strip::catalog::NameStyle;
use strip::files::READ_RESULT;
use strip::servers::ClientIdentity;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::listing::Listing;

const INSTRUCTIONS: &str = "Powerstrip gathers the tools of many servers behind one connection. A failed call says \
    why in its text, which begins with a code such as INVALID_INPUT (fix the arguments as it says and call again), \
    RATE_LIMIT, TIMEOUT or UNAVAILABLE (the same call may succeed later). The list of tools can change while you are \
    connected. What is too large for an answer is replaced by a `ref_id`: read it with the tool ";

/// The name by which MCP clients see one of the gateway's own tools.
fn listed_name(strip: &Strip, id: &str) -> String {
    match (strip.name_style(), id.parse()) {
        (NameStyle::Wire, Ok(id)) => wire::preferred(&id, None),
        _ => id.to_owned(),
    }
}

/// The strip, and what was prepared from it for MCP clients.
pub(crate) struct McpState {
    pub(super) strip: Arc<Strip>,
    pub(super) info: ServerConfig,
    pub(super) listing: Listing,
    pub(super) shutdown: CancellationToken,
    /// The calls under way.
    pub(super) running: TaskTracker,
}

impl McpState {
    pub(crate) fn new(strip: Arc<Strip>, shutdown: CancellationToken) -> Self {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("powerstrip", env!("CARGO_PKG_VERSION"))
                    .with_title("Powerstrip"),
            )
            .with_instructions(format!("{INSTRUCTIONS}`{}`.", listed_name(&strip, READ_RESULT)));
        Self { strip, info, listing: Listing::default(), shutdown, running: TaskTracker::new() }
    }

    pub(crate) fn strip(&self) -> &Arc<Strip> {
        &self.strip
    }

    /// Waits until no call is under way.
    pub(crate) async fn calls_end(&self) {
        self.running.close();
        self.running.wait().await;
    }

    /// A page of the tools, serialised for a client of 2026-07-28.
    pub(crate) fn page(
        &self,
        client: &ClientIdentity,
        cursor: Option<&str>,
    ) -> Option<Arc<RawValue>> {
        self.listing.serialised_page(&self.strip, client, cursor)
    }

    /// A page of the tools as JSON for a client before 2026-07-28; none if no page begins there.
    pub(crate) fn legacy_page(
        &self,
        client: &ClientIdentity,
        cursor: Option<&str>,
    ) -> Option<Value> {
        let mut page = self.listing.page(&self.strip, client, cursor, false).ok()?;
        // A field of later revisions.
        page.result_type = None;
        let whole = self.listing.with_extra(&self.strip, client, &page);
        Some(whole.unwrap_or_else(|| json!(page)))
    }

    /// Whether a call may send its caller notices or questions: those of servers do, those that ask people, and those
    /// that need approval.
    pub(crate) fn may_ask(&self, client: &ClientIdentity, name: &str) -> bool {
        let view = self.strip.view_of(client);
        match view.tools().resolve(name) {
            Ok(entry) => {
                let id = &entry.descriptor.id;
                id.server().is_some()
                    || entry.tool.asks_people()
                    || self.strip.approval_rule(id) != ApprovalRule::Free
            }
            // The bare name of a tool may still resolve to that of an open app.
            Err(_) => view.tools().is_bare(name),
        }
    }

    /// Whether some of a tool's arguments must be repeated in headers.
    pub(crate) fn takes_headers(&self, client: &ClientIdentity, name: &str) -> bool {
        self.listing.takes_headers(&self.strip, client, name)
    }
}
