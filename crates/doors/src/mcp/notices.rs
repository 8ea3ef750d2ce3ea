//! Notifies clients of changed tools, prompts and resources.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use strip::Strip;
use strip::servers::{ClientIdentity, Notice, Watch};
use tokio::task::JoinHandle;

use super::changes::{Change, Changes, ListVersions};
use super::state::McpState;

/// How many resources one client may subscribe to.
const MAX_SUBSCRIBED: usize = 1_000;

/// The resources that a legacy client has subscribed to.
#[derive(Default)]
pub(super) struct ResourceSubscriptions(Mutex<HashMap<String, Watch>>);

impl ResourceSubscriptions {
    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<String, Watch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to a resource; false if it does not exist or the limit is reached.
    pub(super) fn add(&self, strip: &Strip, client: &Arc<ClientIdentity>, uri: &str) -> bool {
        let mut table = self.table();
        if table.contains_key(uri) {
            return true;
        }
        if table.len() >= MAX_SUBSCRIBED {
            return false;
        }
        let found = watch(strip, client, uri);
        found.map(|watch| table.insert(uri.to_owned(), watch)).is_some()
    }

    pub(super) fn remove(&self, uri: &str) {
        self.table().remove(uri);
    }

    /// The URI by which the client knows an updated resource.
    fn find(&self, notice: &Notice) -> Option<String> {
        self.table().values().find_map(|watch| watch.concerns(notice))
    }
}

/// The server of a resource that the caller may read.
pub(super) fn server_of(strip: &Strip, client: &ClientIdentity, uri: &str) -> Option<String> {
    let found = strip.servers().listing_of(client).resource(uri)?;
    let server = found.server.name();
    strip.may_use_server(&client.principal, server).then(|| server.to_owned())
}

/// Watches a resource that the caller may read.
fn watch(strip: &Strip, client: &Arc<ClientIdentity>, uri: &str) -> Option<Watch> {
    server_of(strip, client, uri)?;
    strip.servers().watch(client, uri)
}

/// The resources of one `subscriptions/listen`.
pub(super) struct WatchedResources {
    watches: Vec<Watch>,
    /// Those that no server has yet.
    unknown: Vec<String>,
}

impl WatchedResources {
    /// The resources of a subscription, none of which is watched yet.
    pub(super) fn of(accepted: &SubscriptionFilter) -> Self {
        let unknown = accepted.resource_subscriptions.iter().flatten().take(MAX_SUBSCRIBED);
        Self { watches: Vec::new(), unknown: unknown.cloned().collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watches.is_empty() && self.unknown.is_empty()
    }

    /// Watches those that servers offer now.
    pub(super) fn find(&mut self, strip: &Strip, client: &Arc<ClientIdentity>) {
        let watches = &mut self.watches;
        self.unknown.retain(|uri| {
            let found = watch(strip, client, uri);
            let missing = found.is_none();
            watches.extend(found);
            missing
        });
    }
}

/// Notifies a legacy client of changes until it is dropped.
pub(super) struct ChangeNotifier(JoinHandle<()>);

impl ChangeNotifier {
    /// A client whose session was parked is first notified of what has changed since.
    pub(super) fn start(
        mut changes: Changes,
        peer: Peer<RoleServer>,
        subscriptions: Arc<ResourceSubscriptions>,
        parked: Option<ListVersions>,
    ) -> Self {
        let missed = parked.map(|parked| changes.missed_since(parked));
        let mut missed = missed.into_iter().flatten();
        Self(tokio::spawn(async move {
            loop {
                let next = match missed.next() {
                    Some(change) => Some(change),
                    None => changes.next().await,
                };
                let Some(change) = next else { return };
                let sent = match change {
                    Change::Tools => peer.notify_tool_list_changed().await,
                    Change::Prompts => peer.notify_prompt_list_changed().await,
                    Change::Resources => peer.notify_resource_list_changed().await,
                    Change::Updated(notice) => match subscriptions.find(&notice) {
                        None => Ok(()),
                        Some(uri) => {
                            let param = ResourceUpdatedNotificationParam::new(uri);
                            peer.notify_resource_updated(param).await
                        }
                    },
                };
                if sent.is_err() {
                    return;
                }
            }
        }))
    }
}

impl Drop for ChangeNotifier {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves one `subscriptions/listen` until the client disconnects or the gateway stops.
pub(super) async fn serve_subscription(
    state: &McpState,
    client: &Arc<ClientIdentity>,
    context: &SubscriptionContext,
    mut resources: WatchedResources,
) {
    let mut changes = Changes::of(&state.strip, Arc::clone(client));
    let accepted = context.accepted();
    // A server may have come since they were looked for.
    resources.find(&state.strip, client);
    loop {
        let change = tokio::select! {
            () = context.cancelled() => return,
            () = state.shutdown.cancelled() => return,
            Some(change) = changes.next() => change,
            else => return,
        };
        if matches!(change, Change::Resources) {
            // A new server may offer a resource that did not exist before.
            resources.find(&state.strip, client);
        }
        let sink = context.sink();
        let sent = match change {
            Change::Tools if accepted.tools_list_changed == Some(true) => {
                sink.notify_tool_list_changed().await
            }
            Change::Prompts if accepted.prompts_list_changed == Some(true) => {
                sink.notify_prompt_list_changed().await
            }
            Change::Resources if accepted.resources_list_changed == Some(true) => {
                sink.notify_resource_list_changed().await
            }
            Change::Updated(notice) => {
                match resources.watches.iter().find_map(|watch| watch.concerns(&notice)) {
                    Some(uri) => sink.notify_resource_updated(uri).await,
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        };
        if sent.is_err() {
            return;
        }
    }
}
