//! Sets up approvals of calls.

mod webhook;

use std::sync::Arc;

use approvals::{Approvals, Terms};
use config::Config;
use store::{CommitQueue, Database, StoreError};
use strip::Strip;
use tokio_util::sync::CancellationToken;

pub use webhook::Webhook;

/// Opens the approvals and ends those whose time is over, until the gateway ends.
pub(super) async fn open(
    config: &Config,
    strip: &Strip,
    database: Database,
    audit: CommitQueue,
    ending: &CancellationToken,
) -> Result<Arc<Approvals>, StoreError> {
    let approvals = Approvals::open(database, strip.clock().clone(), audit).await?;
    approvals.set_terms(terms(config, None));
    strip.set_approvals(Arc::clone(&approvals));
    let (tended, ending) = (Arc::clone(&approvals), ending.clone());
    tokio::spawn(async move { ending.run_until_cancelled(tended.tend()).await });
    Ok(approvals)
}

/// What the config says about approvals; `dashboard` is the address that callers are sent to.
pub fn terms(config: &Config, dashboard: Option<String>) -> Terms {
    let elicitation = config.auth.is_none() && config.approvals.elicitation.is_on();
    Terms { elicitation, dashboard, ..Terms::default() }
}
