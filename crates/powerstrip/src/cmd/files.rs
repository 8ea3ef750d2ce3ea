use std::io::{self, IsTerminal as _, Write as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use config::{Loaded, Span};
use gateway::path_files::{GetFile, GetFileInput, PutFile, PutFileInput};
use proto::FILE_ID_BYTES;
use strip::files::operations::{
    DeleteFile, FileInput, FilePage, FileQuery, FileView, LinkFile, LinkInput, ListFiles,
};
use tempfile::NamedTempFile;

use super::approvals::note_damaged;
use crate::context::Context;
use crate::exit::Usage;
use crate::operation_client::OperationClient;
use crate::telemetry::Telemetry;
use terminal::progress::Progress;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone, time};

const EXAMPLES: &str = "\
Examples:
  powerstrip files put report.pdf notes.txt             prints an id for each
  powerstrip files put build.tar --ttl 7d
  powerstrip files ls
  powerstrip files get file_0123… -o report.pdf         without -o, to standard output
  powerstrip files link file_0123… --ttl 10m            a link that opens it without any other right
  powerstrip files rm file_0123…

Tools take files by their ids. With a running gateway these commands ask it; without one they open the data folder
themselves. They act as this machine's user; over HTTP, `/v1/files` does the same for every caller.";

/// How many digits of an id are needed.
const MIN_PREFIX: usize = 4;

/// Store, list and fetch files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FilesCommand {
    #[command(subcommand)]
    action: Option<Action>,
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
        /// The file's id, or its first characters.
        id: String,
        /// Where to write them; it must not be there yet [default: standard output].
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List files, newest first
    #[command(visible_alias = "list")]
    Ls,
    /// Delete files
    Rm {
        /// The files' ids, or their first characters.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Make a link that opens a file for a while
    Link {
        /// The file's id, or its first characters.
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
        let client = OperationClient::for_files(&loaded).await?;
        let done = self.action.unwrap_or(Action::Ls).run(context, &loaded, &client).await;
        client.close().await;
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    async fn run(
        self,
        context: &Context,
        loaded: &Loaded,
        client: &OperationClient,
    ) -> anyhow::Result<()> {
        match self {
            Self::Put { files, ttl } => put(context, client, &files, ttl).await,
            Self::Get { id, output } => {
                let id = resolve(client, id).await?;
                get(context, loaded, client, &id, output.as_deref()).await
            }
            Self::Ls => list(context, client).await,
            Self::Rm { ids } => {
                let mut removed = Vec::new();
                for id in ids {
                    let id = resolve(client, id).await?;
                    removed.push(client.run::<DeleteFile>(&FileInput { id }).await?);
                }
                print(context, &removed, |file| format!("{} is deleted", file.file_id))
            }
            Self::Link { id, ttl } => {
                // Whole seconds, one at least.
                let ttl =
                    ttl.map(|span| NonZeroU64::new(span.0.as_secs()).unwrap_or(NonZeroU64::MIN));
                let id = resolve(client, id).await?;
                let link = client.run::<LinkFile>(&LinkInput { id, ttl }).await?;
                if context.global.json {
                    Ok(terminal::record(&link)?)
                } else {
                    Ok(terminal::line(link.url)?)
                }
            }
        }
    }
}

async fn put(
    context: &Context,
    client: &OperationClient,
    files: &[PathBuf],
    ttl: Option<Span>,
) -> anyhow::Result<()> {
    let ttl_ms = ttl.map(|span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX));
    let mut stored = Vec::new();
    for file in files {
        let path = std::path::absolute(file)?;
        let size = std::fs::metadata(&path).with_context(|| file.display().to_string())?.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let progress = Progress::start(format!("storing {name}, {}", about(size)));
        let stored_one = client.run::<PutFile>(&PutFileInput { path, name, ttl_ms }).await;
        progress.end().await;
        stored.push(stored_one?);
    }
    print(context, &stored, |file| file.file_id.to_string())
}

async fn get(
    context: &Context,
    loaded: &Loaded,
    client: &OperationClient,
    id: &str,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    if let Some(path) = output.filter(|path| path.exists()) {
        let message = format!("{} exists already; choose another path", path.display());
        return Err(Usage(message).into());
    }
    if output.is_none() && io::stdout().is_terminal() && context.global.json {
        bail!("--json needs -o: the bytes themselves would go to standard output");
    }
    // The owner writes into a temporary file; only a complete one gets its final name.
    let folder = match output.map(Path::parent) {
        Some(Some(parent)) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) => PathBuf::from("."),
        None => loaded.config.data_dir.clone(),
    };
    let draft = NamedTempFile::new_in(&folder).with_context(|| folder.display().to_string())?;
    let path = std::path::absolute(draft.path())?;
    let progress = Progress::start(format!("fetching {id}"));
    let fetched = client.run::<GetFile>(&GetFileInput { id: id.to_owned(), path }).await;
    progress.end().await;
    let fetched = fetched?;
    match output {
        Some(output) => {
            draft.persist_noclobber(output).with_context(|| output.display().to_string())?;
            print(context, &[fetched], |_| output.display().to_string())
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

/// All files, page by page.
async fn all(client: &OperationClient) -> anyhow::Result<FilePage> {
    let mut query = FileQuery::default();
    let mut all = client.run::<ListFiles>(&query).await?;
    while let Some(next) = all.next_cursor.take() {
        query.cursor = Some(next);
        let page = client.run::<ListFiles>(&query).await?;
        all.files.extend(page.files);
        all.damaged.extend(page.damaged);
        all.next_cursor = page.next_cursor;
    }
    Ok(all)
}

/// The whole id of a file, given its first characters, with or without `file_`.
async fn resolve(client: &OperationClient, given: String) -> anyhow::Result<String> {
    if let Some((kind, _)) = given.split_once('_')
        && !["file", "ref"].contains(&kind)
    {
        bail!(
            "`{given}` is a reference of a server, not the id of a file: `powerstrip call powerstrip:store_artifact \
             content_ref_id={given} file_name=NAME` stores it as a file and prints the id"
        );
    }
    let digits = given.split_once('_').map_or(given.as_str(), |(_, digits)| digits);
    if digits.len() >= 2 * FILE_ID_BYTES {
        return Ok(given);
    }
    if digits.len() < MIN_PREFIX {
        bail!("`{given}` is too short: give {MIN_PREFIX} digits of the id at least");
    }
    let begins = |id: &String| {
        id.starts_with(&given) || id.split_once('_').is_some_and(|(_, id)| id.starts_with(&given))
    };
    let all = all(client).await?;
    let damaged = all.damaged.into_iter().map(|row| row.id);
    let ids = all.files.into_iter().map(|file| file.file_id.to_string()).chain(damaged);
    let ids: Vec<_> = ids.filter(begins).collect();
    match ids.as_slice() {
        [id] => Ok(id.clone()),
        [] => bail!("no file's id begins with `{given}`; `powerstrip files` lists them"),
        several => bail!("{} files' ids begin with `{given}`; give more of it", several.len()),
    }
}

async fn list(context: &Context, client: &OperationClient) -> anyhow::Result<()> {
    let FilePage { files, damaged, .. } = all(client).await?;
    note_damaged("file", &damaged);
    if context.global.json {
        return Ok(terminal::record(&files)?);
    }
    if files.is_empty() {
        return Ok(terminal::line("no files: `powerstrip files put FILE` stores one")?);
    }
    let headers = ["ID", "KIND", "SIZE", "CREATED", "TYPE", "NAME"];
    let mut table = Table::new(headers).right(["SIZE"]).cut(["TYPE", "NAME"]);
    for file in &files {
        table.row([
            Cell::new(&file.file_id).tone(Tone::Strong),
            Cell::new(file.kind.as_str()),
            Cell::new(about(file.size)),
            Cell::new(time::ago(file.created_ms)),
            Cell::new(&file.media_type),
            Cell::new(&file.name),
        ]);
    }
    Ok(table.print(Style::stdout(&context.environment))?)
}

/// Prints a line for each file, or all of them as JSON.
fn print(
    context: &Context,
    files: &[FileView],
    line: impl Fn(&FileView) -> String,
) -> anyhow::Result<()> {
    if context.global.json {
        terminal::record(&files)?;
    } else {
        for file in files {
            terminal::line(line(file))?;
        }
    }
    Ok(())
}

/// A size in one unit.
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
