//! The entry point: [`Research`] and what one call brings along.

use std::sync::Arc;

use egress::http::Client;
use proto::Clock;
use tokio_util::sync::CancellationToken;

use crate::cache::Caches;
use crate::sessions::Sessions;
use crate::settings::Settings;

/// What the tools work with.
pub struct Parts {
    /// All outbound requests; its policy decides about addresses.
    pub client: Client,
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
}

impl Research {
    /// Tools over these parts. Opens no connection and starts no process.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Shared { parts }))
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0.parts
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
