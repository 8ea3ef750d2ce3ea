//! Words that are not read at their position: drop caps, watermarks, and boxes at the side of the text.

use std::collections::HashSet;

use hayro_interpret::kurbo::Rect;

use super::regions::median_size;
use super::words::Word;

/// The most boxes that are examined.
const BOXES: usize = 60;

/// Puts large initials in front of the first line next to them.
pub(super) fn attach_drop_caps(words: &mut [Word]) {
    let size = median_size(words);
    let caps: Vec<usize> = (0..words.len())
        .filter(|at| {
            let word = &words[*at];
            let characters = word.text.chars().filter(|it| it.is_alphabetic()).count();
            word.size > size * 1.7 && characters >= 1 && word.characters() <= 2
        })
        .take(16)
        .collect();
    for at in caps {
        let cap = &words[at];
        let adjacent: Vec<usize> = (0..words.len())
            .filter(|other| {
                let word = &words[*other];
                word.size < cap.size / 1.5
                    && word.y > cap.top()
                    && word.top() < cap.y
                    && (cap.x.1 - word.size..cap.x.1 + word.size * 2.0).contains(&word.x.0)
            })
            .collect();
        let first =
            adjacent.iter().min_by(|one, other| words[**one].y.total_cmp(&words[**other].y));
        let Some(first) = first.copied().filter(|_| adjacent.len() > 1) else { continue };
        let (y, size, row) = (words[first].y, words[first].size, words[first].row);
        let glued = belongs_together(&words[at].text, &words[first].text, words);
        let cap = &mut words[at];
        (cap.y, cap.size, cap.row, cap.glued) = (y, size, row, glued);
    }
}

/// Whether an initial is the first letter of the next word rather than a word of its own.
fn belongs_together(initial: &str, rest: &str, words: &[Word]) -> bool {
    if !rest.starts_with(char::is_alphabetic) {
        return true;
    }
    let plain = |text: &str| {
        text.chars()
            .filter(|it| it.is_alphabetic())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let (whole, rest) = (plain(&format!("{initial}{rest}")), plain(rest));
    let known: HashSet<String> = words.iter().map(|word| plain(&word.text)).collect();
    // The rest itself is one of the words: it must be found a second time.
    let again = words.iter().filter(|word| plain(&word.text) == rest).take(2).count() > 1;
    known.contains(&whole) || !(again && matches!(initial, "A" | "I" | "O"))
}

/// Takes out large words that lie across other text.
pub(super) fn take_watermarks(words: &mut Vec<Word>) -> Vec<Word> {
    let size = median_size(words);
    let large: Vec<usize> =
        (0..words.len()).filter(|at| words[*at].size > size * 2.2).take(64).collect();
    let across: HashSet<usize> = large
        .into_iter()
        .filter(|at| {
            let area = words[*at].area();
            let under = words.iter().enumerate().filter(|(other, word)| {
                let shared = area.intersect(word.area());
                other != at
                    && word.size < words[*at].size / 2.0
                    && shared.width() > word.size * 0.3
                    && shared.height() > word.size * 0.3
            });
            under.take(3).count() >= 3
        })
        .collect();
    if across.is_empty() {
        return Vec::new();
    }
    let (marks, rest): (Vec<_>, Vec<_>) =
        words.drain(..).enumerate().partition(|(at, _)| across.contains(at));
    words.extend(rest.into_iter().map(|(_, word)| word));
    marks.into_iter().map(|(_, word)| word).collect()
}

/// Takes out the text of boxes at the side of the text, each box by itself.
pub(super) fn take_sidebars(words: &mut Vec<Word>, boxes: &[Rect]) -> Vec<Vec<Word>> {
    let size = median_size(words);
    let all = bounds(words);
    let mut areas: Vec<Rect> = boxes
        .iter()
        .copied()
        .filter(|area| area.width() > 20.0 && area.width() < all.width() * 0.65)
        .filter(|area| area.height() > size * 3.0)
        .collect();
    areas.sort_by(|one, other| other.area().total_cmp(&one.area()));
    areas.truncate(BOXES);
    let mut sidebars: Vec<(Rect, Vec<Word>)> = Vec::new();
    for area in &areas {
        // Boxes side by side are cells.
        let has_adjacent = areas.iter().any(|other| is_adjacent(area, other, size));
        // Text of other boxes is not what a box is at the side of.
        let boxed = |word: &Word| {
            let apart = areas.iter().filter(|other| area.intersect(**other).is_zero_area());
            apart.into_iter().any(|other| other.contains(word.area().center()))
        };
        if has_adjacent || !is_next_to_text(area, words, size, boxed) {
            continue;
        }
        let (inside, outside): (Vec<Word>, Vec<Word>) =
            words.drain(..).partition(|word| area.contains(word.area().center()));
        *words = outside;
        if !inside.is_empty() {
            sidebars.push((*area, inside));
        }
    }
    sidebars.sort_by(|(one, _), (other, _)| one.y0.total_cmp(&other.y0));
    sidebars.into_iter().map(|(_, words)| words).collect()
}

fn bounds(words: &[Word]) -> Rect {
    let mut areas = words.iter().map(Word::area);
    let first = areas.next().unwrap_or(Rect::ZERO);
    areas.fold(first, |all, area| all.union(area))
}

fn contains(outer: Rect, inner: Rect) -> bool {
    outer.contains(inner.origin())
        && outer.contains(hayro_interpret::kurbo::Point::new(inner.x1, inner.y1))
}

/// Whether another box touches this one from outside.
fn is_adjacent(area: &Rect, other: &Rect, size: f64) -> bool {
    let (wide, other_wide) = (area.inflate(2.0, 2.0), other.inflate(2.0, 2.0));
    if contains(wide, *other) || contains(other_wide, *area) {
        return false;
    }
    let shared = wide.intersect(other_wide);
    shared.width() > 0.0 && shared.height() > 0.0 && shared.width().max(shared.height()) > size
}

/// Whether a box with at least two lines has text next to it, and no text above or below that is in the same column.
fn is_next_to_text(area: &Rect, words: &[Word], size: f64, boxed: impl Fn(&Word) -> bool) -> bool {
    let mut inside = Lines::default();
    let mut adjacent = Lines::default();
    let mut column: Vec<&Word> = Vec::new();
    for word in words {
        let middle = word.area().center();
        if area.contains(middle) {
            inside.add(word.y, size);
        } else if (area.y0..area.y1).contains(&middle.y) {
            if !boxed(word) {
                adjacent.add(word.y, size);
            }
        } else if (area.x0..area.x1).contains(&middle.x) {
            column.push(word);
        }
    }
    if inside.count() < 2 || adjacent.count() < 2 {
        return false;
    }
    // A line of the same column lies within the box's width; one that is wider runs around the box.
    let mut around: Vec<f64> = words
        .iter()
        .filter(|word| {
            let (x, reach) = (word.middle(), size * 3.0);
            (area.x0 - reach..area.x0).contains(&x) || (area.x1..area.x1 + reach).contains(&x)
        })
        .map(|word| word.y)
        .collect();
    around.sort_by(f64::total_cmp);
    let is_wider = |y: f64| {
        let at = around.partition_point(|other| *other < y - size * 0.3);
        around.get(at).is_some_and(|other| *other < y + size * 0.3)
    };
    let mut column: Vec<f64> = column.iter().map(|word| word.y).filter(|y| !is_wider(*y)).collect();
    column.sort_by(f64::total_cmp);
    column.dedup_by(|one, other| (*one - *other).abs() < size * 0.3);
    column.len() < 2
}

/// Distinct baselines.
#[derive(Default)]
struct Lines(Vec<f64>);

impl Lines {
    fn add(&mut self, y: f64, size: f64) {
        if self.0.len() < 64 && !self.0.iter().any(|other| (other - y).abs() < size * 0.5) {
            self.0.push(y);
        }
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}
