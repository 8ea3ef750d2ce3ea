//! What a picture has: size, colours, contrast, sharpness.

mod colors;
mod reduce;

use extraction::Unreadable;
use ocr::grey::Grey;
use serde::{Deserialize, Serialize};

pub use colors::Color;

use crate::platform::Platform;

/// Shapes that differ by less than this, relatively, are the same.
const SAME_SHAPE: f64 = 0.03;

/// The variance of the Laplacian at which sharpness is one half; sharp photographs of 1,024 pixels have about this.
const HALF_SHARP: f64 = 300.0;

/// The measures of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PictureReport {
    /// In pixels, as it is displayed.
    pub width: u32,
    pub height: u32,
    /// The most frequent ones, with their shares.
    pub colors: Vec<Color>,
    /// Between the darkest and the brightest parts, from 0 to 1.
    pub contrast: f64,
    /// From 0 to 1.
    pub sharpness: f64,
}

/// A picture that was measured, and a small grey copy of it, upright.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub report: PictureReport,
    pub grey: Grey,
}

impl PictureReport {
    /// Width through height.
    pub fn aspect(&self) -> f64 {
        f64::from(self.width) / f64::from(self.height.max(1))
    }

    /// How far the shape is from the nearest one of the platform: 0 is the same, 1 is double or half as wide.
    pub fn distance(&self, platform: Platform) -> f64 {
        let own = self.aspect();
        let shapes = platform.rules().aspects.iter();
        let distance = |(width, height): &(u32, u32)| {
            (own / (f64::from(*width) / f64::from(*height))).log2().abs()
        };
        shapes.map(distance).fold(f64::INFINITY, f64::min)
    }

    /// Whether it has one of the platform's shapes.
    pub fn fits(&self, platform: Platform) -> bool {
        self.distance(platform) <= (1.0 + SAME_SHAPE).log2()
    }
}

/// Measures a picture file. It is scaled down first, so that sharpness is that of what people see.
pub fn measure(bytes: &[u8]) -> Result<Measured, Unreadable> {
    let (picture, orientation) = ocr::decode::open(bytes)?;
    if is_cut_jpeg(bytes) {
        return Err(Unreadable::Damaged { why: "its end is missing".to_owned() });
    }
    let (stored_width, stored_height) = (picture.width(), picture.height());
    if stored_width == 0 || stored_height == 0 {
        return Err(Unreadable::Damaged { why: "it has no pixels".to_owned() });
    }
    let small = reduce::reduce(picture);
    let mut small = image::DynamicImage::ImageRgb8(small);
    let before = (small.width(), small.height());
    small.apply_orientation(orientation);
    let turned = before.0 != before.1 && before == (small.height(), small.width());
    let small = small.into_rgb8();
    let (width, height) =
        if turned { (stored_height, stored_width) } else { (stored_width, stored_height) };
    let shades: Vec<u8> = small.pixels().map(|pixel| shade(pixel.0)).collect();
    let grey = Grey::new(small.width() as usize, small.height() as usize, shades);
    let report = PictureReport {
        width,
        height,
        colors: colors::find(&small),
        contrast: contrast(&grey),
        sharpness: sharpness(&grey),
    };
    Ok(Measured { report, grey })
}

/// Whether a JPEG has no end marker after its first scan: the decoder fills what is missing with grey.
fn is_cut_jpeg(bytes: &[u8]) -> bool {
    const SCAN: u8 = 0xda;
    let Some(mut rest) = bytes.strip_prefix(&[0xff, 0xd8]) else { return false };
    // Segments, which may contain thumbnails with end markers of their own, are skipped by their length.
    while let [0xff, kind, tail @ ..] = rest {
        rest = match (*kind, tail) {
            // A marker may have any number of these before it.
            (0xff, _) => &rest[1..],
            (SCAN, _) => return !tail.windows(2).any(|pair| pair == [0xff, 0xd9]),
            (_, [high, low, ..]) => {
                let length = usize::from(u16::from_be_bytes([*high, *low])).max(2);
                tail.get(length..).unwrap_or_default()
            }
            (_, _) => &[],
        };
    }
    false
}

/// The share of a picture that boxes cover, from 0 to 1.
pub fn covered(boxes: impl Iterator<Item = [f64; 4]>, width: f64, height: f64) -> f64 {
    let areas = boxes.map(|[left, top, right, bottom]| {
        (right.min(width) - left.max(0.0)).max(0.0) * (bottom.min(height) - top.max(0.0)).max(0.0)
    });
    (areas.sum::<f64>() / (width * height).max(1.0)).min(1.0)
}

fn shade([red, green, blue]: [u8; 3]) -> u8 {
    let weighted = 2126 * u32::from(red) + 7152 * u32::from(green) + 722 * u32::from(blue);
    u8::try_from(weighted / 10_000).unwrap_or(u8::MAX)
}

/// The range of shades without the darkest and brightest fiftieth.
fn contrast(grey: &Grey) -> f64 {
    let mut counts = [0usize; 256];
    for shade in grey.pixels() {
        counts[usize::from(*shade)] += 1;
    }
    let rest = grey.pixels().len() / 50;
    let (mut dark, mut passed) = (0, counts[0]);
    while passed <= rest && dark < 255 {
        dark += 1;
        passed += counts[dark];
    }
    let (mut bright, mut passed) = (255, counts[255]);
    while passed <= rest && bright > 0 {
        bright -= 1;
        passed += counts[bright];
    }
    bright.saturating_sub(dark) as f64 / 255.0
}

/// The variance of the Laplacian, brought to the range from 0 to 1.
fn sharpness(grey: &Grey) -> f64 {
    let (width, height) = (grey.width(), grey.height());
    if width < 3 || height < 3 {
        return 0.0;
    }
    let (mut total, mut squares) = (0i64, 0i64);
    let pixels = grey.pixels();
    for y in 1..height - 1 {
        let row = |y: usize| &pixels[y * width..(y + 1) * width];
        let (above, center, below) = (row(y - 1), row(y), row(y + 1));
        for x in 1..width - 1 {
            let around = [above[x], center[x - 1], center[x + 1], below[x]].map(i64::from);
            let value = 4 * i64::from(center[x]) - around.iter().sum::<i64>();
            total += value;
            squares += value * value;
        }
    }
    let count = ((width - 2) * (height - 2)) as f64;
    let variance = squares as f64 / count - (total as f64 / count).powi(2);
    variance / (variance + HALF_SHARP)
}

#[cfg(test)]
mod tests;
