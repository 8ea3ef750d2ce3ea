//! Gateways on PostgreSQL. `scripts/postgres run` starts a server and names it in `TEST_POSTGRES`; with
//! `TEST_ENGINE=postgres` every gateway under test gets a database of its own there.

use std::path::PathBuf;
use std::process::Command;

use crate::skip::skip_without;

/// Whether gateways under test use PostgreSQL.
pub fn on_postgres() -> bool {
    std::env::var("TEST_ENGINE").as_deref() == Ok("postgres")
}

/// The config of a gateway, with a new database if tests run on PostgreSQL.
pub(crate) fn configured(config: String) -> String {
    if !on_postgres() || config.contains("database:") {
        return config;
    }
    let server = std::env::var("TEST_POSTGRES").expect("the URL of a server");
    let database = format!("  database: {}\n", create_database(&server));
    match config.split_once("storage:\n") {
        Some((before, after)) => format!("{before}storage:\n{database}{after}"),
        None => format!("{config}storage:\n{database}"),
    }
}

/// The URL of a new, empty database on the server of the tests; prints a notice and returns None without one.
pub fn new_database() -> Option<String> {
    let Ok(server) = std::env::var("TEST_POSTGRES") else {
        skip_without("PostgreSQL; use `scripts/postgres run`");
        return None;
    };
    Some(create_database(&server))
}

/// Creates an empty database; returns its URL.
fn create_database(server: &str) -> String {
    let name = format!("test_{}", uuid::Uuid::new_v4().simple());
    let sql = format!("CREATE DATABASE {name}");
    let status = Command::new("psql").args([server, "-qc", &sql]).status();
    assert!(status.expect("psql starts").success(), "the database cannot be created");
    let (server, _) = server.rsplit_once('/').expect("a URL with a database");
    format!("{server}/{name}")
}

/// A PostgreSQL server that a test may restart; stopped on drop.
pub struct PostgresServer {
    folder: PathBuf,
    url: String,
}

impl PostgresServer {
    /// Starts a server; prints a notice and returns None if tests do not use PostgreSQL.
    pub fn start() -> Option<Self> {
        if std::env::var_os("TEST_POSTGRES").is_none() {
            skip_without("PostgreSQL; use `scripts/postgres run`");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("postgres.{}", uuid::Uuid::new_v4()));
        let started = script().arg("start").arg(&folder).output().expect("the script starts");
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let url = String::from_utf8_lossy(&started.stdout).trim().to_owned();
        Some(Self { folder, url })
    }

    /// The URL of a new, empty database.
    pub fn database(&self) -> String {
        create_database(&self.url)
    }

    /// Stops the server in a mode of `pg_ctl` and starts it again.
    pub fn restart(&self, mode: &str) {
        let status = script().arg("restart").arg(&self.folder).arg(mode).status();
        assert!(status.expect("the script starts").success(), "the server did not restart");
    }

    /// Ends the server at once, as a crash would; `restart` starts it again.
    pub fn halt(&self) {
        let status = script().arg("halt").arg(&self.folder).status();
        assert!(status.expect("the script starts").success(), "the server did not stop");
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let _ = script().arg("stop").arg(&self.folder).status();
    }
}

fn script() -> Command {
    Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres"))
}
