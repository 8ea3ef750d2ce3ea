//! From glyphs to words, separately for each direction of writing.

use std::collections::HashMap;

use hayro_interpret::kurbo::{Point, Rect, Vec2};

use super::content::{Content, Rule};
use super::glyph::Glyph;
use super::script;

/// A gap of this share of the font size separates words.
const SPACE: f64 = 0.15;

/// Angles that differ by at most this many degrees belong to one direction.
const TOLERANCE: f64 = 3.0;

/// The most directions of one page; glyphs of further ones are put into the last.
const DIRECTIONS: usize = 24;

/// A word, or an area whose text is already known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// Its characters from left to right.
    pub(super) text: String,
    /// Its left and right edge.
    pub(super) x: (f64, f64),
    /// Its baseline.
    pub(super) y: f64,
    pub(super) size: f64,
    /// The drawing instruction of its first glyph.
    pub(super) run: usize,
    /// Words of one row are separated by a space, however small the gap.
    pub(super) row: usize,
    pub(super) artifact: bool,
    /// The width of its glyphs if all are equally wide.
    pub(super) pitch: Option<f64>,
    /// Whether it is joined to the next word, as a drop cap is.
    pub(super) glued: bool,
    /// The number of the inset that this represents.
    pub(super) inset: Option<usize>,
    /// The area of the page that its ink is in, not turned.
    pub(super) ink: Rect,
}

impl Word {
    pub(super) fn top(&self) -> f64 {
        self.y - self.size * 0.7
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.size * 0.1
    }

    pub(super) fn area(&self) -> Rect {
        Rect::new(self.x.0, self.top(), self.x.1, self.bottom())
    }

    pub(super) fn middle(&self) -> f64 {
        (self.x.0 + self.x.1) / 2.0
    }

    pub(super) fn characters(&self) -> usize {
        self.text.chars().count()
    }
}

/// The words of one direction, turned so that they are upright.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) words: Vec<Word>,
    pub(super) rules: Vec<Rule>,
    pub(super) boxes: Vec<Rect>,
    /// The area of the page, turned as well.
    pub(super) area: Rect,
    /// By how many quarter turns its text deviates from upright.
    pub(super) turns: u8,
    /// Whether its text is neither horizontal nor vertical, as a stamp or a watermark is.
    pub(super) oblique: bool,
}

/// The directions of a page, the main one first.
pub(super) fn frames(content: &Content, area: Rect) -> Vec<Frame> {
    let glyphs = merge_accents(drop_repeats(&content.glyphs));
    let mut groups = by_direction(glyphs);
    let weight = |group: &Group| group.glyphs.iter().filter(|glyph| !glyph.is_space()).count();
    groups.sort_by_cached_key(|group| std::cmp::Reverse(weight(group)));
    // Margin notes come before watermarks.
    if let Some(others) = groups.get_mut(1..) {
        others.sort_by_key(|group| group.oblique);
    }
    groups.into_iter().map(|group| frame(group, content, area)).collect()
}

struct Group {
    /// The angle of its lines in radians.
    angle: f64,
    oblique: bool,
    glyphs: Vec<Glyph>,
}

fn degrees(glyph: &Glyph) -> f64 {
    glyph.advance.atan2().to_degrees()
}

/// The deviation of an angle from the next multiple of a right angle, in degrees.
fn deviation(degrees: f64) -> f64 {
    degrees - (degrees / 90.0).round() * 90.0
}

fn by_direction(glyphs: Vec<Glyph>) -> Vec<Group> {
    let upright = |degrees: f64| ((degrees / 90.0).round() as i64).rem_euclid(4);
    // A scan may be askew by a few degrees as a whole.
    let mut skews: HashMap<i64, Vec<f64>> = HashMap::new();
    for glyph in &glyphs {
        let degrees = degrees(glyph);
        if deviation(degrees).abs() <= 12.0 && glyph.advance.hypot2() > 0.0 {
            skews.entry(upright(degrees)).or_default().push(deviation(degrees));
        }
    }
    let skews: HashMap<i64, f64> = skews
        .into_iter()
        .map(|(direction, mut skews)| {
            let middle = skews.len() / 2;
            (direction, *skews.select_nth_unstable_by(middle, f64::total_cmp).1)
        })
        .collect();
    let mut groups: Vec<(i64, Group)> = Vec::new();
    let mut last = 0;
    for glyph in glyphs {
        let (key, angle, oblique) = if glyph.advance.hypot2() > 0.0 {
            let degrees = degrees(&glyph);
            let direction = upright(degrees);
            let skew = skews.get(&direction).copied().unwrap_or(f64::INFINITY);
            if (deviation(degrees) - skew).abs() <= TOLERANCE {
                let skew = if skew.abs() < 0.05 { 0.0 } else { skew };
                (direction, (direction as f64 * 90.0 + skew).to_radians(), false)
            } else {
                (1000 + degrees.round() as i64, degrees.to_radians(), true)
            }
        } else {
            // A glyph without width follows the one before.
            groups
                .get(last)
                .map_or((0, 0.0, false), |(key, group)| (*key, group.angle, group.oblique))
        };
        last = match groups.iter().position(|(known, _)| *known == key) {
            Some(known) => known,
            None if groups.len() < DIRECTIONS => {
                groups.push((key, Group { angle, oblique, glyphs: Vec::new() }));
                groups.len() - 1
            }
            None => groups.len() - 1,
        };
        groups[last].1.glyphs.push(glyph);
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// A glyph in the coordinates of its frame.
#[derive(Debug)]
struct Placed {
    text: String,
    x: (f64, f64),
    y: f64,
    size: f64,
    run: usize,
    artifact: bool,
    ink: Rect,
}

impl Placed {
    fn is_space(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }
}

fn frame(group: Group, content: &Content, area: Rect) -> Frame {
    let (sine, cosine) = group.angle.sin_cos();
    let turn = |point: Point| {
        Point::new(point.x * cosine + point.y * sine, point.y * cosine - point.x * sine)
    };
    let turn_area = |area: Rect| {
        let one = Rect::from_points(turn(area.origin()), turn(Point::new(area.x1, area.y1)));
        let other = [Point::new(area.x0, area.y1), Point::new(area.x1, area.y0)].map(turn);
        one.union_pt(other[0]).union_pt(other[1])
    };
    let placed = group.glyphs.into_iter().map(|glyph| {
        let start = turn(glyph.at);
        let length = (glyph.advance.x * cosine + glyph.advance.y * sine).max(0.0);
        Placed {
            text: glyph.text,
            x: (start.x, start.x + length),
            y: start.y,
            size: glyph.size.max(0.1),
            run: glyph.run,
            artifact: glyph.artifact,
            ink: glyph.ink,
        }
    });
    Frame {
        words: words(placed.collect()),
        rules: content
            .rules
            .iter()
            .map(|rule| Rule { start: turn(rule.start), end: turn(rule.end) })
            .collect(),
        boxes: content.boxes.iter().map(|area| turn_area(*area)).collect(),
        area: turn_area(area),
        turns: (group.angle / std::f64::consts::FRAC_PI_2).round().rem_euclid(4.0) as u8,
        oblique: group.oblique,
    }
}

/// Drops glyphs that repeat one at nearly the same position, drawn again as outline, shadow or to make it bold.
fn drop_repeats(glyphs: &[Glyph]) -> Vec<Glyph> {
    const CELL: f64 = 4.0;
    let mut seen: HashMap<(i64, i64), Vec<usize>> = HashMap::new();
    let mut kept: Vec<Glyph> = Vec::with_capacity(glyphs.len());
    for glyph in glyphs {
        let cell = ((glyph.at.x / CELL) as i64, (glyph.at.y / CELL) as i64);
        let repeats = |index: &usize| {
            let other = &kept[*index];
            let near = (glyph.size * 0.12).min(glyph.advance.hypot() * 0.5);
            other.run != glyph.run
                && other.text == glyph.text
                && (other.size - glyph.size).abs() < glyph.size * 0.1
                && other.at.distance(glyph.at) < near
        };
        let around = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (cell.0 + x, cell.1 + y)));
        let mut around = around.filter_map(|cell| seen.get(&cell)).flatten().take(256);
        if !glyph.is_space()
            && let Some(index) = around.find(|index| repeats(index)).copied()
        {
            kept[index].ink = kept[index].ink.union(glyph.ink);
            continue;
        }
        seen.entry(cell).or_default().push(kept.len());
        kept.push(glyph.clone());
    }
    kept
}

/// Joins accents that are glyphs of their own with their characters.
fn merge_accents(glyphs: Vec<Glyph>) -> Vec<Glyph> {
    let mut merged: Vec<Glyph> = Vec::with_capacity(glyphs.len());
    for glyph in glyphs {
        if let Some(before) = merged.last_mut() {
            let apart: Vec2 = glyph.at - before.at;
            let over = apart.hypot() < glyph.size * 0.6
                && (before.middle() - glyph.middle()).hypot() < glyph.size * 0.45
                && (before.at + before.advance / 2.0).distance(glyph.at + glyph.advance / 2.0)
                    < glyph.size * 0.3;
            if over && let Some(text) = accented(&before.text, &glyph.text) {
                // The letter is the one that moves the text on.
                if before.advance.hypot() < glyph.advance.hypot() {
                    (before.at, before.advance) = (glyph.at, glyph.advance);
                }
                before.text = text;
                before.ink = before.ink.union(glyph.ink);
                continue;
            }
        }
        merged.push(glyph);
    }
    merged
}

fn accented(before: &str, after: &str) -> Option<String> {
    let single = |text: &str| {
        let mut characters = text.chars();
        characters.next().filter(|_| characters.next().is_none())
    };
    let (before, after) = (single(before)?, single(after)?);
    let letter = match (before.is_alphabetic(), after.is_alphabetic()) {
        (true, false) => script::with_accent(before, after),
        (_, true) => script::with_accent(after, before),
        _ => None,
    };
    letter.map(String::from)
}

/// Cuts rows of glyphs into words.
fn words(mut glyphs: Vec<Placed>) -> Vec<Word> {
    glyphs.sort_by(|one, other| one.y.total_cmp(&other.y));
    let mut rows: Vec<Vec<Placed>> = Vec::new();
    for glyph in glyphs {
        let recent = rows.len().saturating_sub(8);
        let row = rows[recent..].iter_mut().rev().find(|row| {
            let first = &row[0];
            let (small, large) = (first.size.min(glyph.size), first.size.max(glyph.size));
            (glyph.y - first.y).abs() < small * 0.2 && large < small * 1.7
        });
        match row {
            Some(row) => row.push(glyph),
            None => rows.push(vec![glyph]),
        }
    }
    let mut words = Vec::new();
    for (number, mut row) in rows.into_iter().enumerate() {
        row.sort_by(|one, other| one.x.0.total_cmp(&other.x.0));
        drop_fill_lines(&mut row);
        cut_row(row, number, &mut words);
    }
    join_spaced_characters(words)
}

/// Drops underscores on which text is written, as in a form.
fn drop_fill_lines(row: &mut Vec<Placed>) {
    if !row.iter().any(|glyph| glyph.text == "_") {
        return;
    }
    let inked: Vec<(f64, f64)> = row
        .iter()
        .filter(|glyph| glyph.text != "_" && !glyph.is_space())
        .map(|glyph| glyph.x)
        .collect();
    row.retain(|glyph| {
        let middle = (glyph.x.0 + glyph.x.1) / 2.0;
        let after = inked.partition_point(|x| x.0 <= middle);
        glyph.text != "_" || !inked[..after].iter().rev().take(4).any(|x| x.1 > middle)
    });
}

fn cut_row(row: Vec<Placed>, number: usize, words: &mut Vec<Word>) {
    let tracking = tracking(&row);
    let mut spaced = false;
    let mut last: Option<&Placed> = None;
    let mut open: Option<Word> = None;
    for (glyph, tracking) in row.iter().zip(&tracking) {
        if glyph.is_space() {
            spaced |= !glyph.text.is_empty();
            continue;
        }
        if let Some(before) = last {
            let size = glyph.size.max(before.size);
            let gap = glyph.x.0 - before.x.1;
            // With wide letter spacing a space must be wider still.
            let apart = gap - tracking > size * SPACE;
            let breaks = if *tracking > 0.0 { apart } else { apart || spaced };
            if breaks {
                words.extend(open.take());
            }
        }
        spaced = false;
        match &mut open {
            Some(word) => extend(word, glyph),
            None => open = Some(start(glyph, number)),
        }
        last = Some(glyph);
    }
    words.extend(open);
}

fn start(glyph: &Placed, row: usize) -> Word {
    let mut word = Word {
        text: String::new(),
        x: glyph.x,
        y: glyph.y,
        size: glyph.size,
        run: glyph.run,
        row,
        artifact: glyph.artifact,
        pitch: Some(glyph.x.1 - glyph.x.0),
        glued: false,
        inset: None,
        ink: glyph.ink,
    };
    push_text(&mut word.text, &glyph.text);
    word
}

fn extend(word: &mut Word, glyph: &Placed) {
    let width = glyph.x.1 - glyph.x.0;
    word.pitch = word.pitch.filter(|pitch| (pitch - width).abs() < glyph.size * 0.005);
    push_text(&mut word.text, &glyph.text);
    word.x.1 = word.x.1.max(glyph.x.1);
    word.run = word.run.min(glyph.run);
    word.artifact &= glyph.artifact;
    word.ink = word.ink.union(glyph.ink);
    if glyph.size > word.size {
        (word.size, word.y) = (glyph.size, glyph.y);
    }
}

/// Characters of one glyph that are read from right to left are put in the order of the page, as those of a line are.
fn push_text(word: &mut String, text: &str) {
    if text.chars().next().is_some_and(script::is_rtl) {
        word.extend(text.chars().rev());
    } else {
        word.push_str(text);
    }
}

/// For each glyph, the letter spacing before it with which its run is drawn. The dots that lead to a page number have a
/// spacing of their own, which says nothing about the text before them.
fn tracking(row: &[Placed]) -> Vec<f64> {
    let mut all = vec![0.0; row.len()];
    let mut start = 0;
    while start < row.len() {
        let run = row[start].run;
        let length = row[start..].iter().take_while(|glyph| glyph.run == run).count();
        let glyphs = &row[start..start + length];
        let text = usual_gap(glyphs, |pair| !pair.iter().any(is_leader)).unwrap_or(0.0);
        let dots = usual_gap(glyphs, |pair| pair.iter().all(is_leader)).unwrap_or(0.0);
        all[start] = text * glyphs[0].size;
        for (at, pair) in glyphs.windows(2).enumerate() {
            let usual = if pair.iter().all(is_leader) { dots } else { text };
            all[start + at + 1] = usual * pair[1].size;
        }
        start += length;
    }
    all
}

/// The gap between most pairs of a kind, in font sizes, if it is wider than usual and no space.
fn usual_gap(glyphs: &[Placed], is_of_kind: impl Fn(&[Placed]) -> bool) -> Option<f64> {
    let mut gaps: Vec<f64> = glyphs
        .windows(2)
        .filter(|pair| !pair[0].is_space() && !pair[1].is_space() && is_of_kind(pair))
        .map(|pair| (pair[1].x.0 - pair[0].x.1) / pair[1].size)
        .collect();
    if gaps.len() < 3 {
        return None;
    }
    gaps.sort_by(f64::total_cmp);
    let (narrow, usual) = (gaps[gaps.len() / 4], gaps[gaps.len() / 2]);
    // In a few short words most gaps are spaces: "is a L".
    ((0.06..1.5).contains(&usual) && narrow > usual * 0.4).then_some(usual)
}

fn is_leader(glyph: &Placed) -> bool {
    matches!(glyph.text.as_str(), "." | "·" | "…")
}

/// Joins capitals that are spaced out with space characters: `N O T I C E`.
fn join_spaced_characters(words: Vec<Word>) -> Vec<Word> {
    let is_letter = |word: &Word| {
        let mut characters = word.text.chars();
        characters.next().is_some_and(char::is_uppercase) && characters.next().is_none()
    };
    let mut joined: Vec<Word> = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let row = words[at].row;
        let characters = words[at..].iter().take_while(|word| word.row == row && is_letter(word));
        let characters = characters.count();
        let gap = |pair: &[Word]| pair[1].x.0 - pair[0].x.1;
        let narrowest =
            words[at..at + characters].windows(2).map(gap).fold(f64::INFINITY, f64::min);
        if characters < 4 || narrowest > words[at].size * 0.8 {
            joined.extend(words[at..at + characters.max(1)].iter().cloned());
            at += characters.max(1);
            continue;
        }
        let sequence = &words[at..at + characters];
        let usual = narrowest.max(0.1);
        joined.push(sequence[0].clone());
        for pair in sequence.windows(2) {
            match joined.last_mut() {
                Some(word) if gap(pair) < usual * 1.5 => {
                    word.text.push_str(&pair[1].text);
                    word.x.1 = pair[1].x.1;
                    word.ink = word.ink.union(pair[1].ink);
                }
                _ => joined.push(pair[1].clone()),
            }
        }
        at += characters;
    }
    joined
}
