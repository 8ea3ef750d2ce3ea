//! Lines of words, and the pieces of them that belong together.

use documents::layout::{Area, PlacedWord};

use super::rules::Rules;

/// A gap of this many font sizes separates pieces of a line.
const GAP: f64 = 0.75;

/// A gap of this many font sizes separates two numbers; a smaller one separates thousands.
const NUMBERS: f64 = 0.42;

/// Words that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) words: Vec<PlacedWord>,
    pub(super) area: Area,
}

impl Piece {
    pub(super) fn new(word: PlacedWord) -> Self {
        Self { area: word.area, words: vec![word] }
    }

    pub(super) fn of(words: Vec<PlacedWord>) -> Option<Self> {
        let area = words.iter().map(|word| word.area).reduce(|all, area| all.union(&area))?;
        Some(Self { words, area })
    }

    pub(super) fn push(&mut self, word: PlacedWord) {
        self.area = self.area.union(&word.area);
        self.words.push(word);
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (at, word) in self.words.iter().enumerate() {
            if let Some(before) = at.checked_sub(1).map(|at| &self.words[at])
                && (before.row == word.row
                    || word.area.left - before.area.right > word.size.min(before.size) * 0.15)
            {
                text.push(' ');
            }
            text.push_str(&word.text);
        }
        text
    }

    pub(super) fn is_numeric(&self) -> bool {
        let (mut digits, mut others) = (0_usize, 0_usize);
        for character in self.words.iter().flat_map(|word| word.text.chars()) {
            digits += usize::from(character.is_numeric());
            others += usize::from(character.is_alphabetic());
        }
        (digits > 0 && digits >= others)
            || (digits == 0 && others == 0)
            || matches!(self.text().as_str(), "n/a" | "N/A" | "NA" | "n.a." | "na")
    }

    /// Whether it is a number, perhaps with a unit after it.
    pub(super) fn is_value(&self) -> bool {
        let first = self.words.first().map(|word| word.text.as_str()).unwrap_or_default();
        let bare =
            first.trim_start_matches(['$', '€', '£', '(', '<', '>', '~', '±', '-', '–', '+']);
        self.is_numeric() || (bare.starts_with(char::is_numeric) && self.words.len() <= 4)
    }

    /// Whether it begins like the rest of a sentence.
    pub(super) fn continues(&self) -> bool {
        let first = self.words.first().and_then(|word| word.text.chars().next());
        first.is_some_and(|first| first.is_lowercase() || matches!(first, '(' | '/' | '&'))
    }
}

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// From left to right.
    pub(super) pieces: Vec<Piece>,
    pub(super) area: Area,
    pub(super) baseline: f64,
    pub(super) size: f64,
    /// Whether dots lead from one piece to another.
    pub(super) leader: bool,
}

impl Line {
    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(Piece::text).collect::<Vec<_>>().join(" ")
    }
}

/// Groups words into lines, from top to bottom, and lines into pieces.
pub(super) fn lines(words: &[PlacedWord], rules: &Rules) -> Vec<Line> {
    let mut leaders: Vec<f64> =
        words.iter().filter(|word| has_leader(word)).map(|word| word.baseline).collect();
    leaders.sort_by(f64::total_cmp);
    let mut words: Vec<PlacedWord> = words.iter().filter_map(without_leader).collect();
    words.sort_by(|one, other| one.baseline.total_cmp(&other.baseline));
    let mut rows: Vec<Vec<PlacedWord>> = Vec::new();
    for word in words {
        let recent = rows.len().saturating_sub(8);
        let best = (recent..rows.len())
            .map(|row| (row, overlap(&rows[row][0], &word)))
            .filter(|(_, overlap)| *overlap > 0.5)
            .max_by(|one, other| one.1.total_cmp(&other.1));
        match best {
            Some((row, _)) => rows[row].push(word),
            None => rows.push(vec![word]),
        }
    }
    let mut lines: Vec<Line> = rows.into_iter().filter_map(|row| line(row, rules)).collect();
    for line in &mut lines {
        let near = leaders.partition_point(|leader| *leader < line.baseline - 2.0);
        line.leader |= leaders.get(near).is_some_and(|leader| *leader < line.baseline + 2.0);
    }
    lines.sort_by(|one, other| one.baseline.total_cmp(&other.baseline));
    lines
}

/// The share of the smaller word's height that both have in common.
fn overlap(one: &PlacedWord, other: &PlacedWord) -> f64 {
    let shared = one.area.bottom.min(other.area.bottom) - one.area.top.max(other.area.top);
    shared / one.area.height().min(other.area.height()).max(0.1)
}

/// Whether a word is a line that is typed with dashes.
pub(super) fn is_line(word: &PlacedWord) -> bool {
    let is_dash = |character: char| matches!(character, '-' | '=' | '_' | '–' | '—' | '─');
    word.text.chars().all(is_dash) && word.text.chars().count() >= 5
}

/// Whether a word ends with dots that lead to the next one.
fn has_leader(word: &PlacedWord) -> bool {
    word.text.ends_with("....") || word.text.ends_with("……")
}

/// Drops dots that lead from a word to its number.
fn without_leader(word: &PlacedWord) -> Option<PlacedWord> {
    let is_dot = |character: char| matches!(character, '.' | '…' | '·' | '_');
    let bare = word.text.trim_end_matches(is_dot);
    let dots = word.text[bare.len()..].chars().count();
    if bare.is_empty() && (dots >= 2 || word.text == "…") || is_line(word) {
        return None;
    }
    let mut word = word.clone();
    if dots >= 4 && !bare.is_empty() {
        let share = bare.chars().count() as f64 / word.text.chars().count() as f64;
        word.area.right = word.area.left + word.area.width() * share;
        word.text.truncate(bare.len());
    }
    Some(word)
}

fn line(mut words: Vec<PlacedWord>, rules: &Rules) -> Option<Line> {
    words.sort_by(|one, other| one.area.left.total_cmp(&other.area.left));
    let all = words.len();
    drop_dots(&mut words);
    let leader = words.len() < all;
    let area = words.iter().map(|word| word.area).reduce(|all, area| all.union(&area))?;
    let main = words.iter().max_by_key(|word| word.text.len())?;
    let (baseline, size) = (main.baseline, main.size);
    let mut pieces: Vec<Piece> = Vec::new();
    for word in words {
        match pieces.last_mut() {
            Some(piece) if !are_apart(piece, &word, rules) => piece.push(word),
            _ => pieces.push(Piece::new(word)),
        }
    }
    Some(Line { pieces, area, baseline, size, leader })
}

/// Drops rows of single dots.
fn drop_dots(words: &mut Vec<PlacedWord>) {
    let is_dot = |word: &PlacedWord| matches!(word.text.as_str(), "." | "·");
    let mut keep = vec![true; words.len()];
    let mut at = 0;
    while at < words.len() {
        let length = words[at..].iter().take_while(|word| is_dot(word)).count();
        if length >= 3 {
            keep[at..at + length].fill(false);
        }
        at += length.max(1);
    }
    let mut kept = keep.into_iter();
    words.retain(|_| kept.next().unwrap_or(true));
}

fn are_apart(piece: &Piece, word: &PlacedWord, rules: &Rules) -> bool {
    let Some(before) = piece.words.last() else { return false };
    let gap = word.area.left - piece.area.right;
    let size = before.size.max(word.size);
    if gap > size * GAP {
        return true;
    }
    if is_number(&before.text) && is_number(&word.text) && gap > size * NUMBERS {
        return true;
    }
    let (from, to) = (piece.area.right.min(word.area.center()), word.area.left);
    let middle = word.area.middle();
    rules.vertical.iter().any(|rule| {
        (from - 1.0..=to.max(from) + 1.0).contains(&rule.at)
            && (rule.start..=rule.end).contains(&middle)
    })
}

fn is_number(text: &str) -> bool {
    text.chars().any(char::is_numeric) && !text.chars().any(char::is_alphabetic)
}
