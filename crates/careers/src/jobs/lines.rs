//! The lines of a job description: bullets, headings, and `key: value` pairs.

use super::mode;
use super::words::{self, Field, Section};
use crate::skills::Lexicon;

/// A line without its markup.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub text: String,
    pub bullet: bool,
    /// What the line belongs to by the heading above it.
    pub section: Section,
    /// The field that the line names, if it is a pair of key and value.
    pub field: Option<(Field, String)>,
}

/// What a line looks like before its section is known.
struct Raw {
    text: String,
    bullet: bool,
    marked: bool,
}

/// The longest heading, in words.
const MAX_HEADING_WORDS: usize = 9;
/// The lines of the head of a description, one of which is the title.
const FIRST_LINES: usize = 6;

/// Reads the lines of a text; blank lines and headings are left out.
pub(super) fn read(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut section = Section::None;
    let mut items = 0;
    let mut blank = false;
    let mut after_pair = false;
    let raws: Vec<Raw> = super::tables::lines(text).iter().map(|line| strip_markup(line)).collect();
    let mut first = raws.iter().filter(|raw| !raw.text.is_empty() && !raw.bullet).take(FIRST_LINES);
    let no_role = !first.any(|raw| super::header::names_role(&raw.text));
    for raw in raws {
        if raw.text.is_empty() {
            blank = true;
            continue;
        }
        if let Some(pair) = pair(&raw) {
            let (field, value) = pair;
            section = words::section_of_field(field).unwrap_or(Section::None);
            items = 1;
            after_pair = true;
            blank = false;
            lines.push(Line {
                text: raw.text,
                bullet: raw.bullet,
                section,
                field: Some((field, value)),
            });
            continue;
        }
        // "Team Member" at the top is a title.
        let title = lines.is_empty()
            && (super::header::names_role(&raw.text)
                || no_role
                    && words::section(&raw.text).is_none()
                    && super::titles::looks_like_title(&raw.text));
        if let Some(heading) = heading(&raw, blank || lines.is_empty()).filter(|_| !title) {
            section = heading;
            items = 0;
        } else {
            // A paragraph after the list of a section does not belong to it, nor does one after `key: value`.
            if (blank && items > 0 || after_pair) && !raw.bullet {
                section = Section::None;
            }
            items += 1;
            lines.push(Line { text: raw.text, bullet: raw.bullet, section, field: None });
        }
        blank = false;
        after_pair = false;
    }
    lines
}

fn strip_markup(line: &str) -> Raw {
    let line =
        line.replace(['\u{a0}', '\u{202f}', '\u{2009}'], " ").replace("**", "").replace("__", "");
    let line = line.trim();
    let unhashed = line.trim_start_matches('#');
    let marked = unhashed.len() < line.len() && unhashed.starts_with(' ');
    let line = if marked { unhashed.trim() } else { line };
    let (line, bullet) = match strip_bullet(line) {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    if !line.contains(char::is_alphanumeric) {
        return Raw { text: String::new(), bullet: false, marked: false };
    }
    Raw { text: line.trim().to_owned(), bullet, marked }
}

/// The rest of a line after the sign of a list.
fn strip_bullet(line: &str) -> Option<&str> {
    let signs =
        ['-', '–', '—', '*', '•', '·', '◦', '▪', '‣', '●', '○', '■', '✓', '✔', '➢', '→', '+', '>'];
    if let Some(rest) = line.strip_prefix(signs) {
        return (rest.starts_with([' ', '\t']) || !line.starts_with(['-', '+', '*', '>']))
            .then_some(rest);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')'])?;
    (digits > 0 && digits < 3 && rest.starts_with(' ')).then_some(rest)
}

/// The field and the value of a line such as `Location: Leeds`.
fn pair(raw: &Raw) -> Option<(Field, String)> {
    let cut = [":", "\t", " | ", " – ", " - "].iter().find_map(|sign| {
        let (key, value) = raw.text.split_once(sign)?;
        let likely = || super::labels::likely_fields(key, value).find(|field| fits(*field, value));
        let list = || words::list_field(key).or_else(likely).filter(|_| *sign == ":");
        let field = words::field(key).or_else(list)?;
        // A title may be followed by a dash, and "Remote" by a place; only a colon makes it a pair.
        let pair = match field {
            Field::Title => false,
            Field::Mode => mode::remote_value(value).is_some(),
            _ => true,
        };
        (*sign == ":" || *sign == "\t" || pair).then_some((field, value))
    })?;
    let value = cut.1.trim().trim_start_matches(['|', '-', '–', ' ']).trim_end_matches(['|', ' ']);
    (!value.is_empty()).then(|| (cut.0, value.to_owned()))
}

/// Whether a value is one of its field.
fn fits(field: Field, value: &str) -> bool {
    match field {
        Field::Pay => super::pay::find(value, true).is_some(),
        Field::Years => super::years::find(value, true).is_some(),
        Field::Mode => mode::remote_value(value).is_some(),
        Field::Level => mode::level(value).is_some(),
        Field::Title => super::header::names_role(value),
        Field::Location => value.trim().starts_with(char::is_uppercase),
        _ => false,
    }
}

/// The section that a heading opens.
fn heading(raw: &Raw, after_blank: bool) -> Option<Section> {
    let text = raw.text.trim_end_matches([':', '?', '!', '…']).trim();
    let colon = raw.text.ends_with(':');
    let words = text.split_whitespace().count();
    if raw.bullet || words == 0 || words > MAX_HEADING_WORDS || text.ends_with(['.', ',', ';']) {
        return None;
    }
    // Boards write "About the job" above the whole description.
    if ["about the job", "full job description"].contains(&text.to_lowercase().as_str()) {
        return Some(Section::None);
    }
    let plain = !colon && !raw.marked && !after_blank && !is_upper(text);
    if plain && names_skill(text) {
        return None;
    }
    if let Some(section) = words::section(text) {
        return (colon || raw.marked || after_blank || is_upper(text) || words <= 4)
            .then_some(section);
    }
    // Headings that are not known end the section before them.
    // "EARN $500 DAILY" is no heading, nor is a list.
    let loud = is_upper(text)
        && words > 1
        && !text.contains(|sign: char| sign == ';' || sign.is_ascii_digit());
    let unknown = colon || (raw.marked && after_blank) || loud;
    let title = super::header::names_role(text) || super::header::addresses_all_genders(text);
    (unknown && !title).then_some(Section::Other)
}

/// Whether a line is an item such as "Strong Excel skills", and no heading such as "Key skills".
fn names_skill(text: &str) -> bool {
    let Some((term, noun)) = text.rsplit_once(' ') else { return false };
    let nouns = ["skills", "knowledge", "kenntnisse"];
    let term = term.to_lowercase();
    let mut ends = std::iter::successors(Some(term.as_str()), |term| Some(term.split_once(' ')?.1));
    nouns.contains(&noun.to_lowercase().as_str())
        && ends.any(|term| Lexicon::shipped().kind(term).is_some())
}

fn is_upper(text: &str) -> bool {
    text.contains(char::is_uppercase) && !text.contains(char::is_lowercase)
}
