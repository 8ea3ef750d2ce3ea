//! A PostgreSQL database, which one gateway uses at a time.
//!
//! Every connection of a gateway holds an advisory lock in shared mode, and checks after taking it that this gateway is
//! still the recorded owner. A gateway that starts must get the same lock exclusively, for a moment, before it records
//! itself as the owner. So while one connection of a gateway lives no other gateway can start, and after another one
//! has started no connection of the first is usable, however connections and the server end.

use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::migrate::migrate;
use super::row::Row;
use super::{Connection, Dialect, STATEMENTS, query};
use crate::StoreError;

/// The advisory lock of a database's gateway; any number that other programs hardly use.
const GATEWAY_LOCK: i64 = 0x706f_7765_7273_7472;

/// Connections at most.
const MAX_CONNECTIONS: u32 = 10;

/// How long a statement waits for a connection, for instance while PostgreSQL restarts.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a start waits for the connections of a gateway that has just ended.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(3);

/// A connection that was idle for longer is tested before it is used.
const TRUSTED_IDLE: Duration = Duration::from_millis(100);

/// How often the connection that holds the lock is tested.
const PING: Duration = Duration::from_secs(5);

const OLDEST_VERSION: i64 = 15;

/// Connections to a PostgreSQL database that this gateway owns.
#[derive(Clone, Debug)]
pub(crate) struct Postgres {
    pool: PgPool,
    shared: Arc<Shared>,
    keeper: Arc<AbortOnDrop>,
}

/// What all connections have in common.
#[derive(Debug)]
struct Shared {
    /// The database without its password, for messages.
    name: String,
    /// Names this gateway in the database.
    owner: String,
    /// Whether another gateway has become the owner.
    taken_over: AtomicBool,
}

/// Ends a task when it is dropped: the one that holds a connection.
#[derive(Debug)]
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Postgres {
    pub(super) async fn connect(url: &str) -> Result<Self, StoreError> {
        let options = connect_options(url)?;
        let (host, port) = (options.get_host(), options.get_port());
        let name = format!("postgres://{host}:{port}/{}", options.get_database().unwrap_or(""));
        let shared = Arc::new(Shared {
            name,
            owner: Uuid::new_v4().to_string(),
            taken_over: AtomicBool::new(false),
        });
        let single = PgPoolOptions::new().max_connections(1).acquire_timeout(ACQUIRE_TIMEOUT);
        let open = |source: sqlx::Error| StoreError::Open {
            database: shared.name.clone(),
            source: source.into(),
        };
        let claiming = single.connect_with(options.clone()).await.map_err(open)?;
        let mut connection = Connection::Postgres(claiming.acquire().await.map_err(open)?);
        shared.claim(&mut connection).await?;

        let pool = shared.pool_options().connect_lazy_with(options);
        let held = pool.acquire().await.map_err(open)?;
        // The claim is held by a connection of the pool from here on.
        drop(connection);
        claiming.close().await;
        let keeper = Arc::new(AbortOnDrop(tokio::spawn(hold(pool.clone(), held)).abort_handle()));
        Ok(Self { pool, shared, keeper })
    }

    pub(super) async fn acquire(&self) -> Result<PoolConnection<sqlx::Postgres>, StoreError> {
        if !self.shared.taken_over.load(Ordering::Acquire) {
            match self.pool.acquire().await {
                Err(_) if self.shared.taken_over.load(Ordering::Acquire) => {}
                acquired => return Ok(acquired?),
            }
        }
        Err(StoreError::TakenOver { database: self.shared.name.clone() })
    }

    pub(super) async fn close(&self) {
        self.keeper.0.abort();
        self.pool.close().await;
    }
}

fn connect_options(url: &str) -> Result<PgConnectOptions, StoreError> {
    // The error of the parser may repeat the URL, and with it the password.
    let options = PgConnectOptions::from_str(url).map_err(|_| StoreError::BadUrl)?;
    // The server drops the connections, and with them the locks, of a gateway whose host is gone.
    let keepalive = [
        ("tcp_keepalives_idle", "15"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "3"),
        ("idle_in_transaction_session_timeout", "60s"),
    ];
    let options = options.application_name("powerstrip").options(keepalive);
    Ok(options.statement_cache_capacity(STATEMENTS).disable_statement_logging())
}

/// Holds one connection all the time, and with it the lock; replaces it when it breaks.
async fn hold(pool: PgPool, first: PoolConnection<sqlx::Postgres>) {
    let mut held = Some(first);
    while !pool.is_closed() {
        let Some(connection) = &mut held else {
            held = pool.acquire().await.ok();
            continue;
        };
        tokio::time::sleep(PING).await;
        match tokio::time::timeout(PING, connection.ping()).await {
            Ok(Ok(())) => {}
            _ => {
                connection.close_on_drop();
                held = None;
            }
        }
    }
}

fn is_locked(row: &Row) -> bool {
    row.get("locked").unwrap_or(false)
}

impl Shared {
    /// Makes this gateway the owner, and leaves the connection with the shared lock.
    async fn claim(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let begun = Instant::now();
        let lock = query("SELECT pg_try_advisory_lock($1) AS locked").bind(GATEWAY_LOCK);
        while !lock.rows(connection).await?.iter().any(is_locked) {
            if begun.elapsed() > CLAIM_TIMEOUT {
                return Err(StoreError::OtherGateway { database: self.name.clone() });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.check_server(connection).await?;
        query(Dialect::Postgres.begin()).execute(connection).await?;
        migrate(connection, Dialect::Postgres, &self.name).await?;
        query("UPDATE database_owner SET owner = $1").bind(&self.owner).execute(connection).await?;
        query("COMMIT").execute(connection).await?;
        let share = "SELECT pg_advisory_lock_shared($1) IS NULL AS shared, pg_advisory_unlock($1)";
        query(share).bind(GATEWAY_LOCK).rows(connection).await.map(drop)
    }

    async fn check_server(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let settings = "SELECT current_setting('server_version_num')::bigint / 10000 AS version, \
                        current_setting('server_encoding') AS encoding";
        let rows = query(settings).rows(connection).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let (version, encoding) = (row.get::<i64>("version")?, row.get::<String>("encoding")?);
        if version < OLDEST_VERSION || encoding != "UTF8" {
            let database = self.name.clone();
            return Err(StoreError::UnfitServer { database, version, encoding });
        }
        Ok(())
    }

    fn pool_options(self: &Arc<Self>) -> PgPoolOptions {
        let admitting = Arc::clone(self);
        PgPoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .max_lifetime(None)
            .test_before_acquire(false)
            .after_connect(move |connection, _| {
                let shared = Arc::clone(&admitting);
                Box::pin(async move { shared.admit(connection).await })
            })
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    if meta.idle_for > TRUSTED_IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
    }

    /// Takes the shared lock for a new connection, then checks that this gateway is still the owner.
    async fn admit(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let lock = "SELECT pg_try_advisory_lock_shared($1)";
        let locked: bool =
            sqlx::query_scalar(lock).bind(GATEWAY_LOCK).fetch_one(&mut *connection).await?;
        let owner: String =
            sqlx::query_scalar("SELECT owner FROM database_owner").fetch_one(connection).await?;
        if owner != self.owner {
            self.taken_over.store(true, Ordering::Release);
            tracing::error!(
                database = self.name,
                "another gateway has taken over the database; restart this one after stopping that one"
            );
        }
        if locked && owner == self.owner {
            return Ok(());
        }
        Err(sqlx::Error::Protocol("another gateway uses the database".to_owned()))
    }
}
