//! What Word and PowerPoint write in other ways than as plain runs: symbols, reading aids, diagrams, content for old programs.

use std::io::{Cursor, Write};

use documents::{Form, Limits, Options, extract, sniff, tables};
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

fn text(parts: &[(&str, &str)], form: Form) -> String {
    let bytes = package(parts);
    let options = Options::new(sniff(&bytes, None)).with_form(form);
    extract(bytes, &options, &Limits::default()).unwrap().text
}

/// A diagram of two points, with the points of its layout and its connections.
const DIAGRAM: &str = "<dgm:dataModel><dgm:ptLst>\
    <dgm:pt modelId='1'><dgm:t><a:bodyPr/><a:p><a:r><a:t>Collect </a:t></a:r><a:r><a:t>data</a:t></a:r></a:p></dgm:t></dgm:pt>\
    <dgm:pt modelId='2' type='parTrans'><dgm:t><a:p><a:endParaRPr/></a:p></dgm:t></dgm:pt>\
    <dgm:pt modelId='3'><dgm:t><a:p><a:r><a:t>Publish *it*</a:t></a:r></a:p></dgm:t></dgm:pt>\
    </dgm:ptLst></dgm:dataModel>";

#[test]
fn check_boxes_of_forms_and_tabs_to_a_margin_are_read() {
    let body = "<w:document><w:body>\
        <w:p><w:r><w:sym w:font='Wingdings' w:char='F0FE'/></w:r><w:r><w:t xml:space='preserve'> yes </w:t></w:r>\
        <w:r><w:sym w:font='Wingdings' w:char='F0A8'/></w:r><w:r><w:t xml:space='preserve'> no</w:t></w:r></w:p>\
        <w:p><w:r><w:t>Name</w:t><w:ptab w:alignment='right'/><w:t>Date</w:t></w:r></w:p>\
        <w:p><w:r><w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby>\
        </w:r></w:p></w:body></w:document>";
    let read = text(&[("word/document.xml", body)], Form::Text);
    assert_eq!(read.trim(), "☑ yes ☐ no\n\nName\tDate\n\n東");
}

#[test]
fn the_text_of_diagrams_is_read() {
    let relations =
        "<r><Relationship Id='d' Type='x/diagramData' Target='diagrams/data1.xml'/></r>";
    let body =
        "<w:document><w:body><w:p><w:r><w:t>Our plan</w:t></w:r></w:p></w:body></w:document>";
    let word = [
        ("word/document.xml", body),
        ("word/_rels/document.xml.rels", relations),
        ("word/diagrams/data1.xml", DIAGRAM),
    ];
    let read = text(&word, Form::Text);
    assert_eq!(
        read.split_whitespace().collect::<Vec<_>>().join(" "),
        "Our plan Collect data Publish *it*"
    );
    assert!(text(&word, Form::Markdown).contains("- Publish \\*it\\*"));

    let relations =
        "<r><Relationship Id='d' Type='x/diagramData' Target='../diagrams/data1.xml'/></r>";
    let slides = "<r><Relationship Id='s1' Type='x/slide' Target='slides/slide1.xml'/></r>";
    let show = [
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id='1' r:id='s1'/></p:sldIdLst></p:presentation>",
        ),
        ("ppt/_rels/presentation.xml.rels", slides),
        ("ppt/slides/slide1.xml", "<p:sld><p:cSld/></p:sld>"),
        ("ppt/slides/_rels/slide1.xml.rels", relations),
        ("ppt/diagrams/data1.xml", DIAGRAM),
    ];
    assert_eq!(text(&show, Form::Text).trim(), "Slide 1\nCollect data\nPublish *it*");
}

#[test]
fn cells_have_no_text_twice_and_none_that_was_moved_away() {
    let body = "<w:document><w:body><w:tbl><w:tr><w:tc><w:p>\
        <mc:AlternateContent><mc:Choice><w:r><w:t>Sum</w:t></w:r></mc:Choice>\
        <mc:Fallback><w:r><w:t>Sum</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p></w:tc>\
        <w:tc><w:p><w:moveFrom><w:r><w:t>gone</w:t></w:r></w:moveFrom><w:r><w:t>12</w:t><w:noBreakHyphen/><w:t>14 </w:t>\
        <w:sym w:font='Wingdings' w:char='F0FC'/></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>";
    let bytes = package(&[("word/document.xml", body)]);
    let options = Options::new(sniff(&bytes, None));
    let (found, _) = tables(&bytes, &options, &Limits::default()).unwrap();
    let cells: Vec<&str> = found[0].cells.iter().map(|cell| cell.text.as_str()).collect();
    assert_eq!(cells, ["Sum", "12-14 ✓"]);
}

#[test]
fn a_table_within_a_cell_does_not_join_words() {
    let cell = |text: &str| format!("<w:tc>{text}</w:tc>");
    let line = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let inner = format!("<w:tbl><w:tr>{}</w:tr></w:tbl>", cell(&line("inside")));
    let outer = format!("{}{inner}{}", line("Text before"), line("Text after"));
    let body = format!(
        "<w:document><w:body><w:tbl><w:tr>{}</w:tr></w:tbl></w:body></w:document>",
        cell(&outer)
    );
    let read = text(&[("word/document.xml", &body)], Form::Text);
    assert_eq!(
        read.split_whitespace().collect::<Vec<_>>(),
        ["Text", "before", "inside", "Text", "after"]
    );
}
