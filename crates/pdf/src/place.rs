//! Where a page draws a glyph, and which characters it shows.

use std::rc::Rc;

use hayro_interpret::font::{Glyph as Drawn, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Affine, Point, Rect, Vec2};

use super::glyph::Glyph;
use super::script;

/// Whether a substitute font is stretched glyph by glyph to the widths of the original.
pub(super) fn is_stretched(run: &GlyphRun<'_, '_>) -> bool {
    let ratio = |transform: Affine| {
        let [a, b, c, d, ..] = transform.as_coeffs();
        a.hypot(b) / c.hypot(d)
    };
    let mut ratios = run.glyphs().iter().map(|drawn| ratio(drawn.transform()));
    let first = ratios.next().unwrap_or(1.0);
    ratios.any(|ratio| (ratio - first).abs() > 0.01)
}

pub(super) fn font_name(drawn: &Drawn<'_>) -> Option<Rc<str>> {
    match drawn {
        Drawn::Outline(glyph) => Some(glyph.font_data()?.postscript_name?.into()),
        Drawn::Type3(_) => None,
    }
}

/// The glyph's text and position; `None` if it has no position.
pub(super) fn place(
    drawn: &Drawn<'_>,
    transform: Affine,
    vertical: bool,
    stretched: bool,
) -> Option<Glyph> {
    let mut text = String::new();
    let mut code = None;
    match drawn.as_unicode() {
        Some(BfString::Char(character)) => script::push_plain(&mut text, character),
        Some(BfString::String(string)) => {
            string.chars().for_each(|character| script::push_plain(&mut text, character));
        }
        None => code = Some(drawn.char_code()),
    }
    let advance = match drawn {
        Drawn::Outline(glyph) => glyph.advance_width(),
        Drawn::Type3(glyph) => glyph.advance_width(),
    };
    let advance = f64::from(advance.unwrap_or(500.0));
    let origin = transform * Point::ZERO;
    let size = (transform * Point::new(0.0, 1000.0)).distance(origin);
    let along = transform * Point::new(1000.0, 0.0) - origin;
    let (at, advance) = if vertical {
        // The origin of a vertical glyph is above its middle.
        let top = transform * Point::new(0.0, 880.0);
        (top, transform * Point::new(0.0, -120.0) - top)
    } else if stretched && along.hypot() > 0.0 {
        (origin, along / along.hypot() * (advance / 1000.0 * size))
    } else {
        (origin, along * (advance / 1000.0))
    };
    let finite = at.is_finite() && advance.is_finite() && size.is_finite();
    let ink = inked(transform, at, advance);
    finite.then_some(Glyph {
        text,
        at,
        advance,
        size,
        run: 0,
        artifact: false,
        ink,
        code,
        font: None,
    })
}

/// The area that a glyph of usual height is drawn in: from below its descenders to above its accents, in the direction in
/// which the page draws it.
fn inked(transform: Affine, at: Point, advance: Vec2) -> Rect {
    let origin = transform * Point::ZERO;
    let up = transform * Point::new(0.0, 1000.0) - origin;
    let ends = [at, at + advance];
    let corners = ends.into_iter().flat_map(|end| [end + up, end - up * 0.3]);
    corners.fold(Rect::from_points(at, at + advance), |area, corner| area.union_pt(corner))
}
