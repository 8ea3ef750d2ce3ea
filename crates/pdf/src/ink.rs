//! Which glyphs of a page a reader sees.

use hayro_interpret::kurbo::{Point, Rect};

use super::glyph::Glyph;

/// Glyphs below this size, in points, count as hidden.
const TINY: f64 = 1.0;

/// The tolerance for white, and for text in the colour of its background.
const SAME: f32 = 0.015;

/// The most shapes that are stored.
const SHAPES: usize = 20_000;

/// The page is divided into this many cells in each direction to find the shapes at a point.
const CELLS: usize = 32;

/// The most shapes that are stored for one cell.
const PER_CELL: usize = 256;

/// How a glyph was drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ink {
    /// Visible unless something opaque was painted over it later: the number of shapes before it.
    Shown {
        after: usize,
    },
    /// Drawn without ink, as the recognised text of a scan is.
    Absent,
    Hidden,
}

/// The colour of a shape or of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Background {
    Colour { rgb: [f32; 3], alpha: f32 },
    Unknown,
}

impl Background {
    pub(super) fn is_white(&self) -> bool {
        match self {
            Self::Colour { rgb, alpha } => {
                *alpha < 0.05 || rgb.iter().all(|part| *part >= 1.0 - SAME)
            }
            Self::Unknown => false,
        }
    }

    fn is_opaque(&self) -> bool {
        matches!(self, Self::Colour { alpha, .. } if *alpha >= 0.95)
    }

    fn blends_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Colour { rgb: one, .. }, Self::Colour { rgb: other, .. }) => {
                one.iter().zip(other).all(|(one, other)| (one - other).abs() <= SAME)
            }
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    area: Rect,
    paint: Background,
    /// Whether it fills its bounding box.
    is_box: bool,
    /// Whether nothing below it can be seen.
    opaque: bool,
    is_picture: bool,
}

/// What has been painted on a page so far.
#[derive(Debug)]
pub(super) struct Canvas {
    area: Rect,
    shapes: Vec<Shape>,
    /// The shapes that touch each cell, in drawing order.
    cells: Vec<Vec<u32>>,
}

impl Canvas {
    pub(super) fn new(area: Rect) -> Self {
        Self { area, shapes: Vec::new(), cells: vec![Vec::new(); CELLS * CELLS] }
    }

    pub(super) fn paint(&mut self, area: Rect, paint: Background, is_box: bool, plain: bool) {
        let opaque = is_box && plain && paint.is_opaque();
        self.add(Shape { area, paint, is_box, opaque, is_picture: false });
    }

    pub(super) fn picture(&mut self, area: Rect, opaque: bool) {
        let paint = Background::Unknown;
        self.add(Shape { area, paint, is_box: true, opaque, is_picture: true });
    }

    fn add(&mut self, shape: Shape) {
        if self.shapes.len() >= SHAPES || shape.area.width() < 1.0 || shape.area.height() < 1.0 {
            return;
        }
        let number = u32::try_from(self.shapes.len()).unwrap_or(u32::MAX);
        let (left, top) = self.cell(shape.area.origin());
        let (right, bottom) = self.cell(Point::new(shape.area.x1, shape.area.y1));
        for row in top..=bottom {
            for cell in &mut self.cells[row * CELLS + left..=row * CELLS + right] {
                if cell.len() < PER_CELL {
                    cell.push(number);
                }
            }
        }
        self.shapes.push(shape);
    }

    fn cell(&self, point: Point) -> (usize, usize) {
        let index = |at: f64, start: f64, length: f64| {
            let share = if length > 0.0 { (at - start) / length } else { 0.0 };
            // The cast saturates, so points off the page are in the outermost cells.
            ((share * CELLS as f64) as usize).min(CELLS - 1)
        };
        (
            index(point.x, self.area.x0, self.area.width()),
            index(point.y, self.area.y0, self.area.height()),
        )
    }

    /// The shapes at a point, with their numbers, the topmost first.
    fn at(&self, point: Point) -> impl Iterator<Item = (usize, &Shape)> {
        let (column, row) = self.cell(point);
        let cell = self.cells[row * CELLS + column].iter().rev();
        cell.map(|number| *number as usize)
            .filter_map(|number| Some((number, self.shapes.get(number)?)))
            .filter(move |(_, shape)| shape.area.contains(point))
    }

    /// How a glyph that is drawn now looks on what was painted before.
    pub(super) fn ink(&self, glyph: &Glyph, paint: &Background) -> Ink {
        let middle = glyph.middle();
        if glyph.size < TINY || !self.area.inflate(1.0, 1.0).contains(middle) {
            return Ink::Hidden;
        }
        if matches!(paint, Background::Colour { alpha, .. } if *alpha < 0.05) {
            return Ink::Hidden;
        }
        let shown = Ink::Shown { after: self.shapes.len() };
        for (_, shape) in self.at(middle) {
            if shape.is_picture {
                return shown;
            }
            if shape.is_box {
                return if shape.paint.blends_with(paint) { Ink::Hidden } else { shown };
            }
            // The exact outline is not known: white text on it is given the benefit of the doubt.
            if paint.is_white() && !shape.paint.is_white() {
                return shown;
            }
        }
        if paint.is_white() { Ink::Hidden } else { shown }
    }

    /// Whether each glyph is seen.
    pub(super) fn visibility(&self, glyphs: &[(Glyph, Ink)]) -> Vec<bool> {
        let mut inks: Vec<Ink> =
            glyphs.iter().map(|(glyph, ink)| self.later(glyph, *ink)).collect();
        let seen = |ink: &Ink| matches!(ink, Ink::Shown { .. });
        if inks.contains(&Ink::Absent) {
            let mut shares = Shares::default();
            for ((glyph, _), ink) in glyphs.iter().zip(&inks).filter(|((it, _), _)| !it.is_space())
            {
                for (number, shape) in self.at(glyph.middle()) {
                    if !shape.is_picture && shape.paint.is_white() {
                        continue;
                    }
                    shares.count(number, *ink);
                }
            }
            for ((glyph, _), ink) in glyphs.iter().zip(&mut inks) {
                let recognised = *ink == Ink::Absent
                    && self.at(glyph.middle()).any(|(number, _)| shares.is_recognised(number));
                if recognised {
                    *ink = Ink::Shown { after: 0 };
                }
            }
        }
        inks.iter().map(seen).collect()
    }

    /// What became of a glyph when the rest of the page was painted.
    fn later(&self, glyph: &Glyph, ink: Ink) -> Ink {
        let Ink::Shown { after } = ink else { return ink };
        let mut covers = self.at(glyph.middle()).take_while(|(number, _)| *number >= after);
        match covers.find(|(_, shape)| shape.opaque) {
            None => ink,
            // Text below a scan is its recognised text.
            Some((_, shape)) if shape.is_picture => Ink::Absent,
            Some(_) => Ink::Hidden,
        }
    }
}

/// How many glyphs with and without ink are on each shape.
#[derive(Debug, Default)]
struct Shares(std::collections::HashMap<usize, (usize, usize)>);

impl Shares {
    fn count(&mut self, shape: usize, ink: Ink) {
        let (with, without) = self.0.entry(shape).or_default();
        match ink {
            Ink::Shown { .. } => *with += 1,
            Ink::Absent => *without += 1,
            Ink::Hidden => {}
        }
    }

    /// Whether the text without ink on a shape is what a reader sees as a picture: there is next to no other text on it.
    fn is_recognised(&self, shape: usize) -> bool {
        self.0.get(&shape).is_some_and(|(with, without)| with * 10 <= *without)
    }
}
