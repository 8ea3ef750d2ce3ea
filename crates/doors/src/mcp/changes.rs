//! Changes of the lists and resources behind the strip, as one client is notified of them.

use std::collections::VecDeque;
use std::sync::Arc;

use strip::Strip;
use strip::servers::{ClientIdentity, Notice, NoticeKind, OwnLists};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

/// A change that clients are notified of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    Updated(Notice),
}

/// Receives every change behind the strip that concerns a client.
pub(super) struct Changes {
    strip: Arc<Strip>,
    client: Arc<ClientIdentity>,
    tools: watch::Receiver<u64>,
    prompts: watch::Receiver<u64>,
    server_prompts: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    own_tools: watch::Receiver<u64>,
    own_offerings: watch::Receiver<u64>,
    notices: broadcast::Receiver<Notice>,
    /// What the client's own instances of servers listed last.
    own: OwnLists,
    ready: VecDeque<Change>,
}

impl Changes {
    pub(super) fn of(strip: &Arc<Strip>, client: Arc<ClientIdentity>) -> Self {
        let (own_tools, own_offerings) =
            (strip.catalog().own_changes(), strip.servers().own_changes());
        Self {
            tools: strip.catalog().changes(),
            prompts: strip.prompts().changes(),
            server_prompts: strip.servers().prompt_changes(),
            resources: strip.servers().resource_changes(),
            notices: strip.servers().notices(),
            own: strip.own_lists(&client),
            ready: VecDeque::new(),
            strip: Arc::clone(strip),
            own_tools,
            own_offerings,
            client,
        }
    }

    /// Waits for the next change; `None` when there will be no more.
    pub(super) async fn next(&mut self) -> Option<Change> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                return Some(change);
            }
            let notice = tokio::select! {
                Ok(()) = self.tools.changed() => return Some(Change::Tools),
                Ok(()) = self.prompts.changed() => return Some(Change::Prompts),
                Ok(()) = self.server_prompts.changed() => return Some(Change::Prompts),
                Ok(()) = self.resources.changed() => return Some(Change::Resources),
                Ok(()) = self.own_tools.changed() => None,
                Ok(()) = self.own_offerings.changed() => None,
                notice = self.notices.recv() => match notice {
                    Ok(notice) => Some(notice),
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return None,
                },
                else => return None,
            };
            match notice {
                None => self.compare_own(),
                Some(notice) if self.strip.servers().is_for(&notice, &self.client) => {
                    return Some(match notice.kind {
                        NoticeKind::Tools => Change::Tools,
                        NoticeKind::Prompts => Change::Prompts,
                        NoticeKind::Resources => Change::Resources,
                        NoticeKind::Updated(_) => Change::Updated(notice),
                    });
                }
                Some(_) => {}
            }
        }
    }

    /// Finds out which lists of the client's own instances have changed.
    fn compare_own(&mut self) {
        let now = self.strip.own_lists(&self.client);
        let changed = [
            (!now.same_tools(&self.own)).then_some(Change::Tools),
            (!now.same_prompts(&self.own)).then_some(Change::Prompts),
            (!now.same_resources(&self.own)).then_some(Change::Resources),
        ];
        self.ready.extend(changed.into_iter().flatten());
        self.own = now;
    }

    /// The lists that may have changed since a session was parked.
    pub(super) fn missed_since(&self, parked: ListVersions) -> Vec<Change> {
        let mut missed: Vec<_> = parked.changes(ListVersions::of(&self.strip)).collect();
        // No version is kept of the lists of its own instances.
        let own = [
            (!self.own.same_tools(&OwnLists::default())).then_some(Change::Tools),
            (!self.own.same_prompts(&OwnLists::default())).then_some(Change::Prompts),
            (!self.own.same_resources(&OwnLists::default())).then_some(Change::Resources),
        ];
        let own = own.into_iter().flatten().filter(|change| !missed.contains(change));
        let own: Vec<_> = own.collect();
        missed.extend(own);
        missed
    }
}

/// How many times each list had changed at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListVersions {
    tools: u64,
    prompts: (u64, u64),
    resources: u64,
}

impl ListVersions {
    pub(crate) fn of(strip: &Strip) -> Self {
        Self {
            tools: *strip.catalog().changes().borrow(),
            prompts: (
                *strip.prompts().changes().borrow(),
                *strip.servers().prompt_changes().borrow(),
            ),
            resources: *strip.servers().resource_changes().borrow(),
        }
    }

    /// The lists that have changed since then.
    fn changes(self, now: Self) -> impl Iterator<Item = Change> {
        let changed = [
            (self.tools != now.tools).then_some(Change::Tools),
            (self.prompts != now.prompts).then_some(Change::Prompts),
            (self.resources != now.resources).then_some(Change::Resources),
        ];
        changed.into_iter().flatten()
    }
}
