//! The empty package that documents without a template go into.

use super::archive::Part;
use super::options::{DocxOptions, PageSize};

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
const WORD: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const WORD_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";

impl PageSize {
    /// Width and height in twentieths of a point.
    fn twips(self) -> (u32, u32) {
        match self {
            Self::A4 => (11_906, 16_838),
            Self::Letter => (12_240, 15_840),
        }
    }
}

pub(super) fn parts(options: &DocxOptions) -> Vec<Part> {
    let mut parts = vec![
        part("[Content_Types].xml", content_types(options)),
        part("_rels/.rels", package_relations()),
        part("docProps/core.xml", core()),
        part("docProps/app.xml", app()),
        part("word/document.xml", document(options)),
        part("word/_rels/document.xml.rels", document_relations(options)),
        part("word/styles.xml", styles()),
        part("word/settings.xml", settings()),
    ];
    if options.page_numbers {
        parts.push(part("word/footer1.xml", footer()));
    }
    parts
}

fn part(name: &str, content: String) -> Part {
    Part { name: name.to_owned(), bytes: format!("{DECLARATION}{content}").into_bytes() }
}

fn content_types(options: &DocxOptions) -> String {
    let footer = if options.page_numbers {
        format!("<Override PartName=\"/word/footer1.xml\" ContentType=\"{WORD_TYPE}.footer+xml\"/>")
    } else {
        String::new()
    };
    format!(
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"/word/document.xml\" ContentType=\"{WORD_TYPE}.document.main+xml\"/>\
         <Override PartName=\"/word/styles.xml\" ContentType=\"{WORD_TYPE}.styles+xml\"/>\
         <Override PartName=\"/word/settings.xml\" ContentType=\"{WORD_TYPE}.settings+xml\"/>\
         <Override PartName=\"/docProps/core.xml\" ContentType=\"application/vnd.openxmlformats-package.core-properties+xml\"/>\
         <Override PartName=\"/docProps/app.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.extended-properties+xml\"/>\
         {footer}</Types>"
    )
}

fn package_relations() -> String {
    format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"rId1\" Type=\"{OFFICE}/officeDocument\" Target=\"word/document.xml\"/>\
         <Relationship Id=\"rId2\" Type=\"http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties\" \
         Target=\"docProps/core.xml\"/>\
         <Relationship Id=\"rId3\" Type=\"{OFFICE}/extended-properties\" Target=\"docProps/app.xml\"/></Relationships>"
    )
}

fn document_relations(options: &DocxOptions) -> String {
    let footer = if options.page_numbers {
        format!("<Relationship Id=\"rId3\" Type=\"{OFFICE}/footer\" Target=\"footer1.xml\"/>")
    } else {
        String::new()
    };
    format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
         <Relationship Id=\"rId1\" Type=\"{OFFICE}/styles\" Target=\"styles.xml\"/>\
         <Relationship Id=\"rId2\" Type=\"{OFFICE}/settings\" Target=\"settings.xml\"/>{footer}</Relationships>"
    )
}

fn core() -> String {
    "<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
     xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\" \
     xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"/>"
        .to_owned()
}

fn app() -> String {
    "<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/extended-properties\">\
     <Application>Powerstrip</Application></Properties>"
        .to_owned()
}

fn document(options: &DocxOptions) -> String {
    let (width, height) = options.page.twips();
    let footer = if options.page_numbers {
        "<w:footerReference w:type=\"default\" r:id=\"rId3\"/>"
    } else {
        ""
    };
    format!(
        "<w:document {WORD}><w:body><w:sectPr>{footer}<w:pgSz w:w=\"{width}\" w:h=\"{height}\"/>\
         <w:pgMar w:top=\"1304\" w:right=\"1304\" w:bottom=\"1304\" w:left=\"1304\" w:header=\"709\" w:footer=\"624\" \
         w:gutter=\"0\"/></w:sectPr></w:body></w:document>"
    )
}

/// The defaults; other styles are added with the content.
fn styles() -> String {
    format!(
        "<w:styles {WORD}><w:docDefaults><w:rPrDefault><w:rPr>\
         <w:rFonts w:ascii=\"Calibri\" w:hAnsi=\"Calibri\" w:eastAsia=\"Calibri\" w:cs=\"Calibri\"/>\
         <w:sz w:val=\"22\"/><w:szCs w:val=\"22\"/></w:rPr></w:rPrDefault><w:pPrDefault/></w:docDefaults>\
         <w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/><w:qFormat/>\
         <w:pPr><w:spacing w:after=\"140\" w:line=\"271\" w:lineRule=\"auto\"/></w:pPr></w:style>\
         <w:style w:type=\"character\" w:default=\"1\" w:styleId=\"DefaultParagraphFont\">\
         <w:name w:val=\"Default Paragraph Font\"/><w:uiPriority w:val=\"1\"/><w:semiHidden/></w:style>\
         <w:style w:type=\"table\" w:default=\"1\" w:styleId=\"TableNormal\"><w:name w:val=\"Normal Table\"/>\
         <w:uiPriority w:val=\"99\"/><w:semiHidden/><w:tblPr><w:tblInd w:w=\"0\" w:type=\"dxa\"/><w:tblCellMar>\
         <w:top w:w=\"0\" w:type=\"dxa\"/><w:left w:w=\"108\" w:type=\"dxa\"/><w:bottom w:w=\"0\" w:type=\"dxa\"/>\
         <w:right w:w=\"108\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr></w:style></w:styles>"
    )
}

fn settings() -> String {
    format!(
        "<w:settings {WORD}><w:zoom w:percent=\"100\"/><w:defaultTabStop w:val=\"709\"/>\
         <w:characterSpacingControl w:val=\"doNotCompress\"/>\
         <w:compat><w:compatSetting w:name=\"compatibilityMode\" w:uri=\"http://schemas.microsoft.com/office/word\" \
         w:val=\"15\"/></w:compat></w:settings>"
    )
}

fn footer() -> String {
    format!(
        "<w:ftr {WORD}><w:p><w:pPr><w:spacing w:after=\"0\"/><w:jc w:val=\"center\"/></w:pPr>\
         <w:r><w:rPr><w:sz w:val=\"18\"/></w:rPr><w:fldChar w:fldCharType=\"begin\"/></w:r>\
         <w:r><w:rPr><w:sz w:val=\"18\"/></w:rPr><w:instrText xml:space=\"preserve\"> PAGE </w:instrText></w:r>\
         <w:r><w:rPr><w:sz w:val=\"18\"/></w:rPr><w:fldChar w:fldCharType=\"separate\"/></w:r>\
         <w:r><w:rPr><w:noProof/><w:sz w:val=\"18\"/></w:rPr><w:t>1</w:t></w:r>\
         <w:r><w:rPr><w:sz w:val=\"18\"/></w:rPr><w:fldChar w:fldCharType=\"end\"/></w:r></w:p></w:ftr>"
    )
}
