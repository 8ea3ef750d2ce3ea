//! Child processes are this test program again, told by a variable which part to play.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use store::{AuditTrail, Claim, DataFolder, Database};

use crate::support::{all_rows, raw, row};

const FOLDER: &str = "STORE_TEST_CHILD_FOLDER";

/// Every line that a child means for its parent; the test program prints others.
const MARK: &str = "child says ";

/// A process that is killed, not asked, when the test is done with it.
pub(crate) struct Player {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Player {
    pub(crate) fn start(part: &str, data_dir: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", &format!("process::{part}")])
            .env(FOLDER, data_dir)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the child says next; `None` when it is gone.
    pub(crate) fn says(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The last line may be torn by the kill; what it would have said does not count as said.
            if let Some((_, said)) = line.strip_suffix('\n').and_then(|line| line.split_once(MARK))
            {
                return Some(said.to_owned());
            }
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn say(what: impl std::fmt::Display) {
    println!("{MARK}{what}");
}

fn data_dir() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "played by a child process"]
async fn record_until_killed() {
    let Some(data_dir) = data_dir() else { return };
    let database = Database::open(&data_dir).await.unwrap();
    let trail = AuditTrail::start(database);
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let trail = trail.clone();
            tokio::spawn(async move {
                loop {
                    let row = row(1);
                    let trace = row.trace;
                    trail.record(row).await.unwrap().committed().await.unwrap();
                    say(trace);
                }
            })
        })
        .collect();
    for task in tasks {
        let () = task.await.unwrap();
    }
}

#[test]
#[ignore = "played by a child process"]
fn own_until_killed() {
    let Some(data_dir) = data_dir() else { return };
    let claim = DataFolder::claim(&data_dir).unwrap();
    say(matches!(claim, Claim::Owner(_)));
    loop {
        std::thread::park();
    }
}

#[tokio::test]
async fn acknowledged_rows_survive_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 1..=3 {
        let mut child = Player::start("record_until_killed", folder.path());
        for _ in 0..100 * round {
            acknowledged.push(child.says().unwrap());
        }
        child.kill();
        acknowledged.extend(std::iter::from_fn(|| child.says()));

        let database = Database::open(folder.path()).await.unwrap();
        let stored: Vec<_> =
            all_rows(&database).await.iter().map(|row| row.trace.to_string()).collect();
        for trace in &acknowledged {
            let times = stored.iter().filter(|stored| *stored == trace).count();
            assert_eq!(times, 1, "{trace}");
        }
        let raw = raw(folder.path()).await;
        let check: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&raw).await.unwrap();
        assert_eq!(check, "ok");
        raw.close().await;
        database.close().await;
    }
}
