//! Office documents as Markdown: headings, lists, tables and links.

use std::io::{Cursor, Write};

use documents::{Extracted, Form, Limits, Options, extract, sniff};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [("[Content_Types].xml", "<Types/>")].iter().chain(parts) {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn read(parts: &[(&str, &str)], form: Form) -> Extracted {
    let bytes = package(parts);
    let options = Options::new(sniff(&bytes, None)).with_form(form);
    extract(bytes, &options, &Limits::default()).unwrap()
}

const STYLES: &str = "<w:styles>\
    <w:style w:styleId='H2'><w:name w:val='heading 2'/></w:style>\
    <w:style w:styleId='Own'><w:name w:val='Mine'/><w:pPr><w:outlineLvl w:val='2'/></w:pPr></w:style>\
    </w:styles>";

const NUMBERING: &str = "<w:numbering>\
    <w:abstractNum w:abstractNumId='5'><w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/></w:lvl>\
    <w:lvl w:ilvl='1'><w:numFmt w:val='bullet'/></w:lvl></w:abstractNum>\
    <w:num w:numId='3'><w:abstractNumId w:val='5'/></w:num></w:numbering>";

fn item(list: &str, level: &str, text: &str) -> String {
    format!(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr></w:pPr>\
         <w:r><w:t>{text}</w:t></w:r></w:p>"
    )
}

#[test]
fn word_headings_lists_and_links() {
    let relations = "<r>\
        <Relationship Id='s' Type='x/styles' Target='styles.xml'/>\
        <Relationship Id='n' Type='x/numbering' Target='numbering.xml'/>\
        <Relationship Id='l' Type='x/hyperlink' TargetMode='External' Target='https://example.com/'/>\
        <Relationship Id='j' Type='x/hyperlink' TargetMode='External' Target='javascript:alert(1)'/>\
        </r>";
    let body = [
        "<w:p><w:pPr><w:pStyle w:val='H2'/></w:pPr><w:r><w:t>Part *one*</w:t></w:r></w:p>",
        "<w:p><w:pPr><w:pStyle w:val='Own'/></w:pPr><w:r><w:t>Below</w:t></w:r></w:p>",
        "<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id='l'><w:r><w:t>our </w:t></w:r><w:r><w:t>site</w:t></w:r></w:hyperlink>\
         <w:r><w:t>, not </w:t></w:r><w:hyperlink r:id='j'><w:r><w:t>this</w:t></w:r></w:hyperlink></w:p>",
        &item("3", "0", "first"),
        &item("3", "1", "inner"),
        &item("3", "0", "second"),
        &item("9", "0", "bullet"),
    ]
    .concat();
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let core = "<c><dc:title>A | title</dc:title><dc:creator>Ann;Bo</dc:creator>\
        <dcterms:created>2026-03-15T08:00:00Z</dcterms:created><dc:language>de-AT</dc:language></c>";
    let parts = [
        ("word/document.xml", document.as_str()),
        ("word/_rels/document.xml.rels", relations),
        ("word/styles.xml", STYLES),
        ("word/numbering.xml", NUMBERING),
        ("docProps/core.xml", core),
    ];
    let read_as = read(&parts, Form::Markdown);
    assert_eq!(
        read_as.text,
        "## Part \\*one\\*\n\n### Below\n\nSee [our site](https://example.com/), not this\n\n\
         1. first\n  - inner\n2. second\n- bullet"
    );
    let meta = read_as.meta;
    assert_eq!(meta.author.as_deref(), Some("Ann, Bo"));
    assert_eq!(
        (meta.created.as_deref(), meta.language.as_deref()),
        (Some("2026-03-15"), Some("de-AT"))
    );
    let text = read(&parts, Form::Text).text;
    assert!(text.starts_with("Part *one*\n\nBelow\n\nSee our site, not this\n\n- first"), "{text}");
}

#[test]
fn heads_and_feet_of_word_are_no_main_content() {
    let relations = "<r><Relationship Id='h' Type='x/header' Target='header1.xml'/></r>";
    let parts = [
        ("word/document.xml", "<d><p><t>Text</t></p></d>"),
        ("word/_rels/document.xml.rels", relations),
        ("word/header1.xml", "<h><p><t>Head</t></p></h>"),
    ];
    assert_eq!(read(&parts, Form::Text).text, "Head\n\nText");
    assert_eq!(read(&parts, Form::MainMarkdown).text, "Text");
}

#[test]
fn slides_without_a_title_are_numbered() {
    let presentation = "<p><sldIdLst><p:sldId id='256' r:id='a'/></sldIdLst></p>";
    let slide = "<p:sld><p:sp><p:txBody>\
        <a:p><a:r><a:rPr><a:hlinkClick r:id='l'/></a:rPr><a:t>A box</a:t></a:r></a:p>\
        <a:p><a:pPr><a:buChar char='-'/></a:pPr><a:r><a:t>point</a:t></a:r></a:p>\
        </p:txBody></p:sp></p:sld>";
    let parts = [
        ("ppt/presentation.xml", presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            "<r><Relationship Id='a' Type='x/slide' Target='slides/slide1.xml'/></r>",
        ),
        ("ppt/slides/slide1.xml", slide),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            "<r><Relationship Id='l' Type='x/hyperlink' TargetMode='External' Target='https://example.com'/></r>",
        ),
    ];
    let read = read(&parts, Form::Markdown);
    assert_eq!(read.text, "## Slide 1\n\n[A box](https://example.com)\n\n- point");
}

#[test]
fn hidden_text_of_slides_is_left_out() {
    let presentation = "<p><sldIdLst><p:sldId id='256' r:id='a'/></sldIdLst></p>";
    let shape = |hidden: &str, text: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:cNvPr id='2' name='x' {hidden}/></p:nvSpPr><p:txBody><a:p><a:r>{text}</a:r></a:p></p:txBody></p:sp>"
        )
    };
    let slide = [
        "<p:sld>",
        &shape("hidden='1'", "<a:t>SECRET</a:t>"),
        &shape("hidden='0'", "<a:t>one</a:t>"),
        &shape("", "<a:rPr sz='100'/><a:t>SECRET</a:t>"),
        &shape("", "<a:rPr sz='1800'/><a:t>two</a:t>"),
        "<p:grpSp><p:nvGrpSpPr><p:cNvPr id='9' hidden='true'/></p:nvGrpSpPr>",
        &shape("", "<a:t>SECRET</a:t>"),
        "</p:grpSp>",
        &shape("", "<a:t>three</a:t>"),
        "</p:sld>",
    ]
    .concat();
    let parts = [
        ("ppt/presentation.xml", presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            "<r><Relationship Id='a' Type='x/slide' Target='slides/slide1.xml'/></r>",
        ),
        ("ppt/slides/slide1.xml", slide.as_str()),
    ];
    let read = read(&parts, Form::Text);
    assert_eq!(read.text, "Slide 1\none\ntwo\nthree");
    assert_eq!(read.hidden, 3 * "SECRET".len());
}

#[test]
fn text_that_word_does_not_show_is_left_out() {
    let styles = "<w:styles>\
        <w:style w:type='paragraph' w:default='1' w:styleId='N'><w:rPr><w:color w:val='FFFFFF'/></w:rPr></w:style>\
        <w:style w:styleId='Gone'><w:rPr><w:vanish/></w:rPr></w:style>\
        <w:style w:styleId='Child'><w:basedOn w:val='Gone'/></w:style>\
        <w:style w:styleId='Shown'><w:basedOn w:val='Child'/><w:rPr><w:vanish w:val='0'/></w:rPr></w:style>\
        <w:style w:styleId='White'><w:basedOn w:val='White'/><w:rPr><w:color w:val='FFFFFF'/></w:rPr></w:style>\
        <w:style w:styleId='Banner'><w:basedOn w:val='White'/><w:pPr><w:shd w:fill='003366'/></w:pPr></w:style>\
        <w:style w:styleId='Dust'><w:rPr><w:sz w:val='2'/></w:rPr></w:style>\
        <w:style w:styleId='Plain'/>\
        <w:style w:type='table' w:styleId='Dark'><w:tblStylePr><w:tcPr><w:shd w:fill='000000'/></w:tcPr></w:tblStylePr></w:style>\
        </w:styles>";
    let paragraph = |style: &str, run: &str, text: &str| {
        format!(
            "<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let cell = paragraph("White", "", "four");
    let body = [
        "<w:p><w:r><w:t>SECRET</w:t></w:r></w:p>",
        &paragraph("Gone", "", "SECRET"),
        &paragraph("Child", "", "SECRET"),
        &paragraph("White", "", "SECRET"),
        &paragraph("Dust", "", "SECRET"),
        &paragraph("Plain", "<w:rStyle w:val='White'/>", "SECRET"),
        &paragraph("Plain", "<w:color w:val='FBFCFD'/>", "SECRET"),
        &paragraph("Plain", "<w:color w:val='FFFFFF'/><w:shd w:fill='FFFFFF'/>", "SECRET"),
        &paragraph("Plain", "<w:color w:val='FFFFFF'/><w:highlight w:val='white'/>", "SECRET"),
        &paragraph("Shown", "", "one"),
        &paragraph("White", "<w:color w:val='000000'/>", "two"),
        &paragraph("Banner", "", "three"),
        &format!("<w:tbl><w:tblPr><w:tblStyle w:val='Dark'/></w:tblPr><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>"),
        &paragraph("Dust", "<w:sz w:val='24'/>", "five"),
        &paragraph("Plain", "<w:color w:val='FAFAFA'/>", "six"),
    ]
    .concat();
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let parts = [
        ("word/document.xml", document.as_str()),
        (
            "word/_rels/document.xml.rels",
            "<r><Relationship Id='s' Type='x/styles' Target='styles.xml'/></r>",
        ),
        ("word/styles.xml", styles),
    ];
    let read = read(&parts, Form::Text);
    assert_eq!(read.text, "one\n\ntwo\n\nthree\n\nfour\n\nfive\n\nsix");
    assert_eq!(read.hidden, 9 * "SECRET".len());
}
