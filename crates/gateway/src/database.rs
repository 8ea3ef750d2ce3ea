//! Opens the database that the config names.

use std::path::Path;

use config::Loaded;
use store::{CommitQueue, Database, StoreError};

/// PostgreSQL if it is configured, otherwise the SQLite file of the data folder.
pub async fn open(loaded: &Loaded, data_dir: &Path) -> anyhow::Result<Database> {
    match loaded.database_url()? {
        // `check` runs on a temporary folder and must not touch the database of a running gateway.
        Some(url) if data_dir == loaded.config.data_dir => {
            Ok(Database::connect(url.expose()).await?)
        }
        _ => Ok(Database::open(data_dir).await?),
    }
}

/// Writes what the last process could not write, and lists the calls that it interrupted.
pub(super) async fn recover(database: &Database, folder: &Path) -> Result<(), StoreError> {
    let recovered = CommitQueue::recover(database, folder).await?;
    if recovered > 0 {
        tracing::info!(
            rows = recovered,
            "wrote the rows that the last process could not write before it ended"
        );
    }
    let interrupted = database.close_interrupted_calls().await?;
    if interrupted > 0 {
        tracing::warn!(
            "{interrupted} calls were running when the gateway last ended; the audit trail lists them as `interrupted`"
        );
    }
    Ok(())
}
