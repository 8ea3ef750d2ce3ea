//! PDFs whose fonts do not say which characters they show.

use std::fmt::Write as _;

use documents::{Extracted, Limits, Options, extract};

const TEXT: &str =
    "The ferry carries seven crates of winter apples before the market opens in the town";

/// A page with a Type 3 font whose glyphs have these names, from code `first` on.
fn read(names: &[String], first: usize, codes: &[u8]) -> Extracted {
    extract_page(names, first, &format!("BT /F 12 Tf 20 700 Td <{}> Tj ET", hex(codes)), 1.0)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut all, byte| {
        write!(all, "{byte:02x}").unwrap();
        all
    })
}

/// As [`read`], with the content of the page, and with the units of the font so many times larger than usual.
fn extract_page(names: &[String], first: usize, content: &str, unit: f64) -> Extracted {
    let matrix = 0.001 * unit;
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
            "<</Type/Font/Subtype/Type3/FontBBox[0 0 600 700]/FontMatrix[{matrix} 0 0 {matrix} 0 0]/CharProcs<<{procedures}>>\
             /Encoding<</Type/Encoding/Differences[{first} {differences}]>>/FirstChar {first}/LastChar {last}\
             /Widths[{widths}]>>"
        ),
        format!("<</Length {}>>\nstream\n{glyph}\nendstream", glyph.len()),
    ];
    extract_pdf(&objects)
}

fn extract_pdf(objects: &[String]) -> Extracted {
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

#[test]
fn bitmap_fonts_in_pixels_are_read() {
    // The glyphs are 600 units wide, the page has 1,000 units per point, and the font is set in size 1.
    let names: Vec<String> = (32..123).map(|code| format!("a{code}")).collect();
    let (first, second) = TEXT.split_at(TEXT.find("apples").unwrap());
    let content = format!(
        "BT /F 1 Tf .01 0 0 .01 20 700 Tm <{}> Tj .01 0 0 .01 20 686 Tm <{}> Tj ET",
        hex(first.as_bytes()),
        hex(second.as_bytes())
    );
    let read = extract_page(&names, 32, &content, 1000.0);
    let words: Vec<&str> = read.text.split_whitespace().collect();
    assert_eq!(words.join(" "), TEXT);
    assert!(read.unreadable_pages.is_empty());
}

/// A TrueType font of `count` glyphs that are all one box.
fn boxes(count: u16) -> Vec<u8> {
    let shorts = |values: &[i32]| -> Vec<u8> {
        values.iter().flat_map(|value| (*value as i16).to_be_bytes()).collect()
    };
    let mut glyph = shorts(&[1, 100, 0, 900, 700, 3, 0]);
    glyph.extend([1; 4]);
    glyph.extend(shorts(&[100, 800, 0, -800, 0, 0, 700, 0]));
    let long = [0, 1, 0, 0];
    let head = [
        &long[..],
        &long,
        &[0; 4],
        &[0x5f, 0x0f, 0x3c, 0xf5],
        &shorts(&[0, 1000]),
        &[0; 16],
        &shorts(&[100, 0, 900, 700, 0, 8, 2, 0, 0]),
    ]
    .concat();
    let hhea =
        [&long[..], &shorts(&[800, -200, 0, 1000, 0, 0, 900]), &[0; 16], &shorts(&[1])].concat();
    let maxp = [&long[..], &count.to_be_bytes(), &shorts(&[4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0])]
        .concat();
    let hmtx = [shorts(&[1000]), shorts(&vec![100; usize::from(count)])].concat();
    let step = glyph.len() as u16 / 2;
    let loca = (0..=count).flat_map(|at| (at * step).to_be_bytes()).collect();
    let tables = [
        (b"glyf", glyph.repeat(usize::from(count))),
        (b"head", head),
        (b"hhea", hhea),
        (b"hmtx", hmtx),
        (b"loca", loca),
        (b"maxp", maxp),
    ];
    let mut font = [&long[..], &shorts(&[6, 64, 2, 32])].concat();
    let mut at = 12 + 16 * tables.len();
    for (name, table) in &tables {
        font.extend_from_slice(*name);
        font.extend([0; 4]);
        font.extend((at as u32).to_be_bytes());
        font.extend((table.len() as u32).to_be_bytes());
        at += table.len().next_multiple_of(4);
    }
    for (_, table) in &tables {
        font.extend_from_slice(table);
        font.resize(font.len().next_multiple_of(4), 0);
    }
    font
}

/// A page whose embedded font says only in which collection its glyphs are numbered.
fn numbered(ordering: &str, encoding: &str, codes: &[u16]) -> Extracted {
    let codes: Vec<u8> = codes.iter().flat_map(|code| code.to_be_bytes()).collect();
    let content = format!("BT /F 12 Tf 20 700 Td <{}> Tj ET", hex(&codes));
    let font = format!("{}>", hex(&boxes(1000)));
    extract_pdf(&[
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>"
            .to_owned(),
        format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()),
        format!(
            "<</Type/Font/Subtype/Type0/BaseFont/ABCDEF+Mincho-{encoding}/Encoding/{encoding}/DescendantFonts[6 0 R]>>"
        ),
        format!(
            "<</Type/Font/Subtype/CIDFontType2/BaseFont/ABCDEF+Mincho/CIDToGIDMap/Identity/FontDescriptor 7 0 R/DW 1000\
             /CIDSystemInfo<</Registry(Adobe)/Ordering({ordering})/Supplement 2>>>>"
        ),
        "<</Type/FontDescriptor/FontName/ABCDEF+Mincho/Flags 4/FontFile2 8 0 R>>".to_owned(),
        format!("<</Filter/ASCIIHexDecode/Length {}>>\nstream\n{font}\nendstream", font.len()),
    ])
}

#[test]
fn glyphs_that_are_numbered_in_a_collection_are_read() {
    let codes = [843, 845, 847, 849, 851];
    let read = numbered("Japan1", "Identity-H", &codes);
    assert_eq!((read.text.as_str(), read.unreadable_pages.len()), ("あいうえお", 0));
    // In no collection, the numbers say nothing.
    assert_eq!(numbered("Identity", "Identity-H", &codes).text, "");
}
