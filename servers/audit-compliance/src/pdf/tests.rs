use analysis::redaction::{Mode, Target};
use hayro::hayro_syntax::Pdf as SourcePdf;
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str};

use super::{draw, redact};

/// A page with one line of text in Helvetica.
fn page(text: &str) -> Vec<u8> {
    let [catalog, tree, page, content, font] = [1, 2, 3, 4, 5].map(Ref::new);
    let mut file = Pdf::new();
    file.catalog(catalog).pages(tree);
    file.pages(tree).kids([page]).count(1);
    let mut written = file.page(page);
    written.parent(tree).media_box(Rect::new(0.0, 0.0, 300.0, 100.0)).contents(content);
    written.resources().fonts().pair(Name(b"F"), font);
    written.finish();
    file.type1_font(font).base_font(Name(b"Helvetica"));
    let mut line = Content::new();
    line.begin_text()
        .set_font(Name(b"F"), 14.0)
        .next_line(20.0, 50.0)
        .show(Str(text.as_bytes()))
        .end_text();
    file.stream(content, &line.finish());
    file.finish()
}

fn target(text: &str, value: &str) -> Vec<Target> {
    text.find(value)
        .map(|start| Target { label: "PERSON".to_owned(), place: start..start + value.len() })
        .into_iter()
        .collect()
}

/// How many pixels of a page are black.
fn black(bytes: &[u8]) -> usize {
    let pdf = SourcePdf::new(bytes.to_vec()).expect("a PDF");
    let picture = draw(&pdf, 0).expect("a picture");
    picture.rgb.chunks_exact(3).filter(|pixel| pixel.iter().all(|part| *part < 40)).count()
}

#[test]
fn values_are_covered_and_no_text_is_left() {
    let source = page("Write to Anna Weber today");
    let done =
        redact(source.clone(), Mode::Mask, |text| target(text, "Anna Weber")).expect("redacted");
    assert_eq!(done.plan.counts()["PERSON"], 1);
    // Two words of 14 points, about 75 by 14 points at 150 pixels to the inch.
    assert!(
        black(&done.bytes) > black(&source) + 2_000,
        "{} {}",
        black(&done.bytes),
        black(&source)
    );
    let again = redact(done.bytes, Mode::Mask, |_| Vec::new()).expect("read again");
    assert!(again.scanned && again.bytes.is_empty());
}

#[test]
fn pages_without_values_stay_as_they_look() {
    let source = page("Nothing to hide");
    let done = redact(source.clone(), Mode::Mask, |_| Vec::new()).expect("redacted");
    assert!(black(&done.bytes).abs_diff(black(&source)) < 200);
    assert!(redact(b"%PDF-1.7 nothing".to_vec(), Mode::Mask, |_| Vec::new()).is_err());
}
