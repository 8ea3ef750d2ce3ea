//! Faults of scans that can be removed before the text is found: dark background, shading, low contrast, noise.

use crate::grey::Grey;
use crate::ink;

/// The side of the tiles in which the background is looked for.
const TILE: usize = 32;

/// Tiles with less difference between their lightest and darkest pixels hold no text.
const TILE_CONTRAST: u8 = 40;

/// The background may differ by this much from tile to tile without being levelled.
const EVEN_BACKGROUND: u8 = 12;

/// Pixels of a thousand that differ from all pixels around them, above which a picture is noisy.
const NOISY: usize = 3;

/// The usual difference between adjacent pixels above which the whole picture is smoothed.
const GRAINY: u16 = 7;

/// Shades that differ by more belong to different things.
const DIFFERENT: u8 = 60;

/// Turns light text on a dark background into dark text on a light one. Whether it did.
pub(crate) fn make_text_dark(picture: &mut Grey) -> bool {
    let (mut dark_text, mut light_text) = (0u32, 0u32);
    for tile in tiles(picture) {
        let shades = Shades::of(picture, tile);
        if shades.high - shades.low < TILE_CONTRAST {
            continue;
        }
        // Text covers the smaller part of its tile: most pixels are background.
        if shades.high - shades.middle <= shades.middle - shades.low {
            dark_text += 1;
        } else {
            light_text += 1;
        }
    }
    let inverted = light_text > dark_text;
    if inverted {
        picture.pixels_mut().iter_mut().for_each(|shade| *shade = 255 - *shade);
    }
    inverted
}

/// Makes the background white and the text black, also where the light changes over the page.
pub(crate) fn level(picture: &mut Grey) {
    let background = Background::of(picture);
    let (least, most) = background.range();
    if most - least > EVEN_BACKGROUND {
        background.divide(picture);
    }
    stretch(picture);
}

/// Spreads the shades so that ink is 0 and the background is 255.
fn stretch(picture: &mut Grey) {
    let counts = picture.histogram();
    let split = ink::threshold(&counts);
    let (dark, light) = counts.split_at(usize::from(split) + 1);
    let low = percentile(dark, 0.2).unwrap_or(0);
    let high = percentile(light, 0.5).map_or(255, |shade| shade + usize::from(split) + 1);
    if high <= low + 10 || (low == 0 && high == 255) {
        return;
    }
    let mut spread = [0; 256];
    for (shade, slot) in spread.iter_mut().enumerate() {
        let place = shade.saturating_sub(low) * 255 / (high - low);
        *slot = u8::try_from(place).unwrap_or(255);
    }
    picture.pixels_mut().iter_mut().for_each(|shade| *shade = spread[usize::from(*shade)]);
}

fn percentile(counts: &[u32], share: f64) -> Option<usize> {
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let mut seen = 0.0;
    counts.iter().position(|count| {
        seen += f64::from(*count);
        seen > 0.0 && seen >= total * share
    })
}

/// What made a picture noisy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noise {
    None,
    /// Single pixels.
    Specks,
    /// All pixels.
    Grain,
}

/// Removes single pixels of noise, and grain.
pub(crate) fn remove_noise(picture: &mut Grey) -> Noise {
    if picture.width() < 3 || picture.height() < 3 {
        return Noise::None;
    }
    if grain(picture) > GRAINY {
        *picture = filtered(picture, |_, _| true);
        return Noise::Grain;
    }
    if count_specks(picture) * 1000 / picture.pixels().len() < NOISY {
        return Noise::None;
    }
    *picture = filtered(picture, |around, shade| similar(around, shade) <= 2);
    Noise::Specks
}

/// How much a pixel usually differs from the mean of those above, below, left and right of it.
fn grain(picture: &Grey) -> u16 {
    let mut differences: Vec<u16> = Vec::new();
    for y in (1..picture.height() - 1).step_by(3) {
        let [above, row, below] = [picture.row(y - 1), picture.row(y), picture.row(y + 1)];
        for x in (1..picture.width() - 1).step_by(3) {
            let around = [above[x], below[x], row[x - 1], row[x + 1]].map(u16::from);
            differences.push((around.iter().sum::<u16>() / 4).abs_diff(u16::from(row[x])));
        }
    }
    let middle = differences.len() / 2;
    *differences.select_nth_unstable(middle).1
}

/// How many pixels differ strongly from all of those around them.
fn count_specks(picture: &Grey) -> usize {
    let inner = 1..picture.width() - 1;
    let rows = picture.pixels().chunks_exact(picture.width());
    let mut specks = 0;
    for ((above, row), below) in rows.clone().zip(rows.clone().skip(1)).zip(rows.skip(2)) {
        for x in inner.clone() {
            // Most pixels equal the one above: they need no closer look.
            specks += usize::from(
                row[x].abs_diff(above[x]) > DIFFERENT
                    && similar(&square([above, row, below], x), row[x]) == 1,
            );
        }
    }
    specks
}

fn square(rows: [&[u8]; 3], x: usize) -> [u8; 9] {
    let mut around = [0; 9];
    for (slots, row) in around.chunks_exact_mut(3).zip(rows) {
        slots.copy_from_slice(&row[x - 1..=x + 1]);
    }
    around
}

fn similar(around: &[u8; 9], shade: u8) -> usize {
    around.iter().filter(|other| shade.abs_diff(**other) <= DIFFERENT).count()
}

/// The picture with the median of its surroundings in place of each pixel that is to be replaced.
fn filtered(picture: &Grey, replace: impl Fn(&[u8; 9], u8) -> bool) -> Grey {
    let width = picture.width();
    let mut cleaned = picture.clone();
    for y in 1..picture.height() - 1 {
        let rows = [picture.row(y - 1), picture.row(y), picture.row(y + 1)];
        for x in 1..width - 1 {
            let mut around = square(rows, x);
            if replace(&around, around[4]) {
                around.sort_unstable();
                cleaned.pixels_mut()[y * width + x] = around[4];
            }
        }
    }
    cleaned
}

type Tile = [usize; 4];

fn tiles(picture: &Grey) -> impl Iterator<Item = Tile> {
    let (width, height) = (picture.width(), picture.height());
    (0..height).step_by(TILE).flat_map(move |top| {
        let bottom = (top + TILE).min(height);
        (0..width).step_by(TILE).map(move |left| [left, top, (left + TILE).min(width), bottom])
    })
}

/// Shades of a tile: nearly the darkest, the middle, nearly the lightest.
struct Shades {
    low: u8,
    middle: u8,
    high: u8,
}

impl Shades {
    fn of(picture: &Grey, [left, top, right, bottom]: Tile) -> Self {
        let mut shades: Vec<u8> = (top..bottom)
            .step_by(2)
            .flat_map(|y| picture.row(y)[left..right].iter().step_by(2).copied())
            .collect();
        shades.sort_unstable();
        let at = |share: usize| shades[(shades.len() - 1) * share / 100];
        Self { low: at(2), middle: at(50), high: at(95) }
    }
}

/// The shade of the background in each tile.
struct Background {
    columns: usize,
    rows: usize,
    shades: Vec<u8>,
}

impl Background {
    fn of(picture: &Grey) -> Self {
        let columns = picture.width().div_ceil(TILE);
        let rows = picture.height().div_ceil(TILE);
        let shades = tiles(picture).map(|tile| Shades::of(picture, tile).high).collect();
        let raw = Self { columns, rows, shades };
        // A tile inside a picture or a thick rule has no background of its own, but the tiles around it have one: the
        // lightest of them is taken, and given back where the background itself gets lighter.
        let closed = raw.filtered(|around| around[around.len() - 1]).filtered(|around| around[0]);
        closed.filtered(|around| around[around.len() / 2])
    }

    fn filtered(&self, pick: impl Fn(&[u8]) -> u8) -> Self {
        let mut shades = Vec::with_capacity(self.shades.len());
        let mut around = Vec::with_capacity(9);
        for row in 0..self.rows {
            for column in 0..self.columns {
                around.clear();
                for y in row.saturating_sub(1)..(row + 2).min(self.rows) {
                    for x in column.saturating_sub(1)..(column + 2).min(self.columns) {
                        around.push(self.shades[y * self.columns + x]);
                    }
                }
                around.sort_unstable();
                shades.push(pick(&around));
            }
        }
        Self { shades, ..*self }
    }

    fn range(&self) -> (u8, u8) {
        let least = self.shades.iter().copied().min().unwrap_or(255);
        (least, self.shades.iter().copied().max().unwrap_or(255))
    }

    /// Divides each pixel by its background, which is interpolated between the middles of tiles.
    fn divide(&self, picture: &mut Grey) {
        let width = picture.width();
        for (y, row) in picture.pixels_mut().chunks_exact_mut(width).enumerate() {
            let (above, below, down) = steps(y, self.rows);
            for (x, shade) in row.iter_mut().enumerate() {
                let (left, right, along) = steps(x, self.columns);
                let at = |row: usize, column: usize| {
                    usize::from(self.shades[row * self.columns + column])
                };
                let mix =
                    |one: usize, other: usize, part: usize| one * (2 * TILE - part) + other * part;
                let upper = mix(at(above, left), at(above, right), along);
                let lower = mix(at(below, left), at(below, right), along);
                let background = mix(upper, lower, down) / (4 * TILE * TILE);
                let level = usize::from(*shade) * 255 / background.max(16);
                *shade = u8::try_from(level).unwrap_or(255);
            }
        }
    }
}

/// The tiles before and after a pixel, and how far it is from the middle of the first to that of the second, of
/// `2 * TILE` steps.
fn steps(pixel: usize, count: usize) -> (usize, usize, usize) {
    let doubled = 2 * pixel + 1;
    if doubled < TILE {
        return (0, 0, 0);
    }
    let first = ((doubled - TILE) / (2 * TILE)).min(count - 1);
    let second = (first + 1).min(count - 1);
    (first, second, if first == second { 0 } else { doubled - TILE - first * 2 * TILE })
}
