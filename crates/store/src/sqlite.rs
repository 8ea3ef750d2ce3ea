use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use proto::{Clock, Digest, TraceId};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteRow, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Connection as _, QueryBuilder, Row as _, SqlSafeStr as _};

use crate::audit::{AuditFilter, AuditRow, integer};
use crate::{StoreError, folder};

const DATABASE_FILE: &str = "powerstrip.db";

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What a writer left behind is of use only to its own retries, which do not come days later.
const WRITER_MARK_MS: u64 = 24 * 60 * 60 * 1000;

/// A SQLite file: one connection that writes, so that writers queue here and not at the file's lock, and a few that read.
#[derive(Clone, Debug)]
pub(crate) struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Sqlite {
    pub(crate) async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE_FILE);
        // SQLite gives its side files the mode of the database file, so this one line covers all of them.
        folder::open_private(&path)
            .map_err(|source| StoreError::Folder { path: path.clone(), source })?;
        let fault = |source| StoreError::Open { path: path.clone(), source };

        let options = SqliteConnectOptions::new()
            .filename(&path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            // Without it macOS only hands the data to the disk, which may still lose it.
            .pragma("fullfsync", "ON")
            .pragma("journal_size_limit", "67108864")
            .busy_timeout(BUSY_TIMEOUT)
            .disable_statement_logging();
        let pool = || {
            SqlitePoolOptions::new()
                .acquire_timeout(Duration::from_secs(10))
                .test_before_acquire(false)
        };
        let writer = pool()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options.clone())
            .await
            .map_err(fault)?;
        migrate(&writer, &path).await?;
        assert_durable(&writer, &path).await?;
        let readers = pool()
            .max_connections(4)
            .min_connections(0)
            .connect_lazy_with(options.pragma("query_only", "ON"));
        Ok(Self { writer, readers })
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

    pub(crate) async fn append_audit(
        &self,
        rows: &[AuditRow],
        writer: &str,
        written: u64,
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = insert_audit(&mut connection, rows, writer, written).await;
        settle(connection, result)
    }

    pub(crate) async fn audit_written(&self, writer: &str) -> Result<u64, StoreError> {
        let written: Option<i64> =
            sqlx::query_scalar("SELECT written FROM audit_writers WHERE writer = ?1")
                .bind(writer)
                .fetch_optional(&self.readers)
                .await?;
        Ok(unsigned(written.unwrap_or(0)))
    }

    pub(crate) async fn audit_rows(
        &self,
        filter: AuditFilter,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let mut query = QueryBuilder::new(
            "SELECT trace, at_ms, tenant, owner, agent, door, tool, version, definition, \
             arguments, decision, outcome, blame, duration_us FROM audit WHERE 1 = 1",
        );
        if let Some(trace) = filter.trace {
            query.push(" AND trace = ").push_bind(trace.to_string());
        }
        if let Some(tool) = filter.tool {
            query.push(" AND tool = ").push_bind(tool);
        }
        if let Some(outcome) = filter.outcome {
            query.push(" AND outcome = ").push_bind(outcome);
        }
        if let Some(since) = filter.since_unix_ms {
            query.push(" AND at_ms >= ").push_bind(integer(since));
        }
        query.push(" ORDER BY at_ms DESC, seq DESC LIMIT ").push_bind(i64::from(filter.limit));
        query.build().fetch_all(&self.readers).await?.iter().map(audit_row).collect()
    }

    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Gives a connection back after a transaction, unless that failed: on a full disk SQLite rolls back by itself,
/// and sqlx, which does not notice, could never begin another one.
fn settle(
    mut connection: PoolConnection<sqlx::Sqlite>,
    result: Result<(), sqlx::Error>,
) -> Result<(), StoreError> {
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

/// A statement that inserts so many audit rows.
struct Insert {
    rows: usize,
    sql: String,
}

/// Row by row would be a trip to SQLite's thread each, and a JSON array, taken apart in SQL, costs three times the CPU;
/// a few widths, so that any number of rows takes few statements and all of them stay prepared.
static INSERTS: LazyLock<[Insert; 5]> = LazyLock::new(|| {
    [256, 64, 16, 4, 1].map(|rows| {
        let sql = format!("INSERT INTO audit ({COLUMNS}) VALUES {}", vec![VALUES; rows].join(", "));
        Insert { rows, sql }
    })
});

const COLUMNS: &str = "trace, at_ms, tenant, owner, agent, door, tool, version, definition, \
    arguments, decision, outcome, blame, duration_us";

const VALUES: &str = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// The rows' values in the order of `COLUMNS`.
fn bound(rows: &[AuditRow]) -> Result<SqliteArguments, sqlx::Error> {
    let mut values = SqliteArguments::default();
    values.reserve(rows.len() * 14, 0);
    rows.iter().try_for_each(|row| bind(row, &mut values)).map_err(sqlx::Error::Encode)?;
    Ok(values)
}

fn bind(row: &AuditRow, values: &mut SqliteArguments) -> Result<(), BoxDynError> {
    values.add(trace_bytes(row.trace)?)?;
    values.add(integer(row.at_unix_ms))?;
    values.add(&row.tenant)?;
    values.add(&row.subject)?;
    values.add(&row.agent)?;
    values.add(&row.door)?;
    values.add(&row.tool)?;
    values.add(&row.version)?;
    values.add(row.definition.as_ref().map(|sum| sum.as_bytes().as_slice()))?;
    values.add(row.arguments.as_bytes().as_slice())?;
    values.add(&row.decision)?;
    values.add(&row.outcome)?;
    values.add(&row.blame)?;
    values.add(integer(row.duration_us))
}

async fn insert_audit(
    connection: &mut SqliteConnection,
    rows: &[AuditRow],
    writer: &str,
    written: u64,
) -> Result<(), sqlx::Error> {
    let now = Clock::default().unix_ms();
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let mut rest = rows;
    while let Some(insert) = INSERTS.iter().find(|insert| insert.rows <= rest.len()) {
        let (now, later) = rest.split_at(insert.rows);
        sqlx::query_with(insert.sql.as_str().into_sql_str(), bound(now)?).execute(&mut *transaction).await?;
        rest = later;
    }
    sqlx::query(
        "INSERT INTO audit_writers (writer, written, at_ms) VALUES (?1, ?2, ?3) \
         ON CONFLICT (writer) DO UPDATE SET written = excluded.written, at_ms = excluded.at_ms",
    )
    .bind(writer)
    .bind(integer(written))
    .bind(integer(now))
    .execute(&mut *transaction)
    .await?;
    if written == rows.len() as u64 {
        sqlx::query("DELETE FROM audit_writers WHERE at_ms < ?1")
            .bind(integer(now.saturating_sub(WRITER_MARK_MS)))
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}

fn migrations() -> Migrator {
    let first = include_str!("../migrations/sqlite/0001_first.sql").into_sql_str();
    Migrator::with_migrations(vec![Migration::new(
        1,
        "first".into(),
        MigrationType::Simple,
        first,
        false,
    )])
}

async fn migrate(writer: &SqlitePool, path: &Path) -> Result<(), StoreError> {
    let migrations = migrations();
    migrations.run(writer).await.map_err(|source| match source {
        MigrateError::VersionMissing(found) => StoreError::NewerDatabase {
            path: path.to_owned(),
            found,
            known: migrations.iter().map(|known| known.version).max().unwrap_or(0),
        },
        source => StoreError::Migration { path: path.to_owned(), source },
    })
}

/// Reads back what was asked for: SQLite answers a pragma that it cannot follow with silence.
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

fn audit_row(row: &SqliteRow) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        trace: parsed::<TraceId>("the trace id", row.try_get(0)?)?,
        at_unix_ms: unsigned(row.try_get(1)?),
        tenant: row.try_get(2)?,
        subject: row.try_get(3)?,
        agent: row.try_get(4)?,
        door: row.try_get(5)?,
        tool: row.try_get(6)?,
        version: row.try_get(7)?,
        definition: row
            .try_get::<Option<&str>, _>(8)?
            .map(|text| parsed::<Digest>("the definition's hash", text))
            .transpose()?,
        arguments: parsed::<Digest>("the arguments' hash", row.try_get(9)?)?,
        decision: row.try_get(10)?,
        outcome: row.try_get(11)?,
        blame: row.try_get(12)?,
        duration_us: unsigned(row.try_get(13)?),
    })
}

fn parsed<'a, T: Deserialize<'a>>(column: &'static str, text: &'a str) -> Result<T, StoreError> {
    T::deserialize(IntoDeserializer::<ValueError>::into_deserializer(text))
        .map_err(|_| StoreError::Unreadable { column, value: text.chars().take(100).collect() })
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
