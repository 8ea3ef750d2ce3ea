//! Reads résumés in English, German, French, Spanish, Portuguese and Italian from plain text or Markdown.

pub(crate) mod contact;
pub(crate) mod dates;
pub(crate) mod entries;
mod fields;
mod finder;
mod headings;
pub(crate) mod labels;
pub(crate) mod lines;
pub(crate) mod listed;
pub(crate) mod names;
mod places;
mod profile;
pub(crate) mod roles;
mod section_kind;
mod timeline;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use profile::{Contact, Education, Position, Profile};
pub use section_kind::SectionKind;
pub use timeline::{Gap, Month, Timeline};

use crate::source::Source;
use lines::Line;

/// A section of a résumé, in characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    pub kind: SectionKind,
    /// The heading as written; null before the first one.
    pub heading: Option<String>,
    pub start: usize,
    pub end: usize,
}

/// The most lines of a document that are read.
const MAX_LINES: usize = 20_000;

/// Reads a résumé.
pub fn profile(text: &str) -> Profile {
    let lines = read_lines(text);
    Profile {
        contact: contact::read(&lines),
        experience: entries::positions(&lines),
        education: entries::education(&lines),
        skills: listed::read(&lines),
    }
}

/// The sections of a résumé by its headings.
pub fn sections(text: &str) -> Vec<Section> {
    let lines = read_lines(text);
    let mut sections: Vec<Section> = Vec::new();
    for line in &lines {
        if line.heading || sections.is_empty() {
            let kind = line.section.unwrap_or(SectionKind::Contact);
            let heading = line.heading.then(|| line.text.clone());
            sections.push(Section { kind, heading, start: line.start, end: line.end });
        } else if let Some(section) = sections.last_mut() {
            section.end = line.end;
        }
    }
    sections
}

/// The lines of a résumé that are not contact data, with their places.
pub fn body(text: &str, contact: &Contact) -> Vec<Source> {
    let lines = read_lines(text);
    let begun = lines.iter().position(|line| {
        line.section.is_some() || line.bullet || dates::period(&line.text).is_some()
    });
    let body = lines
        .iter()
        .skip(begun.unwrap_or(lines.len()))
        .filter(|line| !line.heading && !contact::is_contact(line, contact));
    body.map(|line| Source { start: Some(line.start + line.indent), text: line.text.clone() })
        .collect()
}

/// The text of a document as Markdown: its headings and lists marked as such.
pub fn markdown(text: &str) -> String {
    let lines = read_lines(text);
    let name = contact::read(&lines).name;
    let mut out = String::new();
    for line in &lines {
        let text = &line.text;
        if line.after_blank || line.heading {
            out.push('\n');
        }
        match line {
            _ if Some(text) == name.as_ref() => out.push_str(&format!("# {text}\n")),
            Line { heading: true, .. } => out.push_str(&format!("## {text}\n\n")),
            Line { bullet: true, .. } => out.push_str(&format!("- {text}\n")),
            _ => out.push_str(&format!("{text}\n")),
        }
    }
    out.trim_start().to_owned()
}

pub(crate) fn read_lines(text: &str) -> Vec<Line> {
    let mut lines = lines::read(text);
    lines.truncate(MAX_LINES);
    contact::claim(&mut lines);
    lines
}

#[cfg(test)]
mod tests;
