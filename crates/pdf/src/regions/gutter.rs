//! Finds the white strip between two columns, and distinguishes columns from tables.

use std::collections::HashSet;

use crate::lines;
use crate::marker;
use crate::regions::median_size;
use crate::words::Word;

/// The narrowest strip, in font sizes.
const NARROWEST: f64 = 0.6;

/// The most strips that are followed in one region, and the most words that are looked at for them.
const SEEDS: usize = 400;
const LOOKS: usize = 2_000_000;

/// A region that is cut at its best strip.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) above: Vec<Word>,
    pub(super) left: Vec<Word>,
    pub(super) right: Vec<Word>,
    pub(super) below: Vec<Word>,
    /// Whether the two sides are read one after the other; otherwise row by row.
    pub(super) columns: bool,
}

/// Words between two horizontal white strips.
#[derive(Debug)]
struct Band {
    words: Vec<usize>,
    top: f64,
    bottom: f64,
    /// Where it has no words, from left to right; the first and the last reach to infinity.
    free: Vec<(f64, f64)>,
}

/// A white strip over consecutive bands.
#[derive(Debug, Clone, Copy)]
struct Strip {
    x: (f64, f64),
    first: usize,
    last: usize,
}

impl Strip {
    fn width(&self) -> f64 {
        self.x.1 - self.x.0
    }

    fn middle(&self) -> f64 {
        (self.x.0 + self.x.1) / 2.0
    }
}

/// Cuts a region at the strip with most lines next to it.
pub(super) fn find(words: &[Word]) -> Option<Group> {
    let size = median_size(words);
    let bands = bands(words, size);
    let mut strips: Vec<(usize, Strip)> = strips(&bands, size)
        .into_iter()
        .filter_map(|strip| {
            let strip = trim(words, &bands, strip, size)?;
            let sides = Sides::of(words, &bands, strip);
            sides.is_wide_enough(strip.width() / size).then(|| (sides.lines(), strip))
        })
        .collect();
    strips.sort_by(|(lines, strip), (other, other_strip)| {
        other.cmp(lines).then(other_strip.width().total_cmp(&strip.width()))
    });
    strips.into_iter().find_map(|(_, strip)| cut(words, &bands, strip))
}

fn bands(words: &[Word], size: f64) -> Vec<Band> {
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by(|one, other| words[*one].top().total_cmp(&words[*other].top()));
    let mut bands: Vec<Band> = Vec::new();
    for index in order {
        let word = &words[index];
        match bands.last_mut() {
            Some(band) if word.top() < band.bottom => {
                band.bottom = band.bottom.max(word.bottom());
                band.words.push(index);
            }
            _ => bands.push(Band {
                words: vec![index],
                top: word.top(),
                bottom: word.bottom(),
                free: Vec::new(),
            }),
        }
    }
    for band in &mut bands {
        band.free = free(band.words.iter().map(|index| words[*index].x), size * NARROWEST);
    }
    bands
}

/// The gaps between intervals that are at least `least` wide, and what is left and right of all of them.
pub(super) fn free(taken: impl Iterator<Item = (f64, f64)>, least: f64) -> Vec<(f64, f64)> {
    let mut taken: Vec<(f64, f64)> = taken.collect();
    taken.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut free = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for (start, until) in taken {
        if start - end >= least {
            free.push((end, start));
        }
        end = end.max(until);
    }
    free.push((end, f64::INFINITY));
    free
}

fn strips(bands: &[Band], size: f64) -> Vec<Strip> {
    let mut strips: Vec<Strip> = Vec::new();
    let words: usize = bands.iter().map(|band| band.words.len()).sum();
    let seeds = (LOOKS / words.max(1)).clamp(8, SEEDS);
    let mut followed = 0;
    for (at, band) in bands.iter().enumerate() {
        let inner = band.free.get(1..band.free.len().saturating_sub(1)).unwrap_or_default();
        for gap in inner {
            let known = strips.iter().any(|strip| {
                (strip.first..=strip.last).contains(&at)
                    && shared(strip.x, *gap).is_some_and(|x| x.1 - x.0 >= strip.width() * 0.9)
            });
            if known || followed >= seeds {
                continue;
            }
            followed += 1;
            strips.push(follow(bands, at, *gap, size));
        }
    }
    strips
}

/// Extends a gap over the bands above and below that leave a part of it free.
fn follow(bands: &[Band], at: usize, gap: (f64, f64), size: f64) -> Strip {
    let mut strip = Strip { x: gap, first: at, last: at };
    let narrow = |x: (f64, f64), band: &Band| {
        let shared = band.free.iter().filter_map(|free| shared(*free, x));
        shared
            .max_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)))
            .filter(|x| x.1 - x.0 >= size * NARROWEST)
    };
    for band in &bands[at + 1..] {
        let Some(x) = narrow(strip.x, band) else { break };
        (strip.x, strip.last) = (x, strip.last + 1);
    }
    for band in bands[..at].iter().rev() {
        let Some(x) = narrow(strip.x, band) else { break };
        (strip.x, strip.first) = (x, strip.first - 1);
    }
    strip
}

fn shared(one: (f64, f64), other: (f64, f64)) -> Option<(f64, f64)> {
    let shared = (one.0.max(other.0), one.1.min(other.1));
    (shared.0 < shared.1).then_some(shared)
}

/// Drops bands at the ends that have text on one side only and are apart from the rest, as headings and page numbers do.
fn trim(words: &[Word], bands: &[Band], mut strip: Strip, size: f64) -> Option<Strip> {
    let middle = strip.middle();
    let both = |band: &Band| {
        let left = band.words.iter().any(|index| words[*index].middle() < middle);
        left && band.words.iter().any(|index| words[*index].middle() > middle)
    };
    let pitch = pitch(&bands[strip.first..=strip.last]).unwrap_or(size * 1.3);
    let is_apart = |one: &Band, other: &Band, large: &Band| {
        let largest = large.words.iter().map(|index| words[*index].size).fold(0.0, f64::max);
        other.top - one.top > pitch * 1.6 || largest > size * 1.15
    };
    // Two lines at most: more of them are the rest of a longer column.
    let first = (strip.first..=strip.last).find(|at| both(&bands[*at]))?;
    for at in (strip.first..first).rev() {
        if first - at <= 2 && is_apart(&bands[at], &bands[at + 1], &bands[at]) {
            strip.first = at + 1;
            break;
        }
    }
    let last = (strip.first..=strip.last).rev().find(|at| both(&bands[*at]))?;
    for at in last + 1..=strip.last {
        if strip.last - at < 2 && is_apart(&bands[at - 1], &bands[at], &bands[at]) {
            strip.last = at - 1;
            break;
        }
    }
    Some(strip)
}

/// The usual distance from one band to the next.
fn pitch(bands: &[Band]) -> Option<f64> {
    let mut steps: Vec<f64> = bands.windows(2).map(|pair| pair[1].top - pair[0].top).collect();
    if steps.is_empty() {
        return None;
    }
    let middle = steps.len() / 2;
    Some(*steps.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The baselines on both sides of a strip.
struct Sides {
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Sides {
    fn of(words: &[Word], bands: &[Band], strip: Strip) -> Self {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for index in bands[strip.first..=strip.last].iter().flat_map(|band| &band.words) {
            let word = &words[*index];
            if word.middle() < strip.middle() { &mut left } else { &mut right }
                .push((word.y, word.size));
        }
        Self { left: baselines(left), right: baselines(right) }
    }

    fn lines(&self) -> usize {
        self.left.len() + self.right.len()
    }

    /// A strip next to few lines may be chance, so it must be wider.
    fn is_wide_enough(&self, width: f64) -> bool {
        match self.left.len().min(self.right.len()) {
            8.. => width >= NARROWEST,
            4..8 => width >= 0.9,
            2..4 => width >= 1.4,
            _ => false,
        }
    }

    /// Whether most lines of the side with fewer lines are level with one of the other side.
    fn are_level(&self, size: f64) -> bool {
        let (few, many) = if self.left.len() < self.right.len() {
            (&self.left, &self.right)
        } else {
            (&self.right, &self.left)
        };
        let level = few.iter().filter(|y| {
            let at = many.partition_point(|other| *other < **y - size * 0.15);
            many.get(at).is_some_and(|other| (other - **y).abs() <= size * 0.15)
        });
        level.count() * 2 > few.len()
    }
}

fn baselines(mut words: Vec<(f64, f64)>) -> Vec<f64> {
    words.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut lines: Vec<f64> = Vec::new();
    for (y, size) in words {
        if lines.last().is_none_or(|last| y - last > size * 0.5) {
            lines.push(y);
        }
    }
    lines
}

fn cut(words: &[Word], bands: &[Band], strip: Strip) -> Option<Group> {
    let middle = strip.middle();
    let all = |bands: &[Band]| -> Vec<Word> {
        bands.iter().flat_map(|band| &band.words).map(|index| words[*index].clone()).collect()
    };
    let (left, right): (Vec<Word>, Vec<Word>) =
        all(&bands[strip.first..=strip.last]).into_iter().partition(|word| word.middle() < middle);
    if is_markers(&left) {
        return None;
    }
    let mut columns = are_columns(&left, &right, &Sides::of(words, bands, strip));
    let mut strip = strip;
    if !columns && let Some(last) = end_of_table(words, bands, strip) {
        // The rest is split again below.
        strip.last = last;
        let (left, right): (Vec<Word>, Vec<Word>) = all(&bands[strip.first..=strip.last])
            .into_iter()
            .partition(|word| word.middle() < middle);
        columns = are_columns(&left, &right, &Sides::of(words, bands, strip));
    }
    if !columns {
        // A table ends with its last row that has cells on both sides.
        let both = |band: &Band| {
            let on_left = |index: &usize| words[*index].middle() < middle;
            band.words.iter().any(on_left) && !band.words.iter().all(on_left)
        };
        let first = (strip.first..=strip.last).find(|at| both(&bands[*at]));
        strip.first = first.unwrap_or(strip.last);
    }
    let (left, right) =
        all(&bands[strip.first..=strip.last]).into_iter().partition(|word| word.middle() < middle);
    Some(Group {
        above: all(&bands[..strip.first]),
        left,
        right,
        below: all(&bands[strip.last + 1..]),
        columns,
    })
}

/// The last band of a table before a heading or a wide gap, if there is one.
fn end_of_table(words: &[Word], bands: &[Band], strip: Strip) -> Option<usize> {
    let group = &bands[strip.first..=strip.last];
    let pitch = pitch(group)?;
    let size = |band: &Band| band.words.iter().map(|index| words[*index].size).fold(0.0, f64::max);
    let usual = median_size(
        &group.iter().flat_map(|band| &band.words).map(|at| words[*at].clone()).collect::<Vec<_>>(),
    );
    let one_sided = |band: &Band| {
        let left = band.words.iter().filter(|at| words[**at].middle() < strip.middle()).count();
        left == 0 || left == band.words.len()
    };
    (strip.first..strip.last).find(|at| {
        let (band, next) = (&bands[*at], &bands[*at + 1]);
        let heading = one_sided(next) && size(next) > usual * 1.15;
        heading || next.top - band.top > (pitch * 2.2).max(usual * 3.0)
    })
}

/// Whether a side holds the marks of a list: its items are not a column of their own.
fn is_markers(words: &[Word]) -> bool {
    let marks = words.iter().filter(|word| marker::is_marker(&word.text)).count();
    marks * 10 >= words.len() * 8
}

/// Whether two sides are columns of text rather than of a table.
fn are_columns(left: &[Word], right: &[Word], sides: &Sides) -> bool {
    let (one, other) = (Prose::of(left), Prose::of(right));
    if one.is_prose && other.is_prose {
        return true;
    }
    if one.is_numeric || other.is_numeric {
        return false;
    }
    if sides.left.len().min(sides.right.len()) < 2 {
        return false;
    }
    let size = median_size(left).min(median_size(right));
    (one.is_prose || other.is_prose) && !sides.are_level(size) || is_drawn_by_column(left, right)
}

/// Whether one side is drawn after the other, as text is; tables are drawn row by row.
fn is_drawn_by_column(left: &[Word], right: &[Word]) -> bool {
    let mut order: Vec<(usize, bool)> = left.iter().map(|word| (word.run, true)).collect();
    order.extend(right.iter().map(|word| (word.run, false)));
    order.sort_unstable();
    let runs: HashSet<usize> = order.iter().map(|(run, _)| *run).collect();
    let turns = order.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    // All in one instruction says nothing.
    runs.len() > 2 && turns <= 1
}

/// What the lines of a side look like.
struct Prose {
    is_prose: bool,
    is_numeric: bool,
}

impl Prose {
    fn of(words: &[Word]) -> Self {
        let numbers = words.iter().filter(|word| is_number(&word.text)).count();
        let signs = words.iter().filter(|word| !word.text.contains(char::is_alphanumeric)).count();
        let is_numeric = numbers > 0 && numbers * 10 >= (words.len() - signs) * 6;
        let lines = lines::lines(words.iter().filter(|it| it.inset.is_none()).cloned().collect());
        let count = lines.len();
        let alphabetic = lines.iter().flat_map(|line| line.text.chars());
        let alphabetic = alphabetic.filter(|it| it.is_alphabetic()).count();
        let all: usize = lines.iter().map(|line| line.text.chars().count()).sum();
        if count < 2 || is_numeric || alphabetic * 2 < all {
            return Self { is_prose: false, is_numeric };
        }
        let characters: usize = lines.iter().map(|line| line.text.chars().count()).sum();
        let cased = lines.iter().flat_map(|line| line.text.chars());
        let cased = cased.filter(|it| it.is_lowercase() || it.is_uppercase()).count();
        let is_prose = if cased * 3 > characters {
            let goes_on = lines[1..].iter().filter(|line| {
                line.text.chars().find(|it| it.is_alphanumeric()).is_some_and(char::is_lowercase)
            });
            characters >= count * 12 && goes_on.count() * 4 >= count - 1
        } else {
            let widest = lines.iter().map(|line| line.x.1 - line.x.0).fold(0.0, f64::max);
            let all: f64 = lines.iter().map(|line| line.x.1 - line.x.0).sum();
            characters >= count * 8 && all >= widest * count as f64 * 0.65
        };
        Self { is_prose, is_numeric }
    }
}

fn is_number(text: &str) -> bool {
    text.chars().any(|it| it.is_ascii_digit()) && !text.chars().any(char::is_alphabetic)
}
