//! Opens the database that the config names.

use std::path::Path;

use anyhow::anyhow;
use config::{Config, Environment};
use store::Database;

/// PostgreSQL if it is configured, otherwise the SQLite file of the data folder.
pub(crate) async fn open(
    config: &Config,
    environment: &Environment,
    data_dir: &Path,
) -> anyhow::Result<Database> {
    let url = config.storage.database_url(environment);
    let url = url.map_err(|(_, why)| anyhow!("storage.database {why}"))?;
    match url {
        // `check` runs on a temporary folder and must not touch the database of a running gateway.
        Some(url) if data_dir == config.data_dir => Ok(Database::connect(url.expose()).await?),
        _ => Ok(Database::open(data_dir).await?),
    }
}
