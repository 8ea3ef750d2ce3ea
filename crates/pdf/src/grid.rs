//! Ruled boxes: tables, forms, and frames around text.

mod lattice;
mod order;
mod rows;

use hayro_interpret::kurbo::Rect;

use self::lattice::Lattice;
use super::content::Rule;
use super::lines;
use super::regions::{self, Insets};
use super::words::Word;

/// Lines that are this close are one line, and lines that end this close meet.
const NEAR: f64 = 3.0;

/// The most groups of lines on one page.
const GROUPS: usize = 100;

/// Takes the words of boxes that are side by side within ruled lines. One word represents all of them, and its inset
/// holds their text. Returns the areas of the other boxes.
pub(super) fn take_ruled(words: &mut Vec<Word>, rules: &[Rule], insets: &mut Insets) -> Vec<Rect> {
    let mut boxes = Vec::new();
    for mut lattice in lattices(rules) {
        let area = lattice.area();
        let (inside, outside): (Vec<Word>, Vec<Word>) =
            words.drain(..).partition(|word| area.contains(word.area().center()));
        *words = outside;
        lattice.fill(inside);
        if lattice.has_boxes_side_by_side() {
            let blocks = order::blocks(&lattice, insets);
            words.push(placeholder(area, insets.len()));
            insets.push(blocks);
        } else {
            words.extend(lattice.into_words());
            boxes.push(area);
        }
    }
    boxes
}

/// Takes the words of boxes that have other text next to them, as the address on an invoice has, and of those that hold a
/// small part of the page.
pub(super) fn take_boxes(words: &mut Vec<Word>, boxes: &[Rect], insets: &mut Insets) {
    let most = words.len() * 4 / 10;
    for area in boxes {
        let is_inside = |word: &Word| area.contains(word.area().center());
        let is_level = |word: &Word| {
            let y = word.area().center().y;
            (area.y0..area.y1).contains(&y) && !is_inside(word)
        };
        let count = words.iter().filter(|word| is_inside(word)).count();
        if count > most && !words.iter().any(is_level) {
            continue;
        }
        let (inside, outside): (Vec<Word>, Vec<Word>) = words.drain(..).partition(is_inside);
        *words = outside;
        let lines = lines::lines(inside.clone());
        let numbers = lines.iter().filter(|line| rows::is_number(&line.text)).count();
        // A frame around some values of a table is no box of its own.
        if lines.len() < 2 || numbers * 2 > lines.len() {
            words.extend(inside);
            continue;
        }
        let blocks = order::boxed(regions::blocks(inside, insets));
        words.push(placeholder(*area, insets.len()));
        insets.push(blocks);
    }
}

fn placeholder(area: Rect, number: usize) -> Word {
    // Chosen so that the word's top and bottom are those of the area.
    let size = area.height() / 0.8;
    Word {
        text: String::new(),
        x: (area.x0, area.x1),
        y: area.y0 + size * 0.7,
        size,
        run: 0,
        row: usize::MAX,
        artifact: false,
        pitch: None,
        glued: false,
        inset: Some(number),
        ink: area,
    }
}

/// Groups of lines that meet, the smallest first, so that a box within another one is read before it.
fn lattices(rules: &[Rule]) -> Vec<Lattice> {
    let areas: Vec<Rect> =
        rules.iter().map(|rule| Rect::from_points(rule.start, rule.end)).collect();
    let mut parent: Vec<usize> = (0..areas.len()).collect();
    let mut order: Vec<usize> = (0..areas.len()).collect();
    order.sort_by(|one, other| areas[*one].x0.total_cmp(&areas[*other].x0));
    for (at, one) in order.iter().enumerate() {
        let reach = areas[*one].inflate(NEAR, NEAR);
        // Sorted by their left end: none after the right end of this line can meet it.
        for other in
            order[at + 1..].iter().take_while(|other| areas[**other].x0 <= reach.x1).take(500)
        {
            let shared = reach.intersect(areas[*other].inflate(NEAR, NEAR));
            if shared.width() > 0.0 && shared.height() > 0.0 {
                let (one, other) =
                    (lattice::root(&mut parent, *one), lattice::root(&mut parent, *other));
                parent[one] = other;
            }
        }
    }
    let mut groups: std::collections::BTreeMap<usize, Vec<Rect>> = Default::default();
    for (at, area) in areas.iter().enumerate() {
        groups.entry(lattice::root(&mut parent, at)).or_default().push(*area);
    }
    let mut lattices: Vec<Lattice> =
        groups.into_values().filter_map(|areas| Lattice::new(&areas)).collect();
    lattices.sort_by(|one, other| one.area().area().total_cmp(&other.area().area()));
    lattices.truncate(GROUPS);
    lattices
}
