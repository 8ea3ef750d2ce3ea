use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Executes a statement, says so, and keeps the connection until its input ends.
const PROGRAM: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
database.execute(sys.argv[2])
print('done', flush=True)
sys.stdin.read()
";

/// The connection of another program to an SQLite database. A transaction that it began ends when it is dropped.
pub struct SqliteConnection(Child);

impl SqliteConnection {
    /// Opens the database in this file and executes one statement.
    pub fn execute(file: &Path, sql: &str) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM]).arg(file).arg(sql);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python 3");
        let stdout = child.stdout.as_mut().expect("it is piped");
        let mut said = String::new();
        BufReader::new(stdout).read_line(&mut said).expect("a line of text");
        assert_eq!(said, "done\n", "{sql}");
        Self(child)
    }
}

impl Drop for SqliteConnection {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
