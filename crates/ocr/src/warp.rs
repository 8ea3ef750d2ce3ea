//! Rotated and scaled copies of pictures.

use crate::affine::Affine;
use crate::grey::Grey;

/// A copy of `size` whose points come from where `map` leads. Outside the picture is white.
pub(crate) fn warp(picture: &Grey, size: (usize, usize), map: &Affine) -> Grey {
    let (width, height) = size;
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let (from_x, from_y) = map.apply((x as f64 + 0.5, y as f64 + 0.5));
            let (from_x, from_y) = (from_x - 0.5, from_y - 0.5);
            let (left, top) = (from_x.floor(), from_y.floor());
            let across = weights((from_x - left) as f32);
            let down = weights((from_y - top) as f32);
            let (left, top) = (left as i64 - 1, top as i64 - 1);
            let mut shade = 0.0;
            for (row, weight) in (top..).zip(down) {
                shade += weight * mix_row(picture, row, left, across);
            }
            pixels.push(shade.round().clamp(0.0, 255.0) as u8);
        }
    }
    Grey::new(width, height, pixels)
}

fn mix_row(picture: &Grey, row: i64, left: i64, across: [f32; 4]) -> f32 {
    let row = usize::try_from(row).ok().filter(|row| *row < picture.height());
    let Some(row) = row.map(|row| picture.row(row)) else { return 255.0 };
    if let Ok(start) = usize::try_from(left)
        && let Some(four) = row.get(start..start + 4)
    {
        return four.iter().zip(across).map(|(shade, weight)| f32::from(*shade) * weight).sum();
    }
    let shade = |x: i64| {
        usize::try_from(x).ok().and_then(|x| row.get(x)).map_or(255.0, |shade| f32::from(*shade))
    };
    (left..).zip(across).map(|(x, weight)| shade(x) * weight).sum()
}

/// The weights of four pixels around a point (Catmull-Rom).
fn weights(part: f32) -> [f32; 4] {
    let (one, two, three) = (part, part * part, part * part * part);
    [
        0.5 * (-one + 2.0 * two - three),
        0.5 * (2.0 - 5.0 * two + 3.0 * three),
        0.5 * (one + 4.0 * two - 3.0 * three),
        0.5 * (three - two),
    ]
}

/// A smaller copy, each pixel the mean of those it covers, and the map from its points to those of the picture.
pub(crate) fn shrink(picture: &Grey, factor: f64) -> (Grey, Affine) {
    let side = |length: usize| ((length as f64 * factor).round() as usize).clamp(1, length);
    let (width, height) = (side(picture.width()), side(picture.height()));
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        let rows = y * picture.height() / height..((y + 1) * picture.height()).div_ceil(height);
        for x in 0..width {
            let columns = x * picture.width() / width..((x + 1) * picture.width()).div_ceil(width);
            let count = rows.len() * columns.len();
            let total: usize = rows
                .clone()
                .map(|row| {
                    let shades = &picture.row(row)[columns.clone()];
                    shades.iter().map(|shade| usize::from(*shade)).sum::<usize>()
                })
                .sum();
            pixels.push(u8::try_from(total / count).unwrap_or(255));
        }
    }
    let (xx, yy) = (picture.width() as f64 / width as f64, picture.height() as f64 / height as f64);
    (Grey::new(width, height, pixels), Affine { xx, yy, ..Affine::IDENTITY })
}
