//! Which addresses may be dialled: the public internet, and what `egress.allow` names on purpose.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use ipnet::IpNet;
use serde::Deserialize;
use url::Host;

use super::address::{Class, classify};
use super::error::Refusal;
use super::host::{HostPattern, Names, PatternError};
use super::listeners::OwnListeners;
use super::target::Target;

/// One entry of `egress.allow`: an address, a network or a host, optionally on one port only.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Rule(Admit);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Admit {
    /// A rule applies only to the kind of network it was written for: `0.0.0.0/0` does not allow metadata services.
    Network {
        network: IpNet,
        class: Class,
        port: Option<u16>,
    },
    Host(HostPattern),
}

impl Rule {
    /// The rule for a server that the configuration names: that host and port, nothing else. As with names, it does not
    /// open metadata services and link-local addresses; `egress.allow` does.
    pub fn for_url(url: &str) -> Result<Self, Refusal> {
        let target = Target::parse(url)?;
        let port = Some(target.port());
        let address = literal(target.host()).map(|address| (address, classify(address)));
        match address {
            None | Some((_, Class::LinkLocal | Class::Metadata)) => {
                let host = Names::Exactly(target.host().clone());
                Ok(Self(Admit::Host(HostPattern { host, port })))
            }
            Some((address, class)) if !can_be_dialled(class) => {
                Err(Refusal::Address { host: target.host().to_string(), address, class })
            }
            Some((address, class)) => {
                Ok(Self(Admit::Network { network: address.into(), class, port }))
            }
        }
    }

    fn network(entry: &str, network: IpNet, port: Option<u16>) -> Result<Self, PatternError> {
        let network = network.trunc();
        let class = classify(network.network());
        if class != classify(network.broadcast()) {
            return Err(PatternError::new(
                entry,
                "the network spans ranges of different kinds; write each by itself",
            ));
        }
        if !can_be_dialled(class) {
            return Err(PatternError::new(entry, "no server can have such an address"));
        }
        Ok(Self(Admit::Network { network, class, port }))
    }

    fn admits(&self, host: &Host<String>, address: SocketAddr, class: Class) -> bool {
        match &self.0 {
            Admit::Network { network, class: own, port } => {
                *own == class
                    && network.contains(&address.ip())
                    && port.is_none_or(|port| port == address.port())
            }
            Admit::Host(pattern) => {
                pattern.matches(host, address.port()) && names_may_lead_to(class, host, pattern)
            }
        }
    }
}

/// A name is only as trustworthy as its DNS zone. It may resolve to private networks; to this machine only if it is a
/// local name or the rule has a port; to metadata services and special networks never.
fn names_may_lead_to(class: Class, host: &Host<String>, pattern: &HostPattern) -> bool {
    match class {
        Class::Private | Class::Shared | Class::UniqueLocal => true,
        Class::Loopback => pattern.port.is_some() || is_localhost(host),
        _ => false,
    }
}

fn is_localhost(host: &Host<String>) -> bool {
    matches!(host, Host::Domain(name) if name == "localhost" || name.ends_with(".localhost"))
}

fn can_be_dialled(class: Class) -> bool {
    !matches!(class, Class::Unspecified | Class::Multicast | Class::EmbeddedV4)
}

impl FromStr for Rule {
    type Err = PatternError;

    fn from_str(entry: &str) -> Result<Self, PatternError> {
        if entry.contains('/') {
            let network = entry
                .parse()
                .map_err(|_| PatternError::new(entry, "not a network such as 10.1.0.0/16"))?;
            return Self::network(entry, network, None);
        }
        let pattern = HostPattern::parse(entry)?;
        match pattern.host {
            Names::Exactly(Host::Ipv4(ip)) => {
                Self::network(entry, IpAddr::V4(ip).into(), pattern.port)
            }
            Names::Exactly(Host::Ipv6(ip)) => {
                Self::network(entry, IpAddr::V6(ip).into(), pattern.port)
            }
            _ => Ok(Self(Admit::Host(pattern))),
        }
    }
}

impl TryFrom<String> for Rule {
    type Error = PatternError;

    fn try_from(entry: String) -> Result<Self, PatternError> {
        entry.parse()
    }
}

/// Decides about addresses: global ones pass, others only by a rule, our own listeners never.
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    /// The rules of `egress.allow`. Clones share them, so that a reload reaches every client.
    shared: Arc<SharedRules>,
    /// The rules of this policy and its clones only.
    added: Vec<Rule>,
    own: OwnListeners,
}

#[derive(Debug, Default)]
struct SharedRules {
    allow: RwLock<Vec<Rule>>,
    /// Counts changes: pooled connections dialled under older rules are not used again.
    generation: AtomicU64,
}

impl AddressPolicy {
    /// A policy with the rules of `egress.allow` that keeps tools away from our own listeners.
    pub fn new(allow: Vec<Rule>, own: OwnListeners) -> Self {
        let shared = SharedRules { allow: RwLock::new(allow), generation: AtomicU64::default() };
        Self { shared: Arc::new(shared), added: Vec::new(), own }
    }

    /// The same policy with one rule more. It follows changes of `egress.allow`, too.
    pub fn allowing(&self, rule: Rule) -> Self {
        let mut policy = self.clone();
        policy.added.push(rule);
        policy
    }

    /// Replaces the rules of `egress.allow` in this policy and all that were made from it or that it was made from.
    pub fn set_allowed(&self, rules: Vec<Rule>) {
        let mut allow = self.shared.allow.write().unwrap_or_else(PoisonError::into_inner);
        *allow = rules;
        self.shared.generation.fetch_add(1, Ordering::Release);
    }

    /// Differs after each change of what the policy allows.
    pub(super) fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire) + self.own.generation()
    }

    fn any_rule(&self, mut test: impl FnMut(&Rule) -> bool) -> bool {
        let allow = self.shared.allow.read().unwrap_or_else(PoisonError::into_inner);
        self.added.iter().chain(&*allow).any(&mut test)
    }

    /// The listeners that this policy denies.
    pub fn own_listeners(&self) -> &OwnListeners {
        &self.own
    }

    /// Whether any rule opens more than the public internet.
    pub fn has_rules(&self) -> bool {
        self.any_rule(|_| true)
    }

    /// Whether a target may be a host of a network that only rules open. What such a host answers is not public.
    pub fn may_be_internal(&self, target: &Target) -> bool {
        let port_fits = |port: Option<u16>| port.is_none_or(|port| port == target.port());
        match literal(target.host()) {
            Some(ip) => classify(ip) != Class::Global,
            // The address of a name is not known yet: it may be in any network that a rule opens.
            None => self.any_rule(|rule| match &rule.0 {
                Admit::Network { port, .. } => port_fits(*port),
                Admit::Host(pattern) => pattern.matches(target.host(), target.port()),
            }),
        }
    }

    /// Checks one address of `host`.
    pub fn check(&self, host: &Host<String>, address: SocketAddr) -> Result<(), Refusal> {
        if self.own.contains(address) {
            return Err(Refusal::OwnListener { address });
        }
        let class = classify(address.ip());
        if class == Class::Global || self.any_rule(|rule| rule.admits(host, address, class)) {
            return Ok(());
        }
        Err(Refusal::Address { host: host.to_string(), address: address.ip(), class })
    }

    /// Checks a target whose host is written as an address; a name has to be resolved first.
    pub fn check_literal(&self, target: &Target) -> Result<(), Refusal> {
        match literal(target.host()) {
            Some(ip) => self.check(target.host(), SocketAddr::new(ip, target.port())),
            None => Ok(()),
        }
    }
}

/// The address, where a host is written as one.
pub(super) fn literal(host: &Host<String>) -> Option<IpAddr> {
    match host {
        Host::Domain(_) => None,
        Host::Ipv4(ip) => Some(IpAddr::V4(*ip)),
        Host::Ipv6(ip) => Some(IpAddr::V6(*ip)),
    }
}

#[cfg(test)]
mod tests;
