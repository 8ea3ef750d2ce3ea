//! The entry point: [`Research`] and what one call brings along.

use std::sync::Arc;

use egress::browser::Browser;
use egress::http::Client;
use proto::{Clock, Failure};
use reading::Readers;
use tokio_util::sync::CancellationToken;

use crate::cache::Caches;
use crate::flights::Flights;
use crate::scrape::page::Page;
use crate::sessions::Sessions;
use crate::settings::Settings;

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
}

/// The web tools; clones share caches, sessions and circuit breakers.
#[derive(Clone)]
pub struct Research(Arc<Shared>);

/// What all calls share.
pub(crate) struct Shared {
    pub(crate) parts: Parts,
    /// Pages that are being read.
    pages: Flights<Result<Arc<Page>, Failure>>,
}

impl Research {
    /// Tools over these parts. Opens no connection and starts no process.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Shared { parts, pages: Flights::default() }))
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0.parts
    }

    pub(crate) fn flights(&self) -> &Flights<Result<Arc<Page>, Failure>> {
        &self.0.pages
    }
}

/// Who calls, and where progress goes.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub tenant: &'a str,
    pub subject: &'a str,
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
    pub cancel: &'a CancellationToken,
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub done: usize,
    pub total: Option<usize>,
    pub message: String,
}
