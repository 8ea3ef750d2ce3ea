//! Near duplicates: paragraphs that a better source has already.

use std::collections::{HashMap, HashSet};

use crate::blocks::{blocks, is_heading};

/// Words in a shingle.
const SHINGLE: usize = 5;
/// A paragraph with a greater share of its shingles in one earlier paragraph is a duplicate.
const THRESHOLD: f64 = 0.85;
/// A shingle that occurs in more paragraphs than this says nothing about any of them.
const MOST_PARAGRAPHS: usize = 64;

/// The paragraphs of the sources so far.
#[derive(Default)]
pub struct Paragraphs {
    /// Normalized paragraphs by their djb2 hash.
    equal: HashMap<u64, Vec<String>>,
    /// The paragraphs in which a shingle occurs.
    shingles: HashMap<u64, Vec<usize>>,
    count: usize,
}

/// A text without the paragraphs that others had.
#[derive(Debug, PartialEq, Eq)]
pub struct Unique {
    pub text: String,
    /// Paragraphs that were removed.
    pub removed: usize,
    /// Whether anything but headings is left.
    pub has_content: bool,
}

impl Paragraphs {
    /// Removes the paragraphs of a source that earlier sources had, and keeps the others for later ones. Call it with the
    /// best source first.
    pub fn remove_known(&mut self, text: &str) -> Unique {
        let mut kept: Vec<&str> = Vec::new();
        let mut own = Vec::new();
        let mut removed = 0;
        for block in blocks(text) {
            if is_heading(block) {
                kept.push(block);
                continue;
            }
            let words = words(block);
            if self.knows(&words) {
                removed += 1;
                continue;
            }
            kept.push(block);
            own.push(words);
        }
        for words in own {
            self.add(words);
        }
        let has_content = kept.iter().any(|block| !is_heading(block));
        if removed == 0 {
            return Unique { text: text.to_owned(), removed, has_content };
        }
        Unique { text: without_empty_sections(&kept).join("\n\n"), removed, has_content }
    }

    fn knows(&self, words: &[String]) -> bool {
        let normal = words.join(" ");
        if normal.is_empty() {
            return false;
        }
        if self.equal.get(&djb2(normal.bytes())).is_some_and(|known| known.contains(&normal)) {
            return true;
        }
        let shingles = shingles(words);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for shingle in &shingles {
            for paragraph in self.shingles.get(shingle).into_iter().flatten() {
                *shared.entry(*paragraph).or_default() += 1;
            }
        }
        let most = shared.values().max().copied().unwrap_or_default();
        !shingles.is_empty() && most as f64 / shingles.len() as f64 > THRESHOLD
    }

    fn add(&mut self, words: Vec<String>) {
        for shingle in shingles(&words) {
            let paragraphs = self.shingles.entry(shingle).or_default();
            if paragraphs.len() < MOST_PARAGRAPHS {
                paragraphs.push(self.count);
            }
        }
        self.count += 1;
        let normal = words.join(" ");
        self.equal.entry(djb2(normal.bytes())).or_default().push(normal);
    }
}

/// Leaves out headings that have lost all paragraphs below them.
fn without_empty_sections<'a>(blocks: &[&'a str]) -> Vec<&'a str> {
    let level = |block: &str| block.len() - block.trim_start_matches('#').len();
    let mut kept: Vec<&str> = Vec::new();
    // From the end: a heading stays if a paragraph, or a deeper heading that stays, follows it.
    for block in blocks.iter().rev() {
        let ends = |next: &&str| is_heading(next) && level(next) <= level(block);
        let empty = is_heading(block) && kept.last().is_none_or(ends);
        if !empty {
            kept.push(block);
        }
    }
    kept.reverse();
    kept
}

/// The words of a paragraph in lower case, without punctuation; single characters where a script has no spaces.
fn words(block: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in block.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut word = String::new();
        for character in run.chars().flat_map(char::to_lowercase) {
            if is_dense(character) {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                words.push(character.to_string());
            } else {
                word.push(character);
            }
        }
        words.extend((!word.is_empty()).then_some(word));
    }
    words
}

/// Scripts without spaces between words.
fn is_dense(character: char) -> bool {
    matches!(character, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

fn shingles(words: &[String]) -> HashSet<u64> {
    words.windows(SHINGLE).map(|window| djb2(window.join(" ").bytes())).collect()
}

/// Daniel Bernstein's hash, in 64 bits.
fn djb2(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(5381, |hash, byte| hash.wrapping_mul(33).wrapping_add(u64::from(byte)))
}

#[cfg(test)]
mod tests;
