//! Fonts that are drawn by instructions of the document, such as the bitmap fonts of TeX: their units may be pixels, so that
//! the size with which they are set says nothing about how large they are.

use hayro_interpret::kurbo::{Point, Rect, Vec2};

use super::glyph::Glyph;

/// The share of the size that glyphs are wide on average, beyond which the size is not that of the glyphs.
const USUAL: std::ops::RangeInclusive<f64> = 0.1..=2.5;

/// How much larger than its glyphs are wide on average a font usually is.
const LARGER: f64 = 2.0;

/// Runs whose glyphs are at most this many times wider or narrower than others have the same size.
const ALIKE: f64 = 1.6;

/// The widths of the glyphs that were drawn so far, by the size with which they are set.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    seen: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    size: f64,
    width: f64,
    count: f64,
}

impl Sizes {
    /// The size of a run by the widths of its glyphs; `None` if the size with which it is set is right.
    pub(super) fn correct<T>(&mut self, glyphs: &[(T, Glyph)]) -> Option<f64> {
        let size = glyphs.first()?.1.size;
        let widths = glyphs.iter().map(|(_, glyph)| glyph.advance.hypot());
        let wide: Vec<f64> = widths.filter(|width| *width > 0.0).collect();
        let count = wide.len() as f64;
        let mean = wide.iter().sum::<f64>() / count;
        if size <= 0.0 || !mean.is_finite() || USUAL.contains(&(mean / size)) {
            return None;
        }
        let same = self.seen.iter_mut().find(|seen| {
            let (usual, ratio) = (seen.width / seen.count, size / seen.size);
            (0.99..1.01).contains(&ratio) && (1.0 / ALIKE..ALIKE).contains(&(mean / usual))
        });
        let width = match same {
            Some(seen) => {
                seen.width += mean * count;
                seen.count += count;
                seen.width / seen.count
            }
            None => {
                // A page has few fonts; of more the rest is not stored.
                if self.seen.len() < 64 {
                    self.seen.push(Seen { size, width: mean * count, count });
                }
                mean
            }
        };
        Some(width * LARGER)
    }
}

/// Gives a glyph another size, with its ink above its baseline.
pub(super) fn resize(glyph: &mut Glyph, size: f64) {
    let along = match glyph.advance.hypot() {
        0.0 => Vec2::new(1.0, 0.0),
        length => glyph.advance / length,
    };
    let up = Vec2::new(along.y, -along.x) * size;
    let ends = [glyph.at, glyph.at + glyph.advance];
    let corners = ends.into_iter().flat_map(|end: Point| [end + up, end - up * 0.3]);
    let baseline = Rect::from_points(ends[0], ends[1]);
    glyph.ink = corners.fold(baseline, |area, corner| area.union_pt(corner));
    glyph.size = size;
}
