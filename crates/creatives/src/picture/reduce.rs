//! Scales pictures down by whole factors, straight from the decoder's buffer.

use image::{DynamicImage, RgbImage};

/// The longest side of the small picture, in pixels.
const LONGEST: u32 = 1024;

/// A picture of at most [`LONGEST`] pixels on each side, on white where it is transparent.
pub(super) fn reduce(picture: DynamicImage) -> RgbImage {
    let factor = picture.width().max(picture.height()).div_ceil(LONGEST).max(1);
    match picture {
        DynamicImage::ImageRgb8(picture) if factor == 1 => picture,
        DynamicImage::ImageRgb8(picture) => {
            average::<3>(picture.as_raw(), picture.dimensions(), factor, |pixel| pixel)
        }
        DynamicImage::ImageLuma8(picture) => {
            average::<1>(picture.as_raw(), picture.dimensions(), factor, |[shade]| [shade; 3])
        }
        other => {
            let picture = other.into_rgba8();
            average::<4>(picture.as_raw(), picture.dimensions(), factor, on_white)
        }
    }
}

fn on_white([red, green, blue, alpha]: [u32; 4]) -> [u32; 3] {
    [red, green, blue].map(|channel| (channel * alpha + 255 * (255 - alpha)) / 255)
}

/// The mean of each square of pixels. Pixels that fill no square at the right and lower border are left out; a side that is
/// shorter than a square is read as one pixel. Of large squares every second row is read: the mean hardly changes.
fn average<const N: usize>(
    pixels: &[u8],
    (width, height): (u32, u32),
    factor: u32,
    color: impl Fn([u32; N]) -> [u32; 3],
) -> RgbImage {
    let (out_width, out_height) = ((width / factor).max(1), (height / factor).max(1));
    let (across, down) = ((width / out_width).min(factor), (height / out_height).min(factor));
    let row_bytes = width as usize * N;
    let square = across as usize * N;
    let step = if down >= 4 { 2 } else { 1 };
    let count = across * down.div_ceil(step);
    let mut small = Vec::with_capacity(out_width as usize * out_height as usize * 3);
    let mut totals = vec![[0u32; 3]; out_width as usize];
    for rows in pixels.chunks(row_bytes * down as usize).take(out_height as usize) {
        totals.fill([0; 3]);
        for row in rows.chunks_exact(row_bytes).step_by(step as usize) {
            for (total, square) in totals.iter_mut().zip(row.chunks_exact(square)) {
                for pixel in square.chunks_exact(N) {
                    let mut channels = [0u32; N];
                    for (channel, byte) in channels.iter_mut().zip(pixel) {
                        *channel = u32::from(*byte);
                    }
                    let [red, green, blue] = color(channels);
                    total[0] += red;
                    total[1] += green;
                    total[2] += blue;
                }
            }
        }
        for total in &totals {
            small.extend(total.map(|total| u8::try_from(total / count).unwrap_or(u8::MAX)));
        }
    }
    // cannot fail: there are three bytes for each pixel
    RgbImage::from_raw(out_width, out_height, small).unwrap_or_default()
}
