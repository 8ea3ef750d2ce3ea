//! Headings, and the names of lists of references.

use language::words;

use super::Line;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// The index of its line.
    pub(super) line: usize,
    pub(super) level: usize,
    pub(super) text: String,
}

/// How sure a heading names a list of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Certain,
    Possible,
}

const CERTAIN: [&str; 46] = [
    "references",
    "reference list",
    "list of references",
    "reference",
    "references cited",
    "cited references",
    "references and notes",
    "notes and references",
    "bibliography",
    "selected bibliography",
    "annotated bibliography",
    "works cited",
    "work cited",
    "works consulted",
    "literature",
    "literature cited",
    "cited literature",
    "literatur",
    "literaturverzeichnis",
    "literaturangaben",
    "quellen",
    "quellenverzeichnis",
    "quellenangaben",
    "referenzen",
    "bibliographie",
    "references bibliographiques",
    "ouvrages cites",
    "bibliografia",
    "referencias",
    "referencias bibliograficas",
    "obras citadas",
    "riferimenti",
    "riferimenti bibliografici",
    "opere citate",
    "literatuur",
    "literatuurlijst",
    "referenties",
    "referenser",
    "litteratur",
    "litteraturforteckning",
    "referanser",
    "lahteet",
    "literatura",
    "参考文献",
    "литература",
    "список литературы",
];

const POSSIBLE: [&str; 12] = [
    "sources",
    "source list",
    "sources cited",
    "notes",
    "endnotes",
    "footnotes",
    "citations",
    "anmerkungen",
    "fussnoten",
    "fuentes",
    "参考资料",
    "источники",
];

/// Whether a heading names a list of references.
pub(super) fn references_name(text: &str) -> Option<Name> {
    let folded = fold(text);
    if CERTAIN.contains(&folded.as_str()) {
        return Some(Name::Certain);
    }
    POSSIBLE.contains(&folded.as_str()).then_some(Name::Possible)
}

/// Lower case without accents, marks and numbers at the start.
pub(super) fn fold(text: &str) -> String {
    let text = words::fold(text).replace('ß', "ss");
    let unnumbered = text.trim_start_matches(|c: char| !c.is_alphabetic());
    // A Roman number, as in `VI. References`.
    let unnumbered = match unnumbered.split_once(". ") {
        Some((number, rest))
            if number.len() <= 5 && number.chars().all(|c| "ivxlc".contains(c)) =>
        {
            rest
        }
        _ => unnumbered,
    };
    let kept = unnumbered.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    kept.collect::<Vec<_>>().join(" ")
}

/// Headings with marks, underlines or in bold, and lines that are nothing but the name of a list of references.
pub(super) fn headings(lines: &[Line<'_>]) -> Vec<Heading> {
    let mut headings = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.code || line.is_blank() || line.text.len() > 300 {
            continue;
        }
        let text = line.text.trim();
        let marks = text.bytes().take_while(|b| *b == b'#').count();
        if (1..=6).contains(&marks) && text[marks..].starts_with([' ', '\t']) {
            let text = text[marks..].trim().trim_end_matches('#').trim().to_owned();
            headings.push(Heading { line: at, level: marks, text });
            continue;
        }
        let blank_before = at == 0 || lines[at - 1].is_blank() || lines[at - 1].code;
        let underline = lines.get(at + 1).map_or("", |next| next.text.trim_end());
        let underlined = |mark: char| underline.len() >= 3 && underline.chars().all(|c| c == mark);
        if blank_before
            && !text.starts_with(['|', '>', '-', '['])
            && (underlined('=') || underlined('-'))
        {
            let level = if underlined('=') { 1 } else { 2 };
            headings.push(Heading { line: at, level, text: text.to_owned() });
            continue;
        }
        let bold = ["**", "__"].iter().find_map(|mark| {
            let inner = text.strip_prefix(mark)?.trim_end_matches(':').strip_suffix(mark)?;
            (!inner.contains(mark) && inner.len() <= 100).then_some(inner)
        });
        if blank_before && let Some(bold) = bold {
            headings.push(Heading { line: at, level: 6, text: bold.to_owned() });
            continue;
        }
        let named = references_name(text) == Some(Name::Certain)
            && text.chars().next().is_some_and(char::is_alphabetic);
        if blank_before && named {
            headings.push(Heading { line: at, level: 6, text: text.to_owned() });
        }
    }
    headings
}
