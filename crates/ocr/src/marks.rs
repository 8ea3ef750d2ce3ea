//! Marks of ink that are no characters to an engine: rules, and rows of dashes.

use serde::{Deserialize, Serialize};

use crate::grey::Grey;
use crate::ink::{self, Part};

/// Fewer dashes in a row are characters of a word.
const FEWEST_DASHES: usize = 5;

/// More rules than these are a texture.
const MAX_RULES: usize = 2_000;

/// A straight line of ink, right and bottom exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub left: usize,
    pub top: usize,
    pub right: usize,
    pub bottom: usize,
    pub vertical: bool,
}

/// A row of equal dashes, such as people type to separate the parts of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dashes {
    pub left: usize,
    pub top: usize,
    pub right: usize,
    pub bottom: usize,
    pub count: usize,
    /// The character that was probably typed.
    pub sign: char,
}

/// Rows of at least five equal dashes at equal distances. `height` is the usual height of a character.
pub(crate) fn dashes(parts: &[Part], height: f64) -> Vec<Dashes> {
    let mut flat: Vec<&Part> = parts.iter().filter(|part| is_dash(part, height)).collect();
    flat.sort_by_key(|part| (part.top, part.left));
    let mut rows: Vec<Vec<&Part>> = Vec::new();
    for part in flat {
        let fits = |row: &&mut Vec<&Part>| {
            let first = row[0];
            part.top.abs_diff(first.top) <= 1 + first.height() / 2
                && part.width().abs_diff(first.width()) <= 2 + first.width() / 3
        };
        // Rows end above: only the last few can go on.
        let from = rows.len().saturating_sub(8);
        match rows[from..].iter_mut().find(fits) {
            Some(row) => row.push(part),
            None => rows.push(vec![part]),
        }
    }
    let found = rows.into_iter().flat_map(|mut row| {
        row.sort_by_key(|part| part.left);
        evenly_spaced(&row)
    });
    join_doubles(found.collect())
}

/// The runs of a row in which dashes follow each other at one distance. A few may be missing.
fn evenly_spaced(row: &[&Part]) -> Vec<Dashes> {
    let mut apart: Vec<usize> = row.windows(2).map(|pair| pair[1].left - pair[0].left).collect();
    apart.sort_unstable();
    let Some(pitch) = apart.get(apart.len() / 2).copied().filter(|pitch| *pitch > 0) else {
        return Vec::new();
    };
    let follows = |one: &&Part, other: &&Part| {
        let count = count_steps(one, other, pitch);
        (1..=3).contains(&count)
            && (other.left - one.left).abs_diff(count * pitch) <= 2 + pitch / 5
            && pitch <= 3 * one.width()
    };
    row.chunk_by(follows).filter_map(|run| row_of(run, pitch)).collect()
}

fn count_steps(one: &Part, other: &Part, pitch: usize) -> usize {
    (other.left - one.left + pitch / 2) / pitch
}

fn is_dash(part: &Part, height: f64) -> bool {
    let (wide, high) = (part.width() as f64, part.height() as f64);
    part.width() * 10 >= part.height() * 17
        && wide < 1.5 * height
        && high < 0.4 * height
        && part.area * 10 >= part.width() * part.height() * 7
}

fn row_of(dashes: &[&Part], pitch: usize) -> Option<Dashes> {
    let (first, last) = (dashes.first()?, dashes.last()?);
    (dashes.len() >= FEWEST_DASHES).then(|| Dashes {
        left: first.left,
        top: dashes.iter().map(|part| part.top).min().unwrap_or(first.top),
        right: last.right,
        bottom: dashes.iter().map(|part| part.bottom).max().unwrap_or(first.bottom),
        // Step by step: the pitch is a whole number, and its error would add up.
        count: 1 + dashes
            .windows(2)
            .map(|pair| count_steps(pair[0], pair[1], pitch))
            .sum::<usize>(),
        sign: '-',
    })
}

/// Two rows close above each other are one row of `=`.
fn join_doubles(rows: Vec<Dashes>) -> Vec<Dashes> {
    let mut joined: Vec<Dashes> = Vec::new();
    for row in rows {
        let width = (row.right - row.left) / row.count;
        let upper = joined.iter_mut().find(|upper| {
            upper.left < row.right
                && row.left < upper.right
                && row.top > upper.bottom
                && row.top - upper.bottom < width
        });
        match upper {
            Some(upper) => {
                upper.bottom = row.bottom;
                (upper.left, upper.right) = (upper.left.min(row.left), upper.right.max(row.right));
                upper.count = upper.count.max(row.count);
                upper.sign = '=';
            }
            None => joined.push(row),
        }
    }
    joined
}

/// Straight lines that are longer than four characters and thinner than half of one.
pub(crate) fn rules(picture: &Grey, ink: u8, height: f64) -> Vec<Rule> {
    let least = ((height * 4.0) as usize).max(30);
    let most_thick = ((height * 0.5) as usize).max(3);
    let mut rules = straight(picture, ink, least, most_thick, false);
    let (turned, _) = picture.turned(crate::grey::Turn::Quarter);
    for rule in straight(&turned, ink, least, most_thick, true) {
        // The turned picture's x is this one's y from below.
        let tall = picture.height();
        let (left, right) = (rule.top, rule.bottom);
        let (top, bottom) = (tall - rule.right, tall - rule.left);
        rules.push(Rule { left, top, right, bottom, vertical: true });
    }
    rules
}

fn straight(picture: &Grey, ink: u8, least: usize, thick: usize, vertical: bool) -> Vec<Rule> {
    let mut done: Vec<Rule> = Vec::new();
    let mut open: Vec<Rule> = Vec::new();
    for y in 0..picture.height() {
        let long = ink::runs(picture.row(y), ink).filter(|(left, right)| right - left >= least);
        for (left, right) in long {
            let touching = open.iter_mut().find(|rule| {
                rule.bottom + 2 >= y && rule.left < right + 3 && left < rule.right + 3
            });
            match touching {
                Some(rule) => {
                    rule.left = rule.left.min(left);
                    rule.right = rule.right.max(right);
                    rule.bottom = y + 1;
                }
                None => open.push(Rule { left, top: y, right, bottom: y + 1, vertical }),
            }
        }
        let (still, ended) = open.into_iter().partition(|rule: &Rule| rule.bottom + 2 > y);
        (open, done) = (still, join(done, ended));
        if done.len() + open.len() > MAX_RULES {
            return Vec::new();
        }
    }
    let mut all = join(done, open);
    all.retain(|rule| rule.bottom - rule.top <= thick);
    all
}

fn join(mut rules: Vec<Rule>, more: Vec<Rule>) -> Vec<Rule> {
    rules.extend(more);
    rules
}
