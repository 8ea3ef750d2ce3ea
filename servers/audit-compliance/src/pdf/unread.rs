//! What a page shows that is not among its words: text in patterns, masks and the drawings of glyphs, and characters that reach
//! far beyond the places of their words.

use std::collections::HashSet;

use hayro::hayro_interpret::font::{Glyph, GlyphRun, Type3Glyph};
use hayro::hayro_interpret::hayro_syntax::Pdf;
use hayro::hayro_interpret::hayro_syntax::page::Page;
use hayro::hayro_interpret::kurbo::{Affine, BezPath, Rect, Shape as _};
use hayro::hayro_interpret::pattern::Pattern;
use hayro::hayro_interpret::{
    BlendMode, CacheKey as _, ClipPath, Context, Device, DrawMode, DrawProps, Image,
    ImageDrawProps, InterpreterCache, InterpreterSettings, Paint, SoftMask, TransformExt as _,
    interpret_page,
};

use super::MARGIN;

/// A glyph that is drawn over more than this many times the area of a character is no character of its word.
const LARGEST: f64 = 6.0;

/// The most patterns, masks and drawings of glyphs that are looked into.
const MOST_SEEN: usize = 10_000;

/// Whether a page shows text that was not read.
pub(super) fn has_unread_text(pdf: &Pdf, page: &Page<'_>) -> bool {
    let (width, height) = page.render_dimensions();
    let area = Rect::new(0.0, 0.0, width.into(), height.into());
    let cache = InterpreterCache::new();
    let transform = page.initial_transform(true).to_kurbo();
    let settings = InterpreterSettings::default();
    let mut context = Context::new(transform, area, &cache, pdf.xref(), settings);
    let mut finder = Finder::default();
    interpret_page(page, &mut context, &mut finder);
    finder.found
}

#[derive(Default)]
struct Finder {
    found: bool,
    /// How many patterns, masks and glyphs are open, whose text is not read.
    within: usize,
    /// The patterns, masks and drawings of glyphs that were looked into.
    seen: HashSet<u128>,
    /// What the open glyph draws.
    drawn: Option<Rect>,
}

impl Finder {
    /// Whether something is new; each is looked into once.
    fn is_new(&mut self, key: u128) -> bool {
        !self.found && self.seen.len() < MOST_SEEN && self.seen.insert(key)
    }

    fn paint(&mut self, props: &DrawProps<'_>, is_stroke: bool) {
        if let Paint::Pattern(pattern) = &props.paint
            && let Pattern::Tiling(pattern) = &**pattern
            && self.is_new(pattern.cache_key())
        {
            self.within += 1;
            pattern.interpret(self, Affine::IDENTITY, is_stroke);
            self.within -= 1;
        }
        self.mask(props.soft_mask.as_ref());
    }

    fn mask(&mut self, mask: Option<&SoftMask<'_>>) {
        if let Some(mask) = mask
            && self.is_new(mask.cache_key())
        {
            self.within += 1;
            mask.interpret(self);
            self.within -= 1;
        }
    }

    /// A glyph that is a drawing of its own: its text, and how large it is.
    fn glyph<'a>(&mut self, glyph: &Type3Glyph<'a>, placed: Affine, paint: &Paint<'a>) {
        if !self.is_new(glyph.cache_key()) {
            return;
        }
        let outer = self.drawn.take();
        self.within += 1;
        glyph.interpret(self, Affine::IDENTITY, placed, paint);
        self.within -= 1;
        let drawn = std::mem::replace(&mut self.drawn, outer).unwrap_or(Rect::ZERO);
        let usual = placed.transform_rect_bbox(Rect::new(0.0, -300.0, 1_000.0, 1_000.0));
        self.found |= drawn.area() > usual.area() * LARGEST;
    }

    fn draw(&mut self, area: Rect) {
        if self.within > 0 && area.is_finite() {
            self.drawn = Some(self.drawn.map_or(area, |drawn| drawn.union(area)));
        }
    }
}

impl<'a> Device<'a> for Finder {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        self.draw(props.transform.transform_rect_bbox(path.bounding_box()));
        self.paint(&props, matches!(mode, DrawMode::Stroke(_)));
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}

    fn push_transparency_group(&mut self, _: f32, mask: Option<SoftMask<'a>>, _: BlendMode) {
        self.mask(mask.as_ref());
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        let has_glyphs = !run.glyphs().is_empty();
        let is_stroke = match mode {
            DrawMode::Invisible => return,
            DrawMode::Fill(_) => false,
            // A wide outline reaches beyond the box over its word.
            DrawMode::Stroke(stroke) | DrawMode::FillAndStroke(_, stroke) => {
                let [a, b, c, d, ..] = props.transform.as_coeffs();
                let scale = a.hypot(b).max(c.hypot(d));
                self.found |= f64::from(stroke.line_width) * scale / 2.0 > 2.0 * MARGIN;
                true
            }
        };
        self.found |= has_glyphs && self.within > 0;
        for drawn in run.glyphs() {
            if let Glyph::Type3(glyph) = &**drawn {
                self.glyph(glyph, props.transform * drawn.transform(), &props.paint);
            }
        }
        self.paint(&props, is_stroke);
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let (width, height) = (f64::from(image.width()), f64::from(image.height()));
        self.draw(props.transform.transform_rect_bbox(Rect::new(0.0, 0.0, width, height)));
        self.mask(props.soft_mask.as_ref());
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}
