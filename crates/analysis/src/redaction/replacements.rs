//! What replaces values, the same for equal values.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::{Edit, Mode, Target};

static PSEUDONYM: LazyLock<Regex> = LazyLock::new(|| pii::compiled(r"[A-Z][A-Z_]*_[0-9]{1,9}"));

pub(super) struct Replacements {
    mode: Mode,
    numbers: HashMap<(String, String), usize>,
    counts: HashMap<String, usize>,
    /// Words of the text that look like pseudonyms but are not.
    taken: HashSet<String>,
}

impl Replacements {
    pub(super) fn new(mode: Mode, text: &str) -> Self {
        let taken = match mode {
            Mode::Pseudonym => {
                PSEUDONYM.find_iter(text).map(|found| found.as_str().to_owned()).collect()
            }
            _ => HashSet::new(),
        };
        Self { mode, numbers: HashMap::new(), counts: HashMap::new(), taken }
    }

    pub(super) fn edits(&mut self, text: &str, targets: &[Target]) -> Vec<Edit> {
        let edit = |target: &Target| {
            let replacement = self.replacement(&target.label, &text[target.place.clone()]);
            Edit { label: target.label.clone(), place: target.place.clone(), replacement }
        };
        targets.iter().map(edit).collect()
    }

    fn replacement(&mut self, label: &str, value: &str) -> String {
        match self.mode {
            Mode::Mask => value.chars().map(|c| if c.is_whitespace() { c } else { '█' }).collect(),
            Mode::Label => format!("[{label}]"),
            Mode::Remove => String::new(),
            Mode::Pseudonym => {
                let (counts, taken) = (&mut self.counts, &self.taken);
                let key = (label.to_owned(), key(value));
                let number = *self.numbers.entry(key).or_insert_with(|| {
                    let count = counts.entry(label.to_owned()).or_default();
                    *count += 1;
                    while taken.contains(&format!("{label}_{count}")) {
                        *count += 1;
                    }
                    *count
                });
                format!("{label}_{number}")
            }
        }
    }
}

/// Equal for values that differ only in case and blanks, and for numbers in other groups.
fn key(value: &str) -> String {
    if !value.chars().any(char::is_alphabetic) {
        return value.chars().filter(|c| c.is_alphanumeric()).collect();
    }
    let words: Vec<String> = value.split_whitespace().map(str::to_lowercase).collect();
    if value.chars().any(|c| c.is_ascii_digit()) { words.concat() } else { words.join(" ") }
}
