//! Smaller copies of pictures.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{
    DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits, Rgb, RgbImage,
};

use crate::frame::{Answer, PictureCopy};

/// The most pixels of a picture. Its header is checked before it is decoded: a few kilobytes may claim gigabytes.
const MAX_PIXELS: u64 = 50_000_000;

/// Memory for the decoded picture: 16 bits for each of four channels, and the decoder's buffers.
const MAX_MEMORY: u64 = 512 << 20;

/// A larger PNG is written as JPEG, without its transparency.
const MAX_PNG: usize = 512 << 10;

/// Of 100, the best first: text in screenshots stays readable. The last one is taken for pictures of noise.
const JPEG_QUALITIES: [u8; 3] = [82, 60, 35];

/// A larger JPEG is written again with less quality.
const MAX_JPEG: usize = 512 << 10;

/// Why a picture cannot be scaled down.
#[derive(Debug, thiserror::Error)]
enum Unscalable {
    #[error("it has {pixels} pixels, at most {most} are decoded")]
    TooManyPixels { pixels: u64, most: u64 },
    #[error("its format is neither PNG nor JPEG")]
    Format,
    #[error("it is damaged")]
    Damaged(#[source] ImageError),
    #[error("it takes too much memory")]
    Memory,
}

impl Unscalable {
    fn kind(&self) -> &'static str {
        match self {
            Self::TooManyPixels { .. } => "too_large",
            Self::Format => "unsupported",
            Self::Damaged(_) => "damaged",
            Self::Memory => "memory",
        }
    }
}

impl From<ImageError> for Unscalable {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Unsupported(_) => Self::Format,
            ImageError::Limits(_) => Self::Memory,
            other => Self::Damaged(other),
        }
    }
}

/// A copy that was made.
struct Copied {
    media_type: &'static str,
    bytes: Vec<u8>,
    /// Of the picture.
    pixels: u64,
}

/// Makes a smaller copy.
pub(crate) fn scale_down(bytes: &[u8], asked: PictureCopy) -> (Answer, Vec<u8>) {
    match copy(bytes, asked) {
        Ok(Copied { media_type, bytes, pixels }) => {
            let (media_type, length) = (media_type.to_owned(), bytes.len() as u64);
            (Answer::Scaled { media_type, pixels, length }, bytes)
        }
        Err(why) => {
            let (kind, message) = (why.kind().to_owned(), why.to_string());
            (Answer::Refused { kind, message }, Vec::new())
        }
    }
}

fn copy(bytes: &[u8], asked: PictureCopy) -> Result<Copied, Unscalable> {
    let format = image::guess_format(bytes)?;
    if !matches!(format, ImageFormat::Png | ImageFormat::Jpeg) {
        return Err(Unscalable::Format);
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let most = asked.max_pixels.min(MAX_PIXELS);
    if pixels > most {
        return Err(Unscalable::TooManyPixels { pixels, most });
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    let side = asked.longest_side;
    if width.max(height) > side {
        picture = picture.thumbnail(side, side);
    }
    picture.apply_orientation(orientation);
    let (media_type, bytes) = write(&picture)?;
    Ok(Copied { media_type, bytes, pixels })
}

/// Writes PNG where there is transparency, unless it is large, and JPEG otherwise.
fn write(picture: &DynamicImage) -> Result<(&'static str, Vec<u8>), Unscalable> {
    if picture.color().has_alpha() {
        let mut written = Cursor::new(Vec::new());
        DynamicImage::from(picture.to_rgba8()).write_to(&mut written, ImageFormat::Png)?;
        let written = written.into_inner();
        if written.len() <= MAX_PNG {
            return Ok(("image/png", written));
        }
    }
    let mut written = Vec::new();
    let opaque = if picture.color().has_alpha() { on_white(picture) } else { picture.to_rgb8() };
    for quality in JPEG_QUALITIES {
        written.clear();
        JpegEncoder::new_with_quality(&mut written, quality).encode_image(&opaque)?;
        if written.len() <= MAX_JPEG {
            break;
        }
    }
    Ok(("image/jpeg", written))
}

fn on_white(picture: &DynamicImage) -> RgbImage {
    let picture = picture.to_rgba8();
    RgbImage::from_fn(picture.width(), picture.height(), |x, y| {
        let [red, green, blue, alpha] = picture.get_pixel(x, y).0;
        let blend = |channel: u8| {
            let (channel, alpha) = (u32::from(channel), u32::from(alpha));
            u8::try_from((channel * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
        };
        Rgb([blend(red), blend(green), blend(blue)])
    })
}

#[cfg(test)]
mod tests {
    use image::RgbaImage;

    use super::*;

    fn png(picture: impl Into<DynamicImage>) -> Vec<u8> {
        let mut written = Cursor::new(Vec::new());
        picture.into().write_to(&mut written, ImageFormat::Png).unwrap();
        written.into_inner()
    }

    fn scaled(bytes: &[u8]) -> (String, DynamicImage) {
        let (answer, bytes) = scale_down(bytes, COPY);
        let Answer::Scaled { media_type, length, .. } = answer else { panic!("{answer:?}") };
        assert_eq!(length, bytes.len() as u64);
        (media_type, image::load_from_memory(&bytes).unwrap())
    }

    const COPY: PictureCopy = PictureCopy { longest_side: 100, max_pixels: 300 * 300 };

    fn refusal(bytes: &[u8]) -> String {
        match scale_down(bytes, COPY).0 {
            Answer::Refused { kind, .. } => kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_longest_side_is_limited_and_the_shape_is_kept() {
        for (width, height, expected) in
            [(300, 150, (100, 50)), (150, 300, (50, 100)), (80, 40, (80, 40))]
        {
            let opaque = RgbImage::from_pixel(width, height, Rgb([10, 200, 30]));
            let (media_type, picture) = scaled(&png(opaque));
            assert_eq!(
                (media_type.as_str(), picture.width(), picture.height()),
                ("image/jpeg", expected.0, expected.1)
            );
            let pixel = picture.to_rgb8().get_pixel(5, 5).0;
            assert!(pixel[1] > 190 && pixel[0] < 25, "{pixel:?}");
        }
    }

    #[test]
    fn transparency_stays_in_small_copies() {
        let clear = RgbaImage::from_pixel(300, 300, image::Rgba([9, 9, 9, 0]));
        let (media_type, picture) = scaled(&png(clear));
        assert_eq!(
            (media_type.as_str(), picture.to_rgba8().get_pixel(1, 1).0[3]),
            ("image/png", 0)
        );
    }

    #[test]
    fn bombs_and_damaged_pictures_are_refused() {
        let mut bomb = png(RgbImage::new(1, 1));
        // The size in the header, and the header's checksum.
        bomb[16..24].copy_from_slice(&[0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20]);
        let sum = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(refusal(&bomb), "too_large");
        assert_eq!(refusal(&png(RgbImage::new(301, 300))), "too_large", "more than was asked for");
        let whole = png(RgbImage::from_fn(300, 300, |x, y| Rgb([(x * 7) as u8, (y * 5) as u8, 0])));
        assert_eq!(refusal(&whole[..whole.len() / 2]), "damaged");
        assert_eq!(refusal(b"GIF89a\x01\0\x01\0\0\0\0;"), "unsupported");
        assert_eq!(refusal(b"no picture"), "unsupported");
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
                if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 }
            })
        })
    }
}
