use std::path::Path;

use crate::sql::Sql;
use crate::{StoreError, folder};

/// The database of a gateway. Each table's statements are in the file of that table.
#[derive(Clone, Debug)]
pub struct Database {
    pub(crate) sql: Sql,
}

impl Database {
    /// Opens the SQLite database in a data folder, creates both if need be, and brings the schema up to date.
    pub async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        folder::prepare(data_dir)?;
        Sql::open_sqlite(data_dir).await.map(|sql| Self { sql })
    }

    /// Connects to a PostgreSQL database, brings its schema up to date, and makes this process its only gateway.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Sql::connect_postgres(url).await.map(|sql| Self { sql })
    }

    /// Closes all connections, once the statements that are running have finished.
    pub async fn close(&self) {
        self.sql.close().await;
    }
}
