//! The characters of a line, and the places of its words.

use rten::Model;
use rten_tensor::Tensor;
use rten_tensor::prelude::*;

use super::ModelError;
use super::detect::channels;
use crate::affine::Affine;
use crate::grey::Grey;
use crate::warp;
use crate::word::{Fragment, Word};

/// The height of the model's input.
const HEIGHT: usize = 48;

/// Its width: at least, and at most, whatever the line's shape is.
const NARROWEST: usize = 160;
const WIDEST: usize = 3_200;

/// White space after the line, which the model expects.
const MARGIN: usize = 8;

/// Lines with a lower mean confidence are no text.
const SURE: f64 = 0.5;

pub(super) fn run(
    model: &Model,
    file: &'static str,
    input: Tensor<f32>,
) -> Result<Tensor<f32>, ModelError> {
    let failed = |why: String| ModelError::Run { file, why };
    let output = model.run_one(input.into(), None).map_err(|error| failed(error.to_string()))?;
    output.try_into().map_err(|_| failed("its output is not of floating point numbers".to_owned()))
}

/// Reads one line; `None` if it is no text.
pub(super) fn read(
    model: &Model,
    keys: &[String],
    picture: &Grey,
    bbox: [usize; 4],
) -> Result<Option<Fragment>, ModelError> {
    let line = picture.cropped(bbox);
    if line.width() < 2 || line.height() < 2 {
        return Ok(None);
    }
    let factor = (HEIGHT as f64 / line.height() as f64).min(WIDEST as f64 / line.width() as f64);
    let width = ((line.width() as f64 * factor).ceil() as usize + MARGIN).max(NARROWEST);
    let width = width.div_ceil(8) * 8;
    let source = if factor < 0.7 { warp::shrink(&line, factor).0 } else { line };
    let scale = if factor < 0.7 { 1.0 } else { 1.0 / factor };
    let map = Affine { xx: scale, yy: scale, ..Affine::IDENTITY };
    let input = warp::warp(&source, (width, HEIGHT), &map);
    let output = run(model, "rec.onnx", channels(&input))?;
    let &[1, steps, classes] = output.shape() else {
        let why = format!("its output has the shape {:?}", output.shape());
        return Err(ModelError::Run { file: "rec.onnx", why });
    };
    if classes != keys.len() + 1 {
        let why = format!("it has {classes} classes, and {} characters are listed", keys.len());
        return Err(ModelError::Run { file: "rec.onnx", why });
    }
    let chances = output.to_vec();
    let signs = signs(&chances, classes, keys);
    let confidence = signs.iter().map(|sign| sign.confidence).sum::<f64>() / signs.len() as f64;
    if signs.is_empty() || confidence < SURE {
        return Ok(None);
    }
    let step = width as f64 / steps as f64 / factor;
    Ok(Some(Fragment { words: words(&signs, step, bbox) }))
}

/// One character and the step of the model's output at which it was read.
struct Sign<'a> {
    text: &'a str,
    at: usize,
    confidence: f64,
}

/// The best class of each step, without repetitions and blanks.
fn signs<'a>(chances: &[f32], classes: usize, keys: &'a [String]) -> Vec<Sign<'a>> {
    let mut last = 0;
    let mut signs = Vec::new();
    for (at, step) in chances.chunks_exact(classes).enumerate() {
        let (mut class, mut chance) = (0, f32::NEG_INFINITY);
        for (index, value) in step.iter().enumerate() {
            if *value > chance {
                (class, chance) = (index, *value);
            }
        }
        if class != last && class > 0 {
            let confidence = f64::from(chance).clamp(0.0, 1.0);
            signs.push(Sign { text: &keys[class - 1], at, confidence });
        }
        last = class;
    }
    signs
}

/// Signs between blanks, each word with its place in the picture.
fn words(signs: &[Sign<'_>], step: f64, [left, top, right, bottom]: [usize; 4]) -> Vec<Word> {
    let (left, top, right, bottom) = (left as f64, top as f64, right as f64, bottom as f64);
    let mut words = Vec::new();
    for group in signs.split(|sign| sign.text.trim().is_empty()) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let place = |steps: f64| (left + steps * step).clamp(left, right);
        words.push(Word {
            text: group.iter().map(|sign| sign.text).collect(),
            // A sign is read near its middle: half a character is before the first and after the last.
            bbox: [place(first.at as f64 - 0.5), top, place(last.at as f64 + 1.5), bottom],
            confidence: group.iter().map(|sign| sign.confidence).sum::<f64>() / group.len() as f64,
        });
    }
    words
}
