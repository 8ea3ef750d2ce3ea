//! Runs every command that the README and the book show, page by page, next to a gateway in a folder of its own.
//!
//! Blocks marked `sh` are run by bash. In blocks marked `console`, lines that begin with `$ ` are run, and the others must be
//! in what is printed; `…` matches anything. Comments above a block say more:
//!
//! | comment | meaning |
//! |---|---|
//! | `<!-- not run: REASON -->` | the block cannot be run in a test |
//! | `<!-- needs: PROGRAM -->` | the block is run where the program is installed |
//! | `<!-- before: COMMAND -->` | a command to run before the block |
//! | `<!-- fails -->` | the block shows a failure |
//! | `<!-- in force -->` | the config of this block is that of the page's gateway |

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use testkit::Gateway;
use tokio::process::Command;

use crate::book::pages::{Block, blocks, markdown_below, root};

/// The address of the gateway in the book.
const ADDRESS: &str = "127.0.0.1:7777";

/// The share of blocks that may be left out, in percent.
const MOST_LEFT_OUT: usize = 25;

/// How long a block may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How many pages are run at the same time.
const AT_ONCE: usize = 4;

/// Replaces `powerstrip` in the shell: `serve` on a free port and a data folder of its own, until it listens. The
/// gateway takes new files about a second later, so a call of something new is tried again, as a person would.
const POWERSTRIP: &str = r#"#!/bin/bash
case "$1" in
  serve) ;;
  call | prompts)
    answer=$(mktemp) && log=$(mktemp) || exit 1
    for try in {1..50}; do
      "$BINARY_UNDER_TEST" "$@" >"$answer" 2>"$log" && break
      code=$?
      grep -q 'there is no' "$log" && [ $try -lt 50 ] && { sleep 0.2; continue; }
      cat "$answer"; cat "$log" >&2
      exit $code
    done
    cat "$answer"; cat "$log" >&2
    exit 0 ;;
  *) exec "$BINARY_UNDER_TEST" "$@" ;;
esac
log=$(mktemp) && data=$(mktemp -d) || exit 1
POWERSTRIP_LISTEN=127.0.0.1:0 POWERSTRIP_DATA_DIR="$data" "$BINARY_UNDER_TEST" "$@" 2>"$log" &
server=$!
until grep -q ' on http://' "$log"; do
  kill -0 $server 2>/dev/null || { cat "$log" >&2; exit 1; }
  sleep 0.05
done
cat "$log" >&2
kill $server && wait $server
"#;

/// Replaces `cargo run --release -- …`, which would build the binary again.
const CARGO: &str = r#"#!/bin/bash
[ "$1 $2 $3" = "run --release --" ] || { echo "cargo $*: only run --release is tried" >&2; exit 1; }
shift 3
exec powerstrip "$@"
"#;

/// The end of a block.
enum Ended {
    Ran,
    LeftOut(String),
    Failed(String),
}

#[tokio::test]
async fn every_command_in_readme_and_book_works() {
    let mut pages = markdown_below(&root().join("docs/src"));
    pages.push(root().join("README.md"));
    let mut ended = Vec::new();
    for pages in pages.chunks(AT_ONCE) {
        let running = pages.iter().map(|page| run_page(page));
        ended.extend(futures(running.collect()).await.into_iter().flatten());
    }
    let of = |ended: &Ended| match ended {
        Ended::Ran => None,
        Ended::LeftOut(why) | Ended::Failed(why) => Some(why.clone()),
    };
    let (failed, others): (Vec<_>, Vec<_>) =
        ended.iter().partition(|ended| matches!(ended, Ended::Failed(_)));
    let failed: Vec<_> = failed.into_iter().filter_map(of).collect();
    assert!(failed.is_empty(), "{} blocks failed:\n\n{}", failed.len(), failed.join("\n\n"));
    let left_out: Vec<_> = others.into_iter().filter_map(of).collect();
    eprintln!("{} blocks, {} left out: {left_out:#?}", ended.len(), left_out.len());
    assert!(ended.len() > 35, "only {} blocks were found", ended.len());
    let share = left_out.len() * 100 / ended.len();
    assert!(share <= MOST_LEFT_OUT, "{share} % of the blocks are left out: {left_out:#?}");
}

/// Commands in blocks of other languages would not be run.
#[test]
fn commands_stand_in_blocks_that_are_run() {
    let mut pages = markdown_below(&root().join("docs/src"));
    // Its blocks are the usage lines of all commands.
    pages.retain(|page| !page.ends_with("reference/cli.md"));
    pages.push(root().join("README.md"));
    for block in pages.iter().flat_map(|page| blocks(page)) {
        if is_run(&block) {
            continue;
        }
        for line in block.text.lines() {
            let command = ["$ ", "powerstrip ", "curl ", "cargo ", "docker ", "npx "]
                .iter()
                .find(|start| line.starts_with(**start));
            assert!(command.is_none(), "{}: mark it `sh` or `console`: {line}", block.place);
        }
    }
}

/// Runs futures at the same time, in one task.
async fn futures<T>(futures: Vec<impl Future<Output = T>>) -> Vec<T> {
    futures_util::future::join_all(futures).await
}

fn is_run(block: &Block) -> bool {
    matches!(block.language.as_str(), "sh" | "console")
}

fn noted<'a>(block: &'a Block, key: &str) -> Option<&'a str> {
    block.notes.iter().find_map(|note| Some(note.strip_prefix(key)?.trim_start_matches(':').trim()))
}

async fn run_page(page: &Path) -> Vec<Ended> {
    let all = blocks(page);
    if !all.iter().any(is_run) {
        return Vec::new();
    }
    let gateway = Gateway::with();
    // Servers keep what they make in the home folder.
    let home = gateway.scratch().display().to_string();
    let mut gateway = gateway.env("HOME", &home);
    for block in all.iter().filter(|block| noted(block, "in force").is_some()) {
        gateway = gateway.config(&block.text);
    }
    let files = all.iter().filter_map(|block| Some((block.file.as_deref()?, &block.text)));
    for (file, text) in files.filter(|(file, _)| *file != "powerstrip.yaml") {
        gateway = gateway.file(file, text);
    }
    let gateway = gateway.start().await;
    let shell = Shell::new(&gateway);
    let mut ended = Vec::new();
    for block in all.iter().filter(|block| is_run(block)) {
        ended.push(shell.run(block).await);
    }
    ended
}

/// Runs blocks in the folder of a gateway.
struct Shell<'a> {
    gateway: &'a Gateway,
    /// The programs that replace others.
    programs: tempfile::TempDir,
}

impl<'a> Shell<'a> {
    fn new(gateway: &'a Gateway) -> Self {
        let programs = tempfile::tempdir().unwrap();
        for (name, text) in [("powerstrip", POWERSTRIP), ("cargo", CARGO)] {
            let path = programs.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { gateway, programs }
    }

    async fn run(&self, block: &Block) -> Ended {
        if let Some(reason) = noted(block, "not run") {
            assert!(!reason.is_empty(), "{}: say why it is not run", block.place);
            return Ended::LeftOut(format!("{}: {reason}", block.place));
        }
        if let Some(program) = noted(block, "needs")
            && !is_installed(program)
        {
            return Ended::LeftOut(format!("{}: there is no {program}", block.place));
        }
        let commands = match block.language.as_str() {
            "console" => console(&block.text),
            _ => vec![(block.text.clone(), Vec::new())],
        };
        let before = block.notes.iter().filter_map(|note| note.strip_prefix("before:"));
        for command in before {
            if let Err(why) = self.check(command, &[], false).await {
                return Ended::Failed(format!("{}: before it: {why}", block.place));
            }
        }
        let fails = noted(block, "fails").is_some();
        for (command, shown) in commands {
            if let Err(why) = self.check(&command, &shown, fails).await {
                return Ended::Failed(format!("{}: {why}", block.place));
            }
        }
        Ended::Ran
    }

    /// Runs a command, and compares how it ends and what it prints.
    async fn check(&self, command: &str, shown: &[String], fails: bool) -> Result<(), String> {
        let command = command.replace(ADDRESS, self.gateway.address());
        let output = tokio::time::timeout(TIMEOUT, self.bash(&command))
            .await
            .map_err(|_| format!("no end in sight:\n{command}"))?;
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        let report = format!("{command}\n{out}{err}");
        if output.status.success() == fails {
            return Err(format!("{}:\n{report}", output.status));
        }
        let mut printed = out.lines().chain(err.lines()).map(squeeze);
        for line in shown {
            let line = squeeze(line.replace(ADDRESS, self.gateway.address()));
            if !printed.any(|printed| fits(&line, &printed)) {
                return Err(format!("`{line}` is not printed:\n{report}"));
            }
        }
        Ok(())
    }

    async fn bash(&self, command: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        let programs = self.programs.path().display();
        Command::new("bash")
            .args(["-eu", "-o", "pipefail", "-c", command])
            .current_dir(self.gateway.folder())
            .env("PATH", format!("{programs}:{path}"))
            .env("HOME", self.gateway.folder())
            .env("BINARY_UNDER_TEST", testkit::powerstrip_binary())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .unwrap()
    }
}

/// The commands of a console, each with the lines that are shown below it.
fn console(text: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push((command.to_owned(), Vec::new())),
            None if line.trim().is_empty() || line.trim() == "…" => {}
            None => {
                commands.last_mut().expect("a console begins with `$ `").1.push(line.to_owned());
            }
        }
    }
    commands
}

/// A line with one blank between words.
fn squeeze(line: impl AsRef<str>) -> String {
    line.as_ref().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a printed line is the shown one, in which `…` matches anything.
fn fits(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last == Some("")
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap();
    std::env::split_paths(&path).map(|folder: PathBuf| folder.join(program)).any(|it| it.is_file())
}
