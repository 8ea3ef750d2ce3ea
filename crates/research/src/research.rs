//! The entry point: [`Research`] and what one call brings along.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use egress::browser::Browser;
use egress::http::Client;
use futures_util::FutureExt as _;
use proto::{Clock, Code, Digest, Failure};
use reading::Readers;
use search::pace::Hosts;
use search::router::{Guards, Router};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::academic::Academic;
use crate::cache::Caches;
use crate::flights::Flights;
use crate::scrape::page::Page;
use crate::sessions::Sessions;
use crate::settings::Settings;

/// How long an answer is kept that lacks what a failing provider would have added.
pub(crate) const INCOMPLETE_TTL: Duration = Duration::from_secs(2 * 60);

/// What the tools work with.
pub struct Parts {
    /// All outbound requests; its policy decides about addresses.
    pub client: Client,
    /// Renders pages that need scripts; `None` if the operator has switched it off.
    pub browser: Option<Arc<Browser>>,
    /// Read what is fetched, in confined processes.
    pub readers: Readers,
    pub settings: Settings,
    pub clock: Clock,
    pub caches: Arc<dyn Caches>,
    pub sessions: Arc<dyn Sessions>,
    pub guards: Arc<Guards>,
}

/// The web tools; clones share caches, sessions and circuit breakers.
#[derive(Clone)]
pub struct Research(Arc<Shared>);

/// What all calls share.
pub(crate) struct Shared {
    pub(crate) parts: Parts,
    /// Pages that are being read.
    pages: Flights<Result<Arc<Page>, Failure>>,
    /// Searches that are under way.
    searches: Flights<Result<Bytes, Failure>>,
    router: Router,
    /// Google engines of lenses, by `cx`.
    engines: HashMap<String, Router>,
    academic: Academic,
    /// How many pages of a host are read at once.
    hosts: Hosts,
}

impl Research {
    /// Tools over these parts. Opens no connection and starts no process.
    pub fn new(parts: Parts) -> Self {
        let (settings, client, clock) = (&parts.settings, &parts.client, &parts.clock);
        let (search, timeout) = (&settings.search, settings.timeouts.search);
        let guards = &parts.guards;
        let engines = settings.lenses.iter().filter_map(|lens| {
            let cx = lens.cx.as_deref()?;
            Some((cx.to_owned(), Router::for_engine(cx, search, client, timeout, clock, guards)?))
        });
        Self(Arc::new(Shared {
            pages: Flights::default(),
            searches: Flights::default(),
            router: Router::new(search, client, timeout, clock, guards),
            engines: engines.collect(),
            academic: Academic::new(settings, client, clock, guards),
            hosts: Hosts::default(),
            parts,
        }))
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// Removes expired sessions; adapters call it now and then.
    pub async fn sweep(&self) {
        self.0.parts.sessions.sweep().await;
    }

    pub(crate) fn router(&self) -> &Router {
        &self.0.router
    }

    /// The router of a lens with a Google engine, if there is a Google key.
    pub(crate) fn engine_router(&self, cx: &str) -> Option<&Router> {
        self.0.engines.get(cx)
    }

    pub(crate) fn hosts(&self) -> &Hosts {
        &self.0.hosts
    }

    pub(crate) fn academic(&self) -> &Academic {
        &self.0.academic
    }

    /// The kept answer of a search, or a new one that is then kept. Equal searches in flight share one.
    pub(crate) async fn cached<T, F>(
        &self,
        key: Digest,
        ttl: Duration,
        make: impl FnOnce(Self) -> F,
    ) -> Result<T, Failure>
    where
        T: Serialize + DeserializeOwned + Send,
        F: Future<Output = Result<T, Failure>> + Send + 'static,
    {
        let make = |research| {
            let making = make(research);
            async move { making.await.map(|made| (made, ttl)) }
        };
        self.cached_with_ttl(key, make).await
    }

    /// Like `cached`, for answers that come with their own lifetime.
    pub(crate) async fn cached_with_ttl<T, F>(
        &self,
        key: Digest,
        make: impl FnOnce(Self) -> F,
    ) -> Result<T, Failure>
    where
        T: Serialize + DeserializeOwned + Send,
        F: Future<Output = Result<(T, Duration), Failure>> + Send + 'static,
    {
        let caches = &self.0.parts.caches;
        let kept = caches.get(&key).await;
        // may fail: what another version cached is fetched again.
        if let Some(kept) = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return Ok(kept);
        }
        let flight = self.0.searches.join(key, || {
            let making = make(self.clone());
            let caches = Arc::clone(caches);
            async move {
                let (made, ttl) = making.await?;
                let made: Bytes = serde_json::to_vec(&made).map_err(unreadable)?.into();
                caches.put(&key, made.clone(), ttl).await;
                Ok(made)
            }
            .boxed()
        });
        serde_json::from_slice(&flight.await?).map_err(unreadable)
    }

    pub(crate) fn flights(&self) -> &Flights<Result<Arc<Page>, Failure>> {
        &self.0.pages
    }
}

fn unreadable(error: serde_json::Error) -> Failure {
    Failure::new(Code::Internal, "The answer could not be stored.").caused_by(error)
}

/// The caller, and where progress goes.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub tenant: &'a str,
    pub subject: &'a str,
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
    pub cancel: &'a CancellationToken,
}

impl Call<'_> {
    /// Runs work until it is done or the call is cancelled.
    pub(crate) async fn run<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match self.cancel.run_until_cancelled(work).await {
            Some(outcome) => outcome,
            None => {
                Err(Failure::new(Code::Unavailable, "The call was cancelled.").retryable(false))
            }
        }
    }
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub done: usize,
    pub total: Option<usize>,
    pub message: String,
}
