//! The two engines, and a new database on each for every side.

use std::fmt;
use std::process::Command;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

use crate::cli::WorkflowsRun;
use crate::rivals::{Rival, StateStore};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Sqlite,
    Postgres,
}

/// Where databases are made.
pub(super) enum Databases {
    Folder(TempDir),
    Server { url: String, own: String },
}

impl Engine {
    /// None if there is no server.
    pub(super) fn open(self, run: &WorkflowsRun) -> anyhow::Result<Option<Databases>> {
        if self == Self::Sqlite {
            return Ok(Some(Databases::Folder(tempfile::tempdir()?)));
        }
        let Some(url) = run.postgres.clone() else { return Ok(None) };
        let own = create_database(&url)?;
        Ok(Some(Databases::Server { url, own }))
    }

    /// LangGraph has checkpointers for both; DBOS is made for PostgreSQL.
    pub(super) fn is_measured_with(self, rival: Rival) -> bool {
        self == Self::Postgres || rival == Rival::LangGraph
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}

impl Databases {
    /// The part of the gateway's config.
    pub(super) fn storage(&self) -> String {
        match self {
            Self::Folder(_) => String::new(),
            Self::Server { own, .. } => format!("storage:\n  database: {own}\n"),
        }
    }

    /// A new database for a rival.
    pub(super) fn for_rival(&self) -> anyhow::Result<StateStore> {
        match self {
            Self::Folder(folder) => {
                let name = format!("{}.db", uuid::Uuid::new_v4().simple());
                Ok(StateStore::Sqlite(folder.path().join(name)))
            }
            Self::Server { url, .. } => create_database(url).map(StateStore::Postgres),
        }
    }
}

/// Creates an empty database; returns its URL.
fn create_database(server: &str) -> anyhow::Result<String> {
    let name = format!("bench_{}", uuid::Uuid::new_v4().simple());
    let status = Command::new("psql")
        .args([server, "-qc", &format!("CREATE DATABASE {name}")])
        .status()
        .context("psql cannot be started")?;
    ensure!(status.success(), "a database cannot be created");
    let (server, _) = server.rsplit_once('/').context("the URL names no database")?;
    Ok(format!("{server}/{name}"))
}
