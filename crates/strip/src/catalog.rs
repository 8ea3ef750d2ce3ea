//! The tools: an immutable snapshot, swapped as a whole, so that a call takes no lock to find its tool.

mod admission;
mod aliases;
mod bare;
mod bare_owners;
mod entry;
mod listed;
mod names;
mod own;
mod pins;
mod quarantine;
mod similar;
mod snapshot;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use store::{Pin, PinnedDefinition};
use tokio::sync::watch;

use crate::Tool;
use crate::files::Strategies;
use own::{OwnCatalog, OwnOffers};

pub use admission::{MAJORS_SERVED, takes_objects};
pub(crate) use bare::ambiguous;

pub(crate) use entry::Terms;
pub use entry::{BUILT_IN, Entry, Fault, LimitBounds};
pub use listed::{SchemaForm, refusal};
pub use names::{NameStyle, WireNames};
pub(crate) use own::OwnTools;
pub use pins::{Pinning, Pins, QuarantineReason};
pub use quarantine::Quarantined;
pub use snapshot::Snapshot;

/// The live catalog. Readers take snapshots; sources publish their whole list at a time.
pub struct Catalog {
    current: ArcSwap<Snapshot>,
    offers: Mutex<Offers>,
    revision: watch::Sender<u64>,
    /// The tools of callers' own instances of servers.
    own: ArcSwap<OwnCatalog>,
    own_revision: watch::Sender<u64>,
}

struct Offers {
    /// Sources in the order in which they first published: the earlier one keeps a contested name.
    order: Vec<String>,
    /// The source of tools that any other source may replace.
    replaceable: Option<String>,
    tools: BTreeMap<String, Vec<Arc<dyn Tool>>>,
    own: OwnOffers,
    terms: Terms,
    names: WireNames,
    pins: Pins,
}

impl Catalog {
    /// An empty catalog; `names` are the wire names that were assigned before.
    pub fn new(bounds: LimitBounds, names: WireNames) -> Self {
        Self::pinned(bounds, names, Pins::default())
    }

    /// An empty catalog that remembers which definitions are trusted.
    pub fn pinned(bounds: LimitBounds, names: WireNames, pins: Pins) -> Self {
        let (order, tools, own) = (Vec::new(), BTreeMap::new(), OwnOffers::new());
        let terms = Terms { bounds, files: Strategies::default() };
        let replaceable = None;
        let offers = Offers { order, replaceable, tools, own, terms, names, pins };
        Self {
            current: ArcSwap::from_pointee(Snapshot::default()),
            offers: Mutex::new(offers),
            revision: watch::channel(0).0,
            own: ArcSwap::default(),
            own_revision: watch::channel(0).0,
        }
    }

    /// The catalog as it is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Notifies of changes; the value is the newest revision.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    /// Replaces all tools of a source. Those that cannot be admitted are listed in the snapshot's faults.
    pub fn publish(&self, source: &str, tools: Vec<Arc<dyn Tool>>) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        if !offers.tools.contains_key(source) {
            offers.order.push(source.to_owned());
        }
        offers.tools.insert(source.to_owned(), tools);
        offers.names.arrived(source);
        self.rebuild(&mut offers);
    }

    /// Like [`publish`](Self::publish), for the one source whose tools any other source may replace by offering the same
    /// names, even later.
    pub fn publish_replaceable(&self, source: &str, tools: Vec<Arc<dyn Tool>>) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        offers.replaceable = Some(source.to_owned());
        offers.tools.insert(source.to_owned(), tools);
        self.rebuild(&mut offers);
    }

    /// Sets the order in which sources with unprefixed tools get contested names. While one of them has not published
    /// yet, later ones have such names provisionally; [`settle_names`](Self::settle_names) ends the wait.
    pub fn set_name_order(&self, sources: Vec<String>) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let Offers { names, tools, .. } = &mut *offers;
        names.set_order(sources, |source| tools.contains_key(source));
        self.rebuild(&mut offers);
    }

    /// Sets the servers of the config, whether they are used or not, and their sources that will publish. Bare names of
    /// other servers are free; while a source has not published yet, no new owners of bare names are determined.
    pub fn set_servers<'a>(&self, names: impl IntoIterator<Item = &'a str>, sources: &[String]) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let Offers { names: assigned, tools, .. } = &mut *offers;
        let awaited = sources.iter().filter(|source| !tools.contains_key(*source)).cloned();
        let servers = names.into_iter().map(str::to_owned).collect();
        assigned.bare().set_servers(servers, awaited.collect());
        self.rebuild(&mut offers);
    }

    /// Lets servers keep their bare names that registered themselves and may be away.
    pub fn add_registered<'a>(&self, servers: impl IntoIterator<Item = &'a str>) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.into_iter().for_each(|server| offers.names.bare().add_registered(server));
        self.rebuild(&mut offers);
    }

    /// Frees the bare names of a server that had registered itself.
    pub fn release_server(&self, server: &str) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        offers.names.bare().release(server);
        self.rebuild(&mut offers);
    }

    /// Makes provisional names final. A source that publishes later gets the names that are left.
    pub fn settle_names(&self) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        offers.names.settle();
        self.rebuild(&mut offers);
    }

    /// Replaces the operator's settings for all tools.
    pub(crate) fn set_terms(&self, terms: Terms) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        offers.terms = terms;
        self.rebuild(&mut offers);
    }

    /// Publishes a new revision with the same tools, because what readers may see of them has changed.
    pub(crate) fn announce(&self) {
        let _one_at_a_time = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.current.load().renewed();
        let revision = next.revision();
        self.current.store(Arc::new(next));
        self.revision.send_replace(revision);
    }

    /// Wire names that were assigned and are not yet stored.
    pub fn take_new_names(&self) -> Vec<(String, String)> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner).names.take_new()
    }

    /// Bare names whose owners were determined and are not yet stored.
    pub fn take_new_bare_names(&self) -> Vec<(String, String)> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner).names.bare().take_new()
    }

    /// Definitions that were trusted at first use and are not yet stored.
    pub fn take_new_pins(&self) -> Vec<PinnedDefinition> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner).pins.take_new()
    }

    /// Trusts these definitions; tools that match them are served at once.
    pub fn approve<'a>(&self, pins: impl IntoIterator<Item = &'a Pin>) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        for pin in pins {
            offers.pins.set(pin);
        }
        self.rebuild(&mut offers);
    }

    fn rebuild(&self, offers: &mut Offers) {
        // Tools with a provisional name are named again.
        let provisional = offers.names.take_provisional();
        self.rebuild_shared(offers, &provisional);
        self.rebuild_own(offers, None, &provisional);
    }

    fn rebuild_shared(&self, offers: &mut Offers, provisional: &HashSet<String>) {
        let previous = self.current.load();
        let revision = previous.revision() + 1;
        let listed: Vec<_> = offers
            .order
            .iter()
            .chain(&offers.replaceable)
            .filter_map(|source| Some((source.as_str(), offers.tools.get(source)?.as_slice())))
            .collect();
        let (names, pins) = (&mut offers.names, &mut offers.pins);
        let known = previous.entries().iter().filter(|entry| !provisional.contains(&entry.wire));
        let known = known.map(|entry| (admission::address(&entry.tool), entry)).collect();
        let mut next = Snapshot::admit(&listed, &offers.terms, names, pins, &known, revision);
        let bare = offers.names.bare();
        bare.claim();
        next.set_owners(bare.owners());
        if next.offers_the_same(&previous) {
            // Clients fetch the whole list again after a notification: send none without a change.
            if !next.has_owners_of(&previous) {
                self.current.store(Arc::new(next));
            }
            return;
        }
        // Callers do not learn why a tool is missing; the log says it once.
        for Fault { source, tool, reason } in next.new_faults(&previous) {
            if offers.replaceable.as_ref() == Some(source) {
                tracing::info!(%tool, reason, "a built-in tool is replaced");
            } else {
                tracing::warn!(source, %tool, reason, "a tool is not served");
            }
        }
        for held in next.new_quarantine(&previous) {
            let (tool, changed) = (&held.id, held.changed.join(", "));
            tracing::warn!(%tool, changed, "a tool is quarantined: {}", held.reason());
        }
        self.current.store(Arc::new(next));
        self.revision.send_replace(revision);
    }
}
