use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};

use super::{decode, media_type};

fn written(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut file, format).unwrap();
    file.into_inner()
}

fn picture() -> DynamicImage {
    let half = |x: u32| if x < 20 { 0 } else { 255 };
    DynamicImage::ImageRgb8(image::RgbImage::from_fn(40, 30, |x, _| image::Rgb([half(x); 3])))
}

#[test]
fn all_formats_are_read() {
    for (format, name) in super::FORMATS {
        let file = written(&picture(), format);
        assert_eq!(media_type(&file), Some(name));
        let grey = decode(&file).unwrap();
        assert_eq!((grey.width(), grey.height()), (40, 30), "{name}");
        assert!(grey.at(5, 5) < 30 && grey.at(35, 5) > 225, "{name}");
    }
}

#[test]
fn transparent_pixels_are_white() {
    let clear = RgbaImage::from_pixel(4, 4, Rgba([0, 0, 0, 0]));
    let grey = decode(&written(&DynamicImage::ImageRgba8(clear), ImageFormat::Png)).unwrap();
    assert!(grey.pixels().iter().all(|shade| *shade == 255));
}

#[test]
fn bombs_and_damaged_files_are_refused() {
    let mut bomb = written(&picture(), ImageFormat::Bmp);
    // The size in the header: 20,000 by 20,000.
    bomb[18..26].copy_from_slice(&[0x20, 0x4e, 0, 0, 0x20, 0x4e, 0, 0]);
    assert_eq!(decode(&bomb).unwrap_err().kind(), "too_large");
    let whole = written(&picture(), ImageFormat::Png);
    assert_eq!(decode(&whole[..whole.len() / 2]).unwrap_err().kind(), "damaged");
    assert_eq!(decode(b"no picture at all").unwrap_err().kind(), "unsupported");
    assert_eq!(decode(&[]).unwrap_err().kind(), "unsupported");
}
