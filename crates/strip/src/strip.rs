use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use prompts::Prompts;
use proto::{Clock, Discovery, Failure, FileKind, Principal, ToolId, TraceId};
use serde_json::Value;
use store::{Cache, CommitQueue, Database};
use tokio_util::sync::CancellationToken;

use crate::agents::{AgentReport, ApprovalRule, Profiles, View, Views};
use crate::approval::Approvals;
use crate::apps::OpenApps;
use crate::catalog::{NameStyle, Pins, SchemaForm, WireNames};
use crate::execution::Executor;
use crate::files::{FileResolver, Files, GuardedServers, NewFile};
use crate::guard::audit::Audit;
use crate::guard::idempotency::Idempotency;
use crate::guard::rate::RateGuard;
use crate::guard::records::Records;
use crate::guards::{AccessCheck, Guards};
use crate::history::History;
use crate::metrics::CallMetrics;
use crate::runs::{REMEMBERED, Run, Runs};
use crate::servers::{ClientIdentity, Outages, OwnLists, Server, ServerRequest, Servers};
use crate::settings::Settings;
use crate::stop::Stop;
use crate::{Answer, Catalog, Door, Health, Job, Output, Request, discovery};

/// What the strip is built from.
pub struct Parts {
    /// The writer of audit rows, calls, runs and workflows.
    pub commits: CommitQueue,
    /// Where runs are stored.
    pub database: Database,
    pub cache: Cache,
    pub clock: Clock,
    pub names: WireNames,
    pub pins: Pins,
    pub files: Files,
}

/// One core behind every door: the catalog, the prompts, and the guard stack.
pub struct Strip {
    prompts: Prompts,
    servers: Arc<Servers>,
    guards: Arc<Guards>,
    started: Instant,
}

impl Strip {
    /// A strip with no tools yet.
    pub fn new(settings: Settings, parts: Parts) -> Arc<Self> {
        let catalog = Catalog::pinned(settings.limits, parts.names, parts.pins);
        catalog.set_terms(settings.terms());
        let (files, connected) = (Arc::new(parts.files), Arc::<Servers>::default());
        let (catalog, views) = (Arc::new(catalog), Arc::<Views>::default());
        let records =
            Records::new(parts.commits.clone(), parts.database.clone(), parts.clock.clone());
        let audit = Arc::new(Audit::new(parts.commits.clone(), parts.clock.clone()));
        let runs = Runs::new(parts.database, parts.commits, parts.clock);
        let guards = Arc::new_cyclic(|guards: &Weak<Guards>| {
            let servers: Weak<dyn GuardedServers> = guards.clone();
            let resolver = Arc::new(FileResolver { servers });
            Guards {
                catalog,
                servers: Arc::clone(&connected),
                views,
                runs,
                audit,
                idempotency: Idempotency::new(parts.cache, records),
                metrics: CallMetrics::default(),
                history: History::default(),
                apps: OpenApps::default(),
                outages: OnceLock::new(),
                executor: Executor { files, resolver },
                stop: Stop::default(),
                approvals: OnceLock::new(),
                access: ArcSwap::from_pointee(Arc::new(|_: &Principal| Ok(()))),
                rate: ArcSwap::from_pointee(RateGuard::new(&settings.rate)),
                settings: ArcSwap::from_pointee(settings),
            }
        });
        Arc::new(Self {
            prompts: Prompts::empty(),
            servers: connected,
            guards,
            started: Instant::now(),
        })
    }

    pub(crate) fn guards(&self) -> &Guards {
        &self.guards
    }

    /// Applies new settings at once; calls in progress finish under the old ones.
    pub fn reconfigure(&self, settings: Settings) {
        let previous = self.guards.settings.load_full();
        if previous.rate != settings.rate {
            self.guards.rate.store(Arc::new(RateGuard::new(&settings.rate)));
        }
        self.guards.catalog.set_terms(settings.terms());
        let lists_differ = previous.schemas != settings.schemas;
        self.guards.settings.store(Arc::new(settings));
        if lists_differ {
            self.guards.catalog.announce();
        }
    }

    /// The clock of this process.
    pub fn clock(&self) -> &Clock {
        self.guards.runs.clock()
    }

    /// The tools. Sources publish into it.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.guards.catalog
    }

    /// The prompts.
    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// The files of all tenants.
    pub fn files(&self) -> &Arc<Files> {
        &self.guards.executor.files
    }

    /// Stores an output that is too large for an answer of its run. Returns the reference that takes its place; it is kept as
    /// long as the run.
    pub async fn store_output(
        &self,
        principal: &Principal,
        run: &Run,
        output: &Value,
    ) -> Result<Value, Failure> {
        let new = NewFile {
            fixed_ttl: Some(REMEMBERED),
            run: Some(run.id().to_owned()),
            ..NewFile::new(FileKind::Reference, "output")
        };
        self.files().put_value(principal, output, new).await
    }

    /// The runs that calls belong to, with their questions to people.
    pub fn runs(&self) -> &Runs {
        &self.guards.runs
    }

    /// Removes records of calls that have expired. Never returns.
    pub async fn tend_records(&self) {
        self.guards.idempotency.records().tend().await;
    }

    /// The prompts and resources of MCP servers.
    pub fn servers(&self) -> &Arc<Servers> {
        &self.servers
    }

    /// Sets the source of server outages. Only the first call has an effect.
    pub fn set_outages(&self, outages: Weak<dyn Outages>) {
        let _ = self.guards.outages.set(outages);
    }

    /// Whether a caller may use a server's prompts and resources. An agent may if one of its skills has the whole server.
    pub fn may_use_server(&self, principal: &Principal, server: &str) -> bool {
        self.view(principal).holds_server(server)
    }

    /// Forwards a request that is no tool call to the server that offers what it asks for; the request's input are its
    /// parameters. It is counted, limited and audited like a call, also where no server offers it. None if no server does
    /// that the caller may use.
    pub fn forward<'a>(
        &'a self,
        server: Option<&'a Arc<dyn Server>>,
        method: &'a str,
        request: Request,
    ) -> BoxFuture<'a, Result<Option<Output>, Failure>> {
        Box::pin(self.guards.forward(server, ServerRequest::OfClient(method), request))
    }

    /// Which of a tool's names listings show.
    pub fn name_style(&self) -> NameStyle {
        self.guards.settings.load().name_style
    }

    /// The names by which tools are shown to callers of a door.
    pub fn shown_names(&self, door: Door) -> NameStyle {
        self.guards.shown_names(door)
    }

    /// The form of input schemas in a caller's list.
    pub fn schema_form(&self, principal: &Principal) -> SchemaForm {
        let of_agent = principal.agent.as_ref().and_then(|name| {
            let profiles = self.agents();
            profiles.agents.get(name)?.schemas
        });
        of_agent.unwrap_or_else(|| self.guards.settings.load().schemas)
    }

    /// Runs one call through the whole stack. Always answers; never panics.
    ///
    /// A client that leaves drops the future; the audit row then says that the call was abandoned. A call that a person
    /// approved goes on without its client.
    /// The future is boxed, so that the stack is compiled here and not again in every door.
    pub fn call(&self, request: Request) -> BoxFuture<'_, Answer> {
        Box::pin(self.guards.answer(Job::new(request)))
    }

    /// Sets the approvals of calls that a person must approve. Only the first call has an effect.
    pub fn set_approvals(&self, approvals: Arc<Approvals>) {
        let _ = self.guards.approvals.set(approvals);
    }

    /// The approvals, if they were set.
    pub fn approvals(&self) -> Option<&Arc<Approvals>> {
        self.guards.approvals.get()
    }

    /// Sets how the credential of a principal that was admitted before is checked again.
    pub fn set_access_check(&self, check: AccessCheck) {
        self.guards.access.store(Arc::new(check));
    }

    /// Whether a principal that was admitted before still has its access, or why it has not.
    pub fn check_access(&self, principal: &Principal) -> Result<(), String> {
        self.guards.check_access(principal)
    }

    /// Replaces the agents and their skills. Clients are notified that their lists have changed.
    pub fn set_agents(&self, profiles: Profiles) {
        if self.guards.views.set(profiles) {
            self.guards.catalog.announce();
        }
    }

    /// The agents and their skills.
    pub fn agents(&self) -> Arc<Profiles> {
        self.guards.views.profiles()
    }

    /// A report about every agent.
    pub fn agent_reports(&self) -> Vec<AgentReport> {
        self.guards.views.reports(&self.guards.catalog.snapshot())
    }

    /// What a caller may see and call: everything, or as an agent the tools of its skills.
    pub fn view(&self, principal: &Principal) -> View {
        self.guards.view(principal)
    }

    /// The view of a client, with the tools of its own instances of servers.
    pub fn view_of(&self, client: &ClientIdentity) -> View {
        self.guards.view_of(client)
    }

    /// The view of the client that made a call.
    pub fn view_of_job(&self, job: &Job) -> View {
        self.guards.view_of_job(job)
    }

    /// What a client's own instances of servers list.
    pub fn own_lists(&self, client: &ClientIdentity) -> OwnLists {
        let tools = self.guards.own_tools(client);
        OwnLists { tools, offerings: self.servers.own_offerings(client) }
    }

    /// Whether a call of a tool must be approved: the strictest rule of all skills that have the tool.
    pub fn approval_rule(&self, tool: &ToolId) -> ApprovalRule {
        self.guards.approval_rule(tool)
    }

    /// The tools that a caller has used successfully of late, each with its use relative to the most used one.
    pub fn recent_tools(&self, principal: &Principal) -> Vec<(ToolId, f32)> {
        self.guards.history.recent(principal)
    }

    /// The discovery document of a caller, the same by every door.
    pub fn discovery(&self, principal: &Principal) -> Discovery {
        discovery::describe(
            principal,
            &self.view(principal),
            &self.prompts.snapshot(),
            &self.health(),
        )
    }

    /// Whether the strip can do its work, and if not, why.
    pub fn health(&self) -> Health {
        let problems: Vec<_> = self
            .guards
            .audit
            .failing()
            .map(|why| format!("the audit trail cannot be written: {why}"))
            .into_iter()
            .collect();
        Health { ready: problems.is_empty(), problems, uptime: self.started.elapsed() }
    }

    /// A token for a call's `cancel`, which is also cancelled when the gateway stops.
    pub fn call_token(&self, trace: TraceId) -> CancellationToken {
        self.guards.stop.token(trace)
    }

    /// Ends every call that has such a token. Each is answered with `UNAVAILABLE`, for which the gateway is to blame.
    pub fn stop_calls(&self) {
        self.guards.stop.stop();
    }
}
