//! Collects the glyphs of a page with their positions and visibility.

use hayro_interpret::font::{Glyph as Drawn, GlyphRun};
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Shape};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, Paint, SoftMask,
};

/// Glyphs below this size, in points, count as hidden.
const TINY: f64 = 1.0;

/// The tolerance for white.
const WHITE: f32 = 0.985;

/// The most shapes that are stored to find the background of white text.
const SHAPES: usize = 20_000;

/// A piece of text with its position on the page; y grows downwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glyph {
    pub(super) text: String,
    pub(super) x: f64,
    pub(super) y: f64,
    /// Its right edge.
    pub(super) width: f64,
    /// How large the font is.
    pub(super) size: f64,
}

/// The content of one page.
pub(super) struct Glyphs {
    area: Rect,
    glyphs: Vec<(Glyph, Ink)>,
    /// The previous run; an equal one on top of it is an outline or a shadow.
    before: Vec<Glyph>,
    /// Painted shapes that are not white.
    shapes: Vec<Rect>,
    /// Whether a picture covers most of the page: then invisible text is the recognised text of a scan.
    scanned: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ink {
    Shown,
    /// Drawn without ink, as the recognised text of a scan is.
    None,
    Hidden,
}

impl Glyphs {
    pub(super) fn new(area: Rect) -> Self {
        Self { area, glyphs: Vec::new(), before: Vec::new(), shapes: Vec::new(), scanned: false }
    }

    /// The visible glyphs, in drawing order.
    pub(super) fn shown(&self) -> Vec<&Glyph> {
        let seen = |ink: Ink| ink == Ink::Shown || (ink == Ink::None && self.scanned);
        self.glyphs.iter().filter(|(_, ink)| seen(*ink)).map(|(glyph, _)| glyph).collect()
    }

    /// The hidden text.
    pub(super) fn hidden(&self) -> String {
        let is_hidden = |ink: Ink| ink == Ink::Hidden || (ink == Ink::None && !self.scanned);
        self.glyphs
            .iter()
            .filter(|(_, ink)| is_hidden(*ink))
            .map(|(glyph, _)| glyph.text.as_str())
            .collect()
    }

    fn paint(&mut self, shape: Rect) {
        if self.shapes.len() < SHAPES && shape.area() > 0.0 {
            self.shapes.push(shape);
        }
    }

    fn ink(&self, glyph: &Glyph, paint: &Paint<'_>, mode: &DrawMode) -> Ink {
        let middle = Point::new(glyph.x + glyph.width / 2.0, glyph.y - glyph.size / 4.0);
        if glyph.size < TINY || !self.area.inflate(1.0, 1.0).contains(middle) {
            return Ink::Hidden;
        }
        if matches!(mode, DrawMode::Invisible) {
            return Ink::None;
        }
        let Paint::Color(colour) = paint else { return Ink::Shown };
        let [red, green, blue, alpha] = colour.to_rgba().components();
        let white = red.min(green).min(blue) >= WHITE;
        // White text is visible on shapes that were painted before.
        let backed = || self.shapes.iter().any(|shape| shape.contains(middle));
        if alpha < 0.05 || (white && !backed()) { Ink::Hidden } else { Ink::Shown }
    }
}

impl<'a> Device<'a> for Glyphs {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        let filled = matches!(mode, DrawMode::Fill(_) | DrawMode::FillAndStroke(..));
        let white = match &props.paint {
            Paint::Color(colour) => {
                let [red, green, blue, alpha] = colour.to_rgba().components();
                red.min(green).min(blue) >= WHITE || alpha < 0.05
            }
            Paint::Pattern(_) => false,
        };
        if filled && !white {
            self.paint((props.transform * path.clone()).bounding_box());
        }
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        let glyphs: Vec<Glyph> = run
            .glyphs()
            .iter()
            .filter_map(|drawn| place(drawn, props.transform * drawn.transform()))
            .collect();
        if self.repeats(&glyphs) {
            return;
        }
        for glyph in &glyphs {
            let ink = self.ink(glyph, &props.paint, mode);
            self.glyphs.push((glyph.clone(), ink));
        }
        self.before = glyphs;
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let (width, height) = (f64::from(image.width()), f64::from(image.height()));
        let shape = props.transform.transform_rect_bbox(Rect::new(0.0, 0.0, width, height));
        self.scanned |= shape.intersect(self.area).area() >= self.area.area() / 2.0;
        self.paint(shape);
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}

impl Glyphs {
    /// Whether a run repeats the previous one, drawn over it as outline, shadow or to make it bold.
    fn repeats(&self, run: &[Glyph]) -> bool {
        !run.is_empty()
            && run.len() == self.before.len()
            && run.iter().zip(&self.before).all(|(one, other)| {
                let near = (one.x - other.x).abs().max((one.y - other.y).abs());
                one.text == other.text && near < one.size * 0.1
            })
    }
}

fn place(drawn: &Drawn<'_>, transform: Affine) -> Option<Glyph> {
    let text = match drawn.as_unicode()? {
        BfString::Char(character) => character.to_string(),
        BfString::String(string) => string,
    };
    let advance = match drawn {
        Drawn::Outline(glyph) => glyph.advance_width(),
        Drawn::Type3(glyph) => glyph.advance_width(),
    };
    let origin = transform * Point::ZERO;
    let end = transform * Point::new(advance.unwrap_or(500.0).into(), 0.0);
    let size = (transform * Point::new(0.0, 1000.0)).distance(origin);
    let finite =
        origin.x.is_finite() && origin.y.is_finite() && end.x.is_finite() && size.is_finite();
    finite.then_some(Glyph { text, x: origin.x, y: origin.y, width: end.x - origin.x, size })
}
