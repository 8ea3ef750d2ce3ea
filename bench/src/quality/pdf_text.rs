//! Whether the text of PDFs comes out whole and in reading order.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use documents::{Form, Limits, Options};
use serde::{Deserialize, Serialize};

use super::PdfText;
use super::cpu::cpu_time;

/// A document and the text that a reader sees in it.
#[derive(Debug, Deserialize)]
struct Gold {
    pdf: PathBuf,
    #[serde(default)]
    tags: Vec<String>,
    text: String,
    /// The text without running heads, feet, page numbers and watermarks.
    #[serde(default)]
    body: String,
}

/// Averages over all documents.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    documents: usize,
    /// How many could not be read.
    failed: usize,
    word_f1: f64,
    order: f64,
    body_word_f1: f64,
    order_by_tag: BTreeMap<String, f64>,
    /// CPU time for the text alone, once for each document.
    cpu_s: f64,
}

/// Reads every document of the folder's `gold*.jsonl` and compares.
pub(super) fn measure(asked: &PdfText) -> anyhow::Result<Figures> {
    let rows = rows(&asked.folder)?;
    let mut cpu = Duration::ZERO;
    let mut failed = 0;
    let (mut words, mut order, mut body) = (Mean::default(), Mean::default(), Mean::default());
    let mut tags: BTreeMap<String, Mean> = BTreeMap::new();
    for row in &rows {
        let path = asked.folder.join(&row.pdf);
        let bytes =
            fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let read = |form| {
            let options = Options::new("application/pdf").with_form(form);
            documents::extract(bytes.clone(), &options, &Limits::default())
        };
        let start = cpu_time();
        let whole = read(Form::Text);
        cpu += cpu_time().saturating_sub(start);
        failed += usize::from(whole.is_err());
        let text = whole.map(|read| read.text).unwrap_or_default();
        let main = read(Form::MainText).map(|read| read.text).unwrap_or_default();
        let (found, expected) = (tokens(&text), tokens(&row.text));
        words.add(word_f1(&found, &expected));
        let in_order = order_similarity(&found, &expected);
        order.add(in_order);
        body.add(word_f1(&tokens(&main), &tokens(&row.body)));
        for tag in &row.tags {
            tags.entry(tag.clone()).or_default().add(in_order);
        }
    }
    Ok(Figures {
        documents: rows.len(),
        failed,
        word_f1: words.value(),
        order: order.value(),
        body_word_f1: body.value(),
        order_by_tag: tags.into_iter().map(|(tag, mean)| (tag, mean.value())).collect(),
        cpu_s: (cpu.as_secs_f64() * 1000.0).round() / 1000.0,
    })
}

/// The rows of all `gold*.jsonl` in a folder.
fn rows(folder: &Path) -> anyhow::Result<Vec<Gold>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("gold") && name.ends_with(".jsonl")
    });
    files.sort();
    ensure!(!files.is_empty(), "there is no gold*.jsonl in {}", folder.display());
    let mut rows = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)
            .with_context(|| format!("{} cannot be read", file.display()))?;
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row = serde_json::from_str(line)
                .with_context(|| format!("{}, line {}", file.display(), at + 1))?;
            rows.push(row);
        }
    }
    Ok(rows)
}

#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(&self) -> f64 {
        (self.sum / self.count.max(1) as f64 * 10_000.0).round() / 10_000.0
    }
}

/// Each Han, Hiragana or Katakana character alone, runs of digits, and runs of other characters of words, all in lower case.
fn tokens(text: &str) -> Vec<String> {
    #[derive(PartialEq, Eq, Clone, Copy)]
    enum Kind {
        Digit,
        Letter,
        Other,
    }
    let mut tokens: Vec<String> = Vec::new();
    let mut last = Kind::Other;
    for character in text.to_lowercase().chars() {
        let single = matches!(
            character,
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        );
        let kind = match character {
            _ if single => Kind::Other,
            character if character.is_numeric() => Kind::Digit,
            character if character.is_alphabetic() => Kind::Letter,
            _ => Kind::Other,
        };
        if single {
            tokens.push(character.to_string());
        } else if kind != Kind::Other {
            match tokens.last_mut() {
                Some(token) if kind == last => token.push(character),
                _ => tokens.push(character.to_string()),
            }
        }
        last = kind;
    }
    tokens
}

/// The F1 of two multisets of words.
fn word_f1(found: &[String], expected: &[String]) -> f64 {
    if found.is_empty() && expected.is_empty() {
        return 1.0;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in expected {
        *counts.entry(word).or_default() += 1;
    }
    let mut common = 0;
    for word in found {
        if let Some(count) = counts.get_mut(word.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    2.0 * f64::from(common) / (found.len() + expected.len()) as f64
}

/// Twice the longest common subsequence over the length of both.
fn order_similarity(found: &[String], expected: &[String]) -> f64 {
    if found.is_empty() && expected.is_empty() {
        return 1.0;
    }
    let mut row = vec![0_usize; expected.len() + 1];
    for word in found {
        let mut diagonal = 0;
        for (at, other) in expected.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == other { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    2.0 * row[expected.len()] as f64 / (found.len() + expected.len()) as f64
}
