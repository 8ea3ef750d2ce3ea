//! The program `tesseract`: its table of words.

use std::collections::HashMap;

use crate::word::{Fragment, Word};

/// Fields of a row: level, page, block, paragraph, line, word, left, top, width, height, confidence, text.
const FIELDS: usize = 12;

/// The level of rows that are words.
const WORD: &str = "5";

/// The words of a TSV table, one fragment for each line of text. Rows that are no words are left out.
pub fn fragments(table: &str) -> Vec<Fragment> {
    let mut lines: Vec<Fragment> = Vec::new();
    let mut index: HashMap<[&str; 4], usize> = HashMap::new();
    for row in table.lines() {
        let fields: Vec<&str> = row.splitn(FIELDS, '\t').collect();
        let [level, page, block, paragraph, line, _, left, top, width, height, confidence, text] =
            fields[..]
        else {
            continue;
        };
        let numbers = [left, top, width, height, confidence].map(str::parse::<f64>);
        let [Ok(left), Ok(top), Ok(width), Ok(height), Ok(confidence)] = numbers else { continue };
        if level != WORD || text.trim().is_empty() || confidence < 0.0 {
            continue;
        }
        let at = *index.entry([page, block, paragraph, line]).or_insert(lines.len());
        if at == lines.len() {
            lines.push(Fragment::default());
        }
        lines[at].words.push(Word {
            text: text.trim().to_owned(),
            bbox: [left, top, left + width, top + height],
            confidence: (confidence / 100.0).clamp(0.0, 1.0),
        });
    }
    lines
}

/// The languages that `tesseract --list-langs` prints, without `osd`, which is none.
pub fn languages(listed: &str) -> Vec<String> {
    listed
        .lines()
        .skip(1)
        .map(str::trim)
        .filter(|name| !name.is_empty() && *name != "osd" && *name != "equ")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
