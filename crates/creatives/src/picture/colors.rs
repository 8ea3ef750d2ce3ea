//! The colours that a picture has most of.

use image::RgbImage;
use serde::{Deserialize, Serialize};

/// How many colours are named.
const COLORS: usize = 5;

/// Colours nearer than this, as the square of the distance of their channels, count as one.
const NEAR: i64 = 48 * 48;

/// A colour and how much of the picture has it or one near it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Color {
    /// Such as `#1a73e8`.
    pub hex: String,
    /// From 0 to 1.
    pub share: f64,
}

/// Pixels of almost the same colour.
#[derive(Clone, Copy, Default)]
struct Group {
    count: i64,
    totals: [i64; 3],
}

impl Group {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        for (total, more) in self.totals.iter_mut().zip(other.totals) {
            *total += more;
        }
    }

    fn mean(&self) -> [i64; 3] {
        self.totals.map(|total| total / self.count.max(1))
    }

    fn distance(&self, other: &Self) -> i64 {
        let (one, other) = (self.mean(), other.mean());
        one.iter().zip(other).map(|(one, other)| (one - other).pow(2)).sum()
    }
}

/// The most frequent colours, most frequent first; together they have all pixels.
pub(super) fn find(picture: &RgbImage) -> Vec<Color> {
    let mut groups = vec![Group::default(); 4096];
    for pixel in picture.pixels() {
        let [red, green, blue] = pixel.0.map(usize::from);
        let group = &mut groups[(red >> 4) << 8 | (green >> 4) << 4 | blue >> 4];
        group.count += 1;
        for (total, channel) in group.totals.iter_mut().zip([red, green, blue]) {
            *total += i64::try_from(channel).unwrap_or_default();
        }
    }
    groups.retain(|group| group.count > 0);
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    let mut chosen: Vec<Group> = Vec::new();
    for group in &groups {
        if chosen.len() < COLORS && chosen.iter().all(|known| known.distance(group) > NEAR) {
            chosen.push(*group);
        }
    }
    let seeds = chosen.clone();
    chosen.iter_mut().for_each(|group| *group = Group::default());
    for group in &groups {
        let nearest = (0..seeds.len()).min_by_key(|seed| seeds[*seed].distance(group));
        if let Some(nearest) = nearest {
            chosen[nearest].add(group);
        }
    }
    chosen.sort_by_key(|group| std::cmp::Reverse(group.count));
    let all: i64 = chosen.iter().map(|group| group.count).sum();
    let color = |group: &Group| {
        let [red, green, blue] = group.mean();
        let share = group.count as f64 / all.max(1) as f64;
        Color {
            hex: format!("#{red:02x}{green:02x}{blue:02x}"),
            share: crate::rounding::rounded(share, 3),
        }
    };
    chosen.iter().map(color).collect()
}
