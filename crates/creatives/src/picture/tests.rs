use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

use super::measure;
use crate::platform::Platform;

fn written(picture: DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// Black and white squares of this size.
fn squares(width: u32, height: u32, size: u32) -> DynamicImage {
    let shade = |x: u32, y: u32| if (x / size + y / size).is_multiple_of(2) { 0 } else { 255 };
    RgbImage::from_fn(width, height, |x, y| Rgb([shade(x, y); 3])).into()
}

#[test]
fn size_and_shape_are_those_of_the_picture() {
    let found = measure(&written(squares(1600, 2000, 40), ImageFormat::Jpeg)).unwrap().report;
    assert_eq!((found.width, found.height, found.aspect()), (1600, 2000, 0.8));
    assert!(found.fits(Platform::Instagram) && !found.fits(Platform::Youtube));
    assert!(found.distance(Platform::Instagram) < 0.01);
}

#[test]
fn small_and_narrow_pictures_are_measured() {
    for (width, height) in [(1, 1), (2, 9000), (9000, 1), (3, 3), (1025, 1024)] {
        let found = measure(&written(squares(width, height, 1), ImageFormat::Png)).unwrap();
        assert_eq!((found.report.width, found.report.height), (width, height));
        assert!(found.grey.width() <= 1024 && found.grey.height() <= 1024);
        assert!((0.0..=1.0).contains(&found.report.sharpness));
    }
}

#[test]
fn the_main_colours_have_their_shares() {
    let flag = RgbImage::from_fn(300, 200, |x, _| match x {
        0..150 => Rgb([200, 16, 46]),
        150..250 => Rgb([255, 255, 255]),
        _ => Rgb([0, 32, 91]),
    });
    let found = measure(&written(flag.into(), ImageFormat::Png)).unwrap().report;
    let colors: Vec<(&str, f64)> =
        found.colors.iter().map(|color| (color.hex.as_str(), color.share)).collect();
    assert_eq!(colors, [("#c8102e", 0.5), ("#ffffff", 0.333), ("#00205b", 0.167)]);
}

#[test]
fn contrast_and_sharpness_grow_with_the_picture() {
    let flat = RgbImage::from_pixel(400, 400, Rgb([120, 120, 120]));
    let flat = measure(&written(flat.into(), ImageFormat::Png)).unwrap().report;
    assert_eq!((flat.contrast, flat.sharpness), (0.0, 0.0));
    let sharp = squares(800, 800, 50);
    let blurred = sharp.blur(8.0);
    let sharp = measure(&written(sharp, ImageFormat::Png)).unwrap().report;
    let blurred = measure(&written(blurred, ImageFormat::Png)).unwrap().report;
    assert_eq!(sharp.contrast, 1.0);
    assert!(sharp.sharpness > 0.8 && blurred.sharpness < 0.1, "{sharp:?} {blurred:?}");
}

#[test]
fn transparent_pictures_are_on_white_and_deep_ones_are_read() {
    let clear = RgbaImage::from_pixel(20, 20, Rgba([255, 0, 0, 0]));
    let found = measure(&written(clear.into(), ImageFormat::Png)).unwrap().report;
    assert_eq!(found.colors[0].hex, "#ffffff");
    let deep = image::ImageBuffer::from_pixel(20, 10, Rgb([65535u16, 0, 0]));
    let found = measure(&written(DynamicImage::ImageRgb16(deep), ImageFormat::Png)).unwrap().report;
    assert_eq!((found.width, found.colors[0].hex.as_str()), (20, "#ff0000"));
}

#[test]
fn a_picture_is_turned_as_its_exif_data_says() {
    let mut file = written(squares(120, 60, 10), ImageFormat::Jpeg);
    // An EXIF segment after the start marker: orientation 6, a quarter to the right.
    let tiff = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let mut segment = vec![0xff, 0xe1, 0, (tiff.len() + 8) as u8];
    segment.extend(b"Exif\0\0");
    segment.extend(tiff);
    file.splice(2..2, segment);
    let found = measure(&file).unwrap();
    assert_eq!((found.report.width, found.report.height), (60, 120));
    assert_eq!((found.grey.width(), found.grey.height()), (60, 120));
}

#[test]
fn bombs_and_damaged_files_are_refused() {
    let mut bomb = written(squares(8, 8, 1), ImageFormat::Bmp);
    bomb[18..26].copy_from_slice(&[0x20, 0x4e, 0, 0, 0x20, 0x4e, 0, 0]);
    assert_eq!(measure(&bomb).unwrap_err().kind(), "too_large");
    let whole = written(squares(200, 200, 7), ImageFormat::Png);
    assert_eq!(measure(&whole[..whole.len() / 2]).unwrap_err().kind(), "damaged");
    let mut photo = written(squares(400, 400, 7), ImageFormat::Jpeg);
    assert_eq!(measure(&photo[..photo.len() * 3 / 4]).unwrap_err().kind(), "damaged");
    photo.extend(b"a film after the end of the picture");
    assert!(measure(&photo).is_ok());
    assert_eq!(measure(b"no picture").unwrap_err().kind(), "unsupported");
}
