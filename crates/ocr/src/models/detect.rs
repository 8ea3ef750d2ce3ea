//! Lines of text, found by a model that gives each pixel the probability of being inside one.

use rten::Model;
use rten_tensor::Tensor;
use rten_tensor::prelude::*;

use super::ModelError;
use crate::affine::Affine;
use crate::grey::Grey;
use crate::ink::{self, Part};
use crate::prepare::Prepared;
use crate::warp;

/// The height of a character, in pixels, at which lines are found best for their cost.
const CHARACTER: f64 = 14.0;

/// The sides of the model's input are multiples of this.
const STRIDE: usize = 32;

/// The most pixels of the model's input, which bound its memory and time.
const MAX_INPUT: f64 = 4_000_000.0;

/// Pixels of a line have at least this probability, of 255.
const IN_LINE: u8 = 76;

/// The mean probability of a line's pixels, of 255.
const SURE: usize = 127;

/// The model finds the core of a line; the line is larger by this share of the core's area over its circumference.
const GROWTH: f64 = 1.6;

/// The most lines of one picture.
const MAX_LINES: usize = 2_000;

/// The boxes of the lines in the prepared picture: left, top, right, bottom.
pub(super) fn lines(model: &Model, prepared: &Prepared) -> Result<Vec<[usize; 4]>, ModelError> {
    let picture = &prepared.picture;
    let (wide, high) = (picture.width() as f64, picture.height() as f64);
    let character = prepared.report.character_height;
    let best = if character > 0.0 { CHARACTER / character } else { 1.0 };
    let factor = best.clamp(0.1, 3.0).min((MAX_INPUT / (wide * high)).sqrt());
    let side = |length: f64| ((length * factor / 32.0).ceil() as usize).max(1) * STRIDE;
    let (width, height) = (side(wide), side(high));
    let input = scaled(picture, factor, width, height);
    let chances = run(model, &input)?;
    let mut found = Vec::new();
    for part in ink::parts(&chances, 255 - IN_LINE) {
        if part.width().min(part.height()) < 3 || mean(&chances, &part) < SURE {
            continue;
        }
        let (across, down) = (part.width() as f64, part.height() as f64);
        let grow = across * down * GROWTH / (2.0 * (across + down));
        let low = |edge: usize| ((edge as f64 - grow) / factor).max(0.0).floor() as usize;
        let top =
            |edge: usize, most: usize| (((edge as f64 + grow) / factor).ceil() as usize).min(most);
        found.push([
            low(part.left),
            low(part.top),
            top(part.right, picture.width()),
            top(part.bottom, picture.height()),
        ]);
        if found.len() == MAX_LINES {
            break;
        }
    }
    Ok(found)
}

/// The picture by a factor in the upper left corner of a white one.
fn scaled(picture: &Grey, factor: f64, width: usize, height: usize) -> Grey {
    if factor < 0.7 {
        let (small, _) = warp::shrink(picture, factor);
        return warp::warp(&small, (width, height), &Affine::IDENTITY);
    }
    let map = Affine { xx: 1.0 / factor, yy: 1.0 / factor, ..Affine::IDENTITY };
    warp::warp(picture, (width, height), &map)
}

/// The probabilities as a picture: dark is probable.
fn run(model: &Model, input: &Grey) -> Result<Grey, ModelError> {
    let (width, height) = (input.width(), input.height());
    let output = super::recognize::run(model, "det.onnx", channels(input))?;
    if output.shape() != [1, 1, height, width] {
        let why = format!("its output has the shape {:?}", output.shape());
        return Err(ModelError::Run { file: "det.onnx", why });
    }
    let dark = |chance: &f32| 255 - (chance.clamp(0.0, 1.0) * 255.0) as u8;
    Ok(Grey::new(width, height, output.iter().map(dark).collect()))
}

/// The input of a model: three equal channels from -1 to 1.
pub(super) fn channels(picture: &Grey) -> Tensor<f32> {
    let one: Vec<f32> =
        picture.pixels().iter().map(|shade| f32::from(*shade) / 127.5 - 1.0).collect();
    let all = [one.as_slice(), &one, &one].concat();
    Tensor::from_data(&[1, 3, picture.height(), picture.width()], all)
}

fn mean(chances: &Grey, part: &Part) -> usize {
    let mut total = 0;
    for y in part.top..part.bottom {
        let row = &chances.row(y)[part.left..part.right];
        total += row.iter().map(|dark| 255 - usize::from(*dark)).sum::<usize>();
    }
    total / (part.width() * part.height())
}
