use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::sql::SqlError;

/// Why something could not be stored or read back.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot use the data folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot open the database {database}: {source}")]
    Open { database: String, source: SqlError },
    #[error(
        "the URL of the database cannot be read; it has the form postgres://user@host:5432/name"
    )]
    BadUrl,
    #[error(
        "the database {database} was made by a development version of Powerstrip with another schema; \
         move it away and start again"
    )]
    OtherSchema { database: String },
    #[error(
        "the database {database} was written by a newer Powerstrip (its schema is at {found}, this version knows up to \
         {known}); start that version, or choose another database"
    )]
    NewerDatabase { database: String, found: u64, known: u64 },
    #[error(
        "the database {database} would lose committed data: `{pragma}` is {found}, not {expected}; \
         the data folder must be on a local disk"
    )]
    NotDurable { database: String, pragma: &'static str, expected: &'static str, found: String },
    #[error(
        "the database {database} cannot be used: Powerstrip needs PostgreSQL 15 or newer and the encoding UTF8, \
         and it is PostgreSQL {version} with {encoding}"
    )]
    UnfitServer { database: String, version: i64, encoding: String },
    #[error(
        "another gateway is using the database {database}; \
         stop it first, or give this gateway a database of its own"
    )]
    OtherGateway { database: String },
    #[error(
        "another gateway has taken over the database {database} while this one was disconnected; \
         stop that gateway and restart this one"
    )]
    TakenOver { database: String },
    #[error("the database cannot be reached: {0}")]
    Unreachable(SqlError),
    #[error("the database did not answer in time")]
    NoAnswer,
    #[error("the database refused: {0}")]
    Database(SqlError),
    #[error("the database contains {column} `{value}`, which cannot be read")]
    Unreadable { column: &'static str, value: String },
    #[error("an approval cannot be stored without the arguments of its call")]
    NoArguments,
    #[error("there is no object {0}")]
    NoObject(String),
    #[error("the object storage refused: {why}")]
    Objects { why: Box<dyn Error + Send + Sync> },
    #[error("the audit trail cannot be written: {0}")]
    AuditFailing(Arc<str>),
    #[error(
        "{} has rows that an earlier process could not write, and they cannot be written now: {why}; start again when the \
         database works, or move the file away to start without them",
        path.display()
    )]
    Unrecovered { path: PathBuf, why: Box<dyn Error + Send + Sync> },
    #[error("the workflow has ended, or another process continues it")]
    Fenced,
    #[error("the audit trail is closed")]
    AuditClosed,
}

impl StoreError {
    /// The column of a damaged row, if that is the cause: the database works, so trying again does not help.
    pub fn damaged_column(&self) -> Option<&'static str> {
        match self {
            Self::Unreadable { column, .. } => Some(column),
            _ => None,
        }
    }
}
