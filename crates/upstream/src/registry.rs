//! Servers that register themselves: each has a lease for its URL, and is removed when it does not renew it.

mod address;
mod lease;
mod names;
pub mod operations;
mod terms;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use server_entry::{Reach, ServerConfig};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::upstreams::Upstreams;

pub use address::AddressFault;
use lease::{Holding, Lease};
pub use lease::{LeaseStatus, ReplicaLease};
pub use names::NameStore;
use names::Names;
pub use terms::{Announcement, Grant, Holder, RegistryFault, Terms};
use terms::{MAX_REPLICAS, MAX_SERVERS};

/// The servers that registered themselves. Each is an upstream like any other.
pub struct Registry {
    upstreams: Arc<Upstreams>,
    terms: Terms,
    holdings: Mutex<Holdings>,
    names: Names,
    /// Serializes adding and removing servers. Heartbeats do not wait for it.
    changing: tokio::sync::Mutex<()>,
    /// A new lease may be the first to expire.
    lease_added: Notify,
}

type Holdings = BTreeMap<String, Holding>;

/// A registration that was accepted.
struct Placement<'a> {
    holder: &'a Holder,
    version: String,
    /// The registration before.
    known: Option<Holding>,
    leases: Vec<Lease>,
    tools: Option<Vec<Value>>,
}

impl Registry {
    /// A registry without servers; `held` are the names that belong to holders already.
    pub fn new(
        upstreams: Arc<Upstreams>,
        terms: Terms,
        held: BTreeMap<String, Holder>,
        store: Arc<dyn NameStore>,
    ) -> Self {
        let (changing, holdings) = (tokio::sync::Mutex::new(()), Mutex::default());
        let names = Names::new(held, store);
        Self { upstreams, terms, holdings, names, changing, lease_added: Notify::new() }
    }

    /// The current registrations; a new config may have replaced some.
    fn holdings(&self) -> MutexGuard<'_, Holdings> {
        let mut holdings = self.holdings.lock().unwrap_or_else(PoisonError::into_inner);
        holdings.retain(|_, holding| self.upstreams.holds(&holding.upstream));
        holdings
    }

    /// Grants a lease, and starts to connect the server. A new URL replaces the old one unless it is announced as one more
    /// replica.
    pub async fn register(
        &self,
        holder: &Holder,
        announcement: Announcement,
    ) -> Result<Grant, RegistryFault> {
        self.terms.check(&announcement)?;
        let Announcement { name, url, version, replica, tools } = announcement;
        let url = address::admit(&url, self.upstreams.policy(), self.terms.loopback)?;
        self.config(&[Lease::new(&url, self.terms.lease)]).check(&name)?;

        let _one = self.changing.lock().await;
        let known = self.known(holder, &name)?;
        self.check_look_alike(&name)?;
        let lease = Lease::new(&url, self.terms.lease);
        let id = lease.id.clone();
        let mut leases = known.as_ref().map_or_else(Vec::new, |known| known.leases.clone());
        leases.retain(|lease| replica && lease.url != url);
        leases.push(lease);
        if leases.len() > MAX_REPLICAS {
            return Err(RegistryFault::Full { count: MAX_REPLICAS, what: "replicas" });
        }
        let replicas = leases.len();
        self.names.hold(&name, holder).await?;
        self.place(&name, Placement { holder, version, known, leases, tools }).await?;
        tracing::info!(server = name, replicas, "a server registered itself");
        Ok(self.grant(&name, id, replicas))
    }

    /// Renews a lease.
    pub fn heartbeat(
        &self,
        holder: &Holder,
        name: &str,
        lease: &str,
    ) -> Result<Grant, RegistryFault> {
        let mut holdings = self.holdings();
        let holding = holdings.get_mut(name).filter(|holding| holding.holder == *holder);
        let leases = holding.map(|holding| &mut holding.leases);
        let renewed = leases.and_then(|leases| {
            leases.iter_mut().find(|known| known.id == lease)?.renew(self.terms.lease);
            Some(leases.len())
        });
        match renewed {
            Some(replicas) => Ok(self.grant(name, lease.to_owned(), replicas)),
            None => Err(RegistryFault::NoLease(name.to_owned())),
        }
    }

    /// Ends a lease, or all of the holder's leases for the name. With the last one, the server's tools are removed.
    pub async fn goodbye(
        &self,
        holder: &Holder,
        name: &str,
        lease: Option<&str>,
    ) -> Result<(), RegistryFault> {
        let _one = self.changing.lock().await;
        let stays = |known: &Lease| lease.is_some_and(|lease| known.id != lease);
        let known = self.holdings().get(name).filter(|known| known.holder == *holder).cloned();
        match known {
            Some(known) if !known.leases.iter().all(stays) => {
                tracing::info!(server = name, "a server unregistered itself");
                self.reduce(name, known, stays).await;
                Ok(())
            }
            _ => Err(RegistryFault::NoLease(name.to_owned())),
        }
    }

    /// Removes servers whose leases expire, for as long as it is polled.
    pub async fn maintain(&self) {
        loop {
            let next = self.holdings().values().filter_map(Holding::ends_first).min();
            match next {
                None => self.lease_added.notified().await,
                Some(next) => tokio::select! {
                    () = self.lease_added.notified() => {}
                    () = sleep_until(next) => self.expire().await,
                },
            }
        }
    }

    async fn expire(&self) {
        let _one = self.changing.lock().await;
        let now = Instant::now();
        let lives = |lease: &Lease| lease.until > now;
        let late = |holding: &Holding| !holding.leases.iter().all(lives);
        let late: Vec<_> = self
            .holdings()
            .iter()
            .filter(|(_, holding)| late(holding))
            .map(|(name, holding)| (name.clone(), holding.clone()))
            .collect();
        for (name, known) in late {
            tracing::warn!(server = name, "a lease expired without a heartbeat");
            self.reduce(&name, known, lives).await;
        }
    }

    /// The holder of each name, whether it has a server now or not.
    pub fn names(&self) -> BTreeMap<String, Holder> {
        self.names.all()
    }

    /// Releases a name and removes its server; returns the former holder.
    pub async fn release(&self, name: &str) -> Result<Option<Holder>, RegistryFault> {
        let _one = self.changing.lock().await;
        let released = self.names.release(name).await?;
        let known = self.holdings().get(name).cloned();
        if let Some(known) = known {
            self.reduce(name, known, |_| false).await;
        }
        Ok(released)
    }

    /// Connects a registered server again; false if none has that name.
    pub async fn restart(&self, name: &str) -> bool {
        let _one = self.changing.lock().await;
        let known = self.holdings().get(name).cloned();
        let Some(known) = known else { return false };
        known.upstream.note("restarted by the operator");
        self.reduce(name, known, |_| true).await;
        true
    }

    /// The leases, by server.
    pub fn leases(&self) -> BTreeMap<String, LeaseStatus> {
        let holdings = self.holdings();
        holdings.iter().map(|(name, holding)| (name.clone(), holding.status())).collect()
    }

    fn grant(&self, name: &str, lease: String, replicas: usize) -> Grant {
        let (lasts, heartbeat) = (self.terms.lease, self.terms.heartbeat());
        Grant { name: name.to_owned(), lease, lasts, heartbeat, replicas }
    }

    fn config(&self, leases: &[Lease]) -> ServerConfig {
        ServerConfig {
            urls: leases.iter().map(|lease| lease.url.clone()).collect(),
            reach: if self.terms.loopback { Reach::Loopback } else { Reach::Policy },
            ..ServerConfig::default()
        }
    }

    /// The holder's current registration of the name; a fault if the name belongs to another holder.
    fn known(&self, holder: &Holder, name: &str) -> Result<Option<Holding>, RegistryFault> {
        let holdings = self.holdings();
        match holdings.get(name) {
            Some(known) if known.holder == *holder => Ok(Some(known.clone())),
            Some(_) => Err(RegistryFault::Held(name.to_owned())),
            None if self.upstreams.get(name).is_some() => {
                Err(RegistryFault::Configured(name.to_owned()))
            }
            None if holdings.len() >= MAX_SERVERS => {
                Err(RegistryFault::Full { count: MAX_SERVERS, what: "registered servers" })
            }
            None => Ok(None),
        }
    }

    /// Refuses a name that looks like that of a server. A name that had no holder before must not look like one that a
    /// holder has without a server, either.
    fn check_look_alike(&self, name: &str) -> Result<(), RegistryFault> {
        let (servers, mut held) = (self.upstreams.names(), self.names.all());
        if held.contains_key(name) {
            held.clear();
        }
        let others = servers.iter().chain(held.keys()).map(String::as_str);
        Ok(proto::check_look_alike(name, others)?)
    }

    /// Starts a server with these leases. One whose URLs have not changed goes on, and is only listed again.
    async fn place(&self, name: &str, placement: Placement<'_>) -> Result<(), RegistryFault> {
        let Placement { holder, version, known, leases, tools } = placement;
        let config = self.config(&leases);
        let list = tools.map(|tools| self.upstreams.announced_list(&config, tools));
        let since = known.as_ref().map_or_else(Instant::now, |known| known.since);
        let moved = known.as_ref().is_some_and(|known| *known.upstream.config() != config);
        let upstream = match known {
            Some(known) if *known.upstream.config() == config => {
                known.upstream.request_listing();
                Some(known.upstream)
            }
            // The known tools are called at the new URL at once.
            Some(known) => {
                let list = list.or_else(|| known.upstream.list_for(&config));
                self.upstreams.replace(&known.upstream, config, list).await
            }
            None => self.upstreams.add(name, config, list).await,
        };
        let upstream = upstream.ok_or_else(|| RegistryFault::Configured(name.to_owned()))?;
        if moved {
            // The holder may stop the old process as soon as this returns.
            upstream.wait_until_offered().await;
        }
        let holding = Holding { holder: holder.clone(), version, since, upstream, leases };
        self.holdings().insert(name.to_owned(), holding);
        self.lease_added.notify_one();
        Ok(())
    }

    /// Keeps some of a server's leases; without any, the server and its tools are removed.
    async fn reduce(&self, name: &str, mut known: Holding, stays: impl Fn(&Lease) -> bool) {
        known.leases.retain(stays);
        if known.leases.is_empty() {
            self.upstreams.remove(&known.upstream).await;
            self.holdings().remove(name);
            return;
        }
        let config = self.config(&known.leases);
        let list = known.upstream.list_for(&config);
        if let Some(upstream) = self.upstreams.replace(&known.upstream, config, list).await {
            known.upstream = upstream;
            self.holdings().insert(name.to_owned(), known);
        }
    }
}
