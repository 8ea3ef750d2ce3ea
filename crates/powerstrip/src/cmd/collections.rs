mod files;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use corpus::operations::{
    CollectionInput, EmbedCollection, ListCollections, RemoveCollection, SearchCollection,
    SearchQuery,
};
use corpus::{CollectionInfo, Hit, MAX_LIMIT, Mode, SearchResults};
use gateway::collection_files::{AddFile, AddFileInput, AddedFile, FileStatus};
use operations::NoInput;

use super::approvals::note_damaged;
use crate::access::Access;
use crate::context::Context;
use crate::exit::FAILED;
use crate::telemetry::Telemetry;
pub(crate) use files::{Files, Skipped, SourceFile};
use terminal::progress::Progress;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone, shown, time};

const EXAMPLES: &str = "\
Examples:
  powerstrip collections                            what there is
  powerstrip collections add city notes/ report.pdf read files and folders; unchanged files are skipped
  powerstrip collections search city 'cool roofs'
  powerstrip collections embed city                 make vectors with the model of `embeddings.path`
  powerstrip collections rm city

Tools search collections with `vector.query.search`. With a running gateway these commands ask it; without one they open
the data folder themselves. They act as this machine's user.";

/// As for one argument with several words.
const SEARCH_USAGE: &str = "powerstrip collections search [OPTIONS] <NAME> <QUERY>...";

/// How much of a result is shown, in characters.
const SHOWN_CHARS: usize = 300;

/// Store text in collections, and search it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CollectionsCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List collections
    #[command(visible_alias = "list")]
    Ls,
    /// Add the text of files and folders; the collection is created if need be
    Add {
        /// 1 to 64 of a-z, 0-9, `_` and `-`.
        name: String,
        /// The files and folders. Names that begin with a dot are left out of folders.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Search a collection
    #[command(override_usage = SEARCH_USAGE)]
    Search(SearchArgs),
    /// Make the vectors of a collection with the configured model
    Embed {
        /// The collection.
        name: String,
    },
    /// Delete a collection
    Rm {
        /// The collection.
        name: String,
    },
}

#[derive(Debug, Args)]
struct SearchArgs {
    /// The collection.
    name: String,
    /// The words to search for.
    // A word such as `--max-old-space-size` may come first. It has its own argument: one for all words that allows hyphens
    // would take the options after it, too.
    #[arg(value_name = "QUERY…", allow_hyphen_values = true)]
    query: String,
    #[arg(hide = true)]
    more: Vec<String>,
    /// The most results.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    limit: usize,
    /// What is searched.
    #[arg(long, value_name = "MODE", default_value = "hybrid")]
    mode: SearchMode,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SearchMode {
    Hybrid,
    Words,
    Vectors,
}

impl CollectionsCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let done = self.action.unwrap_or(Action::Ls).run(&access, context).await;
        access.close().await;
        telemetry.flush().await;
        done
    }
}

impl Action {
    async fn run(self, access: &Access, context: &Context) -> anyhow::Result<ExitCode> {
        let (style, as_json) = (Style::stdout(&context.environment), context.global.json);
        match self {
            Self::Ls => {
                let list = access.run_unsettled::<ListCollections>(&NoInput {}).await?;
                note_damaged("collection", &list.damaged);
                let list = list.collections;
                if as_json { terminal::record(&list)? } else { print_list(&list, style)? }
            }
            Self::Add { name, paths } => return add(access, &name, &paths, as_json).await,
            Self::Search(SearchArgs { name, query, more, limit, mode }) => {
                if !(1..=MAX_LIMIT).contains(&limit) {
                    bail!("--limit is 1 to {MAX_LIMIT}");
                }
                let mode = match mode {
                    SearchMode::Hybrid => Mode::Hybrid,
                    SearchMode::Words => Mode::Words,
                    SearchMode::Vectors => Mode::Vectors,
                };
                let words: Vec<_> = std::iter::once(query).chain(more).collect();
                let query = SearchQuery { name, query: words.join(" "), limit, mode };
                let found = access.run_unsettled::<SearchCollection>(&query).await?;
                if as_json { terminal::record(&found)? } else { print_results(&found, style)? }
            }
            Self::Embed { name } => {
                let progress = Progress::start(format!("making vectors of {name}"));
                let embedded =
                    access.run_unsettled::<EmbedCollection>(&CollectionInput { name }).await;
                progress.end().await;
                let embedded = embedded?;
                if as_json {
                    terminal::record(&embedded)?;
                } else {
                    terminal::line(format_args!(
                        "{}: {} of {} chunks have vectors of {}",
                        embedded.collection,
                        embedded.vectors,
                        embedded.chunks,
                        shown(&embedded.embedding.model)
                    ))?;
                }
            }
            Self::Rm { name } => {
                let removed =
                    access.run_unsettled::<RemoveCollection>(&CollectionInput { name }).await?;
                if as_json {
                    terminal::record(&removed)?;
                } else {
                    let (name, deleted) = (removed.collection, removed.deleted);
                    let chunks = if deleted == 1 { "chunk" } else { "chunks" };
                    terminal::line(format_args!("{name} is deleted, with {deleted} {chunks}"))?;
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn add(
    access: &Access,
    name: &str,
    paths: &[PathBuf],
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let mut all = Files::default();
    for path in paths {
        all.add(path)?;
    }
    let Files { found, skipped } = all;
    let mut files: Vec<AddedFile> = skipped.into_iter().map(added_file).collect();
    let all = found.len();
    for (number, SourceFile { path, source }) in (1..).zip(found) {
        let progress = Progress::start(format!("reading {}, {number} of {all}", shown(&source)));
        let input = AddFileInput { name: name.to_owned(), path, source };
        let added = access.run_unsettled::<AddFile>(&input).await;
        progress.end().await;
        files.push(added?);
    }
    if as_json {
        terminal::record(&files)?;
    } else {
        print_files(name, &files)?;
    }
    let nothing = files.iter().all(|file| file.status == FileStatus::Skipped);
    Ok(if nothing { FAILED } else { ExitCode::SUCCESS })
}

fn added_file(Skipped { source, why }: Skipped) -> AddedFile {
    let status = FileStatus::Skipped;
    AddedFile { source, status, chunks: 0, why: Some(why), warnings: Vec::new() }
}

fn print_files(name: &str, files: &[AddedFile]) -> anyhow::Result<()> {
    for file in files {
        if let Some(why) = &file.why {
            terminal::line(format_args!("{}: {}", shown(&file.source), shown(why)))?;
        }
    }
    let mut warnings: Vec<_> = files.iter().flat_map(|file| &file.warnings).collect();
    warnings.dedup();
    for warning in warnings {
        terminal::note(format_args!("warning: {}", shown(warning)));
    }
    let count = |status| files.iter().filter(|file| file.status == status).count();
    let chunks: u64 = files.iter().map(|file| file.chunks).sum();
    let added = count(FileStatus::Added);
    let files = if added == 1 { "file" } else { "files" };
    let of_chunks = if chunks == 1 { "chunk" } else { "chunks" };
    Ok(terminal::line(format_args!(
        "{name}: {added} {files} added with {chunks} {of_chunks}, {} unchanged, {} skipped",
        count(FileStatus::Unchanged),
        count(FileStatus::Skipped)
    ))?)
}

fn print_list(collections: &[CollectionInfo], style: Style) -> anyhow::Result<()> {
    if collections.is_empty() {
        return Ok(terminal::line(
            "no collections; `powerstrip collections add NAME PATH` makes one",
        )?);
    }
    let headers = ["NAME", "CHUNKS", "BYTES", "REVISION", "MODEL", "CHANGED"];
    let mut table = Table::new(headers).right(["CHUNKS", "BYTES", "REVISION"]).cut(["MODEL"]);
    for collection in collections {
        let model = collection.embedding.as_ref().map(|embedding| embedding.model.as_str());
        table.row([
            Cell::new(&collection.name).tone(Tone::Strong),
            Cell::new(collection.chunks),
            Cell::new(collection.bytes),
            Cell::new(collection.revision),
            Cell::maybe(model),
            Cell::new(time::ago(collection.updated_at.unix_ms())),
        ]);
    }
    Ok(table.print(style)?)
}

fn print_results(found: &SearchResults, style: Style) -> anyhow::Result<()> {
    for warning in &found.warnings {
        terminal::note(format_args!("warning: {}", shown(warning)));
    }
    if found.results.is_empty() {
        return Ok(terminal::line("nothing was found")?);
    }
    let mut table = Table::new(["RANK", "SCORE", "SOURCE"]).right(["RANK", "SCORE"]);
    for hit in &found.results {
        let source = hit.source.as_deref().unwrap_or(&hit.id);
        table.row([
            Cell::new(hit.rank),
            Cell::new(format_args!("{:.3}", hit.score)),
            Cell::new(source).tone(Tone::Strong),
        ]);
        table.detail(Cell::new(beginning(hit)));
    }
    Ok(table.print(style)?)
}

/// The first characters of a result, on one line.
fn beginning(hit: &Hit) -> String {
    let words: Vec<_> = hit.text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
