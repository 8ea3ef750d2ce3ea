use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use prompts::Prompts;
use proto::{Clock, Discovery, Limits, Principal, ToolId};
use store::{AuditTrail, Cache, Database};

use crate::agents::{AgentReport, ApprovalRule, Profiles, View, Views};
use crate::approval::Approvals;
use crate::catalog::{LimitBounds, NameStyle, Pins, Terms, WireNames};
use crate::files::{Files, KeepRules, Lenders, Strategies};
use crate::guard::audit::Audit;
use crate::guard::idempotency::Idempotency;
use crate::guard::rate::{RateGuard, RateRules};
use crate::guard::records::Records;
use crate::meter::Meter;
use crate::runs::Runs;
use crate::servers::{Server, Servers};
use crate::stop::Stop;
use crate::usage::Usage;
use crate::work::Bench;
use crate::{Answer, Catalog, Failure, Health, Job, Output, Request, discovery};

/// What an operator may set, also while the strip runs.
#[derive(Clone, Debug)]
pub struct Settings {
    pub limits: LimitBounds,
    /// How long a recorded answer stands.
    pub idempotency: Duration,
    pub rate: RateRules,
    pub name_style: NameStyle,
    pub files: Strategies,
    pub keep: KeepRules,
}

impl Settings {
    fn terms(&self) -> Terms {
        Terms { bounds: self.limits, files: self.files.clone() }
    }
}

/// What the strip is built from.
pub struct Parts {
    pub audit: AuditTrail,
    /// What stands behind runs.
    pub database: Database,
    pub cache: Cache,
    pub clock: Clock,
    pub names: WireNames,
    pub pins: Pins,
    pub files: Files,
}

/// One core behind every door: the catalog, the prompts, and the guard stack.
pub struct Strip {
    catalog: Arc<Catalog>,
    prompts: Prompts,
    views: Arc<Views>,
    servers: Arc<Servers>,
    files: Arc<Files>,
    guards: Guards,
    started: Instant,
}

/// The guards and what the operator set for them.
pub(crate) struct Guards {
    pub(crate) audit: Arc<Audit>,
    pub(crate) idempotency: Idempotency,
    pub(crate) runs: Runs,
    pub(crate) meter: Meter,
    pub(crate) usage: Usage,
    pub(crate) bench: Bench,
    pub(crate) stop: Stop,
    /// Without it, a call that needs to be approved is refused.
    pub(crate) approvals: OnceLock<Arc<Approvals>>,
    rate: ArcSwap<RateGuard>,
    settings: ArcSwap<Settings>,
}

impl Guards {
    pub(crate) fn rate(&self) -> Arc<RateGuard> {
        self.rate.load_full()
    }

    pub(crate) fn window(&self) -> Duration {
        self.settings.load().idempotency
    }

    pub(crate) fn keep_rules(&self) -> KeepRules {
        self.settings.load().keep
    }

    /// The limits where nobody set others.
    pub(crate) fn limits(&self) -> Limits {
        self.settings.load().limits.default
    }
}

impl Strip {
    /// A strip with no tools yet.
    pub fn new(settings: Settings, parts: Parts) -> Arc<Self> {
        let catalog = Catalog::pinned(settings.limits, parts.names, parts.pins);
        catalog.set_terms(settings.terms());
        let (files, servers) = (Arc::new(parts.files), Arc::<Servers>::default());
        let (catalog, views) = (Arc::new(catalog), Arc::<Views>::default());
        let records =
            Records::new(parts.audit.clone(), parts.database.clone(), parts.clock.clone());
        let audit = Arc::new(Audit::new(parts.audit, parts.clock.clone()));
        let lenders = Arc::new(Lenders {
            servers: Arc::clone(&servers),
            views: Arc::clone(&views),
            catalog: Arc::clone(&catalog),
            audit: Arc::clone(&audit),
        });
        Arc::new(Self {
            catalog,
            prompts: Prompts::empty(),
            views,
            servers,
            files: Arc::clone(&files),
            guards: Guards {
                runs: Runs::new(parts.database, parts.clock),
                audit,
                idempotency: Idempotency::new(parts.cache, records),
                meter: Meter::default(),
                usage: Usage::default(),
                bench: Bench { files, lenders },
                stop: Stop::default(),
                approvals: OnceLock::new(),
                rate: ArcSwap::from_pointee(RateGuard::new(&settings.rate)),
                settings: ArcSwap::from_pointee(settings),
            },
            started: Instant::now(),
        })
    }

    pub(crate) fn guards(&self) -> &Guards {
        &self.guards
    }

    pub(crate) fn lenders(&self) -> &Lenders {
        &self.guards.bench.lenders
    }

    pub(crate) fn trail(&self) -> &AuditTrail {
        self.guards.audit.trail()
    }

    /// Takes new settings at once; calls under way finish under the old ones.
    pub fn reconfigure(&self, settings: Settings) {
        let previous = self.guards.settings.load_full();
        if previous.rate != settings.rate {
            self.guards.rate.store(Arc::new(RateGuard::new(&settings.rate)));
        }
        self.catalog.set_terms(settings.terms());
        self.guards.settings.store(Arc::new(settings));
    }

    /// Which tools there are; sources keep a hold of it and publish into it.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Which prompts there are.
    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// The files of all tenants.
    pub fn files(&self) -> &Arc<Files> {
        &self.files
    }

    /// What calls belong to, and what they ask people.
    pub fn runs(&self) -> &Runs {
        &self.guards.runs
    }

    /// Removes records of calls that have expired. Never returns.
    pub async fn tend_records(&self) {
        self.guards.idempotency.records().tend().await;
    }

    /// What MCP servers offer beside tools.
    pub fn servers(&self) -> &Arc<Servers> {
        &self.servers
    }

    /// Whether a caller may use what a server offers beside tools: an agent may if the whole server is one of its skills'.
    pub fn reaches(&self, principal: &Principal, server: &str) -> bool {
        self.view(principal).holds_server(server)
    }

    /// Hands a request that is no tool call on to a server; the call's input are its parameters. Such a request is
    /// counted, bounded and audited like a call.
    pub async fn pass_on(
        &self,
        server: &Arc<dyn Server>,
        method: &str,
        call: Request,
    ) -> Result<Output, Failure> {
        self.guards.pass_on(server, method, call).await
    }

    /// Which of a tool's names listings show.
    pub fn name_style(&self) -> NameStyle {
        self.guards.settings.load().name_style
    }

    /// Takes one call through the whole stack. Always answers; never panics.
    pub async fn call(&self, request: Request) -> Answer {
        self.guards.pass(self, Job::new(request)).await
    }

    /// Says who is asked about calls that a person must approve. Once.
    pub fn set_approvals(&self, approvals: Arc<Approvals>) {
        let _ = self.guards.approvals.set(approvals);
    }

    /// The calls that a person must approve, if anybody can be asked.
    pub fn approvals(&self) -> Option<&Arc<Approvals>> {
        self.guards.approvals.get()
    }

    /// Which agents there are and what they may use, from now on. Clients are told that their lists have changed.
    pub fn set_agents(&self, profiles: Profiles) {
        if self.views.set(profiles) {
            self.catalog.announce();
        }
    }

    /// Which agents there are and what they may use.
    pub fn agents(&self) -> Arc<Profiles> {
        self.views.profiles()
    }

    /// What can be said of every agent, for people.
    pub fn agent_reports(&self) -> Vec<AgentReport> {
        self.views.reports(&self.catalog.snapshot())
    }

    /// What a caller may see and call: everything, or as an agent the tools of its skills.
    pub fn view(&self, principal: &Principal) -> View {
        self.views.of(principal, self.catalog.snapshot())
    }

    /// What must happen before a tool runs, whoever calls it: the strictest that a skill asks for.
    pub fn approval_rule(&self, tool: &ToolId) -> ApprovalRule {
        // Most strips gate nothing; their calls pay for one look at one bit.
        match self.views.asks() {
            true => self.views.approval_rule(tool, self.catalog.snapshot()),
            false => ApprovalRule::Free,
        }
    }

    /// The tools that a caller has used with success lately; the most used has 1, the others their share of that.
    pub fn used_lately(&self, principal: &Principal) -> Vec<(ToolId, f32)> {
        self.guards.usage.lately(principal)
    }

    /// What a caller is shown, as every door tells it.
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
}
