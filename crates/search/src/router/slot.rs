//! One provider with its API, breaker and quota.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use egress::http::Client;
use proto::Clock;

use super::breaker::{Admission, Breaker};
use super::quota::QuotaCounter;
use super::record::Record;
use crate::pace::{Outcome, Pace};
use crate::providers::{Api, Fault, Hit, Kind, Provider, Query, Reply, Supported};
use crate::settings::{ProviderName, ProviderSettings};

/// Keeps requests away from a provider that is down, limits us or has used up its quota.
pub struct Guard {
    clock: Clock,
    breaker: Mutex<Breaker>,
    quota: Option<Mutex<QuotaCounter>>,
    pace: Pace,
    record: Mutex<Record>,
    settings: ProviderSettings,
}

impl Guard {
    pub(super) fn new(settings: &ProviderSettings, clock: &Clock) -> Self {
        let quota = settings.quota.map(|quota| Mutex::new(QuotaCounter::new(quota)));
        let settings = settings.clone();
        Self {
            clock: clock.clone(),
            breaker: Mutex::default(),
            quota,
            pace: Pace::default(),
            record: Mutex::default(),
            settings,
        }
    }

    /// Whether what it has learned holds for these settings.
    pub(super) fn is_for(&self, settings: &ProviderSettings) -> bool {
        self.settings.is_same_account(settings)
    }

    /// Runs a request unless the breaker is open or the quota used up, and learns from its outcome. It waits while the
    /// provider has as many requests as it can take.
    pub async fn run<T>(
        &self,
        request: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let turn = self.pace.take().await;
        let admission = self.admit()?;
        let mut admitted = Admitted { guard: self, admission, reported: false };
        let outcome = request.await;
        admitted.reported = true;
        turn.end(match &outcome {
            Ok(_) => Outcome::Answered,
            Err(Fault::Limited { .. } | Fault::TimedOut { .. }) => Outcome::Overloaded,
            Err(_) => Outcome::Other,
        });
        let now = self.clock.unix_ms();
        match &outcome {
            Err(Fault::Limited { wait, .. }) => self.breaker().limit(admission, now, *wait),
            Err(Fault::Failed { .. } | Fault::TimedOut { .. }) => {
                self.breaker().fail(admission, now);
            }
            // A refused key or request says nothing about the provider.
            Ok(_) | Err(Fault::InvalidKey { .. } | Fault::Refused { .. }) => {
                self.breaker().succeed(admission);
            }
        }
        outcome
    }

    fn admit(&self) -> Result<Admission, Fault> {
        let now = self.clock.unix_ms();
        let admission = self.breaker().admit(now).map_err(|open| {
            let seconds = open.wait.as_secs().max(1);
            if open.limited {
                Fault::Limited {
                    wait: Some(open.wait),
                    why: format!("rate limit reached; asked again in {seconds} s"),
                }
            } else {
                Fault::failed(format!("failed repeatedly; asked again in {seconds} s"))
            }
        })?;
        let Some(quota) = &self.quota else { return Ok(admission) };
        let taken = quota.lock().unwrap_or_else(PoisonError::into_inner).take(now);
        taken.map_err(|wait| {
            self.breaker().abandon(admission);
            Fault::Limited { wait: Some(wait), why: "its quota is used up".to_owned() }
        })?;
        Ok(admission)
    }

    /// About how long the provider takes until it has results.
    pub(super) fn cost(&self) -> f64 {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).cost()
    }

    fn note(&self, latency_ms: u64, found: bool) {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).add(latency_ms, found);
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose outcome is not yet known; a dropped one leaves the probe to the next.
struct Admitted<'a> {
    guard: &'a Guard,
    admission: Admission,
    reported: bool,
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        if !self.reported {
            self.guard.breaker().abandon(self.admission);
        }
    }
}

/// The shortest and the longest pause before a limited request is sent once more.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// How long to wait before a limited request is sent once more; nothing if the provider asks for longer. Many plans
/// allow one request per second.
fn short_pause(reply: &Reply) -> Option<Duration> {
    let [shortest, longest] = PAUSES;
    let pause = reply.retry_after.unwrap_or_default().max(shortest);
    (reply.status == 429 && pause <= longest).then_some(pause)
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchHits {
    /// Best first, each page once.
    pub hits: Vec<Hit>,
    /// What callers should know about the results.
    pub warnings: Vec<String>,
    /// Whether a provider failed that may answer soon.
    pub incomplete: bool,
}

/// A web provider that can be asked.
pub(super) struct Slot {
    provider: Box<dyn Provider>,
    api: Api,
    guard: Arc<Guard>,
}

impl Slot {
    pub(super) fn new(
        provider: Box<dyn Provider>,
        settings: &ProviderSettings,
        client: &Client,
        timeout: Duration,
        guard: Arc<Guard>,
    ) -> Option<Self> {
        let api = Api::new(client, provider.name(), settings.url.as_ref(), timeout)?;
        Some(Self { provider, api, guard })
    }

    pub(super) fn name(&self) -> ProviderName {
        self.provider.name()
    }

    pub(super) fn offers(&self, kind: Kind) -> bool {
        self.name().offers(kind)
    }

    pub(super) fn supported(&self, kind: Kind, query: &Query) -> Supported {
        self.provider.supported(kind, query)
    }

    pub(super) fn max_count(&self) -> usize {
        self.provider.max_count()
    }

    pub(super) fn cost(&self) -> f64 {
        self.guard.cost()
    }

    /// Asks the provider.
    pub(super) async fn search(&self, kind: Kind, query: &Query) -> Result<SearchHits, Fault> {
        let started = Instant::now();
        let outcome = self.guard.run(self.ask(kind, query)).await;
        let latency = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.guard.note(latency, outcome.as_ref().is_ok_and(|found| !found.hits.is_empty()));
        if let Err(fault) = &outcome {
            tracing::debug!(provider = %self.name(), why = fault.why(), "search provider gave no results");
        }
        outcome
    }

    async fn ask(&self, kind: Kind, query: &Query) -> Result<SearchHits, Fault> {
        let request = || self.provider.request(self.api.base(), kind, query);
        let mut reply = self.api.send(request(), query.now).await?;
        if let Some(pause) = short_pause(&reply) {
            tokio::time::sleep(pause).await;
            reply = self.api.send(request(), query.now).await?;
        }
        if let Some(fault) = self.provider.fault(&reply).or_else(|| reply.fault()) {
            return Err(fault);
        }
        let hits = self.provider.read(kind, &reply)?;
        let warnings = self.provider.warning(query, &reply).into_iter().collect();
        Ok(SearchHits { hits, warnings, incomplete: false })
    }
}
