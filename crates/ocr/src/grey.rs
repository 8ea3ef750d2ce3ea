//! Pictures in shades of grey.

use crate::affine::Affine;

/// A picture with one byte for each pixel: 0 is black, 255 is white.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grey {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// How far a picture is turned clockwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Turn {
    #[default]
    None,
    Quarter,
    Half,
    ThreeQuarters,
}

impl Turn {
    /// All turns, by degrees.
    pub const ALL: [Self; 4] = [Self::None, Self::Quarter, Self::Half, Self::ThreeQuarters];

    /// In degrees, clockwise.
    pub fn degrees(self) -> u16 {
        match self {
            Self::None => 0,
            Self::Quarter => 90,
            Self::Half => 180,
            Self::ThreeQuarters => 270,
        }
    }

    /// This turn and then another half one.
    pub fn opposite(self) -> Self {
        match self {
            Self::None => Self::Half,
            Self::Quarter => Self::ThreeQuarters,
            Self::Half => Self::None,
            Self::ThreeQuarters => Self::Quarter,
        }
    }
}

impl Grey {
    /// A picture of these pixels, row by row.
    ///
    /// # Panics
    /// If there are not `width * height` pixels.
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Self {
        assert_eq!(width * height, pixels.len(), "one byte for each pixel");
        Self { width, height, pixels }
    }

    /// A picture of one shade.
    pub fn filled(width: usize, height: usize, shade: u8) -> Self {
        Self { width, height, pixels: vec![shade; width * height] }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    pub(crate) fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    pub(crate) fn row(&self, y: usize) -> &[u8] {
        &self.pixels[y * self.width..(y + 1) * self.width]
    }

    pub(crate) fn at(&self, x: usize, y: usize) -> u8 {
        self.pixels[y * self.width + x]
    }

    /// How many pixels have each shade.
    pub(crate) fn histogram(&self) -> [u32; 256] {
        let mut counts = [0; 256];
        for shade in &self.pixels {
            counts[usize::from(*shade)] += 1;
        }
        counts
    }

    /// The picture as a binary PGM file, which needs no decoder that could be attacked.
    pub fn to_pgm(&self) -> Vec<u8> {
        let mut file = format!("P5\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend_from_slice(&self.pixels);
        file
    }

    /// The picture of a file that [`Self::to_pgm`] wrote.
    pub fn from_pgm(file: &[u8]) -> Option<Self> {
        let mut lines = file.splitn(4, |byte| *byte == b'\n');
        let (magic, size, depth) = (lines.next()?, lines.next()?, lines.next()?);
        let pixels = lines.next()?;
        let (width, height) = std::str::from_utf8(size).ok()?.split_once(' ')?;
        let (width, height): (usize, usize) = (width.parse().ok()?, height.parse().ok()?);
        let whole = magic == b"P5"
            && depth == b"255"
            && width.checked_mul(height).is_some_and(|count| count == pixels.len());
        whole.then(|| Self { width, height, pixels: pixels.to_vec() })
    }

    /// The picture turned clockwise, and the map from its points to those of this one.
    pub fn turned(&self, turn: Turn) -> (Self, Affine) {
        let (wide, high) = (self.width as f64, self.height as f64);
        match turn {
            Turn::None => (self.clone(), Affine::IDENTITY),
            Turn::Half => {
                let pixels = self.pixels.iter().rev().copied().collect();
                let map = Affine { xx: -1.0, xy: 0.0, x: wide, yx: 0.0, yy: -1.0, y: high };
                (Self { width: self.width, height: self.height, pixels }, map)
            }
            Turn::Quarter => {
                let map = Affine { xx: 0.0, xy: 1.0, x: 0.0, yx: -1.0, yy: 0.0, y: high };
                (self.transposed(|x, y| (y, self.height - 1 - x)), map)
            }
            Turn::ThreeQuarters => {
                let map = Affine { xx: 0.0, xy: -1.0, x: wide, yx: 1.0, yy: 0.0, y: 0.0 };
                (self.transposed(|x, y| (self.width - 1 - y, x)), map)
            }
        }
    }

    fn transposed(&self, source: impl Fn(usize, usize) -> (usize, usize)) -> Self {
        let (width, height) = (self.height, self.width);
        let mut pixels = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (from_x, from_y) = source(x, y);
                pixels.push(self.at(from_x, from_y));
            }
        }
        Self { width, height, pixels }
    }

    /// Paints a box white.
    pub(crate) fn whiten(&mut self, [left, top, right, bottom]: [usize; 4]) {
        for y in top..bottom.min(self.height) {
            let end = right.min(self.width);
            self.pixels[y * self.width + left.min(end)..y * self.width + end].fill(255);
        }
    }

    /// The part from the upper left corner (inclusive) to the lower right one (exclusive), cut at the borders.
    pub(crate) fn cropped(&self, [left, top, right, bottom]: [usize; 4]) -> Self {
        let (right, bottom) = (right.min(self.width), bottom.min(self.height));
        let (left, top) = (left.min(right), top.min(bottom));
        let mut pixels = Vec::with_capacity((right - left) * (bottom - top));
        for y in top..bottom {
            pixels.extend_from_slice(&self.row(y)[left..right]);
        }
        Self { width: right - left, height: bottom - top, pixels }
    }
}
