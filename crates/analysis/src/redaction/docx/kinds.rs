//! The parts that display needs. Every other part is dropped.

/// A kind of part, known by the last word of its relationship.
pub(super) struct Kind {
    pub(super) relation: &'static str,
    base: Base,
    content: &'static str,
    /// What its name begins with.
    pub(super) stem: &'static str,
}

/// The vendor that defines the type of a relationship.
enum Base {
    Standard,
    Microsoft(&'static str),
}

const STANDARD: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const STRICT: &str = "http://purl.oclc.org/ooxml/officeDocument/relationships";
const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.";
const DRAWING: &str = "application/vnd.openxmlformats-officedocument.drawingml.";

const fn word(relation: &'static str, content: &'static str, stem: &'static str) -> Kind {
    Kind { relation, base: Base::Standard, content, stem }
}

const fn microsoft(
    year: &'static str,
    relation: &'static str,
    content: &'static str,
    stem: &'static str,
) -> Kind {
    Kind { relation, base: Base::Microsoft(year), content, stem }
}

/// The main document.
pub(super) const MAIN: Kind = word("officeDocument", "W:document.main+xml", "document");

pub(super) const IMAGE: Kind = word("image", "", "media/image");

pub(super) const HYPERLINK: &str = "hyperlink";

const KINDS: [Kind; 19] = [
    word("styles", "W:styles+xml", "styles"),
    word("numbering", "W:numbering+xml", "numbering"),
    word("settings", "W:settings+xml", "settings"),
    word("webSettings", "W:webSettings+xml", "webSettings"),
    word("fontTable", "W:fontTable+xml", "fontTable"),
    word("header", "W:header+xml", "header"),
    word("footer", "W:footer+xml", "footer"),
    word("footnotes", "W:footnotes+xml", "footnotes"),
    word("endnotes", "W:endnotes+xml", "endnotes"),
    word("comments", "W:comments+xml", "comments"),
    word("theme", "application/vnd.openxmlformats-officedocument.theme+xml", "theme/theme"),
    word("chart", "D:chart+xml", "charts/chart"),
    word("chartUserShapes", "D:chartshapes+xml", "charts/shapes"),
    word("diagramData", "D:diagramData+xml", "diagrams/data"),
    word("diagramLayout", "D:diagramLayout+xml", "diagrams/layout"),
    word("diagramQuickStyle", "D:diagramStyle+xml", "diagrams/style"),
    word("diagramColors", "D:diagramColors+xml", "diagrams/colors"),
    microsoft(
        "2007",
        "diagramDrawing",
        "application/vnd.ms-office.drawingml.diagramDrawing+xml",
        "diagrams/drawing",
    ),
    microsoft(
        "2011",
        "chartColorStyle",
        "application/vnd.ms-office.chartcolorstyle+xml",
        "charts/colors",
    ),
];

/// The kind of a part by the type of its relationship.
pub(super) fn of(relation: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.relation == last_word(relation))
}

pub(super) fn last_word(relation: &str) -> &str {
    relation.rsplit('/').next().unwrap_or(relation)
}

/// Whether a relationship is one of the strict form of the format.
pub(super) fn is_strict(relation: &str) -> bool {
    relation.starts_with(STRICT)
}

/// The type of a relationship as it is written.
pub(super) fn uri(kind: &Kind, strict: bool) -> String {
    match kind.base {
        Base::Standard => standard_uri(kind.relation, strict),
        Base::Microsoft(year) => {
            format!("http://schemas.microsoft.com/office/{year}/relationships/{}", kind.relation)
        }
    }
}

pub(super) fn standard_uri(relation: &str, strict: bool) -> String {
    format!("{}/{relation}", if strict { STRICT } else { STANDARD })
}

pub(super) fn content_type(kind: &Kind) -> String {
    match kind.content.split_at_checked(2) {
        Some(("W:", rest)) => format!("{WORD}{rest}"),
        Some(("D:", rest)) => format!("{DRAWING}{rest}"),
        _ => kind.content.to_owned(),
    }
}

/// What a dropped part is, in words: names of parts may hold values themselves.
pub(super) fn describe(name: &str) -> &'static str {
    const WORDS: [(&str, &str); 16] = [
        ("thumbnail", "preview pictures"),
        ("docprops/", "properties"),
        (".psmdcp", "properties"),
        ("customxml/", "custom data"),
        ("glossary/", "building blocks"),
        ("vba", "macros"),
        ("embeddings/", "embedded files"),
        ("activex", "controls"),
        ("printersettings", "printer settings"),
        ("people", "lists of people"),
        ("comments", "states of comments"),
        ("fonts/", "embedded fonts"),
        ("media/", "drawings and other media"),
        (".htm", "inserted documents"),
        (".docx", "inserted documents"),
        (".rtf", "inserted documents"),
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().find(|(part, _)| name.contains(part)).map_or("other parts", |(_, words)| words)
}
