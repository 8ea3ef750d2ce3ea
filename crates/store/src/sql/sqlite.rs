//! The SQLite file of a data folder.

use std::path::Path;
use std::time::{Duration, Instant};

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::migrate::migrate;
use super::{Connection, Dialect, STATEMENTS, Transaction, query};
use crate::StoreError;
use crate::folder::DATABASE_FILE;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How soon a locked database is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// One connection that writes, so that writers queue here and not at the file's lock, and a few that read.
#[derive(Clone, Debug)]
pub(crate) struct Sqlite {
    pub(crate) writer: SqlitePool,
    pub(super) readers: SqlitePool,
}

impl Sqlite {
    pub(super) async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE_FILE);
        // SQLite gives its side files the mode of the database file, so this line covers all of them.
        // The file may be a link to another disk, but no file is created through a link.
        if !path.exists() {
            userfiles::open_private(&path)
                .map_err(|source| StoreError::Folder { path: path.clone(), source })?;
        }

        let options = connect_options(&path);
        let name = path.display().to_string();
        let writer = open_writer(&options)
            .await
            .map_err(|source| StoreError::Open { database: name.clone(), source: source.into() })?;
        prepare(&writer, &name).await?;
        let readers =
            pool_options().max_connections(4).connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Self { writer, readers })
    }

    pub(super) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

fn connect_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // Without it, macOS leaves the data in the disk's cache, which may still lose it.
        .pragma("fullfsync", "ON")
        // In pages: a checkpoint waits for the disk, so a busy writer makes fewer and larger ones.
        .pragma("wal_autocheckpoint", "12000")
        // In bytes: the space that a burst needed is given back to the disk.
        .pragma("journal_size_limit", "67108864")
        .statement_cache_capacity(STATEMENTS)
        .busy_timeout(BUSY_TIMEOUT)
        .disable_statement_logging()
}

/// Opens the connection that writes. Switching to WAL needs an exclusive lock and bypasses `busy_timeout`: retry.
async fn open_writer(options: &SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let begun = Instant::now();
    let single = pool_options().max_connections(1).idle_timeout(None).max_lifetime(None);
    loop {
        match single.clone().connect_with(options.clone()).await {
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY_TIMEOUT => {
                tokio::time::sleep(RETRY).await;
            }
            opened => return opened,
        }
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    // The lowest byte is the primary result code: SQLITE_BUSY.
    code.is_some_and(|code| code & 0xff == 5)
}

fn pool_options() -> SqlitePoolOptions {
    SqlitePoolOptions::new().acquire_timeout(Duration::from_secs(10)).test_before_acquire(false)
}

/// Brings the schema up to date, in one transaction: a second process that opens a new database waits for the first.
async fn prepare(writer: &SqlitePool, database: &str) -> Result<(), StoreError> {
    let mut connection = Connection::Sqlite(writer.acquire().await?);
    assert_durable(&mut connection, database).await?;
    query(Dialect::Sqlite.begin()).execute(&mut connection).await?;
    let mut transaction = Transaction { connection, committed: false };
    let old = query("SELECT name FROM sqlite_master WHERE name = '_sqlx_migrations'");
    if !old.rows(transaction.connection()).await?.is_empty() {
        return Err(StoreError::OtherSchema { database: database.to_owned() });
    }
    migrate(transaction.connection(), Dialect::Sqlite, database).await?;
    transaction.commit().await
}

/// Reads the settings back: SQLite ignores a pragma that it cannot follow.
async fn assert_durable(connection: &mut Connection, database: &str) -> Result<(), StoreError> {
    let settings = "SELECT j.journal_mode, CAST(s.synchronous AS TEXT) AS synchronous \
                    FROM pragma_journal_mode AS j, pragma_synchronous AS s";
    let rows = query(settings).rows(connection).await?;
    for (pragma, expected) in [("journal_mode", "wal"), ("synchronous", "2")] {
        let found = rows.first().map(|row| row.get::<String>(pragma)).transpose()?;
        let found = found.unwrap_or_default();
        if found != expected {
            let database = database.to_owned();
            return Err(StoreError::NotDurable { database, pragma, expected, found });
        }
    }
    Ok(())
}

#[cfg(test)]
impl Sqlite {
    /// Opens the writing connection again, with a pragma that simulates a full disk or a read-only file.
    pub(crate) async fn break_writer(
        &self,
        data_dir: &Path,
        pragma: &'static str,
        value: &'static str,
    ) {
        let options = connect_options(&data_dir.join(DATABASE_FILE)).pragma(pragma, value);
        self.writer.set_connect_options(options);
        self.writer.acquire().await.expect("the connection").close().await.expect("to close it");
    }

    /// The next connection is a good one again.
    pub(crate) fn repair_writer(&self, data_dir: &Path) {
        self.writer.set_connect_options(connect_options(&data_dir.join(DATABASE_FILE)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn settings_that_would_lose_commits_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(DATABASE_FILE);
        userfiles::open_private(&path).unwrap();
        let check = async |options: SqliteConnectOptions| {
            let pool = SqlitePool::connect_with(options).await.unwrap();
            let mut connection = Connection::Sqlite(pool.acquire().await.unwrap());
            let result = assert_durable(&mut connection, "test").await;
            drop(connection);
            pool.close().await;
            result.map_err(|error| error.to_string())
        };
        let options = connect_options(&path);
        assert_eq!(check(options.clone()).await, Ok(()));
        let lax = check(options.clone().synchronous(SqliteSynchronous::Normal)).await.unwrap_err();
        assert!(lax.contains("`synchronous` is 1, not 2"), "{lax}");
        let old = check(options.journal_mode(SqliteJournalMode::Delete)).await.unwrap_err();
        assert!(old.contains("`journal_mode` is delete, not wal"), "{old}");
    }
}
