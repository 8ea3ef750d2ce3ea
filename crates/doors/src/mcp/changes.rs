//! Changes of the lists and resources behind the strip.

use strip::Strip;
use strip::servers::Update;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

/// A change that clients are notified of.
pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    Updated(Update),
}

/// Receives every change behind the strip.
pub(super) struct Changes {
    tools: watch::Receiver<u64>,
    prompts: watch::Receiver<u64>,
    server_prompts: watch::Receiver<u64>,
    resources: watch::Receiver<u64>,
    updates: broadcast::Receiver<Update>,
}

impl Changes {
    pub(super) fn of(strip: &Strip) -> Self {
        Self {
            tools: strip.catalog().changes(),
            prompts: strip.prompts().changes(),
            server_prompts: strip.servers().prompt_changes(),
            resources: strip.servers().resource_changes(),
            updates: strip.servers().updates(),
        }
    }

    /// Waits for the next change; `None` when there will be no more.
    pub(super) async fn next(&mut self) -> Option<Change> {
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

/// How many times each list had changed at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListVersions {
    tools: u64,
    prompts: (u64, u64),
    resources: u64,
}

impl ListVersions {
    pub(crate) fn of(strip: &Strip) -> Self {
        let Changes { tools, prompts, server_prompts, resources, .. } = Changes::of(strip);
        Self {
            tools: *tools.borrow(),
            prompts: (*prompts.borrow(), *server_prompts.borrow()),
            resources: *resources.borrow(),
        }
    }

    /// The lists that have changed since then.
    pub(super) fn changes(self, now: Self) -> impl Iterator<Item = Change> {
        let changed = [
            (self.tools != now.tools).then_some(Change::Tools),
            (self.prompts != now.prompts).then_some(Change::Prompts),
            (self.resources != now.resources).then_some(Change::Resources),
        ];
        changed.into_iter().flatten()
    }
}
