use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use config::{Loaded, Span};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::cmd::Usage;
use crate::context::Context;
use crate::files::{FileDesk, GET, LINK, LIST, PUT, REMOVE};
use crate::output::{self, Style};
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip files put report.pdf notes.txt             prints an id for each
  powerstrip files put build.tar --ttl 7d
  powerstrip files ls
  powerstrip files get file_0123… -o report.pdf         without -o, to standard output
  powerstrip files link file_0123… --ttl 10m            a link that opens it without any other right
  powerstrip files rm file_0123…

A tool is handed a file by its id. With a running gateway these commands ask it; without one they open the data folder
themselves. They act as this machine's user; over HTTP, `/v1/files` does the same for every caller.";

/// Store, list and fetch files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FilesCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Store files and print their ids
    Put {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// For how long they stay, such as `7d` [default: as the config says].
        #[arg(long, value_name = "TIME")]
        ttl: Option<Span>,
    },
    /// Fetch a file's bytes
    Get {
        /// The file's id.
        id: String,
        /// Where to write them; it must not be there yet [default: standard output].
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List files, newest first
    Ls,
    /// Delete files
    Rm {
        /// The files' ids.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Make a link that opens a file for a while
    Link {
        /// The file's id.
        id: String,
        /// For how long, such as `10m`; seven days at most [default: as the config says].
        #[arg(long, value_name = "TIME")]
        ttl: Option<Span>,
    },
}

impl FilesCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let desk = FileDesk::open(context, &loaded).await?;
        let done = self.action.run(context, &loaded, &desk).await;
        desk.close().await;
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    async fn run(self, context: &Context, loaded: &Loaded, desk: &FileDesk) -> anyhow::Result<()> {
        match self {
            Self::Put { files, ttl } => put(context, desk, &files, ttl).await,
            Self::Get { id, output } => get(context, loaded, desk, &id, output.as_deref()).await,
            Self::Ls => list(context, desk).await,
            Self::Rm { ids } => {
                let mut removed = Vec::new();
                for id in ids {
                    removed.push(desk.ask(REMOVE, json!({"id": id})).await?);
                }
                told(context, &removed, |file| format!("{} is deleted", text(file, "file_id")))
            }
            Self::Link { id, ttl } => {
                let answer = desk.ask(LINK, json!({"id": id, "ttlMs": ttl.map(millis)})).await?;
                if context.global.json {
                    output::json(&answer)?;
                } else {
                    output::line(text(&answer, "url"))?;
                }
                Ok(())
            }
        }
    }
}

async fn put(
    context: &Context,
    desk: &FileDesk,
    files: &[PathBuf],
    ttl: Option<Span>,
) -> anyhow::Result<()> {
    let mut kept = Vec::new();
    for file in files {
        let path = std::path::absolute(file)?;
        let size = std::fs::metadata(&path).with_context(|| file.display().to_string())?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let params = json!({"path": path, "name": name, "ttlMs": ttl.map(millis)});
        let progress = Progress::start(&format!("storing {name}, {}", about(size)));
        let answer = desk.ask(PUT, params).await;
        progress.end().await;
        kept.push(answer?);
    }
    told(context, &kept, |file| text(file, "file_id").to_owned())
}

async fn get(
    context: &Context,
    loaded: &Loaded,
    desk: &FileDesk,
    id: &str,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    if let Some(path) = output.filter(|path| path.exists()) {
        let message = format!("{} is there already; choose another place", path.display());
        return Err(Usage(message).into());
    }
    if output.is_none() && io::stdout().is_terminal() && context.global.json {
        bail!("--json needs -o: the bytes themselves would go to standard output");
    }
    // Whoever answers writes into a file that we made; only a whole one gets its name.
    let folder = match output.map(Path::parent) {
        Some(Some(parent)) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) => PathBuf::from("."),
        None => loaded.config.data_dir.clone(),
    };
    let draft = NamedTempFile::new_in(&folder).with_context(|| folder.display().to_string())?;
    let path = std::path::absolute(draft.path())?;
    let progress = Progress::start(&format!("fetching {id}"));
    let answer = desk.ask(GET, json!({"id": id, "path": path})).await;
    progress.end().await;
    let answer = answer?;
    match output {
        Some(output) => {
            draft.persist_noclobber(output).with_context(|| output.display().to_string())?;
            told(context, &[answer], |_| output.display().to_string())
        }
        None => {
            let mut bytes = draft.reopen()?;
            let mut stdout = io::stdout().lock();
            match io::copy(&mut bytes, &mut stdout).and_then(|_| stdout.flush()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
                _ => Ok(()),
            }
        }
    }
}

async fn list(context: &Context, desk: &FileDesk) -> anyhow::Result<()> {
    let mut files: Vec<Value> = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut page = desk.ask(LIST, json!({"cursor": cursor})).await?;
        if let Some(found) = page["files"].as_array_mut() {
            files.append(found);
        }
        cursor = page["next_cursor"].take();
        if cursor.is_null() {
            break;
        }
    }
    if files.is_empty() && !context.global.json {
        output::note("no files: `powerstrip files put FILE` stores one");
    }
    let style = Style::stdout(&context.environment);
    told(context, &files, |file| {
        let size = about(file["size"].as_u64().unwrap_or(0));
        let (id, kind) = (text(file, "file_id"), text(file, "kind"));
        let (media, name) = (text(file, "media_type"), text(file, "name"));
        format!("{}  {kind:9}  {size:>8}  {media:24}  {name}", style.bold(id))
    })
}

/// A line for each, or all of them as JSON.
fn told(context: &Context, files: &[Value], line: impl Fn(&Value) -> String) -> anyhow::Result<()> {
    if context.global.json {
        output::json(&files)?;
    } else {
        for file in files {
            output::line(line(file))?;
        }
    }
    Ok(())
}

/// Shows on a terminal that something goes on, and for how long.
struct Progress(Option<tokio::task::JoinHandle<()>>);

impl Progress {
    fn start(what: &str) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let what = what.to_owned();
        Self(Some(tokio::spawn(async move {
            let began = tokio::time::Instant::now();
            let mut ticks = tokio::time::interval(Duration::from_millis(500));
            // Most are done before anybody looks.
            ticks.tick().await;
            loop {
                ticks.tick().await;
                let seconds = began.elapsed().as_secs_f32();
                let _ = write!(io::stderr().lock(), "\r\x1b[K{what} … {seconds:.0}s");
            }
        })))
    }

    async fn end(self) {
        if let Some(shown) = self.0 {
            shown.abort();
            let _ = shown.await;
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

fn millis(span: Span) -> u64 {
    u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or("-")
}

/// A size as people say it.
fn about(bytes: u64) -> String {
    let units = [("GB", 30), ("MB", 20), ("KB", 10)];
    match units.iter().find(|(_, shift)| bytes >= 1 << shift) {
        Some((unit, shift)) => {
            #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
            let number = bytes as f64 / f64::from(1 << shift);
            format!("{number:.1} {unit}")
        }
        None => format!("{bytes} B"),
    }
}
