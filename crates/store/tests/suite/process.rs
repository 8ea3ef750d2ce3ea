//! Child processes are this test program again; a variable names the test that they run.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use store::{Claim, CommitQueue, DataFolder, Database};

use crate::support::{all_rows, on_both_engines, row};

const FOLDER: &str = "STORE_TEST_CHILD_FOLDER";
const URL: &str = "STORE_TEST_CHILD_URL";

/// Begins every line that a child prints for its parent; the test program prints others.
const MARK: &str = "child says ";

/// A process that is killed at the end of the test.
pub(crate) struct Player {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Player {
    pub(crate) fn start(part: &str, data_dir: &Path, url: Option<&str>) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", &format!("process::{part}")])
            .env(FOLDER, data_dir)
            .envs(url.map(|url| (URL, url)))
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
    let database = match std::env::var(URL) {
        Ok(url) => Database::connect(&url).await.unwrap(),
        Err(_) => Database::open(&data_dir).await.unwrap(),
    };
    let queue = CommitQueue::start(database);
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move {
                loop {
                    let row = row(1);
                    let trace = row.trace;
                    queue.record(row).await.unwrap().committed().await.unwrap();
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

on_both_engines! {
    async fn acknowledged_rows_survive_kill_9(test) {
        let mut acknowledged = Vec::new();
        for round in 1..=3 {
            let mut child = Player::start("record_until_killed", test.folder(), test.url());
            for _ in 0..100 * round {
                acknowledged.push(child.says().unwrap());
            }
            child.kill();
            acknowledged.extend(std::iter::from_fn(|| child.says()));

            let database = test.open().await;
            let stored: Vec<_> =
                all_rows(&database).await.iter().map(|row| row.trace.to_string()).collect();
            for trace in &acknowledged {
                let times = stored.iter().filter(|stored| *stored == trace).count();
                assert_eq!(times, 1, "{trace}");
            }
            if test.url().is_none() {
                let intact = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'";
                assert_eq!(test.number(intact).await, 1);
            }
            database.close().await;
        }
    }
}
