//! Files made to harm: bombs, lies, damage. Each gets an answer, and soon.

use std::io::{Cursor, Write};

use documents::{Limits, Options, Unreadable, extract, sniff};
use proptest::prelude::{any, proptest};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn archive<'a>(parts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn word(document: &str) -> Vec<u8> {
    archive([("[Content_Types].xml", "<Types/>"), ("word/document.xml", document)])
}

fn read(bytes: Vec<u8>, limits: &Limits) -> Result<String, Unreadable> {
    let media_type = sniff(&bytes, None);
    extract(bytes, &Options::new(media_type), limits).map(|extracted| extracted.text)
}

#[test]
fn a_plain_package_is_read() {
    let text = read(word("<d><p><t>hello</t></p></d>"), &Limits::default());
    assert_eq!(text.unwrap(), "hello");
}

#[test]
fn a_package_is_smaller_than_other_documents() {
    let package = word("<d><p><t>hello</t></p></d>");
    let limits = Limits { archive: package.len() - 1, ..Limits::default() };
    assert!(matches!(read(package, &limits), Err(Unreadable::TooLarge { .. })));
    assert_eq!(Limits::default().archive, 10 << 20);
}

#[test]
fn a_bomb_is_refused_while_it_is_unpacked() {
    let limits = Limits { inflated: 1 << 20, ..Limits::default() };
    let bomb = word(&format!("<d><p><t>{}</t></p></d>", "a".repeat(8 << 20)));
    assert!(bomb.len() < 64 << 10, "{} bytes are no bomb", bomb.len());
    assert!(matches!(read(bomb.clone(), &limits), Err(Unreadable::TooLarge { .. })));
    // It says that it is small: nothing is believed.
    let size = u32::try_from("<d><p><t></t></p></d>".len() + (8 << 20)).unwrap().to_le_bytes();
    let mut lying = bomb;
    let places: Vec<usize> =
        lying.windows(4).enumerate().filter(|(_, it)| **it == size).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for place in places {
        lying[place..place + 4].copy_from_slice(&10_u32.to_le_bytes());
    }
    let refused = read(lying, &limits).unwrap_err();
    assert!(
        matches!(refused, Unreadable::TooLarge { .. } | Unreadable::Damaged { .. }),
        "{refused}"
    );
}

#[test]
fn parts_share_one_budget() {
    let half = format!("<d><p><t>{}</t></p></d>", "b".repeat(700 << 10));
    let parts = [
        ("[Content_Types].xml", "<Types/>"),
        ("word/document.xml", half.as_str()),
        ("word/header1.xml", half.as_str()),
        (
            "word/_rels/document.xml.rels",
            "<r><Relationship Id='1' Type='x/header' Target='header1.xml'/></r>",
        ),
    ];
    assert!(read(archive(parts), &Limits::default()).is_ok());
    let limits = Limits { inflated: 1 << 20, ..Limits::default() };
    assert!(matches!(read(archive(parts), &limits), Err(Unreadable::TooLarge { .. })));
}

#[test]
fn overlapping_parts_are_refused() {
    let mut bytes = word("<d><p><t>hello</t></p></d>");
    let rows: Vec<usize> = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, it)| *it == b"PK\x01\x02")
        .map(|(at, _)| at)
        .collect();
    let first: [u8; 4] = bytes[rows[0] + 42..rows[0] + 46].try_into().unwrap();
    bytes[rows[1] + 42..rows[1] + 46].copy_from_slice(&first);
    let refused = extract(bytes, &Options::new(DOCX), &Limits::default()).unwrap_err();
    assert!(refused.to_string().contains("overlap"), "{refused}");
}

#[test]
fn too_many_parts_are_refused_before_they_are_listed() {
    let names: Vec<String> = (0..2001).map(|number| format!("word/{number}.xml")).collect();
    let bytes = archive(names.iter().map(|name| (name.as_str(), "")));
    let refused = extract(bytes, &Options::new(DOCX), &Limits::default()).unwrap_err();
    assert_eq!(refused, Unreadable::TooManyParts { limit: 2000 });
}

#[test]
fn hostile_xml_is_refused() {
    let laughs = "<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]><d><p><t>&b;</t></p></d>";
    let outside = "<!DOCTYPE d [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><d><p><t>&f;</t></p></d>";
    let deep = format!("{}x{}", "<d>".repeat(100_000), "</d>".repeat(100_000));
    for document in [
        laughs,
        outside,
        &deep,
        "<d><p><t>&own;</t></p></d>",
        "<d><p></d>",
        "<d><p><t>open",
        "<d a='",
    ] {
        let refused = read(word(document), &Limits::default()).unwrap_err();
        assert!(matches!(refused, Unreadable::Damaged { .. }), "{refused}");
    }
}

#[test]
fn a_package_reaches_nothing_outside_of_itself() {
    for (mode, target) in [
        ("Internal", "../../../etc/passwd"),
        ("External", "file:///etc/passwd"),
        ("Internal", "/etc/passwd"),
    ] {
        let relations = format!(
            "<r><Relationship Id='1' Type='x/officeDocument' TargetMode='{mode}' Target='{target}'/></r>"
        );
        let bytes = archive([
            ("[Content_Types].xml", "<Types/>"),
            ("_rels/.rels", &relations),
            ("word/a", ""),
        ]);
        let refused = read(bytes, &Limits::default()).unwrap_err();
        assert!(refused.to_string().contains("is missing"), "{refused}");
    }
}

#[test]
fn files_without_text_are_unsupported() {
    for (bytes, media_type) in [
        (b"\x89PNG\r\n\x1a\n".to_vec(), "image/png"),
        (archive([("a.txt", "words")]), "application/zip"),
        (vec![0, 1, 2, 0xff], "application/octet-stream"),
    ] {
        let refused = read(bytes, &Limits::default()).unwrap_err();
        assert_eq!(refused, Unreadable::Unsupported { media_type: media_type.to_owned() });
    }
    let mut locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    locked.resize(4096, 0);
    locked.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(read(locked, &Limits::default()).unwrap_err(), Unreadable::Encrypted);
}

#[test]
fn a_deep_page_is_refused() {
    let deep = format!("<!doctype html>{}hello", "<div>".repeat(20_000));
    assert!(matches!(read(deep.into_bytes(), &Limits::default()), Err(Unreadable::Damaged { .. })));
}

const FIXTURES: [&str; 9] = [
    "report.docx",
    "plan.pptx",
    "orders.xlsx",
    "article.pdf",
    "columns.pdf",
    "hidden.pdf",
    "other.pdf",
    "restricted.pdf",
    "locked.pdf",
];

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    for name in FIXTURES {
        let whole = fixture(name);
        let media_type = sniff(&whole, None);
        let step = (whole.len() / 40).max(1);
        for end in (0..whole.len()).step_by(step) {
            let _ = extract(whole[..end].to_vec(), &Options::new(media_type), &Limits::default());
        }
    }
}

/// Always the same changes, so that what breaks once breaks again.
#[test]
fn a_file_with_wrong_bytes_is_read_or_refused() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    for name in FIXTURES {
        let whole = fixture(name);
        let media_type = sniff(&whole, None);
        for _ in 0..40 {
            let mut bytes = whole.clone();
            for _ in 0..8 {
                let at = random(bytes.len());
                bytes[at] = u8::try_from(random(256)).unwrap();
            }
            let _ = extract(bytes, &Options::new(media_type), &Limits::default());
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_something(bytes in any::<Vec<u8>>(), name in any::<Option<String>>()) {
        let media_type = sniff(&bytes, name.as_deref());
        let _ = extract(bytes, &Options::new(media_type), &Limits::default());
    }

    #[test]
    fn any_text_is_a_page(page in any::<String>(), style in any::<String>()) {
        for page in [
            page.clone(),
            format!("<style>{style}</style><p style=\"{style}\" class=\"{page}\">{page}</p>"),
            format!("<style>.a{{{style}}} {page}</style><table><tr><td class=a>{page}<table><li>{page}"),
        ] {
            let _ = extract(page.into_bytes(), &Options::new("text/html"), &Limits::default());
        }
    }

    #[test]
    fn any_xml_is_a_document(inner in "(<[a-z]{1,3}( val='[0-9a-f]{1,6}')?>|</[a-z]{1,3}>|<p>|</p>|<t>x</t>|<tr>|<tc>|</tc>|</tr>|<br/>){0,40}") {
        let _ = read(word(&inner), &Limits::default());
        let _ = read(word(&format!("<d>{inner}</d>")), &Limits::default());
    }
}
