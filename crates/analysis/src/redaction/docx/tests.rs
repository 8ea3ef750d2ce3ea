use std::io::{Cursor, Read as _, Write as _};

use extraction::Limits;
use pii::{Options, find};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::{RedactedDocument, redact};
use crate::redaction::{Mode, Target, leftovers};

const BASE: &str = "<w:p><w:r><w:t>My name is Anna Weber, email anna.weber@lumen.com, phone +49 30 1234567.</w:t></w:r></w:p>";
const VALUES: [&str; 3] = ["anna.weber@lumen.com", "Anna Weber", "+49 30 1234567"];
const SPACES: &str = r#"xmlns:w="w" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:v="v""#;

fn archive(parts: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).expect("a part");
        writer.write_all(content).expect("written");
    }
    writer.finish().expect("an archive").into_inner()
}

/// A document with further parts; each has the word of its relationship from the main part, `""` if it has none.
fn document(body: &str, parts: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let row = |(index, (word, name, _)): (usize, &(&str, &str, &[u8]))| {
        format!(r#"<Relationship Id="r{index}" Type="http://x/{word}" Target="/{name}"/>"#)
    };
    let related = parts.iter().enumerate().filter(|(_, (word, ..))| !word.is_empty());
    let rows: String = related.map(row).collect();
    let link = r#"<Relationship Id="l" Type="http://x/hyperlink" TargetMode="External" Target="mailto:anna.weber%40lumen.com"/>"#;
    let main = r#"<Relationships><Relationship Id="a" Type="http://x/officeDocument" Target="word/real.xml"/></Relationships>"#;
    let mut all: Vec<(&str, Vec<u8>)> = vec![
        ("_rels/.rels", main.into()),
        ("word/_rels/real.xml.rels", format!("<Relationships>{rows}{link}</Relationships>").into()),
        (
            "word/real.xml",
            format!("<w:document {SPACES}><w:body>{body}</w:body></w:document>").into(),
        ),
    ];
    all.extend(parts.iter().map(|(_, name, content)| (*name, content.to_vec())));
    archive(&all)
}

fn done(bytes: &[u8], mode: Mode) -> RedactedDocument {
    let found = |text: &str| {
        let findings = find(text, &Options::default()).into_iter();
        findings
            .map(|finding| Target {
                label: finding.kind.name().to_owned(),
                place: finding.start..finding.end,
            })
            .collect()
    };
    redact(bytes, &Limits::default(), mode, found).expect("redacted")
}

/// All parts of the result, with and without tags.
fn written(done: &RedactedDocument) -> String {
    let mut archive = ZipArchive::new(Cursor::new(&done.bytes)).expect("an archive");
    let mut all = String::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).expect("a part");
        all.push_str(&format!("\n{}\n", part.name().expect("a name")));
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes).expect("read");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut tag = false;
        let bare = text.chars().filter(|c| {
            tag = (tag || *c == '<') && *c != '>';
            !tag && *c != '>'
        });
        let bare: String = bare.collect();
        all.push_str(&text);
        all.push_str(&bare);
    }
    all
}

fn assert_gone(name: &str, bytes: &[u8]) {
    for mode in [Mode::Mask, Mode::Label, Mode::Remove, Mode::Pseudonym] {
        let done = done(bytes, mode);
        let written = written(&done);
        assert_eq!(done.leftovers, 0, "{name} {mode:?} {written}");
        let values = VALUES.map(str::to_owned);
        assert_eq!(leftovers(&values, &written), 0, "{name} {mode:?} {written}");
        assert!(!written.contains("lumen.com"), "{name} {mode:?} {written}");
    }
}

#[test]
fn values_are_gone_however_a_part_writes_them() {
    let rows = [
        (
            "alternative text",
            r#"<w:p><w:docPr name="x" descr="Photo of Anna We&#98;er anna.weber&#64;lumen.com"/></w:p>"#,
        ),
        (
            "content control",
            r#"<w:sdt><w:alias w:val="anna.weber@lumen.com"/><w:tag w:val="Anna Weber"/></w:sdt>"#,
        ),
        (
            "field",
            r#"<w:p><w:fldSimple w:instr=" HYPERLINK &quot;mailto:anna.weber@lumen.com&quot; "/></w:p>"#,
        ),
        (
            "split field",
            r#"<w:p><w:r><w:t>anna.we</w:t></w:r><w:r><w:instrText> "anna.we</w:instrText></w:r><w:r><w:t>ber@lumen.com</w:t></w:r><w:r><w:instrText>ber@lumen.com"</w:instrText></w:r></w:p>"#,
        ),
        (
            "form field",
            r#"<w:p><w:textInput><w:default w:val="anna.weber@lumen.com"/></w:textInput></w:p>"#,
        ),
        ("drawn text", r#"<w:p><v:textpath string="anna.weber@lumen.com Anna Weber"/></w:p>"#),
        ("comment", "<!-- anna.weber@lumen.com --><?x Anna Weber?>"),
        ("comment in a text", "<w:p><w:t>anna.we<!-- x -->ber@lumen.com</w:t></w:p>"),
        ("references", "<w:p><w:t>anna.we&#98;er@lumen.com <![CDATA[Anna Weber]]></w:t></w:p>"),
        (
            "soft hyphen",
            "<w:p><w:t>anna.we\u{ad}ber@lumen.com An</w:t><w:softHyphen/><w:t>na\u{a0}Weber</w:t></w:p>",
        ),
        ("wide characters", "<w:p><w:t>ａｎｎａ．ｗｅｂｅｒ＠ｌｕｍｅｎ．ｃｏｍ</w:t></w:p>"),
        (
            "line break",
            "<w:p><w:t>Anna</w:t><w:br/><w:t>Weber +49-30</w:t><w:noBreakHyphen/><w:t>1234567</w:t></w:p>",
        ),
        ("symbol", r#"<w:p><w:t>anna.weber</w:t><w:sym w:char="0040"/><w:t>lumen.com</w:t></w:p>"#),
        (
            "text box",
            "<w:p><w:t>anna.we</w:t><w:txbxContent><w:p><w:t>box</w:t></w:p></w:txbxContent><w:t>ber@lumen.com</w:t></w:p>",
        ),
        (
            "deletion",
            r#"<w:p><w:t>anna.</w:t><w:del w:author = 'Anna Weber'><w:delText>weber@</w:delText></w:del><w:t>lumen.com</w:t></w:p>"#,
        ),
        (
            "author",
            r#"<w:p xmlns:z="w"><z:ins z:author = 'anna.weber@lumen.com'><w:t>x</w:t></z:ins></w:p>"#,
        ),
        ("imported file", r#"<w:altChunk r:id="r0"/>"#),
        (
            "hidden run",
            "<w:p><w:r><w:t>anna.we</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>xy z</w:t></w:r><w:r><w:t>ber@lumen.com</w:t></w:r></w:p>",
        ),
        (
            "moved text",
            "<w:p><w:r><w:t>anna.we</w:t></w:r><w:moveFrom><w:r><w:t>xy z</w:t></w:r></w:moveFrom><w:r><w:t>ber@lumen.com</w:t></w:r></w:p>",
        ),
        (
            "field within a value",
            r#"<w:p><w:r><w:t>anna.we</w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>XE "a"</w:instrText></w:r><w:r><w:t>xy z</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>ber@lumen.com</w:t></w:r></w:p>"#,
        ),
        (
            "merged fields",
            r#"<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>MERGEFIELD a</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>anna.weber@</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>lumen.com</w:t></w:r></w:p>"#,
        ),
        (
            "alternatives",
            "<w:p><w:r><w:t>anna.we</w:t></w:r><mc:Choice><w:r><w:t>ber@lumen.com</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>ber@lumen.com</w:t></w:r></mc:Fallback></w:p>",
        ),
        (
            "symbols only",
            r#"<w:p><w:r><w:t>anna.weber@lumen.co</w:t><w:sym w:char="006D"/></w:r></w:p>"#,
        ),
        ("names of elements", r#"<x:AnnaWeber xmlns:x="urn:anna.weber@lumen.com" x:k="1"/>"#),
        ("label of a list", r#"<w:lvl><w:lvlText w:val="%1 anna.weber@lumen.com"/></w:lvl>"#),
    ];
    for (name, body) in rows {
        assert_gone(name, &document(&format!("{BASE}{body}"), &[]));
    }
}

#[test]
fn only_parts_that_display_needs_are_kept() {
    let wide: Vec<u8> = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><w:hdr><w:p><w:t>anna.weber@lumen.com</w:t></w:p></w:hdr>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let secret = b"<a>anna.weber@lumen.com</a>";
    let bytes = document(
        &format!(r#"{BASE}<w:headerReference r:id="r0"/><w:altChunk r:id="r4"/>"#),
        &[
            ("header", "word/parts/H.xml", &wide),
            ("chart", "word/charts/c.xml", b"<c><a:t>anna.we</a:t><a:t>ber@lumen.com</a:t><c:v>Anna Weber</c:v></c>"),
            ("settings", "word/s.xml", br#"<w:settings><w:docVars><w:docVar w:val="anna.weber@lumen.com"/></w:docVars><w:zoom w:percent="90"/></w:settings>"#),
            ("image", "word/media/Anna Weber.png", b"\x89PNG\r\n\x1a\n\0\0\0\x07IDATpicturesum \0\0\0\0IENDsum "),
            ("aFChunk", "word/afchunk.htm", secret),
            ("image", "word/media/a.svg", secret),
            ("customXml", "customXml/item1.xml", secret),
            ("", "word/vbaProject.bin", secret),
            ("", "docProps/core.xml", secret),
            ("", "package/x.psmdcp", secret),
        ],
    );
    assert_gone("parts", &bytes);
    let done = done(&bytes, Mode::Label);
    let written = written(&done);
    for kept in
        ["word/header.xml", "word/charts/chart.xml", "word/media/image.png", "w:zoom", "picture"]
    {
        assert!(written.contains(kept), "{kept} {written}");
    }
    assert!(!written.contains("altChunk") && !written.contains("docVar"), "{written}");
    assert!(written.contains(r#"Target="about:blank""#), "{written}");
    let warnings = done.warnings.join("\n");
    assert!(warnings.contains("macros (1)") && warnings.contains("properties (2)"), "{warnings}");
    assert!(warnings.contains("1 pictures were not read"), "{warnings}");
}

#[test]
fn values_are_found_where_only_an_attribute_or_a_link_has_them() {
    let body = r#"<w:p><w:t>Hello.</w:t><w:docPr descr="email bob.miller@lumen.com"/></w:p>"#;
    let done = done(&document(body, &[]), Mode::Label);
    assert_eq!(done.counts["EMAIL_ADDRESS"], 2, "the picture's and the link's");
    assert!(!written(&done).contains("lumen"));
}

#[test]
fn texts_of_lists_are_searched_and_other_forms_of_a_text_dropped() {
    let body = r#"<w:p><w:lvlText w:val="Born 3 May 1984"/><w:date w:fullDate="1984-05-03T00:00:00Z"/></w:p>
        <w:p><w:fldChar w:fldCharType="begin"><w:fldData>QW5uYSBXZWJlcg==</w:fldData></w:fldChar></w:p>
        <w:p><v:shape o:gfxdata="QW5uYSBXZWJlcg==" equationxml="An&lt;x/>na" id="kept"/></w:p>"#;
    let found = |text: &str| {
        let place = text.find("3 May 1984").map(|at| at..at + "3 May 1984".len());
        place.into_iter().map(|place| Target { label: "DATE".to_owned(), place }).collect()
    };
    let done = redact(&document(body, &[]), &Limits::default(), Mode::Label, found);
    let written = written(&done.expect("redacted"));
    assert!(written.contains("Born [DATE]") && written.contains("kept"), "{written}");
    for gone in ["1984", "QW5uYSBXZWJlcg", "equationxml"] {
        assert!(!written.contains(gone), "{gone} {written}");
    }
}

#[test]
fn encodings_that_cannot_be_read_are_refused() {
    let part = br#"<?xml version="1.0" encoding="UTF-7"?><w:hdr/>"#;
    let bytes = document(BASE, &[("header", "word/h.xml", part)]);
    let refused = redact(&bytes, &Limits::default(), Mode::Mask, |_| Vec::new());
    assert_eq!(refused.expect_err("not read").kind(), "damaged");
    let doctype = document("", &[("header", "word/h.xml", b"<!DOCTYPE a><w:hdr/>")]);
    assert!(redact(&doctype, &Limits::default(), Mode::Mask, |_| Vec::new()).is_err());
}
