//! Documents made for tests.

use std::io::{Cursor, Write as _};

/// A PDF with one content stream for each page, and more entries in its catalog.
pub(crate) fn pdf(pages: &[&str], catalog: &str, more: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + at * 2)).collect();
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R {catalog} >>"),
        format!("<< /Type /Pages /Count {} /Kids [{}] >>", pages.len(), kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (at, content) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
             /Resources << /Font << /F 3 0 R >> >> >>",
            5 + at * 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    objects.extend(more.iter().map(|object| (*object).to_owned()));
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
    }
    let xref = file.len();
    file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for offset in offsets {
        file.push_str(&format!("{offset:010} 00000 n \n"));
    }
    file.push_str(&format!(
        "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n",
        objects.len() + 1
    ));
    file.into_bytes()
}

/// Drawing instructions for texts at positions from the lower left.
pub(crate) fn texts(texts: &[(u32, u32, &str)]) -> String {
    let shown = texts.iter().map(|(x, y, text)| format!("BT /F 10 Tf {x} {y} Td ({text}) Tj ET"));
    shown.collect::<Vec<_>>().join("\n")
}

/// A table with ruled lines: 100 points wide and 20 high cells, whose lower left corner is at (x, y).
pub(crate) fn ruled(x: u32, y: u32, rows: &[&[&str]]) -> String {
    let (width, height) = (rows[0].len() as u32 * 100, rows.len() as u32 * 20);
    let mut content = String::new();
    for line in 0..=rows.len() as u32 {
        content.push_str(&format!("{x} {} m {} {0} l S\n", y + line * 20, x + width));
    }
    for line in 0..=rows[0].len() as u32 {
        content.push_str(&format!("{} {y} m {0} {} l S\n", x + line * 100, y + height));
    }
    for (row, cells) in rows.iter().enumerate() {
        for (col, text) in cells.iter().enumerate() {
            let at = (x + col as u32 * 100 + 5, y + height - row as u32 * 20 - 14);
            content.push_str(&texts(&[(at.0, at.1, text)]));
            content.push('\n');
        }
    }
    content
}

/// An archive with these parts.
pub(crate) fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const TYPES: (&str, &str) = ("[Content_Types].xml", "<Types/>");

/// A DOCX file with this body and more parts.
pub(crate) fn docx(body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let mut parts = vec![TYPES, ("word/document.xml", document.as_str())];
    parts.extend(more);
    archive(&parts)
}

/// A PPTX file with one slide.
pub(crate) fn pptx(slide: &str) -> Vec<u8> {
    let relations = "<Relationships><Relationship Id='rId1' Type='x/slide' Target='slides/slide1.xml'/></Relationships>";
    let slide = format!("<p:sld><p:cSld>{slide}</p:cSld></p:sld>");
    archive(&[
        TYPES,
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='rId1'/></p:sldIdLst></p:presentation>",
        ),
        ("ppt/_rels/presentation.xml.rels", relations),
        ("ppt/slides/slide1.xml", &slide),
    ])
}

/// An XLSX file with one sheet.
pub(crate) fn xlsx(sheet: &str) -> Vec<u8> {
    let relations = "<Relationships><Relationship Id='rId1' Type='x/worksheet' Target='worksheets/sheet1.xml'/></Relationships>";
    let sheet = format!("<worksheet>{sheet}</worksheet>");
    archive(&[
        TYPES,
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='One' sheetId='1' r:id='rId1'/></sheets></workbook>",
        ),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}
