//! The lines of a résumé and the sections that they belong to.

use super::section_kind::SectionKind;
use super::{contact, dates, headings, names, roles};

/// A line without its markup.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub text: String,
    pub bullet: bool,
    /// Whether Markdown marks the line as a heading.
    pub marked: bool,
    /// The level of such a heading; 0 without one.
    pub level: usize,
    /// Whether a blank line precedes it.
    pub after_blank: bool,
    /// The section, if a heading precedes the line.
    pub section: Option<SectionKind>,
    /// Whether the line is the heading of its section.
    pub heading: bool,
    /// How many characters of markup precede the text.
    pub indent: usize,
    /// The place in the document, in characters.
    pub start: usize,
    pub end: usize,
}

/// Reads the lines of a document; blank lines and rules are left out.
pub(super) fn read(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let (mut start, mut after_blank) = (0, true);
    for raw in text.split('\n') {
        let end = start + raw.chars().count();
        let stripped = strip(raw);
        if stripped.text.is_empty() {
            after_blank = true;
        } else {
            lines.push(Line { start, end, after_blank, ..stripped });
            after_blank = false;
        }
        start = end + 1;
    }
    drop_needless_blanks(&mut lines);
    let lines = split_inline_headings(lines);
    mark_sections(lines)
}

/// Of a document with blank lines between nearly all lines, they say nothing.
fn drop_needless_blanks(lines: &mut [Line]) {
    let free = lines.iter().skip(1).filter(|line| !line.bullet);
    let (count, blank) = free
        .fold((0, 0), |(count, blank), line| (count + 1, blank + usize::from(line.after_blank)));
    if count > 8 && blank * 10 > count * 8 {
        lines.iter_mut().for_each(|line| line.after_blank = line.marked);
    }
}

/// Splits "SKILLS: Excel, SAP" into a heading and its text.
fn split_inline_headings(lines: Vec<Line>) -> Vec<Line> {
    let mut split: Vec<Line> = Vec::with_capacity(lines.len());
    let mut section = None;
    for line in lines {
        let Some((head, kind)) = inline_heading(&line, section) else {
            section = heading(&line, section).or(section);
            split.push(line);
            continue;
        };
        section = Some(kind);
        let head_length = head.chars().count() + line.indent;
        let rest = line.text[head.len()..].trim_start_matches([':', ' ', '\t']).to_owned();
        let skipped = line.text.chars().count() - head.chars().count() - rest.chars().count();
        let middle = (line.start + head_length).min(line.end);
        let title = format!("{head}:");
        split.push(Line { text: title, end: middle, ..line.clone() });
        split.push(Line {
            text: rest,
            after_blank: false,
            marked: false,
            level: 0,
            indent: skipped.min(line.end - middle),
            start: middle,
            ..line
        });
    }
    split
}

/// The heading before a colon, if the text behind it is the section.
fn inline_heading(line: &Line, section: Option<SectionKind>) -> Option<(String, SectionKind)> {
    let (head, rest) = line.text.split_once(':')?;
    let head = head.trim_end();
    if line.bullet || rest.trim().is_empty() || head.split_whitespace().count() > 3 {
        return None;
    }
    let kind = headings::kind_of(head)?;
    let upper = head.chars().count() > 3 && is_upper(head);
    let fits = match kind {
        // "Languages: Go, Rust" are skills.
        SectionKind::Languages => headings::names_spoken_language(rest),
        // "Technologies: Go" belongs to a position.
        SectionKind::Skills => upper || line.after_blank && section != Some(SectionKind::Skills),
        SectionKind::Summary
        | SectionKind::Education
        | SectionKind::Certifications
        | SectionKind::Other => {
            !is_weak(head)
                && (upper || line.after_blank)
                && !matches!(section, Some(SectionKind::Contact))
        }
        _ => false,
    };
    let outer = matches!(section, Some(SectionKind::Experience | SectionKind::Projects));
    (fits && (upper || line.after_blank || !outer)).then(|| (head.to_owned(), kind))
}

fn mark_sections(mut lines: Vec<Line>) -> Vec<Line> {
    let style = HeadingStyle::of(&lines);
    let mut section = None;
    for at in 0..lines.len() {
        let kind = heading(&lines[at], section).or_else(|| {
            style.is_unknown_heading(&lines, at, section).then_some(SectionKind::Other)
        });
        let heading = kind.is_some();
        section = kind.or(section);
        lines[at].heading = heading;
        lines[at].section = section;
    }
    lines
}

/// What the headings of a document look like.
struct HeadingStyle {
    /// The level of the Markdown headings that name sections.
    level: Option<usize>,
    /// Whether they are in capitals.
    capitals: bool,
    /// What mail address and links call the person.
    handles: String,
}

impl HeadingStyle {
    fn of(lines: &[Line]) -> Self {
        let known = || lines.iter().filter(|line| known(line).is_some());
        Self {
            level: known().filter(|line| line.marked).map(|line| line.level).max(),
            capitals: known().filter(|line| is_upper(&line.text)).count() > 1,
            handles: contact::handles(lines),
        }
    }

    /// Whether a line looks like the headings of the document but names no section that is known.
    fn is_unknown_heading(&self, lines: &[Line], at: usize, section: Option<SectionKind>) -> bool {
        let line = &lines[at];
        let ends = matches!(
            section,
            Some(SectionKind::Education | SectionKind::Certifications | SectionKind::Languages)
        );
        let alphabetic = line.text.chars().filter(|sign| sign.is_alphabetic()).count();
        let marked = line.marked && Some(line.level) == self.level;
        let capitals =
            self.capitals && line.after_blank && is_upper(&line.text) && alphabetic > 5 && ends;
        if section.is_none() || line.bullet || !(marked || capitals) {
            return false;
        }
        let named = names::names_study(&line.text)
            || roles::names_role(&line.text)
            || contact::is_addressed(&line.text, &self.handles);
        let entry = lines.iter().skip(at + 1).take(2).any(|next| {
            !next.bullet
                && (dates::period(&next.text).is_some()
                    || roles::names_role(&next.text)
                    || contact::is_reachable(&next.text))
        });
        !named
            && !entry
            && line.text.split_whitespace().count() <= 4
            && !line.text.contains(|sign: char| sign.is_ascii_digit() || sign == ',')
    }
}

fn known(line: &Line) -> Option<SectionKind> {
    if line.bullet { None } else { headings::kind_of(&line.text) }
}

fn strip(raw: &str) -> Line {
    let text = raw
        .replace(['\u{a0}', '\u{202f}', '\u{2009}'], " ")
        .replace("**", "")
        .replace("__", "")
        .replace('\r', "");
    let text = text.trim();
    let unhashed = text.trim_start_matches('#');
    let marked = unhashed.len() < text.len() && unhashed.starts_with(' ');
    let level = if marked { text.len() - unhashed.len() } else { 0 };
    let text = if marked { unhashed.trim() } else { text };
    let signs = ['•', '·', '◦', '▪', '‣', '●', '○', '■', '✓', '✔', '➢', '➤', '►', '\u{f0b7}'];
    let rest = text
        .strip_prefix(signs)
        .or_else(|| ["- ", "* ", "+ ", "– ", "o "].iter().find_map(|sign| text.strip_prefix(sign)));
    let bullet = rest.is_some();
    let text =
        rest.unwrap_or(text).trim().replace(" _", " ").trim_matches(['_', '\\']).trim().to_owned();
    // A row of a Markdown table.
    let text = if text.starts_with('|') { text.trim_matches('|').trim().to_owned() } else { text };
    let text = if text.contains(char::is_alphanumeric) { text } else { String::new() };
    let text = headings::join_spaced(&text).unwrap_or(text);
    let first = text.split_whitespace().next().unwrap_or("");
    let indent = raw.find(first).map_or(0, |at| raw[..at].chars().count());
    Line {
        text,
        bullet,
        marked,
        level,
        after_blank: false,
        section: None,
        heading: false,
        indent,
        start: 0,
        end: 0,
    }
}

/// The section that a line is the heading of.
fn heading(line: &Line, section: Option<SectionKind>) -> Option<SectionKind> {
    if line.bullet {
        return None;
    }
    let strong = line.marked || is_upper(&line.text) || line.text.ends_with(':');
    if let Some(kind) = headings::kind_of(&line.text) {
        // A word that may be a skill too.
        let open = line.after_blank && section != Some(SectionKind::Skills);
        return (strong || open || !is_weak(&line.text)).then_some(kind);
    }
    // A longer heading has to look like one: "Selected work experience".
    if !strong || roles::names_role(&line.text) {
        return None;
    }
    headings::kind_within(&line.text)
}

/// Headings that are skills, companies or sentences as often.
const WEAK: &str = "leadership|research|teaching|software|media|press|other|additional|community|service|talks|presentations|conferences|\
    personal|books|articles|language|school|schools|portfolio|military|highlights|activities|training|supervision|funding|grants|open \
    source|volunteer|associations|availability|details|bio|permis|prix|edv|informatique|informática|beruf|studies|kurse|tools|technologies|\
    declaration|engagement|engagements|parcours|work|jobs|career";

fn is_weak(text: &str) -> bool {
    let text = text.trim().trim_end_matches(':').to_lowercase();
    WEAK.split('|').any(|weak| weak == text)
}

fn is_upper(text: &str) -> bool {
    text.contains(char::is_uppercase) && !text.contains(char::is_lowercase)
}
