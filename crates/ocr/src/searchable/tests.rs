use documents::{Form, Limits, Options};
use image::{DynamicImage, GrayImage, ImageFormat, Luma};

use super::{Recognized, Searchable, write};
use crate::affine::Affine;
use crate::word::Word;

fn text(pdf: Vec<u8>) -> String {
    let options =
        Options { media_type: "application/pdf", charset: None, url: None, form: Form::Text };
    documents::extract(pdf, &options, &Limits::default()).unwrap().text
}

fn picture() -> Vec<u8> {
    let grey = GrayImage::from_fn(400, 200, |x, _| Luma([if x % 50 < 4 { 0 } else { 255 }]));
    let mut file = std::io::Cursor::new(Vec::new());
    DynamicImage::ImageLuma8(grey).write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner()
}

fn page(page: usize, words: &[&str], origin: Affine) -> Recognized {
    let mut left = 20.0;
    let words = words.iter().map(|text| {
        let right = left + 12.0 * text.chars().count() as f64;
        let word =
            Word { text: (*text).to_owned(), bbox: [left, 40.0, right, 64.0], confidence: 0.9 };
        left = right + 12.0;
        word
    });
    Recognized { page, width: 400, height: 200, origin, words: words.collect() }
}

#[test]
fn words_of_a_picture_can_be_read_back() {
    let words = ["Příliš", "größer", "ΑΒΓ", "2019"];
    let layer = Searchable { pages: vec![page(0, &words, Affine::IDENTITY)] };
    let pdf = write(picture(), &layer).unwrap();
    assert_eq!(text(pdf).trim(), "Příliš größer ΑΒΓ 2019");
}

#[test]
fn pages_of_a_pdf_are_kept_and_gain_words() {
    let first = Searchable { pages: vec![page(0, &["first"], Affine::IDENTITY)] };
    let scan =
        write(picture(), &Searchable { pages: vec![page(0, &[], Affine::IDENTITY)] }).unwrap();
    assert_eq!(text(scan.clone()).trim(), "", "a scan has no text");
    let twice = Searchable {
        pages: vec![
            page(0, &["second", "layer"], Affine::IDENTITY),
            page(0, &[], Affine::IDENTITY),
        ],
    };
    let pdf = write(scan, &twice).unwrap();
    assert_eq!(text(pdf).trim(), "second layer");
    assert!(
        write(
            write(picture(), &first).unwrap(),
            &Searchable { pages: vec![page(7, &[], Affine::IDENTITY)] }
        )
        .is_err()
    );
}

#[test]
fn files_that_are_neither_are_refused() {
    assert!(write(b"no document".to_vec(), &Searchable::default()).is_err());
}
