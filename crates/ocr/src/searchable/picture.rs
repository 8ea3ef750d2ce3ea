//! A picture as the background of a page.

use extraction::Unreadable;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType};
use pdf_writer::{Filter, Finish as _, Pdf, Ref};

use super::Background;
use crate::decode::{damaged, decode_upright};

/// Of 100: text stays sharp.
const QUALITY: u8 = 85;

/// Writes the picture as JPEG, in colour if it has any.
pub(super) fn write(
    file: &mut Pdf,
    next: &mut Ref,
    bytes: &[u8],
    (width, height): (f32, f32),
) -> Result<Background, Unreadable> {
    let picture = decode_upright(bytes)?;
    let (grey, pixels, size) = if picture.color().has_color() {
        let picture = picture.into_rgb8();
        (false, picture.as_raw().clone(), picture.dimensions())
    } else {
        let picture = DynamicImage::into_luma8(picture);
        (true, picture.as_raw().clone(), picture.dimensions())
    };
    let kind = if grey { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, QUALITY)
        .encode(&pixels, size.0, size.1, kind)
        .map_err(damaged)?;
    let object = next.bump();
    let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let mut image = file.image_xobject(object, &jpeg);
    image.width(side(size.0)).height(side(size.1)).bits_per_component(8);
    image.filter(Filter::DctDecode);
    if grey {
        image.color_space().device_gray();
    } else {
        image.color_space().device_rgb();
    }
    image.finish();
    Ok(Background { object, width, height, matrix: [width, 0.0, 0.0, height, 0.0, 0.0] })
}
