use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use proto::{Principal, ToolId};

use super::{AgentReport, ApprovalRule, Profiles, Skill, View};
use crate::catalog::{OwnTools, Snapshot};

/// The views of all agents. Each is computed once for every catalog and config, on first use.
#[derive(Default)]
pub(crate) struct Views {
    profiles: ArcSwap<Profiles>,
    compiled: ArcSwap<Compiled>,
    /// Whether any skill asks for approvals.
    asks: AtomicBool,
    own: Mutex<Vec<OwnView>>,
}

/// How many views of callers with their own instances of servers are kept ready.
const MAX_OWN_VIEWS: usize = 32;

/// The view of a caller with its own instances of servers, and what it was made from.
struct OwnView {
    catalog: Arc<Snapshot>,
    profiles: Arc<Profiles>,
    agent: Option<String>,
    own: Vec<Arc<OwnTools>>,
    view: View,
}

impl OwnView {
    fn is_made_from(&self, agent: Option<&String>, own: &[Arc<OwnTools>]) -> bool {
        self.agent.as_ref() == agent
            && self.own.len() == own.len()
            && self.own.iter().zip(own).all(|(known, now)| Arc::ptr_eq(known, now))
    }
}

#[derive(Default)]
struct Compiled {
    catalog: Arc<Snapshot>,
    profiles: Arc<Profiles>,
    agents: HashMap<String, OnceLock<View>>,
    /// Whether each tool of the catalog needs approval.
    gated: OnceLock<HashMap<ToolId, ApprovalRule>>,
}

impl Views {
    /// Replaces the profiles; returns whether they differ.
    pub(crate) fn set(&self, profiles: Profiles) -> bool {
        let differs = **self.profiles.load() != profiles;
        if differs {
            // Set before the profiles are stored and cleared after: a gated call is never let through in between.
            let asks = profiles.skills.values().any(Skill::asks);
            self.asks.fetch_or(asks, Ordering::SeqCst);
            self.profiles.store(Arc::new(profiles));
            self.asks.store(asks, Ordering::SeqCst);
        }
        differs
    }

    pub(crate) fn asks(&self) -> bool {
        self.asks.load(Ordering::SeqCst)
    }

    pub(crate) fn profiles(&self) -> Arc<Profiles> {
        self.profiles.load_full()
    }

    /// What a caller may see and call. An agent that was removed sees nothing.
    pub(crate) fn of(&self, principal: &Principal, catalog: Arc<Snapshot>) -> View {
        match &principal.agent {
            None => View::plain(catalog),
            Some(name) => self.of_agent(name, catalog),
        }
    }

    /// The view of a caller with its own instances of servers.
    pub(crate) fn of_own(
        &self,
        principal: &Principal,
        catalog: Arc<Snapshot>,
        own: Vec<Arc<OwnTools>>,
    ) -> View {
        let profiles = self.profiles();
        let agent = principal.agent.as_ref();
        let mut ready = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        ready.retain(|known| {
            Arc::ptr_eq(&known.catalog, &catalog) && Arc::ptr_eq(&known.profiles, &profiles)
        });
        if let Some(known) = ready.iter().find(|known| known.is_made_from(agent, &own)) {
            return known.view.clone();
        }
        let merged = catalog.with_own(&own);
        let view = match agent {
            None => View::plain(Arc::new(merged)),
            Some(name) => match profiles.agents.get(name) {
                Some(agent) => View::of(agent, &profiles, &merged),
                None => View::nothing(),
            },
        };
        if ready.len() >= MAX_OWN_VIEWS {
            ready.remove(0);
        }
        let agent = principal.agent.clone();
        ready.push(OwnView { catalog, profiles, agent, own, view: view.clone() });
        view
    }

    /// Whether a tool of this id would be in the caller's view.
    pub(crate) fn may_hold(&self, principal: &Principal, tool: &ToolId) -> bool {
        let Some(name) = &principal.agent else { return true };
        let profiles = self.profiles.load();
        let agent = profiles.agents.get(name);
        agent.is_some_and(|agent| profiles.skills_of(agent).iter().any(|skill| skill.holds(tool)))
    }

    /// A report about every agent.
    pub(crate) fn reports(&self, catalog: &Arc<Snapshot>) -> Vec<AgentReport> {
        let profiles = self.profiles();
        let report = |name: &String| {
            AgentReport::of(name, &self.of_agent(name, Arc::clone(catalog)), &profiles)
        };
        profiles.agents.keys().map(report).collect()
    }

    fn of_agent(&self, name: &str, catalog: Arc<Snapshot>) -> View {
        let compiled = self.compiled(catalog);
        match (compiled.agents.get(name), compiled.profiles.agents.get(name)) {
            (Some(view), Some(agent)) => {
                view.get_or_init(|| View::of(agent, &compiled.profiles, &compiled.catalog)).clone()
            }
            _ => View::nothing(),
        }
    }

    /// Whether a tool of this catalog or an earlier one needs approval.
    pub(crate) fn approval_rule(&self, tool: &ToolId, catalog: Arc<Snapshot>) -> ApprovalRule {
        let compiled = self.compiled(catalog);
        let gated = compiled.gated.get_or_init(|| {
            let ids = compiled.catalog.entries().iter().map(|entry| &entry.descriptor.id);
            ids.map(|id| (id.clone(), compiled.profiles.approval_rule(id))).collect()
        });
        // A call may have resolved a tool that has left the catalog since: its rule still applies.
        gated.get(tool).copied().unwrap_or_else(|| compiled.profiles.approval_rule(tool))
    }

    fn compiled(&self, catalog: Arc<Snapshot>) -> Arc<Compiled> {
        let profiles = self.profiles.load_full();
        let compiled = self.compiled.load_full();
        if Arc::ptr_eq(&compiled.catalog, &catalog) && Arc::ptr_eq(&compiled.profiles, &profiles) {
            return compiled;
        }
        let agents = profiles.agents.keys().map(|name| (name.clone(), OnceLock::new())).collect();
        let compiled = Arc::new(Compiled { catalog, profiles, agents, gated: OnceLock::new() });
        self.compiled.store(Arc::clone(&compiled));
        compiled
    }
}
