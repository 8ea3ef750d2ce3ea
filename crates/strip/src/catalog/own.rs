//! The tools of callers' own instances of servers. They are admitted like all others: pinned, cleaned and named; but only
//! their caller sees them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError};

use tokio::sync::watch;

use super::admission::address;
use super::entry::Entry;
use super::quarantine::Quarantined;
use super::snapshot::Snapshot;
use super::{Catalog, Offers};
use crate::Tool;
use crate::servers::InstanceKey;

/// What an instance offers, by the server's name.
pub(super) type OwnOffers = BTreeMap<String, HashMap<InstanceKey, OwnOffer>>;

/// The whole list of one instance.
pub(super) struct OwnOffer {
    /// The source whose tools it replaces.
    source: String,
    tools: Vec<Arc<dyn Tool>>,
}

/// The tools of one caller's instance of a server.
pub(crate) struct OwnTools {
    source: String,
    tools: Snapshot,
}

/// The tools of all callers' instances, by the server's name.
#[derive(Default)]
pub(crate) struct OwnCatalog(HashMap<String, HashMap<InstanceKey, Arc<OwnTools>>>);

impl OwnCatalog {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn get(&self, server: &str, instance: InstanceKey) -> Option<&Arc<OwnTools>> {
        self.0.get(server)?.get(&instance)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<OwnTools>> {
        self.0.values().flat_map(HashMap::values)
    }
}

impl Catalog {
    /// Replaces the tools of a source for the caller of one instance; without tools that caller sees those of the source
    /// again. Returns whether this is a change.
    pub fn publish_own(
        &self,
        (server, source): (&str, &str),
        instance: InstanceKey,
        tools: Option<Vec<Arc<dyn Tool>>>,
    ) -> bool {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let instances = offers.own.entry(server.to_owned()).or_default();
        match tools {
            Some(tools) => {
                instances.insert(instance, OwnOffer { source: source.to_owned(), tools });
            }
            None => {
                instances.remove(&instance);
            }
        }
        if instances.is_empty() {
            offers.own.remove(server);
        }
        self.rebuild_own(&mut offers, Some((server, instance)), &HashSet::new())
    }

    /// Notifies of changes of the tools of any instance.
    pub fn own_changes(&self) -> watch::Receiver<u64> {
        self.own_revision.subscribe()
    }

    pub(crate) fn own(&self) -> Arc<OwnCatalog> {
        self.own.load_full()
    }

    /// Tools that are not served until an operator approves them: those of the catalog, and those of callers' instances.
    pub fn quarantined(&self) -> Vec<Arc<Quarantined>> {
        let mut all = self.snapshot().quarantined().to_vec();
        for own in self.own().all() {
            for held in own.tools.quarantined() {
                if !all.iter().any(|known| **known == **held) {
                    all.push(Arc::clone(held));
                }
            }
        }
        all
    }

    /// A tool that waits for approval, by id or wire name.
    pub fn waiting(&self, name: &str) -> Option<Arc<Quarantined>> {
        let snapshot = self.snapshot();
        let own = self.own();
        let of_own = || own.all().find_map(|own| own.tools.waiting(name));
        snapshot.waiting(name).or_else(of_own).cloned()
    }

    /// Admits the tools of one instance again, or of all.
    pub(super) fn rebuild_own(
        &self,
        offers: &mut Offers,
        only: Option<(&str, InstanceKey)>,
        provisional: &HashSet<String>,
    ) -> bool {
        let (base, before) = (self.snapshot(), self.own());
        if offers.own.is_empty() && before.is_empty() {
            return false;
        }
        let Offers { own, terms, names, pins, .. } = offers;
        let (mut next, mut changed) = (OwnCatalog::default(), before.0.len() != own.len());
        for (server, instances) in own.iter() {
            let known_before = before.0.get(server).map_or(0, HashMap::len);
            changed |= known_before != instances.len();
            for (instance, offer) in instances {
                let known = before.get(server, *instance);
                let kept = known.filter(|_| only.is_some_and(|only| only != (server, *instance)));
                let tools = kept.cloned().unwrap_or_else(|| {
                    let tools = offer.admissible(&base);
                    let ready = base
                        .entries()
                        .iter()
                        .chain(known.map_or(&[][..], |own| own.tools.entries()));
                    let ready = ready.filter(|entry| !provisional.contains(&entry.wire));
                    let ready =
                        ready.map(|entry: &Arc<Entry>| (address(&entry.tool), entry)).collect();
                    let listed = [(offer.source.as_str(), tools.as_slice())];
                    let revision = base.revision();
                    let tools = Snapshot::admit(&listed, terms, names, pins, &ready, revision);
                    let same = known.filter(|known| known.tools.offers_the_same(&tools));
                    changed |= same.is_none();
                    same.cloned().unwrap_or_else(|| {
                        Arc::new(OwnTools { source: offer.source.clone(), tools })
                    })
                });
                next.0.entry(server.clone()).or_default().insert(*instance, tools);
            }
        }
        if changed {
            for (held, of) in next
                .all()
                .flat_map(|own| own.tools.quarantined().iter().map(move |held| (held, own)))
            {
                let is_known = before.all().any(|own| own.tools.quarantined().contains(held));
                if !is_known {
                    let (tool, source) = (&held.id, &of.source);
                    tracing::warn!(%tool, source, "a tool of one caller's instance is quarantined: {}", held.reason());
                }
            }
            self.own.store(Arc::new(next));
            self.own_revision.send_modify(|revision| *revision += 1);
        }
        changed
    }
}

impl OwnOffer {
    /// Its tools, but for those whose ids belong to another source.
    fn admissible(&self, base: &Snapshot) -> Vec<Arc<dyn Tool>> {
        let is_free = |tool: &&Arc<dyn Tool>| {
            base.source_of(&tool.descriptor().id).is_none_or(|source| source == self.source)
        };
        self.tools.iter().filter(is_free).cloned().collect()
    }
}

impl Snapshot {
    /// The same catalog with the tools of a caller's own instances in place of those of their sources.
    pub(crate) fn with_own(&self, own: &[Arc<OwnTools>]) -> Self {
        let is_replaced = |source: &str| own.iter().any(|own| own.source == source);
        let mut merged = self.without(&is_replaced);
        for own in own {
            merged.add_all(&own.tools);
        }
        merged.sort();
        merged
    }
}
