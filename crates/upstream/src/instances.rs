//! Callers' own processes and sessions of one server while they exist: whose lists have changed, and which resources their
//! callers watch.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strip::servers::{ClientIdentity, InstanceKey};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::allowance::Allowance;
use crate::caller::Caller;
use crate::timing::Timing;

/// The lists that a server says have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Announced {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Announced {
    pub(crate) const ALL: Self = Self { tools: true, prompts: true, resources: true };

    /// The list that a notification is about.
    pub(crate) fn of(method: &str) -> Option<Self> {
        let none = Self::default();
        Some(match method {
            "notifications/tools/list_changed" => Self { tools: true, ..none },
            "notifications/prompts/list_changed" => Self { prompts: true, ..none },
            "notifications/resources/list_changed" => Self { resources: true, ..none },
            _ => return None,
        })
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.tools |= other.tools;
        self.prompts |= other.prompts;
        self.resources |= other.resources;
    }

    /// The lists that are not in `other`.
    pub(crate) fn without(self, other: Self) -> Self {
        Self {
            tools: self.tools && !other.tools,
            prompts: self.prompts && !other.prompts,
            resources: self.resources && !other.resources,
        }
    }

    pub(crate) fn any(self) -> bool {
        self != Self::default()
    }
}

/// Work that is due for an instance.
pub(crate) enum InstanceEvent {
    /// Its lists have changed.
    List(DueListing),
    /// The instance with this number has ended.
    Ended(InstanceKey, u64),
    /// A client watches resources there.
    Watch(InstanceKey, Arc<ClientIdentity>),
}

/// A listing of an instance that is due.
#[derive(Clone)]
pub(crate) struct DueListing {
    pub(crate) key: InstanceKey,
    /// Distinguishes the instance from later ones of its caller.
    pub(crate) number: u64,
    pub(crate) caller: Caller,
    /// Limits the rate for an instance that announces changes without pause.
    pub(crate) not_before: Instant,
}

/// The instances of one server.
pub(crate) struct Instances {
    table: Mutex<Table>,
    wake: Notify,
    timing: Timing,
}

#[derive(Default)]
struct Table {
    next: u64,
    living: HashMap<InstanceKey, Instance>,
    watched: HashMap<InstanceKey, WatchedUris>,
    events: VecDeque<InstanceEvent>,
}

struct Instance {
    number: u64,
    caller: Caller,
    announced: Announced,
    /// Whether a listing is due or in progress.
    listing: bool,
    /// Limits the rate of announcements without a change.
    unchanged_allowed: Allowance,
    not_before: Instant,
}

struct WatchedUris {
    uris: watch::Sender<BTreeSet<String>>,
    /// Whether the instance is kept for it.
    kept: bool,
}

impl Instances {
    pub(crate) fn new(timing: Timing) -> Self {
        Self { table: Mutex::default(), wake: Notify::new(), timing }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a caller's process or session exists until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>, caller: &Caller) -> InstanceGuard {
        let key = caller.instance_key();
        let mut table = self.table();
        table.next += 1;
        let number = table.next;
        let instance = Instance {
            number,
            caller: caller.clone(),
            announced: Announced::default(),
            listing: false,
            unchanged_allowed: Allowance::new(Instant::now()),
            not_before: Instant::now(),
        };
        table.living.insert(key, instance);
        drop(table);
        InstanceGuard { instances: Arc::clone(self), key, number }
    }

    /// Schedules a listing of a caller's instance; false if the caller has none.
    pub(crate) fn announce(&self, caller: &Caller, announced: Announced) -> bool {
        let key = caller.instance_key();
        let mut table = self.table();
        let Table { living, events, .. } = &mut *table;
        let Some(instance) = living.get_mut(&key) else { return false };
        instance.announced.add(announced);
        if !std::mem::replace(&mut instance.listing, true) {
            events.push_back(instance.due(key));
            self.wake.notify_one();
        }
        true
    }

    /// What has to be done next.
    pub(crate) async fn next(&self) -> InstanceEvent {
        loop {
            if let Some(event) = self.table().events.pop_front() {
                return event;
            }
            self.wake.notified().await;
        }
    }

    /// Takes the lists that were announced before a listing; none if the instance has ended.
    pub(crate) fn take_announced(&self, listing: &DueListing) -> Option<Announced> {
        let mut table = self.table();
        let instance = table.living.get_mut(&listing.key);
        let instance = instance.filter(|instance| instance.number == listing.number)?;
        Some(std::mem::take(&mut instance.announced))
    }

    /// Ends a listing. What was announced meanwhile is listed after a pause.
    pub(crate) fn end_listing(&self, listing: &DueListing, changed: bool) {
        let mut table = self.table();
        let Table { living, events, .. } = &mut *table;
        let instance = living.get_mut(&listing.key);
        let Some(instance) = instance.filter(|instance| instance.number == listing.number) else {
            return;
        };
        let now = Instant::now();
        let pause = if changed { Duration::ZERO } else { instance.unchanged_allowed.take(now) };
        instance.not_before = now + pause.max(self.timing.backoff);
        instance.listing = instance.announced.any();
        if instance.listing {
            events.push_back(instance.due(listing.key));
            self.wake.notify_one();
        }
    }

    /// Whether an instance still exists.
    pub(crate) fn lives(&self, listing: &DueListing) -> bool {
        self.table().living.get(&listing.key).is_some_and(|one| one.number == listing.number)
    }

    /// The resources that are watched at an instance.
    pub(crate) fn watched(&self, key: InstanceKey) -> watch::Receiver<BTreeSet<String>> {
        let mut table = self.table();
        table.watched.entry(key).or_insert_with(WatchedUris::new).uris.subscribe()
    }

    /// Sets the resources that are watched at the instance of a client.
    pub(crate) fn watch(&self, key: InstanceKey, client: &ClientIdentity, uris: BTreeSet<String>) {
        let mut table = self.table();
        let Table { watched, events, .. } = &mut *table;
        let entry = watched.entry(key).or_insert_with(WatchedUris::new);
        let is_needed = !uris.is_empty();
        entry.uris.send_replace(uris);
        if is_needed && !std::mem::replace(&mut entry.kept, true) {
            events.push_back(InstanceEvent::Watch(key, Arc::new(client.clone())));
            self.wake.notify_one();
        }
    }

    /// Stops keeping an instance; false if resources are watched there again.
    pub(crate) fn stop_watching(&self, key: InstanceKey) -> bool {
        let mut table = self.table();
        let Some(entry) = table.watched.get_mut(&key) else { return true };
        if !entry.uris.borrow().is_empty() {
            return false;
        }
        entry.kept = false;
        table.forget_unwatched(key);
        true
    }
}

impl Table {
    /// Forgets the resources of an instance that does not exist and that no client watches.
    fn forget_unwatched(&mut self, key: InstanceKey) {
        let is_over = |entry: &WatchedUris| !entry.kept && entry.uris.borrow().is_empty();
        if !self.living.contains_key(&key) && self.watched.get(&key).is_some_and(is_over) {
            self.watched.remove(&key);
        }
    }
}

impl WatchedUris {
    fn new() -> Self {
        Self { uris: watch::Sender::default(), kept: false }
    }
}

impl Instance {
    fn due(&self, key: InstanceKey) -> InstanceEvent {
        InstanceEvent::List(DueListing {
            key,
            number: self.number,
            caller: self.caller.clone(),
            not_before: self.not_before,
        })
    }
}

/// A process or session of a caller.
pub(crate) struct InstanceGuard {
    instances: Arc<Instances>,
    key: InstanceKey,
    number: u64,
}

impl Drop for InstanceGuard {
    fn drop(&mut self) {
        let mut table = self.instances.table();
        if table.living.get(&self.key).is_some_and(|known| known.number == self.number) {
            table.living.remove(&self.key);
        }
        table.forget_unwatched(self.key);
        table.events.push_back(InstanceEvent::Ended(self.key, self.number));
        self.instances.wake.notify_one();
    }
}
