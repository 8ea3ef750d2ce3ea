use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why something could not be stored or read back.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot use the data folder {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error("cannot open the database {}: {source}", path.display())]
    Open { path: PathBuf, source: sqlx::Error },
    #[error("cannot bring the database {} up to date: {source}", path.display())]
    Migration { path: PathBuf, source: sqlx::migrate::MigrateError },
    #[error(
        "the database {} was written by a newer Powerstrip (its schema is at {found}, this version knows up to {known}); \
         start that version, or choose another data folder",
        path.display()
    )]
    NewerDatabase { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the database {} would not keep its promises: `{pragma}` is {found}, not {expected}; \
         the data folder must be on a local disk",
        path.display()
    )]
    NotDurable { path: PathBuf, pragma: &'static str, expected: &'static str, found: String },
    #[error("the database refused: {0}")]
    Database(#[from] sqlx::Error),
    #[error("the database holds {column} `{value}`, which cannot be read")]
    Unreadable { column: &'static str, value: String },
    #[error("there is no object {0}")]
    NoObject(String),
    #[error("the object storage refused: {why}")]
    Objects { why: Box<dyn Error + Send + Sync> },
    #[error("the audit trail cannot be written: {0}")]
    AuditFailing(Arc<str>),
    #[error("the audit trail is closed")]
    AuditClosed,
}
