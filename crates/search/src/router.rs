//! Asks search providers in the order of fallback.

mod breaker;
mod filters;
mod fusion;
mod guards;
mod quota;
mod record;
mod slot;

use std::sync::Arc;
use std::time::Duration;

use egress::http::Client;
use futures_util::future::join_all;
use proto::{Clock, Code, Failure};
use serde_json::json;

pub use guards::Guards;
pub use slot::{Guard, SearchHits};

use crate::providers::{Fault, Google, Kind, Provider, Query, configured};
use crate::settings::{DefaultRouting, Order, ProviderName, SearchSettings};
use slot::Slot;

/// The most results asked for when some of them will be filtered out.
const OVERFETCH: usize = 20;

/// The providers and the order in which they are asked.
pub struct Router {
    slots: Vec<Arc<Slot>>,
    /// Indices into `slots`; the providers of one group are asked at once.
    groups: Vec<Vec<usize>>,
    /// Providers of the routing that lack a key or a URL, and what to do.
    unusable: Vec<String>,
    order: Order,
    clock: Clock,
}

impl Router {
    /// The router over what the settings name.
    pub fn new(
        settings: &SearchSettings,
        client: &Client,
        timeout: Duration,
        clock: &Clock,
        guards: &Guards,
    ) -> Self {
        let default = || {
            let asked = |when: DefaultRouting| {
                ProviderName::of_web().filter(move |name| name.row().default_routing == when)
            };
            let usable = asked(DefaultRouting::WhenSetUp)
                .filter(|name| configured(*name, &settings.provider(*name)).is_some());
            usable.chain(asked(DefaultRouting::Last)).map(|name| vec![name]).collect()
        };
        let routing =
            if settings.routing.is_empty() { default() } else { settings.routing.clone() };
        let mut router = Self {
            slots: Vec::new(),
            groups: Vec::new(),
            unusable: settings.unusable().into_iter().map(ProviderName::not_set_up).collect(),
            order: settings.order,
            clock: clock.clone(),
        };
        for group in routing {
            let add = |name| router.add(name, settings, client, timeout, guards);
            let indices: Vec<_> = group.into_iter().filter_map(add).collect();
            if !indices.is_empty() {
                router.groups.push(indices);
            }
        }
        router
    }

    fn add(
        &mut self,
        name: ProviderName,
        settings: &SearchSettings,
        client: &Client,
        timeout: Duration,
        guards: &Guards,
    ) -> Option<usize> {
        if let Some(index) = self.slots.iter().position(|slot| slot.name() == name) {
            return Some(index);
        }
        let own = settings.provider(name);
        let provider = configured(name, &own)?;
        let guard = guards.of(name, &own, &self.clock);
        let slot = Slot::new(provider, &own, client, timeout, guard)?;
        self.slots.push(Arc::new(slot));
        Some(self.slots.len() - 1)
    }

    /// A router that asks one Google engine only.
    pub fn for_engine(
        cx: &str,
        settings: &SearchSettings,
        client: &Client,
        timeout: Duration,
        clock: &Clock,
        guards: &Guards,
    ) -> Option<Self> {
        let own = settings.provider(ProviderName::Google);
        let provider: Box<dyn Provider> =
            Box::new(Google { key: own.key.clone()?, cx: cx.to_owned() });
        let guard = guards.of(ProviderName::Google, &own, clock);
        let slot = Slot::new(provider, &own, client, timeout, guard)?;
        Some(Self {
            slots: vec![Arc::new(slot)],
            groups: vec![vec![0]],
            unusable: Vec::new(),
            order: Order::Fixed,
            clock: clock.clone(),
        })
    }

    /// Whether a provider can be asked that someone has set up.
    pub fn has_keyed_provider(&self) -> bool {
        self.slots.iter().any(|slot| !slot.name().row().needs.is_empty())
    }

    /// The names of the groups, as a part of cache keys.
    pub fn route(&self) -> Vec<Vec<&'static str>> {
        let names = |group: &Vec<usize>| {
            group.iter().map(|index| self.slots[*index].name().as_str()).collect()
        };
        self.groups.iter().map(names).collect()
    }

    /// Whether a provider has an endpoint for this kind of search.
    pub fn offers(&self, kind: Kind) -> bool {
        self.slots.iter().any(|slot| slot.offers(kind))
    }

    /// Asks the groups in order until one has an answer.
    pub async fn search(&self, kind: Kind, query: &Query) -> Result<SearchHits, Failure> {
        let mut faults: Vec<(ProviderName, Fault)> = Vec::new();
        for group in self.ordered_groups() {
            let members =
                group.iter().map(|index| &self.slots[*index]).filter(|slot| slot.offers(kind));
            let answers = join_all(members.map(|slot| self.ask(slot, kind, query))).await;
            let mut found = Vec::new();
            for answer in answers {
                match answer {
                    Ok(one) => found.push(one),
                    Err(fault) => faults.push(fault),
                }
            }
            if !found.is_empty() {
                let warnings = faults.iter().map(|(name, fault)| describe(*name, fault));
                let warnings = warnings.chain(self.unusable.clone()).collect();
                let mut found = combine(found, warnings);
                // A wrong key does not become right by waiting.
                found.incomplete =
                    faults.iter().any(|(_, fault)| !matches!(fault, Fault::InvalidKey { .. }));
                return Ok(found);
            }
        }
        Err(self.failure(kind, &faults))
    }

    /// The groups in the order in which they are asked now.
    fn ordered_groups(&self) -> Vec<&Vec<usize>> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        if self.order == Order::Adaptive {
            let cost = |group: &Vec<usize>| {
                group.iter().map(|index| self.slots[*index].cost()).fold(f64::INFINITY, f64::min)
            };
            // Stable: equal providers keep the order of the routing.
            groups.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        }
        groups
    }

    async fn ask(
        &self,
        slot: &Slot,
        kind: Kind,
        query: &Query,
    ) -> Result<SearchHits, (ProviderName, Fault)> {
        let supported = slot.supported(kind, query);
        let filtered = filters::drop_results(query, supported);
        let count = if filtered { query.count.max(OVERFETCH) } else { query.count };
        let query = Query {
            count: count.min(slot.max_count()),
            now: self.clock.unix_ms(),
            ..query.clone()
        };
        let found = slot.search(kind, &query).await.map_err(|fault| (slot.name(), fault))?;
        let (hits, unchecked) = filters::apply(found.hits, &query, supported, slot.name());
        Ok(SearchHits { hits, warnings: [found.warnings, unchecked].concat(), ..found })
    }

    fn failure(&self, kind: Kind, faults: &[(ProviderName, Fault)]) -> Failure {
        let is_refused =
            |(_, fault): &(ProviderName, Fault)| matches!(fault, Fault::Refused { .. });
        let failing = faults.iter().any(|fault| {
            is_refused(fault) || matches!(fault.1, Fault::Failed { .. } | Fault::TimedOut { .. })
        });
        let limited = faults.iter().filter_map(|(_, fault)| match fault {
            Fault::Limited { wait, .. } => Some(*wait),
            _ => None,
        });
        let limited: Vec<_> = limited.collect();
        let providers: Vec<_> = faults
            .iter()
            .map(|(name, fault)| json!({"provider": name.as_str(), "message": fault.why()}))
            .collect();
        let list = faults.iter().map(|(name, fault)| format!("{name}: {}", fault.why()));
        let list = list.collect::<Vec<_>>().join("; ");
        let unusable: String = self.unusable.iter().map(|what| format!(" {what}")).collect();
        if failing && faults.iter().all(is_refused) {
            let message = format!("The search was refused ({list}). Change or remove filters.");
            return Failure::new(Code::Unavailable, message)
                .retryable(false)
                .details(json!({"providers": providers}));
        }
        if failing {
            let message =
                format!("No search provider answered ({list}). Try again later.{unusable}");
            return Failure::new(Code::Unavailable, message)
                .details(json!({"providers": providers}));
        }
        if !limited.is_empty() {
            let wait = limited.into_iter().flatten().min().unwrap_or(breaker::FIRST_WAIT);
            let message =
                format!("All search providers are limited ({list}). Try again later.{unusable}");
            let details = json!({"retryAfterMs": wait.as_millis() as u64, "providers": providers});
            return Failure::new(Code::RateLimit, message).retry_after(wait).details(details);
        }
        Failure::new(Code::Unsupported, self.setup(kind, faults))
            .details(json!({"providers": providers}))
    }

    /// What the operator can do when no provider can be asked.
    fn setup(&self, kind: Kind, faults: &[(ProviderName, Fault)]) -> String {
        let what = match kind {
            Kind::Web => "web search",
            Kind::Image => "image search",
            Kind::News => "news search",
        };
        let mut message = format!("There is no usable provider for {what}.");
        for (name, fault) in faults {
            message.push_str(&format!(" {name}: {}. {}", fault.why(), name.setup()));
        }
        for what in &self.unusable {
            message.push_str(&format!(" {what}"));
        }
        if faults.is_empty() && self.unusable.is_empty() {
            let names = ProviderName::of_web().filter(|name| {
                name.offers(kind) && name.row().default_routing == DefaultRouting::WhenSetUp
            });
            message.push_str(" Set up one of these:");
            for name in names {
                message.push_str(&format!(" {name}: {}", name.setup()));
            }
        }
        message
    }
}

/// One list of what the providers of a group found.
fn combine(found: Vec<SearchHits>, mut warnings: Vec<String>) -> SearchHits {
    let mut lists = Vec::with_capacity(found.len());
    for one in found {
        warnings.extend(one.warnings);
        lists.push(one.hits);
    }
    warnings.dedup();
    SearchHits { hits: fusion::fuse_hits(lists), warnings, incomplete: false }
}

fn describe(name: ProviderName, fault: &Fault) -> String {
    match fault {
        Fault::InvalidKey { why } => format!("{name} was skipped: {why}. {}", name.setup()),
        Fault::Limited { why, .. } => format!("{name} was skipped: {why}."),
        Fault::Refused { why } | Fault::TimedOut { why } | Fault::Failed { why } => {
            format!("{name} failed: {why}.")
        }
    }
}
