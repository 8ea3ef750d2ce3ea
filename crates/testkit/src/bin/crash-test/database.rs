//! The database after the last stop: whole, and without leftovers of workflows that have ended.

use std::path::Path;
use std::process::Command;

const SQLITE: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
verdict = database.execute('PRAGMA integrity_check').fetchall()
assert verdict == [('ok',)], verdict
for table in ('workflow_dags', 'workflow_tasks', 'workflow_checkpoints', 'calls_begun'):
    left = database.execute(f'SELECT count(*) FROM {table}').fetchone()[0]
    assert left == 0, f'{left} rows are left in {table}'
missing = database.execute('''SELECT count(*) FROM workflow_answers
    WHERE 'run_' || replace(workflow_id, '-', '') NOT IN (SELECT id FROM runs)''').fetchone()[0]
assert missing == 0, f'{missing} workflows have no run'
";

const POSTGRES: &str = "
CREATE EXTENSION IF NOT EXISTS amcheck;
SELECT bt_index_check(c.oid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.amname = 'btree' AND n.nspname = 'public' AND i.indisvalid;
DO $$ DECLARE left_over bigint; BEGIN
SELECT (SELECT count(*) FROM workflow_dags) + (SELECT count(*) FROM workflow_tasks)
     + (SELECT count(*) FROM workflow_checkpoints) + (SELECT count(*) FROM calls_begun) INTO left_over;
IF left_over > 0 THEN RAISE EXCEPTION '% rows of ended workflows are left', left_over; END IF;
SELECT count(*) FROM workflow_answers
WHERE 'run_' || replace(workflow_id, '-', '') NOT IN (SELECT id FROM runs) INTO left_over;
IF left_over > 0 THEN RAISE EXCEPTION '% workflows have no run', left_over; END IF;
END $$;
";

/// Checks the database of a session.
pub(crate) fn check(folder: &Path, url: Option<&str>) -> Result<(), String> {
    match url {
        None => {
            let file = folder.join(".powerstrip/powerstrip.db");
            succeed(Command::new("python3").arg("-c").arg(SQLITE).arg(file))
        }
        Some(url) => {
            succeed(Command::new("psql").args([url, "-v", "ON_ERROR_STOP=1", "-qc", POSTGRES]))
        }
    }
}

/// Creates an empty database on a PostgreSQL server; returns its URL.
pub(crate) fn create(server: &str, name: &str) -> Result<String, String> {
    succeed(Command::new("psql").args([server, "-qc", &format!("CREATE DATABASE {name}")]))?;
    let (server, _) = server.rsplit_once('/').ok_or("the URL names no database")?;
    Ok(format!("{server}/{name}"))
}

/// Ends all connections to it, as a restart of the server does.
pub(crate) fn cut_connections(server: &str, name: &str) -> Result<(), String> {
    let cut =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    succeed(Command::new("psql").args([server, "-qtc", &cut]))
}

/// Removes it again.
pub(crate) fn remove(server: &str, name: &str) -> Result<(), String> {
    succeed(Command::new("psql").args([server, "-qc", &format!("DROP DATABASE {name}")]))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("the database: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
