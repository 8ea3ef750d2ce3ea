//! PDFs whose fonts do not say which characters they show.

use std::fmt::Write as _;

use documents::{Extracted, Limits, Options, extract};

const TEXT: &str =
    "The ferry carries seven crates of winter apples before the market opens in the town";

/// A page with a Type 3 font whose glyphs have these names, from code `first` on.
fn read(names: &[String], first: usize, codes: &[u8]) -> Extracted {
    let codes: String = codes.iter().fold(String::new(), |mut all, code| {
        write!(all, "{code:02x}").unwrap();
        all
    });
    let content = format!("BT /F 12 Tf 20 700 Td <{codes}> Tj ET");
    let glyph = "600 0 0 0 500 700 d1 50 0 400 600 re f";
    let procedures: String = names.iter().map(|name| format!("/{name} 6 0 R")).collect();
    let differences: String = names.iter().map(|name| format!("/{name}")).collect();
    let widths = "600 ".repeat(names.len());
    let last = first + names.len() - 1;
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
            .to_owned(),
        format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()),
        format!(
            "<</Type/Font/Subtype/Type3/FontBBox[0 0 600 700]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<<{procedures}>>\
             /Encoding<</Type/Encoding/Differences[{first} {differences}]>>/FirstChar {first}/LastChar {last}\
             /Widths[{widths}]>>"
        ),
        format!("<</Length {}>>\nstream\n{glyph}\nendstream", glyph.len()),
    ];
    let mut pdf = String::from("%PDF-1.4\n");
    for (at, object) in objects.iter().enumerate() {
        write!(pdf, "{} 0 obj\n{object}\nendobj\n", at + 1).unwrap();
    }
    pdf.push_str("trailer\n<</Root 1 0 R>>\n%%EOF\n");
    extract(pdf.into_bytes(), &Options::new("application/pdf"), &Limits::default()).unwrap()
}

#[test]
fn glyphs_are_read_by_their_names() {
    let names = ["H", "e", "l", "o", "space", "uni00E9"].map(str::to_owned);
    let read = read(&names, 1, &[1, 2, 3, 3, 4, 5, 6]);
    assert_eq!((read.text.as_str(), read.unreadable_pages.len()), ("Hello é", 0));
}

#[test]
fn codes_that_are_characters_are_read_without_names() {
    let names: Vec<String> = (32..123).map(|code| format!("a{code}")).collect();
    let read = read(&names, 32, TEXT.as_bytes());
    assert_eq!((read.text.as_str(), read.unreadable_pages.len()), (TEXT, 0));
}

#[test]
fn a_page_whose_characters_are_not_known_is_named() {
    let mut used: Vec<u8> = TEXT.bytes().collect();
    used.sort_unstable();
    used.dedup();
    let names: Vec<String> = (0..used.len()).map(|number| format!("g{number}")).collect();
    let code = |byte: u8| 1 + used.iter().position(|it| *it == byte).unwrap() as u8;
    let codes: Vec<u8> = TEXT.bytes().map(code).collect();
    let read = read(&names, 1, &codes);
    assert_eq!((read.text.as_str(), read.unreadable_pages), ("", vec![1]));
}
