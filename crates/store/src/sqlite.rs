use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::Clock;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, SqlSafeStr as _};

use crate::folder::{self, DATABASE_FILE};
use crate::trail::Entry;
use crate::{
    AuditCount, AuditFilter, AuditPage, KeyRow, Pin, PinnedDefinition, QuestionRow, RunCallRow,
    RunFilter, RunName, RunRow, ServerNameRow, Settlement, StoreError, VaultPlace, VaultRow,
};
use calls::Untrimmed;
use kinds::Kinds;

mod approvals;
mod audit;
mod calls;
mod files;
mod keys;
mod kinds;
mod names;
mod pins;
mod references;
mod runs;
mod vault;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How soon a database that was locked is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// A SQLite file: one connection that writes, so that writers queue here and not at the file's lock, and a few that read.
#[derive(Clone, Debug)]
pub(crate) struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    kinds: Arc<Kinds>,
    untrimmed: Arc<Untrimmed>,
}

impl Sqlite {
    pub(crate) async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE_FILE);
        // SQLite gives its side files the mode of the database file, so this one line covers all of them.
        folder::open_private(&path)
            .map_err(|source| StoreError::Folder { path: path.clone(), source })?;

        let options = connect_options(&path);
        let writer = writer(&options)
            .await
            .map_err(|source| StoreError::Open { path: path.clone(), source })?;
        migrate(&writer, &path).await?;
        assert_durable(&writer, &path).await?;
        let readers =
            pool_options().max_connections(4).connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Self { writer, readers, kinds: Arc::default(), untrimmed: Arc::default() })
    }

    pub(crate) async fn wire_names(&self) -> Result<Vec<(String, String)>, StoreError> {
        Ok(sqlx::query_as("SELECT tool_key, wire_name FROM wire_names ORDER BY tool_key")
            .fetch_all(&self.readers)
            .await?)
    }

    pub(crate) async fn save_wire_names(
        &self,
        pairs: &[(String, String)],
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = replace_wire_names(&mut connection, pairs).await;
        settle(connection, result)
    }

    pub(crate) async fn server_list(&self, server: &str) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar("SELECT list FROM server_lists WHERE server = ?1")
            .bind(server)
            .fetch_optional(&self.readers)
            .await?)
    }

    pub(crate) async fn save_server_list(
        &self,
        server: &str,
        list: &str,
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = sqlx::query(
            "INSERT INTO server_lists (server, list) VALUES (?1, ?2) \
             ON CONFLICT (server) DO UPDATE SET list = excluded.list",
        )
        .bind(server)
        .bind(list)
        .execute(&mut *connection)
        .await;
        settle(connection, result.map(drop))
    }

    pub(crate) async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        keys::all(&self.readers).await
    }

    pub(crate) async fn add_key(&self, key: &KeyRow) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = keys::insert(&mut connection, key).await;
        settle(connection, result)
    }

    pub(crate) async fn revoke_key(&self, id: &str, at_unix_ms: u64) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = keys::revoke(&mut connection, id, at_unix_ms).await;
        settle(connection, result)
    }

    pub(crate) async fn key_used(&self, id: &str, at_unix_ms: u64) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = keys::used(&mut connection, id, at_unix_ms).await;
        settle(connection, result)
    }

    pub(crate) async fn server_names(&self) -> Result<Vec<ServerNameRow>, StoreError> {
        names::all(&self.readers).await
    }

    pub(crate) async fn hold_server_name(&self, row: &ServerNameRow) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = names::hold(&mut connection, row).await;
        settle(connection, result)
    }

    pub(crate) async fn release_server_name(&self, name: &str) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = names::release(&mut connection, name).await;
        settle(connection, result)
    }

    pub(crate) async fn pins(&self) -> Result<Vec<Pin>, StoreError> {
        pins::all(&self.readers).await
    }

    pub(crate) async fn pinned_definition(
        &self,
        server: &str,
        tool: &str,
    ) -> Result<Option<String>, StoreError> {
        pins::definition(&self.readers, server, tool).await
    }

    pub(crate) async fn save_pins(
        &self,
        pins: &[PinnedDefinition],
        approved: bool,
    ) -> Result<(), StoreError> {
        let now = i64::try_from(Clock::default().unix_ms()).unwrap_or(i64::MAX);
        let mut connection = self.writer.acquire().await?;
        let result = pins::save(&mut connection, pins, approved, now).await;
        settle(connection, result)
    }

    pub(crate) async fn vault_rows(
        &self,
        kind: &'static str,
        server: &str,
    ) -> Result<Vec<VaultRow>, StoreError> {
        vault::rows(&self.readers, kind, server).await
    }

    pub(crate) async fn save_vault_row(&self, row: &VaultRow) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = vault::save(&mut connection, row).await;
        settle(connection, result)
    }

    pub(crate) async fn remove_vault_row(&self, place: &VaultPlace) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = vault::remove(&mut connection, place).await;
        settle(connection, result)
    }

    pub(crate) async fn append_entries(
        &self,
        entries: &[Entry],
        writer: &str,
        written: u64,
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = audit::insert(&mut connection, &self.kinds, entries, writer, written).await;
        if result.is_ok() {
            self.untrimmed.add(&mut connection, entries).await;
        }
        settle(connection, result)
    }

    pub(crate) async fn audit_written(&self, writer: &str) -> Result<u64, StoreError> {
        audit::written(&self.readers, writer).await
    }

    pub(crate) async fn audit_page(&self, filter: AuditFilter) -> Result<AuditPage, StoreError> {
        audit::page(&self.readers, filter).await
    }

    pub(crate) async fn audit_counts(
        &self,
        tenant: Option<&str>,
        since_unix_ms: u64,
        stretch_ms: u64,
    ) -> Result<Vec<AuditCount>, StoreError> {
        audit::counts(&self.readers, tenant, since_unix_ms, stretch_ms).await
    }

    pub(crate) async fn save_runs(
        &self,
        runs: &[RunRow],
        calls: &[RunCallRow],
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = runs::save(&mut connection, runs, calls).await;
        settle(connection, result)
    }

    pub(crate) async fn ask_question(
        &self,
        run: &RunRow,
        question: &QuestionRow,
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = runs::ask(&mut connection, run, question).await;
        settle(connection, result)
    }

    pub(crate) async fn settle_question(
        &self,
        settlement: Settlement<'_>,
    ) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = runs::settle_question(&mut connection, settlement).await;
        settle(connection, result)
    }

    pub(crate) async fn forget_runs(&self, before_unix_ms: u64) -> Result<u64, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = runs::forget(&mut connection, before_unix_ms).await;
        settle(connection, result)
    }

    pub(crate) async fn run_named(&self, name: RunName<'_>) -> Result<Option<RunRow>, StoreError> {
        runs::by_name(&self.readers, name).await
    }

    pub(crate) async fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        runs::by_id(&self.readers, id).await
    }

    pub(crate) async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        runs::list(&self.readers, filter).await
    }

    pub(crate) async fn run_calls(&self, run: &str) -> Result<Vec<RunCallRow>, StoreError> {
        runs::calls(&self.readers, run).await
    }

    pub(crate) async fn run_questions(&self, run: &str) -> Result<Vec<QuestionRow>, StoreError> {
        runs::questions(&self.readers, run).await
    }

    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

fn connect_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // Without it macOS only hands the data to the disk, which may still lose it.
        .pragma("fullfsync", "ON")
        // In pages: a checkpoint waits for the disk, so a busy trail makes fewer and larger ones.
        .pragma("wal_autocheckpoint", "4000")
        // In bytes: what a burst leaves behind is given back to the disk.
        .pragma("journal_size_limit", "67108864")
        .busy_timeout(BUSY_TIMEOUT)
        .disable_statement_logging()
}

/// Opens the one connection that writes. Whoever opens a database first changes how its journal is kept, for which
/// nobody else may look at it; those who come at the same moment are told at once that it is locked, however long they
/// would wait.
async fn writer(options: &SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let begun = Instant::now();
    let alone = pool_options().max_connections(1).idle_timeout(None).max_lifetime(None);
    loop {
        match alone.clone().connect_with(options.clone()).await {
            Err(error) if is_locked(&error) && begun.elapsed() < BUSY_TIMEOUT => {
                tokio::time::sleep(RETRY).await;
            }
            opened => return opened,
        }
    }
}

fn is_locked(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    // The lowest byte of a code says what it is, the others more about it.
    code.is_some_and(|code| code & 0xff == 5)
}

fn pool_options() -> SqlitePoolOptions {
    SqlitePoolOptions::new().acquire_timeout(Duration::from_secs(10)).test_before_acquire(false)
}

fn migrations() -> Migrator {
    let first = include_str!("../migrations/sqlite/0001_first.sql").into_sql_str();
    let lists = include_str!("../migrations/sqlite/0002_server_lists.sql").into_sql_str();
    let vault = include_str!("../migrations/sqlite/0004_vault.sql").into_sql_str();
    let keys = include_str!("../migrations/sqlite/0003_keys.sql").into_sql_str();
    let simple = |version, name: &'static str, sql| {
        Migration::new(version, name.into(), MigrationType::Simple, sql, false)
    };
    let pins = include_str!("../migrations/sqlite/0005_pins.sql").into_sql_str();
    let kinds = include_str!("../migrations/sqlite/0006_audit_kinds.sql").into_sql_str();
    let names = include_str!("../migrations/sqlite/0007_server_names.sql").into_sql_str();
    let files = include_str!("../migrations/sqlite/0008_files.sql").into_sql_str();
    let runs = include_str!("../migrations/sqlite/0010_runs.sql").into_sql_str();
    let foreign = include_str!("../migrations/sqlite/0011_foreign_refs.sql").into_sql_str();
    let callers = include_str!("../migrations/sqlite/0012_callers_references.sql").into_sql_str();
    let approvals = include_str!("../migrations/sqlite/0009_approvals.sql").into_sql_str();
    let calls = include_str!("../migrations/sqlite/0013_calls.sql").into_sql_str();
    let code = include_str!("../migrations/sqlite/0014_approved_code.sql").into_sql_str();
    Migrator::with_migrations(vec![
        simple(1, "first", first),
        simple(2, "server lists", lists),
        simple(3, "keys", keys),
        simple(4, "vault", vault),
        simple(5, "pins", pins),
        simple(6, "audit kinds", kinds),
        simple(7, "server names", names),
        simple(8, "files", files),
        simple(10, "runs", runs),
        simple(11, "references of servers", foreign),
        simple(12, "references of callers", callers),
        simple(9, "approvals", approvals),
        simple(13, "calls", calls),
        simple(14, "approved code", code),
    ])
}

/// Applies what is missing in one transaction, so that of two who open a new database the second waits for the first.
async fn migrate(writer: &SqlitePool, path: &Path) -> Result<(), StoreError> {
    let fault = |source| StoreError::Open { path: path.to_owned(), source };
    let migrations = migrations();
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await.map_err(fault)?;
    // `run` says the same, but in a future that no task could take with it to another thread.
    migrations.run_direct(None, &mut *transaction, false).await.map_err(|source| match source {
        MigrateError::VersionMissing(found) => StoreError::NewerDatabase {
            path: path.to_owned(),
            found,
            known: migrations.iter().map(|known| known.version).max().unwrap_or(0),
        },
        source => StoreError::Migration { path: path.to_owned(), source },
    })?;
    transaction.commit().await.map_err(fault)
}

/// Reads back what was asked for: SQLite passes over a pragma that it cannot follow.
async fn assert_durable(writer: &SqlitePool, path: &Path) -> Result<(), StoreError> {
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(writer).await?;
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(writer).await?;
    for (pragma, expected, found) in
        [("journal_mode", "wal", journal), ("synchronous", "2", synchronous.to_string())]
    {
        if found != expected {
            return Err(StoreError::NotDurable { path: path.to_owned(), pragma, expected, found });
        }
    }
    Ok(())
}

/// Gives a connection back after a transaction, unless that failed: after a fault of the disk SQLite may roll back by
/// itself, and sqlx, which does not notice, could never begin another one.
fn settle<T>(
    mut connection: PoolConnection<sqlx::Sqlite>,
    result: Result<T, sqlx::Error>,
) -> Result<T, StoreError> {
    if result.is_err() {
        connection.close_on_drop();
    }
    Ok(result?)
}

async fn replace_wire_names(
    connection: &mut SqliteConnection,
    pairs: &[(String, String)],
) -> Result<(), sqlx::Error> {
    let json = serde_json::json!(pairs).to_string();
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    // All old names go first, so that two tools may swap theirs.
    sqlx::query("DELETE FROM wire_names WHERE tool_key IN (SELECT value ->> 0 FROM json_each(?1))")
        .bind(&json)
        .execute(&mut *transaction)
        .await?;
    sqlx::query(
        "INSERT INTO wire_names (tool_key, wire_name) \
         SELECT value ->> 0, value ->> 1 FROM json_each(?1)",
    )
    .bind(&json)
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await
}

#[cfg(test)]
impl Sqlite {
    /// Opens the writing connection anew, with a pragma that makes the disk look full or the file read-only.
    pub(crate) async fn hamper(&self, data_dir: &Path, pragma: &'static str, value: &'static str) {
        let options = connect_options(&data_dir.join(DATABASE_FILE)).pragma(pragma, value);
        self.writer.set_connect_options(options);
        self.writer.acquire().await.expect("the connection").close().await.expect("to close it");
    }

    /// Lets the next connection be a good one, whenever it is made.
    pub(crate) fn relieve(&self, data_dir: &Path) {
        self.writer.set_connect_options(connect_options(&data_dir.join(DATABASE_FILE)));
    }
}

#[cfg(test)]
mod tests;
