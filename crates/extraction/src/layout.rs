//! Where a page shows its words, ruling lines and boxes.
//!
//! Positions are in points from the upper left corner, turned so that most of the text is upright; y grows downwards.

use serde::{Deserialize, Serialize};

/// A rectangle; a line is one without width or height.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self { left, top, right, bottom }
    }

    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The x coordinate of its middle.
    pub fn center(&self) -> f64 {
        (self.left + self.right) / 2.0
    }

    /// The y coordinate of its middle.
    pub fn middle(&self) -> f64 {
        (self.top + self.bottom) / 2.0
    }

    pub fn contains(&self, x: f64, y: f64) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The smallest rectangle around both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Larger by `by` on each side.
    #[must_use]
    pub fn grow(&self, by: f64) -> Self {
        Self::new(self.left - by, self.top - by, self.right + by, self.bottom + by)
    }
}

/// A word and its position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlacedWord {
    pub text: String,
    pub area: Area,
    pub baseline: f64,
    /// The font size.
    pub size: f64,
    /// Words with the same number have one baseline and one font size.
    pub row: usize,
    /// Whether the document marks it as no part of its content, as running heads are.
    pub artifact: bool,
}

/// The layout of one page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageLayout {
    /// Counted from 1.
    pub number: usize,
    /// The size of the page as shown, before it is turned.
    pub width: f64,
    pub height: f64,
    /// By how many quarter turns the text deviates from upright.
    pub turns: u8,
    pub words: Vec<PlacedWord>,
    /// Horizontal and vertical lines.
    pub rules: Vec<Area>,
    /// Rectangles with a border or a background.
    pub boxes: Vec<Area>,
    /// Whether words were dropped because the page has too many.
    pub cut: bool,
}

impl PageLayout {
    /// The rectangle as `[x1, y1, x2, y2]` in points from the lower left corner of the page as shown.
    pub fn to_page(&self, area: &Area) -> [f64; 4] {
        let (width, height) = (self.width, self.height);
        let Area { left, top, right, bottom } = *area;
        match self.turns % 4 {
            0 => [left, height - bottom, right, height - top],
            1 => [width - bottom, height - right, width - top, height - left],
            2 => [width - right, top, width - left, bottom],
            _ => [top, left, bottom, right],
        }
    }

    /// The reverse of [`Self::to_page`].
    pub fn from_page(&self, [x1, y1, x2, y2]: [f64; 4]) -> Area {
        let (width, height) = (self.width, self.height);
        match self.turns % 4 {
            0 => Area::new(x1, height - y2, x2, height - y1),
            1 => Area::new(height - y2, width - x2, height - y1, width - x1),
            2 => Area::new(width - x2, y1, width - x1, y2),
            _ => Area::new(y1, x1, y2, x2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_survive_the_way_to_the_page_and_back() {
        for turns in 0..4 {
            let page = PageLayout { width: 600.0, height: 800.0, turns, ..PageLayout::default() };
            let area = Area::new(10.0, 20.0, 110.0, 50.0);
            let [x1, y1, x2, y2] = page.to_page(&area);
            assert!(x1 < x2 && y1 < y2, "{turns}");
            assert_eq!(page.from_page([x1, y1, x2, y2]), area, "{turns}");
        }
    }

    #[test]
    fn the_upper_left_corner_of_turned_text_is_at_another_corner_of_the_page() {
        let corner = |turns| {
            let page = PageLayout { width: 600.0, height: 800.0, turns, ..PageLayout::default() };
            page.to_page(&Area::default())
        };
        assert_eq!(corner(0)[..2], [0.0, 800.0]);
        assert_eq!(corner(1)[..2], [600.0, 800.0]);
        assert_eq!(corner(2)[..2], [600.0, 0.0]);
        assert_eq!(corner(3)[..2], [0.0, 0.0]);
    }
}
