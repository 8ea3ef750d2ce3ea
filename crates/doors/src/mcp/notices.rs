//! Telling clients that tools or prompts have changed.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::task::JoinHandle;

use super::Core;

/// Tells one legacy client of changes for as long as it lives.
pub(super) struct Notices(JoinHandle<()>);

impl Notices {
    pub(super) fn start(core: Arc<Core>, peer: Peer<RoleServer>) -> Self {
        let mut tools = core.strip.catalog().changes();
        let mut prompts = core.strip.prompts().changes();
        Self(tokio::spawn(async move {
            loop {
                let sent = tokio::select! {
                    Ok(()) = tools.changed() => peer.notify_tool_list_changed().await,
                    Ok(()) = prompts.changed() => peer.notify_prompt_list_changed().await,
                    else => return,
                };
                if sent.is_err() {
                    return;
                }
            }
        }))
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves one `subscriptions/listen` until the client leaves or the gateway stops.
pub(super) async fn listen(core: &Core, context: &SubscriptionContext) {
    let mut tools = core.strip.catalog().changes();
    let mut prompts = core.strip.prompts().changes();
    let accepted = context.accepted();
    let (wants_tools, wants_prompts) =
        (accepted.tools_list_changed == Some(true), accepted.prompts_list_changed == Some(true));
    loop {
        let sent = tokio::select! {
            () = context.cancelled() => return,
            () = core.shutdown.cancelled() => return,
            Ok(()) = tools.changed(), if wants_tools => context.sink().notify_tool_list_changed().await,
            Ok(()) = prompts.changed(), if wants_prompts => context.sink().notify_prompt_list_changed().await,
        };
        if sent.is_err() {
            return;
        }
    }
}
