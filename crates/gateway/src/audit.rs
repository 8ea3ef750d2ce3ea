//! What is kept of calls in addition to their audit rows: which secrets are removed, and how long it stays.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use config::{Config, Payloads};
use proto::{Clock, Scrubber};
use store::Database;
use strip::Strip;

/// How often what is too old is deleted.
const SWEEP_EVERY: Duration = Duration::from_secs(10 * 60);

/// Deletes the details of old calls.
pub(super) struct AuditRetention {
    database: Database,
    keep_ms: AtomicU64,
}

impl AuditRetention {
    pub(super) fn new(database: &Database) -> Self {
        Self { database: database.clone(), keep_ms: AtomicU64::new(u64::MAX) }
    }

    /// Applies a config, whose secrets the scrubber removes.
    pub(super) fn apply(&self, strip: &Strip, config: &Config, secrets: Scrubber) {
        let keep = u64::try_from(config.audit.keep.0.as_millis()).unwrap_or(u64::MAX);
        self.keep_ms.store(keep, Ordering::Relaxed);
        strip.set_payloads(config.audit.payloads == Payloads::Redacted);
        strip.set_secrets(secrets);
    }

    /// Deletes what is too old, again and again.
    pub(super) async fn sweep_forever(&self, clock: &Clock) {
        let mut ticks = tokio::time::interval(SWEEP_EVERY);
        loop {
            ticks.tick().await;
            let keep = self.keep_ms.load(Ordering::Relaxed);
            let before = clock.unix_ms().saturating_sub(keep);
            if let Err(error) = self.database.sweep_call_details(before).await {
                tracing::warn!(%error, "the details of old calls could not be deleted");
            }
        }
    }
}
