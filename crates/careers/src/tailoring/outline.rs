//! A résumé as name, contact data and sections of lines, in the words of the source.

use crate::jobs::header::names_role;
use crate::resumes::entries::{starts_or_ends, without_period};
use crate::resumes::lines::Line;
use crate::resumes::{SectionKind, contact, dates, labels, read_lines};

/// A longer line continues in the next one.
const FULL_LINE: usize = 70;
/// A longer line is no name of a position.
const NAME_WORDS: usize = 12;

#[derive(Debug, Default)]
pub(super) struct Outline {
    pub name: Option<String>,
    pub contact: Vec<String>,
    pub sections: Vec<OutlineSection>,
}

#[derive(Debug, Default)]
pub(super) struct OutlineSection {
    pub kind: Option<SectionKind>,
    pub heading: Option<String>,
    pub parts: Vec<OutlinePart>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct OutlinePart {
    pub kind: OutlineKind,
    pub text: String,
    pub dates: String,
    /// In characters of the text that was read.
    pub start: usize,
    pub end: usize,
    after_blank: bool,
    /// Whether its text was on the line before its dates.
    named_before: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OutlineKind {
    #[default]
    Line,
    Bullet,
    /// A line with a period of time.
    Dated,
    /// A line that names what the next dated line dates.
    Name,
}

/// Reads the outline of a résumé. Every line of the text is in it, but for the name and rules.
pub(super) fn read(text: &str) -> Outline {
    let lines = read_lines(text);
    let known = contact::read(&lines);
    let begun = lines.iter().position(|line| {
        line.section.is_some() || line.bullet || dates::period(&line.text).is_some()
    });
    let begun = begun.unwrap_or(lines.len());
    let mut outline = Outline { name: known.name.clone(), ..Outline::default() };
    let mut named = false;
    let mut label: Option<String> = None;
    for (at, line) in lines.iter().enumerate() {
        if line.heading {
            if line.section != Some(SectionKind::Contact) {
                let heading = Some(line.text.clone());
                outline.sections.push(OutlineSection {
                    kind: line.section,
                    heading,
                    parts: Vec::new(),
                });
            }
            continue;
        }
        let mut text = line.text.clone();
        // A title of the document, or the name as a signature.
        if at < begun && is_label(&text) || named && Some(&text) == known.name.as_ref() {
            continue;
        }
        if let (false, Some(name)) = (named, &known.name)
            && let Some(found) = text.find(name.as_str())
        {
            named = true;
            text.replace_range(found..found + name.len(), "");
            text = trim_signs(&text).to_owned();
            if text.is_empty() || is_label(&text) {
                continue;
            }
        }
        let mailed = known.email.as_ref().is_some_and(|mail| text.contains(mail.as_str()));
        let contact = line.section == Some(SectionKind::Contact)
            || at < begun && is_contact_data(&text, &known)
            || mailed && dates::period(&text).is_none();
        if contact && labels::is_label(&text) {
            label = Some(text);
            continue;
        }
        if contact {
            // A label on the line above its value.
            let text = match label.take() {
                Some(label) => format!("{}: {text}", label.trim_end_matches([':', ' '])),
                None => text,
            };
            outline.contact.extend(contact_items(&text));
            continue;
        }
        let section = section_of(&mut outline.sections, line.section);
        let next = lines.get(at + 1);
        add(section, &Line { text, ..line.clone() }, at.checked_sub(1).map(|at| &lines[at]), next);
    }
    outline.sections.retain(|section| section.heading.is_some() || !section.parts.is_empty());
    outline.sections.iter_mut().for_each(mark_names);
    outline
}

/// The last section, or a new one without a heading.
fn section_of(
    sections: &mut Vec<OutlineSection>,
    kind: Option<SectionKind>,
) -> &mut OutlineSection {
    // Contact data in the middle of a page does not end the section before it.
    if sections.is_empty() {
        sections.push(OutlineSection { kind, ..OutlineSection::default() });
    }
    let last = sections.len() - 1;
    &mut sections[last]
}

fn trim_signs(text: &str) -> &str {
    text.trim_matches(|sign: char| {
        !(sign.is_alphanumeric() || matches!(sign, '+' | '(' | ')' | '.'))
    })
}

/// Whether a line only says what the document is.
fn is_label(text: &str) -> bool {
    let text = text.trim_matches(|sign: char| !sign.is_alphabetic()).to_lowercase();
    [
        "curriculum vitae",
        "cv",
        "resume",
        "résumé",
        "lebenslauf",
        "curriculum",
        "currículo",
        "name",
        "nom",
        "nombre",
        "full name",
    ]
    .contains(&text.as_str())
}

fn is_contact_data(text: &str, known: &crate::resumes::Contact) -> bool {
    let has =
        |value: &Option<String>| value.as_ref().is_some_and(|value| text.contains(value.as_str()));
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let signs = text.chars().filter(|sign| sign.is_alphabetic()).count();
    has(&known.location) && text.split_whitespace().count() <= 12
        || known.links.iter().any(|link| text.contains(link.as_str()))
        || (8..=16).contains(&digits) && signs < 12 && dates::period(text).is_none()
}

fn contact_items(text: &str) -> Vec<String> {
    let items = text.split(['|', '·', '•', '\t']).map(str::trim);
    let mut found: Vec<String> = Vec::new();
    let mut label: Option<&str> = None;
    for item in items.filter(|item| item.contains(char::is_alphanumeric)) {
        match label.take() {
            Some(label) => found.push(format!("{}: {item}", label.trim_end_matches([':', ' ']))),
            // A label in the cell next to its value.
            None if labels::is_label(item) => label = Some(item),
            None => found.push(item.to_owned()),
        }
    }
    found.extend(label.map(str::to_owned));
    found
}

fn add(section: &mut OutlineSection, line: &Line, before: Option<&Line>, next: Option<&Line>) {
    let part = OutlinePart {
        kind: if line.bullet { OutlineKind::Bullet } else { OutlineKind::Line },
        text: line.text.clone(),
        dates: String::new(),
        start: line.start,
        end: line.end,
        after_blank: line.after_blank,
        named_before: false,
    };
    let study = matches!(section.kind, Some(SectionKind::Education | SectionKind::Certifications));
    let period = dates::period(&line.text)
        .or_else(|| dates::single(&line.text).filter(|_| study && !line.bullet));
    let short = |length: usize| line.text.len().saturating_sub(length) < 80;
    let period = period.filter(|period| {
        let fits = short(period.end - period.start);
        fits && (!line.bullet || starts_or_ends(&line.text, period))
    });
    if let Some(period) = period {
        let dates = line.text[period.start..period.end].to_owned();
        let text = without_period(&line.text, &period);
        add_dated(section, OutlinePart { kind: OutlineKind::Dated, text, dates, ..part });
        return;
    }
    match section.parts.last_mut() {
        Some(last) if last.kind == OutlineKind::Dated && last.text.is_empty() && !line.bullet => {
            last.text.clone_from(&line.text);
            last.end = line.end;
        }
        Some(last) if continues(last, line, before, next) => {
            last.text.push(' ');
            last.text.push_str(&line.text);
            last.end = line.end;
        }
        _ => section.parts.push(part),
    }
}

/// Adds a dated line. One without words takes the line before it, unless dates come first in this section.
fn add_dated(section: &mut OutlineSection, mut part: OutlinePart) {
    let leads = |first: &OutlinePart| first.kind == OutlineKind::Dated && !first.named_before;
    let dates_first = section.parts.first().is_some_and(leads);
    if part.text.is_empty()
        && !dates_first
        && let Some(before) =
            section.parts.pop_if(|before| before.kind == OutlineKind::Line && is_name(&before.text))
    {
        part.text = before.text;
        part.start = before.start;
        part.after_blank = before.after_blank;
        part.named_before = true;
    }
    section.parts.push(part);
}

/// Whether a line goes on with the text of the part before it.
fn continues(last: &OutlinePart, line: &Line, before: Option<&Line>, next: Option<&Line>) -> bool {
    if line.bullet || line.after_blank || last.kind == OutlineKind::Dated {
        return false;
    }
    if line.text.starts_with(char::is_lowercase) {
        return true;
    }
    let full = before.is_some_and(|before| before.text.chars().count() >= FULL_LINE);
    let dated_next = next.is_some_and(|next| dates::period(&next.text).is_some());
    full && !dated_next && !names_role(&line.text) && !last.text.ends_with('.')
}

fn is_name(text: &str) -> bool {
    text.split_whitespace().count() <= NAME_WORDS && !text.ends_with('.')
}

/// Marks the lines directly above a dated line that begin a new entry.
fn mark_names(section: &mut OutlineSection) {
    for at in 0..section.parts.len() {
        if section.parts[at].kind != OutlineKind::Dated {
            continue;
        }
        let names = section.parts[..at].iter().rev().take(2);
        let count =
            names.take_while(|part| part.kind == OutlineKind::Line && is_name(&part.text)).count();
        let first = at - count;
        let begins = first == 0
            || section.parts[first].after_blank
            || section.parts[first - 1].kind == OutlineKind::Bullet;
        if begins {
            section.parts[first..at].iter_mut().for_each(|part| part.kind = OutlineKind::Name);
        }
    }
}
