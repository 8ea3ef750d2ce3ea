//! Other engines for durable workflows: Python libraries, run by an interpreter that can import them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use tempfile::TempDir;
use tokio::process::Command;

/// How long a rival may take beyond its time under load.
const SPARE: Duration = Duration::from_secs(120);

/// How to install all of them.
pub(crate) const HOW_TO_INSTALL: &str = "`pip install langgraph langgraph-checkpoint-sqlite langgraph-checkpoint-postgres \
                                         'psycopg[binary]' dbos`, and name the interpreter with --python";

/// A library that we know how to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    LangGraph,
    Dbos,
}

/// The storage of a compared program's state.
#[derive(Clone, Debug)]
pub(crate) enum StateStore {
    Sqlite(PathBuf),
    /// The URL of an empty database.
    Postgres(String),
}

/// The measurements of a compared program.
#[derive(Debug, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) version: String,
    workflows: u64,
    seconds: f64,
}

impl Outcome {
    pub(crate) fn per_second(&self) -> f64 {
        self.workflows as f64 / self.seconds
    }
}

/// The scripts, and the interpreter that runs them.
pub(crate) struct Rivals {
    folder: TempDir,
    python: PathBuf,
}

impl Rival {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::LangGraph => "LangGraph",
            Self::Dbos => "DBOS",
        }
    }

    fn module(self) -> &'static str {
        match self {
            Self::LangGraph => {
                "langgraph.checkpoint.sqlite, langgraph.checkpoint.postgres, psycopg_pool"
            }
            Self::Dbos => "dbos",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::LangGraph => include_str!("../rivals/langgraph_rival.py"),
            Self::Dbos => include_str!("../rivals/dbos_rival.py"),
        }
    }
}

impl Rivals {
    pub(crate) fn new(python: &Path) -> anyhow::Result<Self> {
        Ok(Self { folder: tempfile::tempdir()?, python: python.to_owned() })
    }

    /// Whether the interpreter can import the library.
    pub(crate) async fn has(&self, rival: Rival) -> bool {
        let import = format!("import {}", rival.module());
        let output =
            Command::new(&self.python).args(["-c", &import]).kill_on_drop(true).output().await;
        output.is_ok_and(|output| output.status.success())
    }

    /// Loads a rival for some seconds.
    pub(crate) async fn run(
        &self,
        rival: Rival,
        place: StateStore,
        time: Duration,
        callers: usize,
    ) -> anyhow::Result<Outcome> {
        let script = self.folder.path().join(format!("{}.py", rival.name()));
        std::fs::write(&script, rival.script())?;
        let mut command = Command::new(&self.python);
        command.arg(&script).kill_on_drop(true);
        match (rival, place) {
            (Rival::LangGraph, StateStore::Sqlite(file)) => command.arg("sqlite").arg(file),
            (Rival::LangGraph, StateStore::Postgres(url)) => command.arg("postgres").arg(url),
            // SQLAlchemy, which it uses, knows no `postgres:`.
            (_, StateStore::Postgres(url)) => {
                command.arg(url.replacen("postgres:", "postgresql:", 1))
            }
            (rival, StateStore::Sqlite(_)) => {
                anyhow::bail!("{} is measured on PostgreSQL", rival.name())
            }
        };
        command.args([time.as_secs_f64().to_string(), callers.to_string()]);
        let output = tokio::time::timeout(time + SPARE, command.output())
            .await
            .with_context(|| format!("{} did not end", rival.name()))??;
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        ensure!(
            output.status.success(),
            "{} went wrong: {}",
            rival.name(),
            stderr.lines().last().unwrap_or_default()
        );
        let line = stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).with_context(|| format!("{} printed `{line}`", rival.name()))
    }
}
