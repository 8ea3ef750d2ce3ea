use analysis::redaction::{Mode, Target};
use hayro::hayro_syntax::Pdf as SourcePdf;
use pdf_writer::{Content, Finish as _, Name, Pdf, Rect, Ref, Str};

use super::{draw, redact};

/// A line of text in Helvetica.
fn line(text: &str) -> Content {
    let mut line = Content::new();
    line.begin_text()
        .set_font(Name(b"F"), 14.0)
        .next_line(20.0, 50.0)
        .show(Str(text.as_bytes()))
        .end_text();
    line
}

/// A PDF with a page for each content.
fn pages(contents: Vec<Content>) -> Vec<u8> {
    let [catalog, tree, font] = [1, 2, 3].map(Ref::new);
    let mut file = Pdf::new();
    file.catalog(catalog).pages(tree);
    let numbers: Vec<i32> = (4..).step_by(2).take(contents.len()).collect();
    let count = i32::try_from(contents.len()).expect("few pages");
    file.pages(tree).kids(numbers.iter().copied().map(Ref::new)).count(count);
    file.type1_font(font).base_font(Name(b"Helvetica"));
    for (content, number) in contents.into_iter().zip(numbers) {
        let (page, stream) = (Ref::new(number), Ref::new(number + 1));
        let mut written = file.page(page);
        written.parent(tree).media_box(Rect::new(0.0, 0.0, 300.0, 100.0)).contents(stream);
        written.resources().fonts().pair(Name(b"F"), font);
        written.finish();
        file.stream(stream, &content.finish());
    }
    file.finish()
}

/// A page with one line of text.
fn page(text: &str) -> Vec<u8> {
    pages(vec![line(text)])
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
    assert_eq!(done.counts["PERSON"], 1);
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
fn pages_that_cannot_be_read_are_named() {
    let mut drawing = Content::new();
    drawing.rect(20.0, 20.0, 50.0, 50.0).fill_nonzero();
    let source = pages(vec![line("Nothing to hide"), drawing, Content::new()]);
    let done = redact(source, Mode::Mask, |_| Vec::new()).expect("redacted");
    assert_eq!(done.unread, [2], "the third page is blank");
}

/// A page with a line of text and a content, whose resources are the objects from the sixth on.
fn drawn(content: &str, resources: &str, objects: &[(&str, &str)]) -> Vec<u8> {
    let stream = |(dict, data): (&str, &str)| {
        format!("<< {dict} /Length {} >>\nstream\n{data}\nendstream", data.len())
    };
    let content = format!("BT /F 14 Tf 72 700 Td (Nothing to hide) Tj ET {content}");
    let mut all = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> {resources} >> >>"
        ),
        stream(("", &content)),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    all.extend(objects.iter().map(|object| stream(*object)));
    let mut file = "%PDF-1.7\n".to_owned();
    let mut rows = String::new();
    for (at, object) in all.iter().enumerate() {
        rows.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let (start, count) = (file.len(), all.len() + 1);
    file.push_str(&format!(
        "xref\n0 {count}\n0000000000 65535 f \n{rows}trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    ));
    file.into_bytes()
}

#[test]
fn pages_with_text_in_patterns_masks_and_wide_lines_are_not_read() {
    let text = "BT /F 14 Tf 2 5 Td (anna@lumen.com) Tj ET";
    let lines = "0 0 m 9 9 l S";
    let tile = "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 300 30] /XStep 300 /YStep 30 /Resources << /Font << /F 5 0 R >> >>";
    let group = "/Type /XObject /Subtype /Form /Group << /S /Transparency /CS /DeviceGray >> /BBox [0 0 600 800] /Resources << /Font << /F 5 0 R >> >>";
    let pattern = |data| {
        let fill = "/Pattern cs /P scn 72 300 300 30 re f";
        drawn(fill, "/Pattern << /P 6 0 R >>", &[(tile, data)])
    };
    let mask = |data| {
        let states = "/ExtGState << /G << /SMask << /Type /Mask /S /Luminosity /G 6 0 R >> >> >>";
        drawn("/G gs 72 400 300 30 re f", states, &[(group, data)])
    };
    let outline = |width| {
        drawn(&format!("BT /F 40 Tf 1 Tr {width} w 72 500 Td (anna@lumen.com) Tj ET"), "", &[])
    };
    for (name, source, unread) in [
        ("pattern", pattern(text), 1),
        ("pattern of lines", pattern(lines), 0),
        ("mask", mask(text), 1),
        ("mask of lines", mask(lines), 0),
        ("wide outline", outline(20), 1),
        ("outline", outline(1), 0),
    ] {
        let done = redact(source, Mode::Mask, |_| Vec::new()).expect("redacted");
        assert_eq!(done.unread.len(), unread, "{name}");
    }
}

#[test]
fn pages_without_values_stay_as_they_look() {
    let source = page("Nothing to hide");
    let done = redact(source.clone(), Mode::Mask, |_| Vec::new()).expect("redacted");
    assert!(black(&done.bytes).abs_diff(black(&source)) < 200);
    assert!(redact(b"%PDF-1.7 nothing".to_vec(), Mode::Mask, |_| Vec::new()).is_err());
}

/// Writes text with a matrix; what is red must be covered.
fn write(content: &mut Content, red: f32, matrix: [f32; 6], text: &str) {
    content
        .set_fill_rgb(red, 0.0, 0.0)
        .begin_text()
        .set_font(Name(b"F"), 12.0)
        .set_text_matrix(matrix)
        .show(Str(text.as_bytes()))
        .end_text();
}

/// How many pixels of a page are red.
fn reds(bytes: &[u8]) -> usize {
    let pdf = SourcePdf::new(bytes.to_vec()).expect("a PDF");
    let picture = draw(&pdf, 0).expect("a picture");
    let is_red = |pixel: &&[u8]| i16::from(pixel[0]) - i16::from(pixel[1]) > 70;
    picture.rgb.chunks_exact(3).filter(is_red).count()
}

fn addresses(text: &str) -> Vec<Target> {
    let findings = pii::find(text, &pii::Options::default()).into_iter();
    findings
        .map(|finding| Target {
            label: finding.kind.name().to_owned(),
            place: finding.start..finding.end,
        })
        .collect()
}

#[test]
fn turned_mirrored_and_skewed_values_are_covered() {
    let rows = [
        ("turned", [0.866, 0.5, -0.5, 0.866, 60.0, 5.0]),
        ("upwards", [0.0, 0.6, -0.6, 0.0, 60.0, 5.0]),
        ("mirrored", [-1.0, 0.0, 0.0, 1.0, 200.0, 30.0]),
        ("upside down", [1.0, 0.0, 0.0, -1.0, 60.0, 30.0]),
        ("skewed", [1.0, 0.0, 1.5, 1.0, 60.0, 30.0]),
        ("wide", [1.8, 0.0, 0.0, 0.5, 10.0, 30.0]),
    ];
    for (name, matrix) in rows {
        let mut content = line("hello");
        write(&mut content, 1.0, matrix, "anna.weber@lumen.com");
        let source = pages(vec![content]);
        assert!(reds(&source) > 100, "{name}");
        let done = redact(source, Mode::Mask, addresses).expect("redacted");
        assert_eq!((reds(&done.bytes), done.leftovers), (0, 0), "{name}");
        assert_eq!(done.counts["EMAIL_ADDRESS"], 1, "{name}");
    }
}

#[test]
fn values_over_the_ends_of_lines_are_covered_in_columns_too() {
    let at = |x: f32, y: f32| [1.0, 0.0, 0.0, 1.0, x, y];
    for (first, second) in [("anna.weber@", "lumen.com"), ("anna.we-", "ber@lumen.com")] {
        for columns in [false, true] {
            let mut content = Content::new();
            write(&mut content, 1.0, at(20.0, 60.0), first);
            write(&mut content, 1.0, at(20.0, 46.0), second);
            if columns {
                write(&mut content, 0.0, at(180.0, 60.0), "some other");
                write(&mut content, 0.0, at(180.0, 46.0), "text here");
            }
            let done = redact(pages(vec![content]), Mode::Mask, addresses).expect("redacted");
            assert_eq!(reds(&done.bytes), 0, "{first} {columns}");
            assert!(done.counts["EMAIL_ADDRESS"] >= 1, "{first} {columns}");
        }
    }
}

#[test]
fn values_with_spaced_out_characters_are_covered() {
    let mut content = Content::new();
    for (index, character) in "anna@lumen.com".chars().enumerate() {
        let matrix = [1.0, 0.0, 0.0, 1.0, 10.0 + index as f32 * 20.0, 30.0];
        write(&mut content, 1.0, matrix, &character.to_string());
    }
    let done = redact(pages(vec![content]), Mode::Mask, addresses).expect("redacted");
    assert_eq!(reds(&done.bytes), 0);
}

#[test]
fn words_without_a_known_place_cover_the_page() {
    let mut picture = draw(&SourcePdf::new(page("Anna")).expect("a PDF"), 0).expect("a picture");
    let area = documents::layout::Area::new(f64::NAN, 0.0, 5.0, 5.0);
    picture.cover(&area);
    assert!(picture.rgb.iter().all(|part| *part == 0));
}
