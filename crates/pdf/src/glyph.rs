//! A piece of text on a page.

use std::rc::Rc;

use hayro_interpret::kurbo::{Point, Rect, Vec2};

/// A piece of text with its position on the page; y grows downwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glyph {
    /// One character in most cases; empty for a glyph that only takes up space.
    pub(super) text: String,
    /// The start of its baseline.
    pub(super) at: Point,
    /// From its start to its end.
    pub(super) advance: Vec2,
    /// How large the font is.
    pub(super) size: f64,
    /// The drawing instruction that it belongs to, counted from 0.
    pub(super) run: usize,
    /// Whether the document marks it as no part of its content, as running heads are.
    pub(super) artifact: bool,
    /// The area of the page that its ink is in, however it is turned.
    pub(super) ink: Rect,
    /// Its code in the font if the font does not say which characters it shows.
    pub(super) code: Option<u32>,
    /// The name of that font.
    pub(super) font: Option<Rc<str>>,
}

impl Glyph {
    pub(super) fn is_space(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }

    /// A point on its ink.
    pub(super) fn middle(&self) -> Point {
        let upwards = Vec2::new(self.advance.y, -self.advance.x);
        let upwards = match upwards.hypot() {
            0.0 => Vec2::new(0.0, -1.0),
            length => upwards / length,
        };
        self.at + self.advance / 2.0 + upwards * (self.size / 4.0)
    }
}
