use std::io::{Cursor, Read, Write};

use proptest::prelude::{ProptestConfig, proptest};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::footnotes::Footnotes;
use super::tree::Tree;
use super::{DocxError, DocxOptions, PageSize, Template, fill_template, to_docx};
use crate::from_markdown;

/// A black pixel.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

fn parts(docx: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(docx)).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().to_string(), bytes)
        })
        .collect()
}

fn part(docx: &[u8], name: &str) -> String {
    let parts = parts(docx);
    let (_, bytes) = parts.into_iter().find(|(found, _)| found == name).expect(name);
    String::from_utf8(bytes).unwrap()
}

fn written(markdown: &str) -> Vec<u8> {
    to_docx(&from_markdown(markdown), &DocxOptions::default()).unwrap()
}

/// A template of which only the body is interesting.
fn template(body: &str) -> Vec<u8> {
    changed("word/document.xml", "<w:p/>", body)
}

/// An empty document, of which a text in a part is replaced.
fn changed(part: &str, from: &str, to: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts(&written("")) {
        let bytes = if name == part {
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1).into_bytes()
        } else {
            bytes
        };
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn filled(body: &str, data: &Value, content: Option<&str>) -> Result<String, DocxError> {
    let bytes = template(body);
    let document = content.map(from_markdown);
    let template = Template { bytes: &bytes, data };
    let docx = fill_template(template, document.as_ref(), &DocxOptions::default())?;
    Ok(part(&docx, "word/document.xml"))
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An empty document with another part.
fn with_part(name: &str, content: &str) -> Vec<u8> {
    let parts = parts(&written(""));
    let own = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    archive(&own.chain([(name, content.as_bytes())]).collect::<Vec<_>>())
}

/// The texts of a part, with `|` between paragraphs.
fn texts(xml: &str) -> String {
    let paragraphs = xml.split("</w:p>").map(|paragraph| {
        let texts = paragraph.split("<w:t").skip(1).filter(|it| it.starts_with([' ', '>']));
        let texts = texts.filter_map(|it| it.split_once('>')?.1.split("</w:t>").next());
        texts.collect::<String>()
    });
    paragraphs.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("|")
}

#[test]
fn blocks_have_styles_and_the_same_bytes_each_time() {
    let markdown = format!(
        "# Title\n\nA **bold** *text* with `code` & [link](https://example.org/?a=1&b=2)[^n].\n\n## One\n\n> Quoted\n\n```\nlet x;\n\ty\n```\n\n\
         | a | b |\n|:-:|--:|\n| 1 | 2 |\n\n![alt]({PIXEL})\n\n---\n\n### Two\n\n[^n]: Note.\n"
    );
    let docx = written(&markdown);
    assert_eq!(docx, written(&markdown));
    let body = part(&docx, "word/document.xml");
    for expected in [
        "w:val=\"Title\"",
        "w:val=\"Heading1\"",
        "w:val=\"Heading2\"",
        "w:val=\"Quote\"",
        "w:val=\"Code\"",
        "<w:tab/>",
        "<w:tblHeader/>",
        "<w:jc w:val=\"center\"/>",
        "<w:jc w:val=\"right\"/>",
        "descr=\"alt\"",
        "<w:footnoteReference w:id=\"1\"/>",
        "<w:hyperlink r:id=",
        "<w:pBdr><w:bottom",
    ] {
        assert!(body.contains(expected), "{expected} in {body}");
    }
    assert!(part(&docx, "word/footnotes.xml").contains("Note."));
    assert!(
        part(&docx, "word/_rels/document.xml.rels").contains("https://example.org/?a=1&amp;b=2")
    );
    assert!(part(&docx, "docProps/core.xml").contains(">Title</dc:title>"));
    for (name, bytes) in parts(&docx).iter().filter(|(name, _)| !name.ends_with(".png")) {
        Tree::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert!(parts(&docx).iter().any(|(name, _)| name == "word/media/text.png"));
}

#[test]
fn lists_restart_and_nest() {
    let docx = written("1. a\n2. b\n   - c\n     1. d\n3. e\n\ntext\n\n7. f\n");
    let (body, lists) = (part(&docx, "word/document.xml"), part(&docx, "word/numbering.xml"));
    let of = |text: &str| {
        let before = body.split(&format!(">{text}</w:t>")).next().unwrap();
        let list = before.rsplit("<w:numPr>").next().unwrap();
        list.split("</w:numPr>").next().unwrap().to_owned()
    };
    assert_eq!(of("a"), of("b"));
    assert_eq!(of("a"), of("e"));
    assert_ne!(of("a"), of("f"));
    assert!(of("c").contains("w:ilvl w:val=\"1\"") && of("d").contains("w:ilvl w:val=\"2\""));
    assert!(lists.contains("<w:startOverride w:val=\"7\"/>"), "{lists}");
    let (last_definition, first_list) =
        (lists.rfind("<w:abstractNum ").unwrap(), lists.find("<w:num ").unwrap());
    assert!(last_definition < first_list);
}

#[test]
fn options_set_page_and_properties() {
    let options = DocxOptions {
        title: Some("A <title>".to_owned()),
        author: Some("B & C".to_owned()),
        page: PageSize::Letter,
        page_numbers: true,
    };
    let docx = to_docx(&from_markdown("text"), &options).unwrap();
    assert!(part(&docx, "word/document.xml").contains("w:w=\"12240\" w:h=\"15840\""));
    let core = part(&docx, "docProps/core.xml");
    assert!(
        core.contains(">A &lt;title&gt;</dc:title>") && core.contains(">B &amp; C</dc:creator>")
    );
    assert!(part(&docx, "word/footer1.xml").contains(" PAGE "));
}

#[test]
fn only_safe_links_and_real_pictures_are_kept() {
    let docx = written(
        "[x](javascript:alert(1)) ![p](data:image/png;base64,AAAA) ![q](https://example.org/q.png)\n",
    );
    let all: String =
        parts(&docx).iter().map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
    assert!(!all.contains("javascript:") && !all.contains("<w:drawing>"), "{all}");
    assert_eq!(texts(&part(&docx, "word/document.xml")), "x p q");
}

#[test]
fn placeholders_are_filled_across_runs() {
    let body = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Dear {</w:t></w:r><w:proofErr w:type=\"x\"/><w:r><w:t>{ cust</w:t></w:r>\
        <w:r><w:t>omer.name }</w:t></w:r><w:r><w:t>}, hello {{n}} {{ on }}</w:t></w:r></w:p>";
    let data = json!({"customer": {"name": "A <b>&\nB"}, "n": 3.5, "on": true});
    let xml = filled(body, &data, None).unwrap();
    assert!(xml.contains("A &lt;b&gt;&amp;</w:t><w:br/>"), "{xml}");
    assert_eq!(texts(&xml), "Dear A &lt;b&gt;&amp;B, hello 3.5 true");
    assert!(xml.contains("<w:rPr><w:b/></w:rPr><w:t xml:space=\"preserve\">Dear A"), "{xml}");
}

#[test]
fn rows_repeat_over_lists() {
    let cell = |text: &str| {
        format!("<w:tc><w:p w14:paraId=\"1\"><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>")
    };
    let body = format!(
        "<w:tbl><w:tr>{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        cell("Name"),
        cell("{{ items.name }}"),
        cell("{{ items.price }} {{ currency }}")
    );
    let data =
        json!({"currency": "EUR", "items": [{"name": "a", "price": 1}, {"name": "b", "price": 2}]});
    let xml = filled(&body, &data, None).unwrap();
    assert_eq!(texts(&xml), "Name|a|1 EUR|b|2 EUR");
    let empty = filled(&body, &json!({"currency": "", "items": []}), None).unwrap();
    assert_eq!(texts(&empty), "Name");
    let only = format!("<w:tbl><w:tr>{}</w:tr></w:tbl>", cell("{{ items.name }}"));
    assert!(!filled(&only, &json!({"items": []}), None).unwrap().contains("w:tbl"));
    let joined =
        filled("<w:p><w:r><w:t>{{ tags }}</w:t></w:r></w:p>", &json!({"tags": ["x", 2]}), None);
    assert_eq!(texts(&joined.unwrap()), "x, 2");
}

#[test]
fn content_takes_the_place_of_its_paragraph() {
    let body = "<w:p><w:r><w:t>Before</w:t></w:r></w:p><w:p><w:r><w:t>{{ content }}</w:t></w:r></w:p>\
        <w:p><w:r><w:t>After</w:t></w:r></w:p>";
    let xml = filled(body, &json!({}), Some("# T\n\nText {{ not.filled }}\n")).unwrap();
    assert_eq!(texts(&xml), "Before|T|Text {{ not.filled }}|After");
    let at_end =
        filled("<w:p><w:r><w:t>Before</w:t></w:r></w:p>", &json!({}), Some("text")).unwrap();
    assert_eq!(texts(&at_end), "Before|text");
    assert!(at_end.ends_with("</w:sectPr></w:body></w:document>"), "{at_end}");
}

#[test]
fn wrong_placeholders_are_refused() {
    let paragraph = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let refuse = |text: &str, data: Value| filled(&paragraph(text), &data, Some("x")).unwrap_err();
    assert_eq!(
        refuse("{{ a }} {{ b.c }} {{ d }}", json!({"a": 1, "d": null})),
        DocxError::MissingValues { names: vec!["b.c".to_owned(), "d".to_owned()] }
    );
    for (text, data) in [
        ("{{ a b }}", json!({"a": 1})),
        ("{{ list.name }}", json!({"list": [{"name": 1}]})),
        ("x {{ content }}", json!({})),
    ] {
        assert_eq!(refuse(text, data).kind(), "placeholder", "{text}");
    }
}

#[test]
fn styles_of_a_template_are_found_by_name() {
    let docx = written("# T\n\n## H\n\n- a\n");
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts(&docx) {
        let text = String::from_utf8(bytes).unwrap();
        let text =
            text.replace("\"Heading1\"", "\"berschrift1\"").replace("Normal\"", "Standard\"");
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let document = from_markdown("# Second\n\n## Chapter\n\n- b\n1. c\n");
    let template = Template { bytes: &bytes, data: &json!({}) };
    let again = fill_template(template, Some(&document), &DocxOptions::default()).unwrap();
    let body = part(&again, "word/document.xml");
    assert_eq!(texts(&body), "T|H|a|Second|Chapter|b|c");
    assert_eq!(body.matches("\"berschrift1\"").count(), 2, "{body}");
    assert_eq!(part(&again, "word/styles.xml").matches("heading 1").count(), 1);
    let lists = part(&again, "word/numbering.xml");
    assert_eq!(lists.matches("<w:abstractNum ").count(), 4);
    assert!(lists.rfind("<w:abstractNum ").unwrap() < lists.find("<w:num ").unwrap(), "{lists}");
}

#[test]
fn hostile_templates_are_refused() {
    let refuse = |bytes: &[u8], data: &Value| {
        fill_template(Template { bytes, data }, None, &DocxOptions::default()).unwrap_err().kind()
    };
    let none = json!({});
    assert_eq!(refuse(b"", &none), "damaged");
    assert_eq!(refuse(b"PK\x03\x04 nothing", &none), "damaged");
    assert_eq!(refuse(&[0xD0, 0xCF, 0x11, 0xE0, 1], &none), "unsupported");
    assert_eq!(refuse(&archive(&[("a.txt", b"x")]), &none), "unsupported");
    for name in ["../evil.sh", "word/../../evil.sh", "..\\evil.bat", "word/./x"] {
        assert_eq!(refuse(&with_part(name, ""), &none), "damaged", "{name}");
    }
    let bomb = archive(&[("bomb", &vec![b' '; 2 << 20])]);
    assert_eq!(super::archive::open(&bomb, 1 << 20).unwrap_err().kind(), "too_large");
    let deep = format!("{}{}", "<w:sdt>".repeat(5_000), "</w:sdt>".repeat(5_000));
    assert_eq!(refuse(&template(&deep), &none), "damaged");
    let wide = format!(
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>{{{{ l }}}}{}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
        "x".repeat(10_000)
    );
    let many = json!({"l": vec![1; 100_000]});
    assert_eq!(refuse(&template(&wide), &many), "too_large");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_gives_a_file_that_can_be_read(text in "\\PC{0,40}(\n\n|\u{1}|# |- |\\[\\^1\\]){0,3}\\PC{0,40}") {
        let docx = written(&text);
        for (name, bytes) in parts(&docx) {
            assert!(Tree::parse(&bytes).is_ok(), "{name} of {text:?}");
        }
    }
}

#[test]
fn templates_that_open_other_files_are_refused() {
    let relation = |kind: &str, mode: &str| {
        let relation = format!(
            "<Relationship Id=\"rId99\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}\" \
             Target=\"http://x.example/a\"{mode}/></Relationships>"
        );
        changed("word/_rels/document.xml.rels", "</Relationships>", &relation)
    };
    let field = |instruction: &str| {
        template(&format!(
            "<w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>{instruction}</w:p>"
        ))
    };
    let external = " TargetMode=\"External\"";
    let fill = |bytes: &[u8]| {
        let template = Template { bytes, data: &json!({}) };
        fill_template(template, None, &DocxOptions::default())
    };
    for hostile in [
        relation("oleObject", external),
        relation("aFChunk", ""),
        relation("image", external),
        relation("frame", external),
        relation("vbaProject", ""),
        field(
            "<w:r><w:instrText> DDE</w:instrText></w:r><w:r><w:instrText>AUTO c:\\x</w:instrText></w:r>",
        ),
        field("<w:r><w:instrText><!-- a -->DDE<!-- b -->AUTO c:\\x</w:instrText></w:r>"),
        field("<w:r><w:instrText>RD c:\\x</w:instrText></w:r>"),
        template("<w:p><w:fldSimple w:instr=' includetext \"file:///etc/passwd\"'/></w:p>"),
        template("<w:p xmlns:x='w'><x:fldSimple w:instr='INCLUDETEXT \"a\"'/></w:p>"),
        with_part("notes/comments.dat", "<w:c><w:instrText>DDEAUTO c:\\x</w:instrText></w:c>"),
    ] {
        assert!(matches!(fill(&hostile), Err(DocxError::Unsupported(_))));
    }
    for harmless in [
        relation("hyperlink", external),
        field("<w:r><w:instrText> HYPERLINK \"https://x.example\" </w:instrText></w:r>"),
        template("<w:p><w:fldSimple w:instr='PAGE'/></w:p>"),
    ] {
        fill(&harmless).unwrap();
    }
}

#[test]
fn the_data_of_a_mail_merge_is_left_out() {
    let merge = "<w:mailMerge><w:connectString w:val=\"secret\"/></w:mailMerge><w:zoom";
    let bytes = changed("word/settings.xml", "<w:zoom", merge);
    let template = Template { bytes: &bytes, data: &json!({}) };
    let docx = fill_template(template, None, &DocxOptions::default()).unwrap();
    let settings = part(&docx, "word/settings.xml");
    assert!(settings.contains("<w:zoom") && !settings.contains("secret"), "{settings}");
}

#[test]
fn many_footnotes_take_time_in_proportion() {
    let notes: String = (0..60_000).map(|at| format!("[^{at}]: x\n\n")).collect();
    let mut notes = Footnotes::of(&from_markdown(&notes), 1);
    let started = std::time::Instant::now();
    for _ in 0..2 {
        let cited = (0..60_000).filter_map(|at| notes.cite(&at.to_string())).count();
        assert_eq!(cited, 60_000);
    }
    assert_eq!(notes.cite("59999").as_deref(), Some("<w:t>60000</w:t>"));
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn open_braces_are_searched_once() {
    let braces = "{{ a ".repeat(60_000);
    let body = format!("<w:p><w:r><w:t>{braces}}}}}</w:t></w:r></w:p>");
    let started = std::time::Instant::now();
    let refused = filled(&body, &json!({"a": 1}), None).unwrap_err().to_string();
    assert!(refused.contains("is no path"), "{refused}");
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}
