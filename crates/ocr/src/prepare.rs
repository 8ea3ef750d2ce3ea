//! A picture made ready for an engine: dark text on white, upright, straight, without noise, large enough.

use extraction::Unreadable;
use serde::{Deserialize, Serialize};

use crate::affine::Affine;
use crate::clean::{self, Noise};
use crate::decode::decode;
use crate::grey::{Grey, Turn};
use crate::ink::{self, Part};
use crate::marks::{self, Dashes, Rule};
use crate::pose::{self, Pose};
use crate::warp;

/// Less skew than this many degrees does not disturb an engine.
const STRAIGHT: f64 = 0.3;

/// The heights of a character, in pixels, between which an engine reads well, and what others are scaled to.
const LOWEST: f64 = 11.0;
const HIGHEST: f64 = 50.0;
const BEST: f64 = 20.0;

/// The size of specks in noisy pictures, in heights of a character.
const SPECK: f64 = 0.17;

/// Pictures are reduced at most this much: what is larger is no character.
const MOST_REDUCED: f64 = 0.2;

/// Pictures are enlarged at most this much.
const MOST_ENLARGED: f64 = 4.0;

/// The most pixels of a prepared picture, before it is straightened, which adds a third at most.
const MAX_PREPARED: f64 = 40_000_000.0;

/// A prepared picture, and what was done to it.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub picture: Grey,
    pub report: Report,
}

/// The corrections of a picture, and its measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The size of the picture as it came, upright by its EXIF data.
    pub width: usize,
    pub height: usize,
    /// Leads from points of the prepared picture to those of the picture as it came.
    pub origin: Affine,
    /// By how many degrees it was turned clockwise: 0, 90, 180 or 270.
    pub rotation: u16,
    /// Whether the text cannot be upside down now.
    pub certain: bool,
    /// By how many degrees its lines fell to the right.
    pub skew: f64,
    pub inverted: bool,
    pub noisy: bool,
    /// The usual height of a character in the prepared picture; 0 without text.
    pub character_height: f64,
    pub dashes: Vec<Dashes>,
    pub rules: Vec<Rule>,
}

/// Decodes a picture and makes it ready. `scaled`: small and very large text is brought to the size that is read best.
pub fn prepare(bytes: &[u8], scaled: bool) -> Result<Prepared, Unreadable> {
    Ok(prepare_picture(decode(bytes)?, scaled))
}

/// Makes a picture ready; see [`prepare`].
pub fn prepare_picture(mut picture: Grey, scaled: bool) -> Prepared {
    let (width, height) = (picture.width(), picture.height());
    let inverted = clean::make_text_dark(&mut picture);
    let noise = clean::remove_noise(&mut picture);
    clean::level(&mut picture);
    let ink = ink::threshold(&picture.histogram());
    let parts = ink::parts(&picture, ink);
    let pose = pose::pose(&parts);
    if noise == Noise::Specks {
        remove_specks(&mut picture, &parts, pose.height);
    }
    let (turned, mut origin) = picture.turned(pose.turn);
    picture = turned;
    let mut character_height = pose.height;
    let factor = if scaled { scale(&pose) } else { 1.0 }.min(room(&picture));
    if factor < 1.0 {
        let (smaller, map) = warp::shrink(&picture, factor);
        origin = map.then(&origin);
        picture = smaller;
    }
    let straighten = if pose.skew.abs() >= STRAIGHT { pose.skew } else { 0.0 };
    let enlarge = factor.max(1.0);
    if straighten != 0.0 || enlarge > 1.0 {
        let (warped, map) = straightened(&picture, straighten, enlarge);
        origin = map.then(&origin);
        picture = warped;
    }
    character_height *= factor;
    // Resampling changes the parts, and their boxes are those of the prepared picture.
    let dashes = marks::dashes(&ink::parts(&picture, ink), character_height);
    let rules = marks::rules(&picture, ink, character_height);
    // Engines take rows of dashes for rules and lose the words next to them.
    for row in &dashes {
        picture.whiten([row.left, row.top, row.right, row.bottom]);
    }
    let report = Report {
        width,
        height,
        origin,
        rotation: pose.turn.degrees(),
        certain: pose.certain,
        skew: pose.skew,
        inverted,
        noisy: noise != Noise::None,
        character_height,
        dashes,
        rules,
    };
    Prepared { picture, report }
}

impl Prepared {
    /// The same picture the other way up.
    pub fn upside_down(self) -> Self {
        let Self { picture, mut report } = self;
        let (wide, high) = (picture.width(), picture.height());
        let (picture, map) = picture.turned(Turn::Half);
        report.origin = map.then(&report.origin);
        report.rotation = (report.rotation + 180) % 360;
        for row in &mut report.dashes {
            (row.left, row.right) = (wide - row.right, wide - row.left);
            (row.top, row.bottom) = (high - row.bottom, high - row.top);
        }
        for rule in &mut report.rules {
            (rule.left, rule.right) = (wide - rule.right, wide - rule.left);
            (rule.top, rule.bottom) = (high - rule.bottom, high - rule.top);
        }
        Self { picture, report }
    }
}

/// Removes what is smaller than a full stop.
fn remove_specks(picture: &mut Grey, parts: &[Part], height: f64) {
    for part in parts {
        if (part.width().max(part.height()) as f64) < SPECK * height {
            picture.whiten([part.left, part.top, part.right, part.bottom]);
        }
    }
}

/// By how much the picture is scaled so that its text has the size that is read best.
fn scale(pose: &Pose) -> f64 {
    if pose.height <= 0.0 || (LOWEST..=HIGHEST).contains(&pose.height) {
        return 1.0;
    }
    (BEST / pose.height).clamp(MOST_REDUCED, MOST_ENLARGED)
}

/// The factor with which a picture has at most the pixels that an engine gets.
fn room(picture: &Grey) -> f64 {
    (MAX_PREPARED / (picture.pixels().len() as f64)).sqrt()
}

/// The picture rotated by `skew` degrees against the fall of its lines and enlarged, and the map back.
fn straightened(picture: &Grey, skew: f64, enlarge: f64) -> (Grey, Affine) {
    let (wide, high) = (picture.width() as f64, picture.height() as f64);
    let (sine, cosine) = skew.to_radians().sin_cos();
    let (new_wide, new_high) =
        (wide * cosine + high * sine.abs(), wide * sine.abs() + high * cosine);
    let size = ((new_wide * enlarge).round() as usize, (new_high * enlarge).round() as usize);
    let (sine, cosine) = (sine / enlarge, cosine / enlarge);
    let turn = Affine { xx: cosine, xy: -sine, x: 0.0, yx: sine, yy: cosine, y: 0.0 };
    // The middle stays in the middle.
    let (x, y) = turn.apply((new_wide * enlarge / 2.0, new_high * enlarge / 2.0));
    let map = Affine { x: wide / 2.0 - x, y: high / 2.0 - y, ..turn };
    (warp::warp(picture, size, &map), map)
}

#[cfg(test)]
mod tests;
