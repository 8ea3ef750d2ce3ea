use std::collections::BTreeSet;
use std::sync::Arc;

use proto::OWN_SERVER;

use super::{Agent, Listing, Profiles};
use crate::catalog::{Entry, Snapshot};
use crate::tool::Part;

/// What one caller may see and call, at one moment.
#[derive(Clone)]
pub struct View {
    tools: Arc<Snapshot>,
    listing: Listing,
    /// Servers whose prompts and resources it may use; none if it may use all.
    servers: Option<Arc<BTreeSet<String>>>,
}

impl View {
    /// The view of a caller that is not an agent: everything.
    pub(super) fn plain(tools: Arc<Snapshot>) -> Self {
        Self { tools, listing: Listing::Whole, servers: None }
    }

    /// The view of an agent.
    pub(super) fn of(agent: &Agent, profiles: &Profiles, catalog: &Snapshot) -> Self {
        let skills = profiles.skills_of(agent);
        let searches = agent.listing == Listing::Search;
        let mut tools = catalog.narrowed(|entry| {
            let (id, part) = (&entry.descriptor.id, entry.tool.part());
            part.is_for_every_agent()
                || (searches && part.is_finder())
                || skills.iter().any(|skill| skill.holds(id))
        });
        // A name that belongs to a tool outside the view is free in it.
        tools.narrow_owners(|id| {
            id.server() == Some(OWN_SERVER) || skills.iter().any(|skill| skill.holds(id))
        });
        let servers = skills.iter().flat_map(|skill| skill.servers.iter().cloned()).collect();
        Self { tools: Arc::new(tools), listing: agent.listing, servers: Some(Arc::new(servers)) }
    }

    /// The view of an agent that was removed: nothing.
    pub(super) fn nothing() -> Self {
        Self { tools: Arc::default(), listing: Listing::Whole, servers: Some(Arc::default()) }
    }

    /// What may be called.
    pub fn tools(&self) -> &Arc<Snapshot> {
        &self.tools
    }

    /// What a list shows. A caller that sees the whole list needs no `call_tool`, though it may call it.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let shown = |part: Part| match self.listing {
            Listing::Whole => !matches!(part, Part::Forwarder | Part::Alias),
            // A search finds data tools, and says how to start a workflow.
            Listing::Search => !matches!(part, Part::Data | Part::Workflow | Part::Alias),
        };
        self.tools.entries().iter().filter(move |entry| shown(entry.tool.part()))
    }

    /// Whether it is of an agent with `discovery: search`.
    pub fn searches(&self) -> bool {
        self.listing == Listing::Search
    }

    /// Whether all of a server belongs to it: its prompts and resources as well as its tools.
    pub fn holds_server(&self, server: &str) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.contains(server))
    }

    /// Whether anything of a server belongs to it.
    pub(crate) fn meets_server(&self, server: &str) -> bool {
        let of_server = |entry: &Arc<Entry>| entry.server() == Some(server);
        self.holds_server(server) || self.tools.entries().iter().any(of_server)
    }

    /// Whether it is the same view, so that a cache for one is valid for the other.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tools, &other.tools) && self.listing == other.listing
    }
}
