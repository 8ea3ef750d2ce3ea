//! Documents made for tests.

use std::io::{Cursor, Read as _, Write as _};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// A PDF with a text on each page, and a link to the web and a stamp on the first.
pub(crate) fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + at * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Count {} /Kids [{}] >>", pages.len(), kids.join(" ")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (at, text) in pages.iter().enumerate() {
        let link = if at == 0 {
            "/Annots [<< /Type /Annot /Subtype /Link /Rect [72 695 200 710] \
             /A << /S /URI /URI (https://example.org/first) >> >> \
             << /Type /Annot /Subtype /Stamp /Rect [0 0 9 9] >>]"
        } else {
            ""
        };
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R {link} \
             /Resources << /Font << /F 3 0 R >> >> >>",
            5 + at * 2
        ));
        let content = format!("BT /F 10 Tf 72 700 Td ({text}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    written(&objects, "")
}

/// A PDF that needs a password.
pub(crate) fn encrypted() -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] >>".to_owned(),
        format!("<< /Filter /Standard /V 1 /R 2 /P -4 /O <{0}> /U <{0}> >>", "41".repeat(32)),
    ];
    let id = "41".repeat(16);
    written(&objects, &format!("/Encrypt 4 0 R /ID [<{id}> <{id}>]"))
}

fn written(objects: &[String], trailer: &str) -> Vec<u8> {
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
        "trailer << /Size {} /Root 1 0 R {trailer} >>\nstartxref\n{xref}\n%%EOF\n",
        objects.len() + 1
    ));
    file.into_bytes()
}

/// The parts of a DOCX file, changed one by one.
pub(crate) fn changed(docx: &[u8], mut change: impl FnMut(&str, String) -> String) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(docx)).unwrap();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).unwrap();
        let name = file.name().unwrap().to_string();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        zip.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        zip.write_all(change(&name, text).as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A part of a DOCX file.
pub(crate) fn part(docx: &[u8], name: &str) -> String {
    let mut archive = ZipArchive::new(Cursor::new(docx)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}
