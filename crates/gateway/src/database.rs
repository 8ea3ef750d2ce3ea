//! Opens the database that the config names.

use std::path::Path;

use config::Loaded;
use store::Database;

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
