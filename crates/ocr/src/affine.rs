//! Maps between the pixels of two pictures.

use serde::{Deserialize, Serialize};

/// An affine map of points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    pub xx: f64,
    pub xy: f64,
    pub x: f64,
    pub yx: f64,
    pub yy: f64,
    pub y: f64,
}

impl Affine {
    /// Every point stays where it is.
    pub const IDENTITY: Self = Self { xx: 1.0, xy: 0.0, x: 0.0, yx: 0.0, yy: 1.0, y: 0.0 };

    /// Where a point goes.
    pub fn apply(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.xx * x + self.xy * y + self.x, self.yx * x + self.yy * y + self.y)
    }

    /// This map and then the other one.
    pub fn then(&self, next: &Self) -> Self {
        let (x, y) = next.apply((self.x, self.y));
        Self {
            xx: next.xx * self.xx + next.xy * self.yx,
            xy: next.xx * self.xy + next.xy * self.yy,
            x,
            yx: next.yx * self.xx + next.yy * self.yx,
            yy: next.yx * self.xy + next.yy * self.yy,
            y,
        }
    }

    /// The upright box around where a box goes.
    pub fn apply_box(&self, [left, top, right, bottom]: [f64; 4]) -> [f64; 4] {
        let corners = [(left, top), (right, top), (left, bottom), (right, bottom)];
        let mut around = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        for corner in corners {
            let (x, y) = self.apply(corner);
            around = [around[0].min(x), around[1].min(y), around[2].max(x), around[3].max(y)];
        }
        around
    }
}
