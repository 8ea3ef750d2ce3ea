use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Principal, TenantId, TraceId, Via, digest};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use store::{AuditFilter, AuditRow, CommitQueue, Database};
use tempfile::TempDir;

/// The URL of a PostgreSQL server on which tests may create databases; `scripts/postgres run` sets it.
const SERVER: &str = "TEST_POSTGRES";

const POSTGRES: &str = "PostgreSQL; use `scripts/postgres run`";

/// An empty database on one of the two engines.
pub(crate) struct TestDatabase {
    folder: TempDir,
    /// None for SQLite.
    url: Option<String>,
}

impl TestDatabase {
    pub(crate) fn sqlite() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: None }
    }

    /// None, and a line in the output, without a server.
    pub(crate) async fn postgres() -> Option<Self> {
        let Ok(server) = std::env::var(SERVER) else {
            testkit::skip_without(POSTGRES);
            return None;
        };
        Some(Self::on_server(&server).await)
    }

    /// A new database on this server.
    pub(crate) async fn on_server(server: &str) -> Self {
        let name = format!("test_{}", TraceId::random().to_string().replace('-', ""));
        let mut connection = PgConnection::connect(server).await.unwrap();
        let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
        let (server, _) = server.rsplit_once('/').unwrap();
        let url = Some(format!("{server}/{name}"));
        Self { folder: tempfile::tempdir().unwrap(), url }
    }

    pub(crate) async fn open(&self) -> Database {
        self.try_open().await.unwrap()
    }

    pub(crate) async fn try_open(&self) -> Result<Database, store::StoreError> {
        match &self.url {
            None => Database::open(self.folder.path()).await,
            Some(url) => Database::connect(url).await,
        }
    }

    pub(crate) async fn started(&self) -> (Database, CommitQueue) {
        let database = self.open().await;
        let queue = CommitQueue::start(database.clone());
        (database, queue)
    }

    /// The database with these rows committed.
    pub(crate) async fn containing(&self, rows: &[AuditRow]) -> Database {
        let (database, queue) = self.started().await;
        for row in rows {
            queue.record(row.clone()).await.unwrap();
        }
        queue.close().await.unwrap();
        database
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Of two statements the one for this engine.
    pub(crate) fn pick(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        if self.url.is_none() { sqlite } else { postgres }
    }

    /// Executes statements without the store, as any other program would.
    pub(crate) async fn execute(&self, sql: &str) -> Result<(), sqlx::Error> {
        let sql = AssertSqlSafe(sql.to_owned());
        match &self.url {
            None => sqlx::raw_sql(sql).execute(&mut self.raw().await).await.map(drop),
            Some(url) => {
                let mut connection = PgConnection::connect(url).await?;
                sqlx::raw_sql(sql).execute(&mut connection).await.map(drop)
            }
        }
    }

    /// The number that a query selects.
    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        match &self.url {
            None => sqlx::query_scalar(sql).fetch_one(&mut self.raw().await).await.unwrap(),
            Some(url) => {
                let mut connection = PgConnection::connect(url).await.unwrap();
                sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
            }
        }
    }

    async fn raw(&self) -> SqliteConnection {
        let file = self.folder().join("powerstrip.db");
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(file)).await.unwrap()
    }
}

/// A PostgreSQL server of its own, which a test may stop and start.
pub(crate) struct Server {
    folder: std::path::PathBuf,
    pub(crate) url: String,
}

impl Server {
    /// None, and a line in the output, without PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        if std::env::var_os(SERVER).is_none() {
            testkit::skip_without(POSTGRES);
            return None;
        }
        let folder = std::env::temp_dir().join(format!("postgres.{}", TraceId::random()));
        let started = script().arg("start").arg(&folder).output().unwrap();
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let url = String::from_utf8(started.stdout).unwrap().trim().to_owned();
        Some(Self { folder, url })
    }

    /// Stops the server in a mode of `pg_ctl` and starts it again.
    pub(crate) fn restart(&self, mode: &str) {
        let status = script().arg("restart").arg(&self.folder).arg(mode).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = script().arg("stop").arg(&self.folder).status();
    }
}

fn script() -> Command {
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres"))
}

/// Makes two tests of each function, one for each engine.
macro_rules! on_both_engines {
    ($($(#[$attribute:meta])* async fn $name:ident($test:ident) $body:block)*) => {$(
        $(#[$attribute])*
        async fn $name($test: &crate::support::TestDatabase) $body

        mod $name {
            #[tokio::test]
            async fn sqlite() {
                super::$name(&crate::support::TestDatabase::sqlite()).await;
            }

            #[tokio::test]
            async fn postgres() {
                if let Some(test) = crate::support::TestDatabase::postgres().await {
                    super::$name(&test).await;
                }
            }
        }
    )*};
}
pub(crate) use on_both_engines;

pub(crate) fn principal(subject: &str, agent: Option<&str>) -> Principal {
    Principal {
        tenant: TenantId::new("acme"),
        subject: subject.to_owned(),
        agent: agent.map(str::to_owned),
        scopes: Vec::new(),
        via: Via::Local,
    }
}

pub(crate) fn row(at_unix_ms: u64) -> AuditRow {
    AuditRow {
        trace: TraceId::random(),
        at_unix_ms,
        caller: Arc::new(principal("someone@example.com", Some("research"))),
        door: "mcp".into(),
        tool: "server:tool".into(),
        version: "1.2.3".into(),
        definition: Some(digest(b"definition")),
        arguments: digest(b"{}"),
        decision: "ran".into(),
        outcome: "OK".into(),
        blame: None,
        duration_us: 1234,
    }
}

pub(crate) async fn all_rows(database: &Database) -> Vec<AuditRow> {
    let filter = AuditFilter { limit: u32::MAX, ..AuditFilter::default() };
    database.audit_rows(filter).await.unwrap()
}

pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut condition: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition().await {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Random bytes for an id.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let bytes = [TraceId::random(), TraceId::random()].map(|id| *id.as_bytes()).concat();
    bytes[..N].try_into().unwrap()
}
