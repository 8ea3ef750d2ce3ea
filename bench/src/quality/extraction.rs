//! Word F1 and speed of main-content extraction over a set of pages.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use documents::{Form, Limits, Options, extract};
use flate2::read::GzDecoder;
use research::media_type_of_body;
use serde::{Deserialize, Serialize};

use url::Url;

use super::cpu::cpu_time;

/// Rounds over all pages; the fastest one counts.
const ROUNDS: usize = 3;

const RIVAL: &str = include_str!("../../rivals/trafilatura_rival.py");

/// Measure how well and how fast the main content of web pages is found; prints one line of JSON.
#[derive(Debug, Args)]
#[command(after_help = "\
A page is a line `{\"url\": …, \"page_type\": …, \"html\": …, \"main_content\": …}`; the file may be compressed with gzip. \
The score is the F1 of the words of the plain text, averaged over the pages that have main content.")]
pub(crate) struct Extraction {
    /// The pages, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pages: PathBuf,
    /// An interpreter that can import trafilatura, which is measured in the same run.
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Page {
    url: String,
    page_type: String,
    html: String,
    main_content: Option<String>,
}

/// Averages over all pages.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    f1: f64,
    precision: f64,
    recall: f64,
    by_type: BTreeMap<String, f64>,
    pages: usize,
    pages_per_cpu_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trafilatura: Option<Rival>,
    /// Our pages per CPU second, over those of trafilatura.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_ratio: Option<f64>,
}

/// The figures of Python's trafilatura.
#[derive(Debug, Serialize, Deserialize)]
struct Rival {
    version: String,
    f1: f64,
    by_type: BTreeMap<String, f64>,
    pages_per_cpu_s: f64,
}

/// Extracts all pages and compares the text with what people marked.
pub(super) fn measure(asked: &Extraction) -> anyhow::Result<Figures> {
    let pages = pages(&asked.pages)?;
    ensure!(!pages.is_empty(), "{} has no page with `main_content`", asked.pages.display());
    let mut texts = Vec::new();
    let mut fastest = Duration::MAX;
    for _ in 0..ROUNDS {
        // Copies of the pages are made outside of the measured time.
        let inputs: Vec<Vec<u8>> = pages.iter().map(|page| page.html.clone().into()).collect();
        texts.clear();
        let start = cpu_time();
        for (page, input) in pages.iter().zip(inputs) {
            texts.push(read(input, &page.url));
        }
        fastest = fastest.min(cpu_time() - start);
    }
    let mut kinds: BTreeMap<String, Vec<Score>> = BTreeMap::new();
    for (page, text) in pages.iter().zip(&texts) {
        let score = Score::of(text, page.main_content.as_deref().unwrap_or_default());
        kinds.entry(page.page_type.clone()).or_default().push(score);
    }
    let all: Vec<Score> = kinds.values().flatten().copied().collect();
    let f1 = |scores: &[Score]| mean(scores.iter().map(|score| score.f1));
    let by_type = kinds.iter().map(|(kind, scores)| (kind.clone(), f1(scores))).collect();
    let pages_per_cpu_s = rounded(pages.len() as f64 / fastest.as_secs_f64());
    let trafilatura = asked.python.as_deref().map(|python| rival(python, &asked.pages));
    let trafilatura = trafilatura.transpose()?;
    Ok(Figures {
        f1: f1(&all),
        precision: mean(all.iter().map(|score| score.precision)),
        recall: mean(all.iter().map(|score| score.recall)),
        by_type,
        pages: pages.len(),
        pages_per_cpu_s,
        speed_ratio: trafilatura.as_ref().map(|it| rounded(pages_per_cpu_s / it.pages_per_cpu_s)),
        trafilatura,
    })
}

/// Reads a page as `scrape_page` does, in its own form: what that would refuse has no text here either.
fn read(body: Vec<u8>, address: &str) -> String {
    const DECLARED: &str = "text/html; charset=utf-8";
    let Ok(url) = Url::parse(address) else { return String::new() };
    let Some(media_type) = media_type_of_body(&body, Some(DECLARED), &url) else {
        return String::new();
    };
    let options = Options {
        url: Some(address),
        charset: Some("utf-8"),
        ..Options::new(media_type).with_form(Form::MainText)
    };
    let extracted = extract(body, &options, &Limits::default());
    extracted.map(|extracted| proto::clean::text(&extracted.text).0).unwrap_or_default()
}

/// Reads rows of JSON, compressed or not, and leaves out pages without main content.
fn pages(path: &Path) -> anyhow::Result<Vec<Page>> {
    let mut bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut inflated = Vec::new();
        GzDecoder::new(bytes.as_slice()).read_to_end(&mut inflated)?;
        bytes = inflated;
    }
    let mut pages: Vec<Page> = Vec::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if !line.trim_ascii().is_empty() {
            let page = serde_json::from_slice(line);
            pages.push(page.with_context(|| format!("line {} of {}", at + 1, path.display()))?);
        }
    }
    let has_content =
        |page: &Page| page.main_content.as_ref().is_some_and(|text| !text.trim().is_empty());
    pages.retain(has_content);
    Ok(pages)
}

/// Measures trafilatura with the interpreter that can import it.
fn rival(python: &Path, pages: &Path) -> anyhow::Result<Rival> {
    let output = Command::new(python).arg("-c").arg(RIVAL).arg(pages).output();
    let output = output.with_context(|| format!("{} cannot be started", python.display()))?;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(
        output.status.success(),
        "trafilatura went wrong (`pip install trafilatura lxml_html_clean` installs it): {}",
        stderr.lines().last().unwrap_or_default()
    );
    let line = stdout.lines().last().unwrap_or_default();
    serde_json::from_str(line).with_context(|| format!("trafilatura printed `{line}`"))
}

/// How well the words of a text are those of another, in any order.
#[derive(Debug, Clone, Copy)]
struct Score {
    f1: f64,
    precision: f64,
    recall: f64,
}

impl Score {
    fn of(found: &str, expected: &str) -> Self {
        let (found, expected) = (words(found), words(expected));
        let both: usize = expected
            .iter()
            .map(|(word, count)| found.get(word).copied().unwrap_or_default().min(*count))
            .sum();
        let (all, needed): (usize, usize) = (found.values().sum(), expected.values().sum());
        let share = |of: usize| both as f64 / of.max(1) as f64;
        Self { f1: 2.0 * share(all + needed), precision: share(all), recall: share(needed) }
    }
}

fn words(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let text = text.to_lowercase();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|it| !it.is_empty()) {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    counts
}

fn mean(scores: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = scores.len().max(1) as f64;
    (scores.sum::<f64>() / count * 10_000.0).round() / 10_000.0
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{Extraction, Score, measure, read};

    #[test]
    fn words_are_compared_in_any_order() {
        let f1 = |found, expected| Score::of(found, expected).f1;
        assert_eq!(f1("One, two", "two ONE"), 1.0);
        assert_eq!(f1("one two three", "one"), 0.5);
        assert_eq!(f1("", "one"), 0.0);
        let score = Score::of("one two three four", "one two");
        assert_eq!((score.precision, score.recall), (0.5, 1.0));
    }

    #[test]
    fn pages_pass_the_same_door_as_scraped_ones() {
        let text = "The quick brown fox jumps over the lazy dog, and then it sleeps. ".repeat(5);
        let page = |before: &str| format!("{before}<article><p>{text}</p></article>").into_bytes();
        assert!(read(page("\u{8}"), "https://example.org/").contains("quick brown"));
        assert_eq!(read(page("%PDF-1.7\n"), "https://example.org/"), "");
        assert_eq!(read(page(""), "no address"), "");
    }

    #[test]
    fn pages_are_read_with_and_without_compression() {
        let text = "The quick brown fox jumps over the lazy dog, and then it sleeps for a while. ";
        let html = format!("<article><h1>Fox</h1><p>{}</p></article>", text.repeat(5));
        let page = serde_json::json!({
            "url": "https://example.org/", "page_type": "article", "html": html, "main_content": text.repeat(5),
        });
        let without = serde_json::json!({
            "url": "https://example.org/", "page_type": "forum", "html": "", "main_content": null,
        });
        let lines = format!("{page}\n{without}\n");
        let folder = tempfile::tempdir().unwrap();
        let (plain, zipped) = (folder.path().join("a.jsonl"), folder.path().join("a.jsonl.gz"));
        std::fs::write(&plain, &lines).unwrap();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(lines.as_bytes()).unwrap();
        std::fs::write(&zipped, encoder.finish().unwrap()).unwrap();
        let run = |pages: &Path| measure(&Extraction { pages: pages.to_owned(), python: None });
        for pages in [&plain, &zipped] {
            let figures = run(pages).unwrap();
            assert_eq!((figures.pages, figures.by_type.len()), (1, 1));
            assert!(figures.f1 > 0.9 && figures.pages_per_cpu_s > 0.0, "{figures:?}");
        }
        assert!(run(&folder.path().join("none")).is_err());
    }
}
