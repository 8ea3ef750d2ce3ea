//! Telling clients that tools, prompts or resources have changed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use proto::Principal;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use strip::Strip;
use strip::servers::{Update, Watch};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use super::Core;

/// More resources than this nobody watches at once.
const MAX_WATCHED: usize = 1_000;

/// What has changed.
enum Change {
    Tools,
    Prompts,
    Resources,
    Updated(Update),
}

/// Hears of every change behind the strip.
struct Changes {
    tools: watch::Receiver<u64>,
    prompts: watch::Receiver<u64>,
    server_prompts: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    updates: broadcast::Receiver<Update>,
}

impl Changes {
    fn of(strip: &Strip) -> Self {
        Self {
            tools: strip.catalog().changes(),
            prompts: strip.prompts().changes(),
            server_prompts: strip.servers().prompt_changes(),
            resources: strip.servers().resource_changes(),
            updates: strip.servers().updates(),
        }
    }

    /// The next change; none when there will be no more.
    async fn next(&mut self) -> Option<Change> {
        loop {
            return Some(tokio::select! {
                Ok(()) = self.tools.changed() => Change::Tools,
                Ok(()) = self.prompts.changed() => Change::Prompts,
                Ok(()) = self.server_prompts.changed() => Change::Prompts,
                Ok(()) = self.resources.changed() => Change::Resources,
                update = self.updates.recv() => match update {
                    Ok(update) => Change::Updated(update),
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return None,
                },
                else => return None,
            });
        }
    }
}

/// How often each list had changed at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    tools: u64,
    prompts: (u64, u64),
    resources: u64,
}

impl Marks {
    pub(crate) fn of(strip: &Strip) -> Self {
        let Changes { tools, prompts, server_prompts, resources, .. } = Changes::of(strip);
        Self {
            tools: *tools.borrow(),
            prompts: (*prompts.borrow(), *server_prompts.borrow()),
            resources: *resources.borrow(),
        }
    }

    /// The lists that have changed from then to now.
    fn changes(self, now: Self) -> impl Iterator<Item = Change> {
        let changed = [
            (self.tools != now.tools).then_some(Change::Tools),
            (self.prompts != now.prompts).then_some(Change::Prompts),
            (self.resources != now.resources).then_some(Change::Resources),
        ];
        changed.into_iter().flatten()
    }
}

/// The resources that one legacy client subscribed to.
#[derive(Default)]
pub(super) struct Watches(Mutex<HashMap<String, Watch>>);

impl Watches {
    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<String, Watch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to watch a resource; false if there is none, or too many are watched.
    pub(super) fn begin(&self, strip: &Strip, principal: &Principal, uri: &str) -> bool {
        let mut table = self.table();
        if table.contains_key(uri) {
            return true;
        }
        if table.len() >= MAX_WATCHED {
            return false;
        }
        let watch = watch_of(strip, principal, uri);
        watch.map(|watch| table.insert(uri.to_owned(), watch)).is_some()
    }

    pub(super) fn end(&self, uri: &str) {
        self.table().remove(uri);
    }

    fn concerned(&self, update: &Update) -> Option<String> {
        self.table().values().find_map(|watch| watch.concerns(update))
    }
}

/// Begins to watch a resource that the caller may read.
fn watch_of(strip: &Strip, principal: &Principal, uri: &str) -> Option<Watch> {
    let found = strip.servers().shelf().resource(uri)?;
    if !strip.reaches(principal, found.server.name()) {
        return None;
    }
    strip.servers().watch(uri)
}

/// Tells one legacy client of changes for as long as it lives.
pub(super) struct Notices(JoinHandle<()>);

impl Notices {
    /// A client whose session was parked first hears of what has changed since.
    pub(super) fn start(
        core: &Core,
        peer: Peer<RoleServer>,
        watches: Arc<Watches>,
        parked: Option<Marks>,
    ) -> Self {
        let mut changes = Changes::of(&core.strip);
        let now = Marks::of(&core.strip);
        let mut missed = parked.map(|parked| parked.changes(now)).into_iter().flatten();
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
                    Change::Updated(update) => match watches.concerned(&update) {
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

impl Drop for Notices {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves one `subscriptions/listen` until the client leaves or the gateway stops.
pub(super) async fn listen(core: &Core, principal: &Principal, context: &SubscriptionContext) {
    let mut changes = Changes::of(&core.strip);
    let accepted = context.accepted();
    let mut watches = Vec::new();
    let mut unknown: Vec<&String> =
        accepted.resource_subscriptions.iter().flatten().take(MAX_WATCHED).collect();
    let mut find = |watches: &mut Vec<Watch>| {
        unknown.retain(|uri| {
            let found = watch_of(&core.strip, principal, uri);
            let missing = found.is_none();
            watches.extend(found);
            missing
        });
    };
    find(&mut watches);
    loop {
        let change = tokio::select! {
            () = context.cancelled() => return,
            () = core.shutdown.cancelled() => return,
            Some(change) = changes.next() => change,
            else => return,
        };
        if matches!(change, Change::Resources) {
            // A server may have come that has what was not there before.
            find(&mut watches);
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
            Change::Updated(update) => {
                match watches.iter().find_map(|watch| watch.concerns(&update)) {
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
