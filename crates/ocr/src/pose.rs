//! How the text lies on the picture: its turn, its skew and its size, from the boxes of its characters.
//!
//! Characters of Latin, Greek and Cyrillic scripts share a baseline, while their tops differ: the side on which most of
//! their edges align is the bottom of the text.

use crate::grey::Turn;
use crate::ink::Part;

/// Text is straightened up to this many degrees.
const MAX_SKEW: f64 = 15.0;

/// Lines of text are at least this much better aligned on one side than on the other if the turn is certain.
const CERTAIN: f64 = 1.08;

/// Characters that are looked at.
const SAMPLE: usize = 6_000;

/// With fewer characters nothing is turned or straightened.
const FEW: usize = 12;

/// How the text lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    /// By which the picture must be turned to be upright.
    pub(crate) turn: Turn,
    /// Whether the text cannot be upside down after that turn.
    pub(crate) certain: bool,
    /// By how many degrees the lines, after that turn, fall to the right.
    pub(crate) skew: f64,
    /// The usual height of a character without ascender, in pixels; 0 without text.
    pub(crate) height: f64,
}

/// Finds out how the text lies.
pub(crate) fn pose(parts: &[Part]) -> Pose {
    let characters = characters(parts);
    let unknown = Pose { turn: Turn::None, certain: true, skew: 0.0, height: 0.0 };
    let Some(size) = median(characters.iter().map(|part| size(part)).collect()) else {
        return unknown;
    };
    if characters.len() < FEW {
        let heights = characters.iter().map(|part| length(part.height())).collect();
        return Pose { height: median(heights).unwrap_or(0.0), ..unknown };
    }
    let step = characters.len().div_ceil(SAMPLE);
    let sample: Vec<&Part> = characters.iter().step_by(step).copied().collect();
    let sides = Turn::ALL.map(|turn| Alignment::of(&sample, turn, size));
    let along = direction(&characters, size);
    let [upright, quarter, half, three] = &sides;
    let level = upright.energy.max(half.energy) * along;
    let (best, other, turn) = if level >= quarter.energy.max(three.energy) {
        pick((upright, Turn::None), (half, Turn::Half))
    } else {
        pick((quarter, Turn::Quarter), (three, Turn::ThreeQuarters))
    };
    let certain = best.energy >= other.energy * CERTAIN;
    let heights = characters.iter().map(|part| match turn {
        Turn::None | Turn::Half => length(part.height()),
        Turn::Quarter | Turn::ThreeQuarters => length(part.width()),
    });
    Pose { turn, certain, skew: best.skew, height: median(heights.collect()).unwrap_or(size) }
}

fn pick<'a>(
    first: (&'a Alignment, Turn),
    second: (&'a Alignment, Turn),
) -> (&'a Alignment, &'a Alignment, Turn) {
    // Without a clear difference the picture stays as it is.
    if second.0.energy > first.0.energy * 1.02 {
        (second.0, first.0, second.1)
    } else {
        (first.0, second.0, first.1)
    }
}

/// The parts that may be characters: neither specks nor rules, pictures and frames.
fn characters(parts: &[Part]) -> Vec<&Part> {
    let solid: Vec<&Part> =
        parts.iter().filter(|part| part.width().max(part.height()) > 3 && part.area > 5).collect();
    let Some(size) = median(solid.iter().map(|part| size(part)).collect()) else {
        return Vec::new();
    };
    let fits = |part: &Part| {
        let (width, height) = (length(part.width()), length(part.height()));
        let (least, most) = (width.min(height), width.max(height));
        most > 0.5 * size && most < 4.0 * size && least > 0.12 * size
    };
    solid.into_iter().filter(|part| fits(part)).collect()
}

/// The alignment of the edges that are the bottoms of characters if `turn` makes the picture upright.
struct Alignment {
    /// Of how many characters a line has, on average over the characters.
    energy: f64,
    skew: f64,
}

impl Alignment {
    fn of(sample: &[&Part], turn: Turn, size: f64) -> Self {
        let points: Vec<(f64, f64)> = sample.iter().map(|part| bottom(part, turn)).collect();
        let width = (size * 0.12).max(1.0);
        let mut best = Self { energy: 0.0, skew: 0.0 };
        let mut search = |from: f64, to: f64, step: f64| {
            let mut skew = from;
            while skew <= to {
                let energy = energy(&points, skew, width);
                // Nearly as good is better if it is nearer to level.
                if energy > best.energy * 1.002 {
                    best = Self { energy, skew };
                }
                skew += step;
            }
            best.skew
        };
        search(0.0, 0.0, 1.0);
        let coarse = search(-MAX_SKEW, MAX_SKEW, 0.5);
        search(coarse - 0.5, coarse + 0.5, 0.1);
        best
    }
}

/// The middle of a character's bottom in the picture that `turn` makes, up to a shift.
fn bottom(part: &Part, turn: Turn) -> (f64, f64) {
    let (left, right) = (length(part.left), length(part.right));
    let (top, bottom) = (length(part.top), length(part.bottom));
    let (x, y) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
    match turn {
        Turn::None => (x, bottom),
        Turn::Half => (-x, -top),
        // Turned clockwise, the right side comes to the bottom.
        Turn::Quarter => (-y, right),
        Turn::ThreeQuarters => (y, -left),
    }
}

fn energy(points: &[(f64, f64)], skew: f64, width: f64) -> f64 {
    let (sine, cosine) = skew.to_radians().sin_cos();
    let mut bins: Vec<i32> =
        points.iter().map(|(x, y)| ((y * cosine - x * sine) / width).floor() as i32).collect();
    bins.sort_unstable();
    let squares: usize = bins.chunk_by(|one, other| one == other).map(|bin| bin.len().pow(2)).sum();
    squares as f64 / points.len() as f64
}

/// How much nearer characters are to each other in the direction of rows than in that of columns.
fn direction(characters: &[&Part], size: f64) -> f64 {
    let reach = 3.0 * size;
    let step = characters.len().div_ceil(1_000);
    let mut sorted: Vec<&Part> = characters.to_vec();
    sorted.sort_by_key(|part| part.left);
    let (mut across, mut down) = (Vec::new(), Vec::new());
    for (index, part) in sorted.iter().enumerate().step_by(step) {
        let (mut right, mut below) = (reach, reach);
        let first = sorted[..index]
            .iter()
            .rev()
            .take_while(|other| length(part.left) - length(other.left) < reach)
            .count();
        let near = sorted[index - first..].iter().filter(|other| !std::ptr::eq(**other, *part));
        for other in near.take_while(|other| length(other.left) - length(part.right) < reach) {
            if overlap(part.top, part.bottom, other.top, other.bottom) && other.left >= part.right {
                right = right.min(length(other.left - part.right));
            }
            if overlap(part.left, part.right, other.left, other.right) && other.top >= part.bottom {
                below = below.min(length(other.top - part.bottom));
            }
        }
        across.push(right);
        down.push(below);
    }
    let (across, down) = (median(across).unwrap_or(1.0), median(down).unwrap_or(1.0));
    ((down + 1.0) / (across + 1.0)).clamp(0.2, 5.0)
}

fn overlap(start: usize, end: usize, other_start: usize, other_end: usize) -> bool {
    let shared = end.min(other_end).saturating_sub(start.max(other_start));
    2 * shared > (end - start).min(other_end - other_start)
}

fn size(part: &Part) -> f64 {
    (length(part.width()) * length(part.height())).sqrt()
}

fn length(pixels: usize) -> f64 {
    pixels as f64
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
