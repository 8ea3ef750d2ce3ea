//! The only code that knows `sqlx`: one set of statements on two engines, SQLite and PostgreSQL.
//!
//! Statements are written once, with `$1` placeholders and typed values; rows are read by column name. What the engines
//! do not have in common is in `dialect`.

mod batch;
mod dialect;
mod error;
mod migrate;
mod postgres;
mod query;
mod row;
mod sqlite;

use std::path::Path;

use futures_util::future::BoxFuture;
use sqlx::pool::PoolConnection;

pub(crate) use batch::Batch;
pub(crate) use dialect::Dialect;
pub use error::SqlError;
use postgres::Postgres;
pub(crate) use query::{Query, Value, query, value_rows};
pub(crate) use row::Row;
pub(crate) use sqlite::Sqlite;

use crate::StoreError;

/// How often a transaction is repeated that the database rolled back because of another one.
pub(crate) const MAX_CONFLICTS: u32 = 5;

/// How many prepared statements a connection keeps: those of the writer, in all their widths, and more.
const STATEMENTS: usize = 256;

/// Connections to one database.
#[derive(Clone, Debug)]
pub(crate) enum Sql {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// One connection, borrowed from its pool.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(PoolConnection<sqlx::Sqlite>),
    Postgres(PoolConnection<sqlx::Postgres>),
}

/// A transaction. Dropping it without a commit rolls it back.
#[derive(Debug)]
pub(crate) struct Transaction {
    connection: Connection,
    committed: bool,
}

/// Runs the same expression on the connection of either engine.
macro_rules! dispatch {
    ($connection:expr, |$inner:ident| $run:expr) => {
        match $connection {
            Connection::Sqlite($inner) => $run,
            Connection::Postgres($inner) => $run,
        }
    };
}
use dispatch;

/// Runs statements in one transaction, and again if the database rolled it back to resolve a conflict. The body may use
/// `?` and must not have effects outside of the transaction.
macro_rules! in_transaction {
    ($sql:expr, |$transaction:ident| $body:expr) => {{
        let mut conflicts = 0;
        loop {
            let result: Result<_, $crate::StoreError> = async {
                let mut $transaction = $sql.begin().await?;
                let value = $body;
                $transaction.commit().await?;
                Ok(value)
            }
            .await;
            match result {
                Err(error) if error.is_conflict() && conflicts < $crate::sql::MAX_CONFLICTS => {
                    conflicts += 1;
                }
                result => break result,
            }
        }
    }};
}
pub(crate) use in_transaction;

impl Sql {
    /// Opens or creates the SQLite file of a data folder.
    pub(crate) async fn open_sqlite(data_dir: &Path) -> Result<Self, StoreError> {
        Sqlite::open(data_dir).await.map(Self::Sqlite)
    }

    /// Connects to a PostgreSQL database and becomes its only gateway.
    pub(crate) async fn connect_postgres(url: &str) -> Result<Self, StoreError> {
        Postgres::connect(url).await.map(Self::Postgres)
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// A connection that may write. Boxed to keep the futures of callers small.
    pub(crate) fn writer(&self) -> BoxFuture<'_, Result<Connection, StoreError>> {
        Box::pin(async move {
            match self {
                Self::Sqlite(sqlite) => Ok(Connection::Sqlite(sqlite.writer.acquire().await?)),
                Self::Postgres(postgres) => postgres.acquire().await.map(Connection::Postgres),
            }
        })
    }

    fn reader(&self) -> BoxFuture<'_, Result<Connection, StoreError>> {
        Box::pin(async move {
            match self {
                Self::Sqlite(sqlite) => Ok(Connection::Sqlite(sqlite.readers.acquire().await?)),
                Self::Postgres(postgres) => postgres.acquire().await.map(Connection::Postgres),
            }
        })
    }

    /// Begins a transaction that may write. SQLite takes its write lock now, so that the transaction cannot fail later
    /// because another one was faster.
    pub(crate) async fn begin(&self) -> Result<Transaction, StoreError> {
        let connection = self.writer().await?;
        let mut transaction = Transaction { connection, committed: false };
        query(self.dialect().begin()).execute(&mut transaction.connection).await?;
        Ok(transaction)
    }

    /// Executes one statement on its own; returns how many rows it changed.
    pub(crate) async fn execute(&self, statement: Query<'_>) -> Result<u64, StoreError> {
        let mut connection = self.writer().await?;
        statement.execute(&mut connection).await
    }

    /// Like `execute`, for a statement that checks a limit before it inserts: on PostgreSQL, statements with the same
    /// lock run one after the other. SQLite has one writer anyway.
    pub(crate) async fn execute_locked(
        &self,
        lock: &str,
        statement: Query<'_>,
    ) -> Result<u64, StoreError> {
        in_transaction!(self, |transaction| {
            transaction.lock(lock).await?;
            statement.execute(&mut transaction.connection).await?
        })
    }

    /// All rows of a query.
    pub(crate) async fn all(&self, statement: Query<'_>) -> Result<Vec<Row>, StoreError> {
        let rows = statement.rows(&mut self.reader().await?).await;
        match rows {
            // Reading twice does no harm, and the broken connection was discarded.
            Err(StoreError::Unreachable(_)) => statement.rows(&mut self.reader().await?).await,
            rows => rows,
        }
    }

    /// The first row of a query.
    pub(crate) async fn first(&self, statement: Query<'_>) -> Result<Option<Row>, StoreError> {
        Ok(self.all(statement).await?.into_iter().next())
    }

    /// Closes all connections once the statements that are running have finished.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(sqlite) => sqlite.close().await,
            Self::Postgres(postgres) => postgres.close().await,
        }
    }
}

impl Connection {
    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Executes several statements without values.
    async fn execute_script(&mut self, script: &'static str) -> Result<(), StoreError> {
        dispatch!(self, |inner| sqlx::raw_sql(script).execute(&mut **inner).await.map(drop))?;
        Ok(())
    }

    /// Gives the connection up instead of returning it to its pool.
    fn discard(&mut self) {
        dispatch!(self, |connection| connection.close_on_drop());
    }
}

impl Transaction {
    /// The connection on which the statements of this transaction run.
    pub(crate) fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Waits until no other transaction holds this lock, and holds it until the end of this one. Does nothing on
    /// SQLite, where transactions that write run one after the other.
    pub(crate) async fn lock(&mut self, name: &str) -> Result<(), StoreError> {
        match &self.connection {
            Connection::Sqlite(_) => Ok(()),
            Connection::Postgres(_) => {
                query(dialect::LOCK).bind(name).rows(&mut self.connection).await.map(drop)
            }
        }
    }

    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        query("COMMIT").execute(&mut self.connection).await?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.committed {
            // Closing the connection ends the transaction whatever state it is in: after an error of the disk, SQLite
            // may already have rolled it back.
            self.connection.discard();
        }
    }
}
