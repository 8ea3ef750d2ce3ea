//! Searches in a collection of 100,000 chunks, against FTS5 by Python's `sqlite3` and a product by `numpy`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use corpus::{
    CollectionName, CollectionSettings, Collections, Embedder, Filter, Item, MAX_ITEMS, Mode,
    Search,
};
use language::model::StaticModel;
use proto::Clock;
use serde::Deserialize;
use serde_json::json;
use store::Database;
use tokio::process::Command;

use super::report::{Report, close, say, shown};
use crate::cli::CollectionsRun;
use crate::gateway::Memory;
use crate::stats::median;
use crate::table::{Row, Target, Unit};

const TENANT: &str = "bench";
const DIMENSIONS: usize = 256;
const VOCABULARY: usize = 20_000;
const QUERIES: usize = 20;

/// How long the other side may take.
const TIMEOUT: Duration = Duration::from_secs(900);

/// The times of the compared program, in milliseconds.
#[derive(Debug, Deserialize)]
struct Rival {
    words_ms: f64,
    vectors_ms: Option<f64>,
}

/// Measures searches by words, by vectors and by both.
pub(crate) async fn measure(run: &CollectionsRun) -> Report {
    let mut rows = Vec::new();
    let measured = searches(run, &mut rows).await;
    close("collections", measured, &mut rows);
    Report { rows }
}

async fn searches(run: &CollectionsRun, rows: &mut Vec<Row>) -> anyhow::Result<()> {
    let (count, rounds) = if run.how.quick { (10_000, 2) } else { (100_000, 5) };
    let folder = tempfile::tempdir()?;
    let corpus = Corpus::new(count);
    say(&format!("writing a collection of {} chunks", shown(count)));
    let embedder = model(folder.path(), &corpus.words)?;
    let queries = corpus.queries();
    corpus.write(folder.path(), &embedder, &queries).await?;
    let data = folder.path().join("data");
    let database = Database::open(&data).await?;
    let settings = CollectionSettings::default();
    let collections = Collections::new(database.clone(), Clock::default(), settings);
    collections.set_embedder(Some(embedder));
    let name: CollectionName = "bench".parse().map_err(failed)?;
    for chunks in corpus.chunks.chunks(MAX_ITEMS) {
        let item = |text: &String| Item { text: text.clone(), ..Item::default() };
        let items = chunks.iter().map(item).collect();
        collections.add(TENANT, &name, items).await.map_err(failed)?;
    }
    let words_ms = time(&collections, &name, &queries, Mode::Words, rounds).await?;
    let before = Memory::of(std::process::id())?.own_mb;
    let watch = Watch::start();
    let vectors_ms = time(&collections, &name, &queries, Mode::Vectors, rounds).await?;
    let peak = watch.end()?;
    let hybrid_ms = time(&collections, &name, &queries, Mode::Hybrid, rounds).await?;
    database.close().await;

    say("measuring sqlite3 and numpy");
    let rival = rival(&run.python, folder.path(), rounds).await?;
    let chunks = shown(count);
    let millis = |row: Row, ours: f64, theirs: f64, base: &str| {
        row.fact("ours", ours, Unit::Millis).fact(base, theirs, Unit::Millis)
    };
    let row = Row::new(
        format!("`words` over {chunks} chunks, versus FTS5 by sqlite3"),
        words_ms / rival.words_ms,
        Unit::Ratio,
    );
    rows.push(millis(row.target(Target::AtMost(3.0)), words_ms, rival.words_ms, "sqlite3"));
    let label = format!("`vectors` over {chunks} chunks of {DIMENSIONS}, versus numpy");
    rows.push(match rival.vectors_ms {
        Some(numpy) => {
            let row = Row::new(label, vectors_ms / numpy, Unit::Ratio).target(Target::AtMost(1.5));
            millis(row, vectors_ms, numpy, "numpy")
        }
        None => Row::skipped(label, "`pip install numpy`, and name the interpreter with --python"),
    });
    let sum = words_ms + vectors_ms;
    let row = Row::new("`hybrid`, versus `words` and `vectors`", hybrid_ms / sum, Unit::Ratio);
    rows.push(millis(row.target(Target::AtMost(1.2)), hybrid_ms, sum, "sum"));
    let matrix = (count * DIMENSIONS) as f64 / f64::from(1 << 20);
    let row = Row::new(
        "memory for vectors, versus the matrix in eight bits",
        (peak - before).max(0.0) / matrix,
        Unit::Ratio,
    );
    rows.push(row.target(Target::AtMost(1.5)).fact("matrix", matrix, Unit::Megabytes));
    Ok(())
}

fn failed(failure: proto::Failure) -> anyhow::Error {
    anyhow::anyhow!("{}", failure.message)
}

/// The median of a search, in milliseconds. A first round warms up.
async fn time(
    collections: &Collections,
    name: &CollectionName,
    queries: &[String],
    mode: Mode,
    rounds: usize,
) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for round in 0..=rounds {
        for query in queries {
            let search = Search {
                query: query.clone(),
                collections: vec![name.clone()],
                limit: 10,
                filter: Filter::default(),
                mode,
            };
            let begun = Instant::now();
            let found = collections.search(TENANT, &search).await.map_err(failed)?;
            if round > 0 {
                times.push(begun.elapsed().as_secs_f64() * 1_000.0);
            }
            ensure!(!found.results.is_empty(), "`{query}` finds nothing");
        }
    }
    Ok(median(&mut times))
}

async fn rival(python: &Path, folder: &Path, rounds: usize) -> anyhow::Result<Rival> {
    let script = folder.join("rival.py");
    std::fs::write(&script, include_str!("../../rivals/collections_rival.py"))?;
    let mut command = Command::new(python);
    command.arg(script).arg(folder).args([rounds.to_string(), DIMENSIONS.to_string()]);
    let output = tokio::time::timeout(TIMEOUT, command.kill_on_drop(true).output()).await;
    let output = output.context("sqlite3 did not end")??;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "sqlite3 went wrong: {stderr}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Texts of invented words, a few of which are frequent.
struct Corpus {
    words: Vec<String>,
    chunks: Vec<String>,
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.next() as f64 / f64::from(u32::MAX >> 1)
    }

    /// The number of a word: the first ones are frequent, as in any language.
    fn word(&mut self) -> usize {
        let rank = (VOCABULARY as f64).powf(self.share().min(0.999_999));
        (rank as usize - 1).min(VOCABULARY - 1)
    }
}

impl Corpus {
    fn new(count: usize) -> Self {
        let words: Vec<_> = (0..VOCABULARY).map(word).collect();
        let mut numbers = Numbers(42);
        let chunk = |_| {
            let length = 60 + numbers.below(60);
            let text: Vec<_> = (0..length).map(|_| words[numbers.word()].as_str()).collect();
            text.join(" ")
        };
        let chunks = (0..count).map(chunk).collect();
        Self { words, chunks }
    }

    /// Three to five words, none of the most frequent.
    fn queries(&self) -> Vec<String> {
        let mut numbers = Numbers(7);
        let query = |_| {
            let length = 3 + numbers.below(3);
            let words: Vec<_> =
                (0..length).map(|_| self.words[50 + numbers.below(2_000)].as_str()).collect();
            words.join(" ")
        };
        (0..QUERIES).map(query).collect()
    }

    /// Writes the input of the compared program.
    async fn write(
        &self,
        folder: &Path,
        embedder: &Embedder,
        queries: &[String],
    ) -> anyhow::Result<()> {
        std::fs::write(folder.join("chunks.txt"), self.chunks.join("\n") + "\n")?;
        std::fs::write(folder.join("queries.txt"), queries.join("\n") + "\n")?;
        for (file, texts) in [("vectors.f32", &self.chunks[..]), ("query_vectors.f32", queries)] {
            let mut bytes = Vec::with_capacity(texts.len() * DIMENSIONS * 4);
            for some in texts.chunks(MAX_ITEMS) {
                let vectors = embedder.embed(some.to_vec()).await.map_err(failed)?;
                let numbers = vectors.into_iter().flatten().flatten();
                bytes.extend(numbers.flat_map(f32::to_le_bytes));
            }
            std::fs::write(folder.join(file), bytes)?;
        }
        Ok(())
    }
}

/// A word of three or four syllables, another one for each number.
fn word(mut number: usize) -> String {
    const STARTS: &[u8] = b"bdfgklmnprtvz";
    const VOWELS: &[u8] = b"aiou";
    let mut text = String::new();
    for _ in 0..4 {
        text.push(char::from(STARTS[number % STARTS.len()]));
        number /= STARTS.len();
        text.push(char::from(VOWELS[number % VOWELS.len()]));
        number /= VOWELS.len();
    }
    text
}

/// A static model that knows all words, with random vectors.
fn model(folder: &Path, words: &[String]) -> anyhow::Result<Embedder> {
    let folder: PathBuf = folder.join("model");
    std::fs::create_dir(&folder)?;
    let mut vocabulary = serde_json::Map::new();
    vocabulary.insert("[UNK]".to_owned(), json!(0));
    for (id, word) in (1..).zip(words) {
        vocabulary.insert(word.clone(), json!(id));
    }
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": vocabulary},
    });
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string())?;
    let mut numbers = Numbers(1);
    let count = (words.len() + 1) * DIMENSIONS;
    let data: Vec<u8> =
        (0..count).flat_map(|_| ((numbers.share() - 0.5) as f32).to_le_bytes()).collect();
    let shape = [words.len() + 1, DIMENSIONS];
    let header =
        json!({"embeddings": {"dtype": "F32", "shape": shape, "data_offsets": [0, data.len()]}});
    let header = header.to_string().into_bytes();
    let length = (header.len() as u64).to_le_bytes();
    std::fs::write(folder.join("model.safetensors"), [&length[..], &header, &data].concat())?;
    Ok(Embedder::of_static(StaticModel::open(&folder)?, "bench"))
}

/// Samples the memory of this process.
struct Watch {
    ending: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<f64>,
}

impl Watch {
    fn start() -> Self {
        let ending = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ending);
        let thread = std::thread::spawn(move || {
            let mut peak = 0.0_f64;
            while !ended.load(Ordering::Relaxed) {
                peak = peak.max(Memory::of(std::process::id()).map_or(0.0, |memory| memory.own_mb));
                std::thread::sleep(Duration::from_millis(2));
            }
            peak
        });
        Self { ending, thread }
    }

    fn end(self) -> anyhow::Result<f64> {
        self.ending.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow::anyhow!("the memory could not be read"))
    }
}
