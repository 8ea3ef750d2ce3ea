use std::sync::Arc;
use std::time::Duration;

use proto::TraceId;
use tokio::time::Instant;

use super::terms::Holder;
use crate::upstream::Upstream;

/// A server that registered itself.
#[derive(Clone)]
pub(super) struct Holding {
    pub(super) holder: Holder,
    /// From its latest registration.
    pub(super) version: String,
    pub(super) since: Instant,
    pub(super) upstream: Arc<Upstream>,
    /// One lease for each replica; never empty.
    pub(super) leases: Vec<Lease>,
}

/// The right to be called at one URL, until it expires.
#[derive(Clone)]
pub(super) struct Lease {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) until: Instant,
}

impl Lease {
    pub(super) fn new(url: &str, lasts: Duration) -> Self {
        // Random, so that no process can renew the lease of another.
        let id = TraceId::random().to_string();
        Self { id, url: url.to_owned(), until: Instant::now() + lasts }
    }

    pub(super) fn renew(&mut self, lasts: Duration) {
        self.until = Instant::now() + lasts;
    }
}

/// The leases of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseStatus {
    /// From the server's latest registration.
    pub version: String,
    /// How long it has been registered without a break.
    pub age: Duration,
    pub replicas: Vec<ReplicaLease>,
}

/// The lease of one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaLease {
    pub url: String,
    pub expires_in: Duration,
}

impl Holding {
    pub(super) fn ends_first(&self) -> Option<Instant> {
        self.leases.iter().map(|lease| lease.until).min()
    }

    pub(super) fn status(&self) -> LeaseStatus {
        let now = Instant::now();
        let replicas = self.leases.iter().map(|lease| ReplicaLease {
            // A query may hold a key.
            url: lease.url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            expires_in: lease.until.saturating_duration_since(now),
        });
        LeaseStatus {
            version: self.version.clone(),
            age: self.since.elapsed(),
            replicas: replicas.collect(),
        }
    }
}
