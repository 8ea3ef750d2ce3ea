//! The state that the guards share. Their order is in `stack.rs`.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use proto::{Code, Failure, Limits, Principal, ToolId};
use store::StoreError;

use crate::agents::{ApprovalRule, View, Views};
use crate::approval::Approvals;
use crate::apps::OpenApps;
use crate::catalog::{NameStyle, OwnTools};
use crate::execution::Executor;
use crate::files::InlineLimits;
use crate::guard::audit::Audit;
use crate::guard::idempotency::Idempotency;
use crate::guard::rate::RateGuard;
use crate::history::History;
use crate::metrics::CallMetrics;
use crate::runs::Runs;
use crate::servers::{ClientIdentity, Outages, Servers};
use crate::settings::Settings;
use crate::stop::Stop;
use crate::{Catalog, Door, Job};

/// Whether a principal that was admitted before still has its access, or why it has not.
pub type AccessCheck = Arc<dyn Fn(&Principal) -> Result<(), String> + Send + Sync>;

/// The guards and the operator's settings for them.
pub(crate) struct Guards {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) servers: Arc<Servers>,
    pub(crate) views: Arc<Views>,
    pub(crate) audit: Arc<Audit>,
    pub(crate) idempotency: Idempotency,
    pub(crate) runs: Runs,
    pub(crate) metrics: CallMetrics,
    pub(crate) history: History,
    pub(crate) apps: OpenApps,
    /// Without it, a tool that is not in the catalog is unknown.
    pub(crate) outages: OnceLock<Weak<dyn Outages>>,
    pub(crate) executor: Executor,
    pub(crate) stop: Stop,
    /// Without it, a call that needs to be approved is refused.
    pub(crate) approvals: OnceLock<Arc<Approvals>>,
    pub(crate) access: ArcSwap<AccessCheck>,
    pub(crate) rate: ArcSwap<RateGuard>,
    pub(crate) settings: ArcSwap<Settings>,
}

impl Guards {
    pub(crate) fn rate(&self) -> Guard<Arc<RateGuard>> {
        self.rate.load()
    }

    pub(crate) fn window(&self) -> Duration {
        self.settings.load().idempotency
    }

    pub(crate) fn inline_limits(&self) -> InlineLimits {
        self.settings.load().inline
    }

    /// The names by which tools are shown to callers of a door: those that models call are the listed ones.
    pub(crate) fn shown_names(&self, door: Door) -> NameStyle {
        match door {
            Door::McpHttp | Door::McpStdio => self.settings.load().name_style,
            _ => NameStyle::Canonical,
        }
    }

    /// The limits of a tool that declares none.
    pub(crate) fn limits(&self) -> Limits {
        self.settings.load().limits.default
    }

    pub(crate) fn view(&self, principal: &Principal) -> View {
        self.views.of(principal, self.catalog.snapshot())
    }

    /// What a client may see and call, with the tools of its own instances of servers.
    pub(crate) fn view_of(&self, client: &ClientIdentity) -> View {
        let own = self.own_tools(client);
        if own.is_empty() {
            return self.view(&client.principal);
        }
        self.views.of_own(&client.principal, self.catalog.snapshot(), own)
    }

    /// The view of the client that made a call.
    pub(crate) fn view_of_job(&self, job: &Job) -> View {
        // One atomic load is all that a call pays while no instance has tools of its own.
        if self.catalog.own().is_empty() {
            return self.view(&job.request().principal);
        }
        self.view_of(&ClientIdentity::of_job(job))
    }

    /// The tools of a client's own instances, where they differ from what their servers offer to all.
    pub(crate) fn own_tools(&self, client: &ClientIdentity) -> Vec<Arc<OwnTools>> {
        let own = self.catalog.own();
        let of_client = |server: &str| {
            let instance = self.servers.get(server)?.instance(client)?;
            own.get(server, instance).cloned()
        };
        let mut servers: Vec<_> = own.servers().collect();
        servers.sort_unstable();
        servers.into_iter().filter_map(of_client).collect()
    }

    pub(crate) fn approval_rule(&self, tool: &ToolId) -> ApprovalRule {
        // One atomic load is all that a configuration without approvals pays for them.
        if !self.views.asks() {
            return ApprovalRule::Free;
        }
        self.views.approval_rule(tool, self.catalog.snapshot())
    }

    /// Whether a principal whose call or workflow was admitted before may still go on, or why it may not.
    pub(crate) fn check_access(&self, principal: &Principal) -> Result<(), String> {
        let agents = &self.views.profiles().agents;
        match principal.agent.as_ref().filter(|agent| !agents.contains_key(*agent)) {
            Some(agent) => Err(format!("the agent `{agent}` of its owner was removed")),
            None => (self.access.load())(principal),
        }
    }

    /// The refusal of every call while audit rows cannot be written.
    pub(crate) fn unaccountable(&self) -> Failure {
        let why = self.audit.failing().unwrap_or_default();
        Failure::new(
            Code::Unavailable,
            format!("the audit trail cannot be written ({why}), so nothing is run until it can"),
        )
        .caused_by(StoreError::AuditFailing(why.into()))
    }
}
