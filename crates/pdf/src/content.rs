//! What a page draws: its glyphs with their positions, and the shapes and pictures around them.

use hayro_interpret::font::{Glyph as Drawn, GlyphRun};
use hayro_interpret::hayro_cmap::WritingMode;
use hayro_interpret::hayro_syntax::object::Dict;
use hayro_interpret::kurbo::{Affine, BezPath, PathEl, PathSeg, Point, Rect, Shape as _};
use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, FillRule, Image, ImageDrawProps, Paint,
    SoftMask,
};

use super::bitmap_fonts::{Sizes, resize};
use super::collections::Collections;
use super::glyph::Glyph;
use super::guess::Guess;
use super::ink::{Background, Canvas, Ink};
use super::place::{font_name, is_stretched, place};
use super::script;

/// The most glyphs of one page; the rest is dropped.
const GLYPHS: usize = 300_000;

/// The most ruled lines and boxes of one page that are stored.
const RULES: usize = 4_000;

/// Fewer glyphs without characters are marks and decorations.
const FEW: usize = 10;

/// A line that is at most this thick, in points, separates; a thicker one is a shape.
const THIN: f64 = 3.0;

/// A line that is drawn between pieces of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rule {
    pub(super) start: Point,
    pub(super) end: Point,
}

/// The visible content of one page.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) rules: Vec<Rule>,
    /// Boxes with a border or a background.
    pub(super) boxes: Vec<Rect>,
    /// The text that a reader does not see.
    pub(super) hidden: Vec<Glyph>,
    /// The area of all pictures.
    pub(super) pictured: f64,
    /// Whether glyphs were dropped because there are too many.
    pub(super) cut: bool,
    /// How many glyphs are drawn whose characters are not known.
    pub(super) unknown: usize,
}

impl Content {
    /// Whether a large part of the text has characters that are not known.
    pub(super) fn is_unreadable(&self) -> bool {
        let known = self.glyphs.iter().filter(|glyph| !glyph.is_space()).count();
        self.unknown >= FEW && self.unknown * 4 > known
    }

    /// The characters that a reader does not see.
    pub(super) fn hidden_text(&self) -> String {
        self.hidden.iter().map(|glyph| glyph.text.as_str()).collect()
    }
}

/// Collects what a page draws.
pub(super) struct Collector {
    area: Rect,
    /// Whether the outlines of glyphs are measured.
    outlines: bool,
    glyphs: Vec<(Glyph, Ink)>,
    rules: Vec<Rule>,
    boxes: Vec<Rect>,
    canvas: Canvas,
    clips: Vec<Rect>,
    opacities: Vec<f32>,
    /// For each open marked content whether it is an artifact.
    marked: Vec<bool>,
    runs: usize,
    sizes: Sizes,
    pictured: f64,
    cut: bool,
}

impl Collector {
    pub(super) fn new(area: Rect, outlines: bool) -> Self {
        Self {
            area,
            outlines,
            glyphs: Vec::new(),
            rules: Vec::new(),
            boxes: Vec::new(),
            canvas: Canvas::new(area),
            clips: Vec::new(),
            opacities: Vec::new(),
            marked: Vec::new(),
            runs: 0,
            sizes: Sizes::default(),
            pictured: 0.0,
            cut: false,
        }
    }

    /// Separates what a reader sees from what is hidden.
    pub(super) fn finish(self, collections: &Collections<'_>) -> Content {
        let Self { mut glyphs, rules, boxes, canvas, pictured, cut, outlines, .. } = self;
        let mut content = Content { rules, boxes, pictured, cut, ..Content::default() };
        let seen = canvas.visibility(&glyphs);
        for (glyph, _) in &mut glyphs {
            if let (Some(code), Some(font)) = (glyph.code, &glyph.font)
                && let Some(text) = collections.text(font, code)
            {
                (glyph.text, glyph.code) = (text, None);
            }
        }
        let codes: Vec<u32> = glyphs.iter().filter_map(|(glyph, _)| glyph.code).collect();
        // Outlines need exact positions of words, so codes are not guessed.
        let guess = if outlines { None } else { Guess::of(&codes) };
        for ((mut glyph, _), seen) in glyphs.into_iter().zip(seen) {
            if let Some(code) = glyph.code {
                let Some(text) = guess.and_then(|guess| guess.text(code)) else {
                    content.unknown += 1;
                    continue;
                };
                glyph.text = text;
            }
            if seen {
                content.glyphs.push(glyph);
            } else {
                content.hidden.push(glyph);
            }
        }
        content
    }

    fn clip(&self) -> Rect {
        self.clips.last().copied().unwrap_or(self.area)
    }

    fn is_transparent(&self) -> bool {
        self.opacities.iter().product::<f32>() < 0.05
    }

    fn background(&self, paint: &Paint<'_>) -> Background {
        match paint {
            Paint::Color(colour) => {
                let [red, green, blue, alpha] = colour.to_rgba().components();
                Background::Colour { rgb: [red, green, blue], alpha }
            }
            Paint::Pattern(_) => Background::Unknown,
        }
    }

    /// Adds the horizontal and vertical lines of a path that is stroked.
    fn add_rules(&mut self, path: &BezPath) {
        for segment in path.segments() {
            let PathSeg::Line(line) = segment else { continue };
            let along = line.p1 - line.p0;
            if along.x.abs().min(along.y.abs()) < 1.0 {
                self.add_rule(line.p0, line.p1);
            }
        }
    }

    fn add_rule(&mut self, start: Point, end: Point) {
        let clip = self.clip().inflate(1.0, 1.0);
        let inside = |point: Point| {
            Point::new(point.x.clamp(clip.x0, clip.x1), point.y.clamp(clip.y0, clip.y1))
        };
        let (start, end) = (inside(start), inside(end));
        if self.rules.len() < RULES && start.distance(end) > 4.0 {
            self.rules.push(Rule { start, end });
        }
    }

    /// Adds a shape that is filled: a thin one is a line, and a larger one a box.
    fn add_filled(&mut self, bounds: Rect, is_box: bool) {
        if bounds.width().min(bounds.height()) <= THIN {
            let middle = bounds.center();
            if bounds.width() > bounds.height() {
                self.add_rule(Point::new(bounds.x0, middle.y), Point::new(bounds.x1, middle.y));
            } else {
                self.add_rule(Point::new(middle.x, bounds.y0), Point::new(middle.x, bounds.y1));
            }
        } else if is_box {
            self.add_box(bounds.intersect(self.clip()));
        }
    }

    /// Adds what is between a box and a hole in it: the text within is not on a background.
    fn add_frame(&mut self, outer: Rect, inner: Rect, background: Background, plain: bool) {
        let sides = [
            Rect::new(outer.x0, outer.y0, outer.x1, inner.y0),
            Rect::new(outer.x0, inner.y1, outer.x1, outer.y1),
            Rect::new(outer.x0, outer.y0, inner.x0, outer.y1),
            Rect::new(inner.x1, outer.y0, outer.x1, outer.y1),
        ];
        for side in sides.into_iter().filter(|side| side.width() > 0.0 && side.height() > 0.0) {
            if !background.is_white() {
                self.add_filled(side, true);
            }
            self.canvas.paint(side.intersect(self.clip()), background, true, plain);
        }
        if !background.is_white() {
            self.add_box(outer.intersect(self.clip()));
        }
    }

    fn add_box(&mut self, area: Rect) {
        if self.boxes.len() < RULES && area.width() > 5.0 && area.height() > 4.0 {
            self.boxes.push(area);
        }
    }

    /// Adds a glyph, or joins it to the one before as its accent.
    fn add(&mut self, glyph: Glyph, ink: Ink) {
        if self.glyphs.len() >= GLYPHS {
            self.cut = true;
            return;
        }
        let first = glyph.text.chars().next();
        if let (Some(first), Some((before, _))) = (first, self.glyphs.last_mut())
            && before.run == glyph.run
            && script::is_mark(first)
        {
            before.text.push_str(&glyph.text);
            before.ink = before.ink.union(glyph.ink);
            return;
        }
        self.glyphs.push((glyph, ink));
    }
}

impl<'a> Device<'a> for Collector {
    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'a>, mode: &DrawMode) {
        let path = props.transform * path.clone();
        let bounds = path.bounding_box();
        if !bounds.is_finite() || self.is_transparent() {
            return;
        }
        let area = bounds.intersect(self.clip());
        let is_box = path.area().abs() >= bounds.area() * 0.9;
        let filled = matches!(mode, DrawMode::Fill(_) | DrawMode::FillAndStroke(..));
        let stroked = matches!(mode, DrawMode::Stroke(_) | DrawMode::FillAndStroke(..));
        if stroked {
            self.add_rules(&path);
        }
        let background = self.background(&props.paint);
        if stroked && is_box {
            self.add_box(area);
        }
        let frame = if filled { frame(&path, mode) } else { None };
        if let Some((outer, inner)) = frame {
            let plain = props.soft_mask.is_none() && matches!(props.blend_mode, BlendMode::Normal);
            self.add_frame(outer, inner, background, plain);
            return;
        }
        if filled && (!background.is_white() || bounds.width().min(bounds.height()) <= THIN) {
            for part in parts(&path) {
                let bounds = part.bounding_box();
                self.add_filled(bounds, part.area().abs() >= bounds.area() * 0.9);
            }
        }
        if filled && area.width() > 0.0 && area.height() > 0.0 {
            let plain = props.soft_mask.is_none() && matches!(props.blend_mode, BlendMode::Normal);
            self.canvas.paint(area, background, is_box, plain);
        }
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        let bounds = clip.path.bounding_box();
        let clip = if bounds.is_finite() { self.clip().intersect(bounds) } else { self.clip() };
        self.clips.push(clip);
    }

    fn push_transparency_group(&mut self, opacity: f32, _: Option<SoftMask<'a>>, _: BlendMode) {
        self.opacities.push(opacity);
    }

    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        let vertical = run.writing_mode() == WritingMode::Vertical;
        let stretched = is_stretched(run);
        let background = self.background(&props.paint);
        let artifact = self.marked.last().copied().unwrap_or(false);
        let clip = self.clip();
        self.runs += 1;
        let mut font = None;
        let drawn_by_document =
            matches!(run.glyphs().first().map(|it| &**it), Some(Drawn::Type3(_)));
        let place =
            |drawn: &Drawn<'_>, at: Affine| place(drawn, props.transform * at, vertical, stretched);
        let all = run.glyphs().iter();
        let placed: Vec<_> =
            all.filter_map(|drawn| Some((drawn, place(drawn, drawn.transform())?))).collect();
        let size = drawn_by_document.then(|| self.sizes.correct(&placed)).flatten();
        for (drawn, placed) in placed {
            let transform = props.transform * drawn.transform();
            let mut glyph = Glyph { run: self.runs, artifact, ..placed };
            if let Some(size) = size {
                resize(&mut glyph, size);
            }
            if glyph.code.is_some() {
                glyph.font = font.get_or_insert_with(|| font_name(drawn)).clone();
            }
            if self.outlines
                && let Drawn::Outline(outline) = &**drawn
            {
                let outline = transform * outline.outline();
                if !outline.is_empty() {
                    glyph.ink = glyph.ink.union(outline.bounding_box());
                }
            }
            let inside = clip.inflate(glyph.size / 2.0, glyph.size / 2.0).contains(glyph.middle());
            let ink = match mode {
                _ if !inside || self.is_transparent() => Ink::Hidden,
                DrawMode::Invisible => Ink::Absent,
                _ => self.canvas.ink(&glyph, &background),
            };
            self.add(glyph, ink);
        }
    }

    fn draw_image(&mut self, image: Image<'a, '_>, props: ImageDrawProps<'a>) {
        let (width, height) = (f64::from(image.width()), f64::from(image.height()));
        let area = props.transform.transform_rect_bbox(Rect::new(0.0, 0.0, width, height));
        if area.is_finite() && !self.is_transparent() {
            if area.width().min(area.height()) <= THIN {
                self.add_filled(area, true);
            }
            let normal = matches!(props.blend_mode, BlendMode::Normal) && props.soft_mask.is_none();
            let opaque = match &image {
                Image::Raster(raster) => {
                    let dict = raster.stream().dict();
                    normal && !dict.contains_key(b"SMask") && !dict.contains_key(b"Mask")
                }
                Image::Stencil(_) => false,
            };
            let area = area.intersect(self.clip());
            self.pictured += area.width().max(0.0) * area.height().max(0.0);
            self.canvas.picture(area, opaque);
        }
    }

    fn pop_clip(&mut self) {
        self.clips.pop();
    }

    fn pop_transparency_group(&mut self) {
        self.opacities.pop();
    }

    fn begin_marked_content(&mut self, tag: &[u8], _: Option<&Dict<'_>>) {
        let outer = self.marked.last().copied().unwrap_or(false);
        self.marked.push(outer || tag == b"Artifact");
    }

    fn end_marked_content(&mut self) {
        self.marked.pop();
    }
}

/// The bounds of a box and of the hole in it, if that is what is filled.
fn frame(path: &BezPath, mode: &DrawMode) -> Option<(Rect, Rect)> {
    let parts = parts(path);
    let [one, other] = parts.as_slice() else { return None };
    let even_odd = matches!(
        mode,
        DrawMode::Fill(FillRule::EvenOdd) | DrawMode::FillAndStroke(FillRule::EvenOdd, _)
    );
    if !even_odd && one.area() * other.area() > 0.0 {
        return None;
    }
    let bounds = |part: &BezPath| {
        let bounds = part.bounding_box();
        (part.area().abs() >= bounds.area() * 0.9).then_some(bounds)
    };
    let (one, other) = (bounds(one)?, bounds(other)?);
    let (outer, inner) = if one.area() > other.area() { (one, other) } else { (other, one) };
    let inside = outer.intersect(inner) == inner && inner.width() > 4.0 && inner.height() > 4.0;
    inside.then_some((outer, inner))
}

/// The closed parts of a path: many lines and cells may be filled at once.
fn parts(path: &BezPath) -> Vec<BezPath> {
    let mut parts: Vec<BezPath> = Vec::new();
    for element in path.elements() {
        if matches!(element, PathEl::MoveTo(_)) || parts.is_empty() {
            if parts.len() >= RULES {
                break;
            }
            parts.push(BezPath::new());
        }
        if let Some(part) = parts.last_mut() {
            part.push(*element);
        }
    }
    parts.retain(|part| part.elements().len() > 2);
    parts
}
