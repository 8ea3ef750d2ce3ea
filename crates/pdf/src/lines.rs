//! From words to lines.

use std::collections::BTreeMap;

use super::script;
use super::words::Word;

/// A gap of this many font sizes separates cells of a table.
const CELL: f64 = 1.8;

/// Words that are this many times smaller than a row are not part of it.
const LARGER: f64 = 2.3;

/// A line of text, as it is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) x: (f64, f64),
    pub(super) y: f64,
    /// The size of most of its characters.
    pub(super) size: f64,
    /// Whether its characters are equally wide, as those of program code are.
    pub(super) mono: bool,
}

/// Puts words of one column into lines, from top to bottom.
pub(super) fn lines(words: Vec<Word>) -> Vec<Line> {
    rows(words).into_iter().filter_map(|row| line(&row)).collect()
}

/// Groups words into rows, each from left to right. Words of one row share most of their height, so that superscripts
/// belong to the text next to them.
pub(super) fn rows(mut words: Vec<Word>) -> Vec<Vec<Word>> {
    // Large words first, so that a row is as high as its text and not as a superscript.
    words.sort_by(|one, other| other.size.total_cmp(&one.size).then(one.y.total_cmp(&other.y)));
    let mut rows: Vec<Row> = Vec::new();
    // By baseline: rows that may hold a word are near it in this order.
    let mut order: BTreeMap<(i64, usize), usize> = BTreeMap::new();
    let key = |y: f64| (y * 1000.0) as i64;
    for word in words {
        // Rows are at least as large as the words that follow, and hold none that are far smaller.
        let reach = word.size * LARGER;
        let near = order.range((key(word.y - reach), 0)..=(key(word.y + reach), usize::MAX));
        let best = near
            .map(|(_, row)| (*row, rows[*row].overlap(&word)))
            .filter(|(_, overlap)| *overlap > 0.55)
            .max_by(|one, other| one.1.total_cmp(&other.1));
        match best {
            Some((row, _)) => rows[row].words.push(word),
            None => {
                order.insert((key(word.y), rows.len()), rows.len());
                let (y, size) = (word.y, word.size);
                rows.push(Row { y, size, words: vec![word] });
            }
        }
    }
    // By their tops, so that a large figure comes before the lines next to it.
    let usual = usual_size(&rows);
    rows.sort_by(|one, other| one.first_baseline(usual).total_cmp(&other.first_baseline(usual)));
    rows.into_iter()
        .map(|mut row| {
            row.words.sort_by(|one, other| one.x.0.total_cmp(&other.x.0));
            row.words
        })
        .collect()
}

struct Row {
    y: f64,
    size: f64,
    words: Vec<Word>,
}

fn usual_size(rows: &[Row]) -> f64 {
    let mut sizes: Vec<f64> = rows.iter().map(|row| row.size).collect();
    if sizes.is_empty() {
        return 0.0;
    }
    let middle = sizes.len() / 2;
    *sizes.select_nth_unstable_by(middle, f64::total_cmp).1
}

impl Row {
    /// The baseline of text in the usual size that begins at the same height.
    fn first_baseline(&self, usual: f64) -> f64 {
        if self.size > usual * 1.8 { self.y - (self.size - usual) * 0.7 } else { self.y }
    }

    /// The share of a word's height that lies within this row.
    fn overlap(&self, word: &Word) -> f64 {
        // Next to a word that is far larger there may be several rows.
        if self.size > word.size * LARGER {
            return 0.0;
        }
        let (top, bottom) = (self.y - self.size * 0.75, self.y + self.size * 0.2);
        let (word_top, word_bottom) = (word.y - word.size * 0.75, word.y + word.size * 0.2);
        let shared = bottom.min(word_bottom) - top.max(word_top);
        shared / (word_bottom - word_top)
    }
}

/// A row of words as one line, with tabs where cells are apart.
pub(super) fn line(words: &[Word]) -> Option<Line> {
    let (first, last) = (words.first()?, words.last()?);
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).map(|at| &words[at]) {
            text.push_str(between(before, word));
        }
        text.push_str(&word.text);
    }
    let text = script::in_reading_order(text);
    let right = words.iter().map(|word| word.x.1).fold(last.x.1, f64::max);
    let main = main_word(words).unwrap_or(first);
    let (x, y, size) = ((first.x.0, right), main.y, main.size);
    Some(Line { mono: is_mono(words), text, x, y, size })
}

/// The word whose size has most characters.
fn main_word(words: &[Word]) -> Option<&Word> {
    let weight = |word: &Word| -> usize {
        let same = words.iter().filter(|other| (other.size - word.size).abs() < 0.3);
        same.map(Word::characters).sum()
    };
    // Long lines have one size; a look at some of their words is enough.
    words.iter().take(16).max_by_key(|word| weight(word))
}

fn between(before: &Word, word: &Word) -> &'static str {
    let gap = word.x.0 - before.x.1;
    let size = before.size.min(word.size);
    if before.glued {
        return "";
    }
    match () {
        () if gap > before.size.max(word.size) * CELL => "\t",
        () if gap > size * 0.15 || before.row == word.row => " ",
        () => "",
    }
}

/// Whether the characters of a line are equally wide.
fn is_mono(words: &[Word]) -> bool {
    let size = words.first().map_or(1.0, |word| word.size);
    let longest = words.iter().max_by_key(|word| word.characters().min(2));
    let pitch = longest.and_then(|word| word.pitch);
    let Some(pitch) = pitch.filter(|pitch| (0.5..0.7).contains(&(pitch / size))) else {
        return false;
    };
    let even = |word: &Word| word.pitch.is_some_and(|it| (it - pitch).abs() < size * 0.01);
    let mut seen: Vec<char> = Vec::new();
    for character in words.iter().flat_map(|word| word.text.chars()) {
        // Digits are equally wide in most fonts.
        if !character.is_ascii_digit() && !seen.contains(&character) && seen.len() < 3 {
            seen.push(character);
        }
    }
    words.iter().all(even) && (seen.len() >= 3 || (0.595..0.606).contains(&(pitch / size)))
}
