//! Picture files of callers.

use std::io::Cursor;

use extraction::Unreadable;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits};

use crate::grey::Grey;

/// The most pixels of a picture. Its header is checked before it is decoded: a few kilobytes may claim gigabytes.
pub const MAX_PIXELS: u64 = 50_000_000;

/// Memory for the decoded picture: 16 bits for each of four channels, and the decoder's buffers.
const MAX_MEMORY: u64 = 448 << 20;

/// The formats that are read, by their media types.
const FORMATS: [(ImageFormat, &str); 6] = [
    (ImageFormat::Png, "image/png"),
    (ImageFormat::Jpeg, "image/jpeg"),
    (ImageFormat::WebP, "image/webp"),
    (ImageFormat::Gif, "image/gif"),
    (ImageFormat::Tiff, "image/tiff"),
    (ImageFormat::Bmp, "image/bmp"),
];

/// The media type of a picture that can be read, by its content.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let format = image::guess_format(bytes).ok()?;
    FORMATS.iter().find(|(known, _)| *known == format).map(|(_, name)| *name)
}

/// Decodes a picture in shades of grey, upright as its EXIF data says, on white where it is transparent.
pub fn decode(bytes: &[u8]) -> Result<Grey, Unreadable> {
    let (picture, orientation) = open(bytes)?;
    let mut grey = DynamicImage::ImageLuma8(if picture.color().has_alpha() {
        on_white(picture)
    } else {
        picture.into_luma8()
    });
    // One byte for each pixel is turned with less memory than the colours.
    grey.apply_orientation(orientation);
    let grey = grey.into_luma8();
    let (width, height) = (grey.width() as usize, grey.height() as usize);
    if width == 0 || height == 0 {
        return Err(damaged("it has no pixels"));
    }
    Ok(Grey::new(width, height, grey.into_raw()))
}

/// Decodes a picture with its colours, upright as its EXIF data says.
pub(crate) fn decode_upright(bytes: &[u8]) -> Result<DynamicImage, Unreadable> {
    let (mut picture, orientation) = open(bytes)?;
    if picture.color().has_alpha() {
        picture = DynamicImage::ImageLuma8(on_white(picture));
    }
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Decodes a picture as it is stored, within the limits, and how it has to be turned to be upright.
pub fn open(bytes: &[u8]) -> Result<(DynamicImage, Orientation), Unreadable> {
    if media_type(bytes).is_none() {
        return Err(Unreadable::Unsupported { media_type: "unknown content".to_owned() });
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_MEMORY);
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(damaged)?;
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(unreadable)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(Unreadable::TooLarge { what: "more than 50 megapixels", limit: MAX_PIXELS });
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(unreadable)?, orientation))
}

fn on_white(picture: DynamicImage) -> image::GrayImage {
    let blended = picture.into_luma_alpha8();
    let pixels = blended
        .pixels()
        .map(|pixel| {
            let [shade, alpha] = pixel.0.map(u32::from);
            u8::try_from((shade * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
        })
        .collect();
    // cannot fail: there is one byte for each pixel
    image::GrayImage::from_raw(blended.width(), blended.height(), pixels).unwrap_or_default()
}

fn unreadable(error: ImageError) -> Unreadable {
    match error {
        ImageError::Unsupported(_) => {
            Unreadable::Unsupported { media_type: "this kind of picture".to_owned() }
        }
        ImageError::Limits(_) => {
            Unreadable::TooLarge { what: "the decoded picture", limit: MAX_MEMORY }
        }
        other => damaged(other),
    }
}

pub(crate) fn damaged(why: impl ToString) -> Unreadable {
    Unreadable::Damaged { why: why.to_string() }
}

#[cfg(test)]
mod tests;
