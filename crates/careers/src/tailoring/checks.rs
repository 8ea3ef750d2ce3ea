//! Checks what edits make of a résumé: the lines of the result, not the edits alone, which may join to something new.

use std::collections::HashSet;

use super::edits::{Edit, EditError, Edited};
use super::facts::{FactKind, Facts};
use super::outline::{Outline, OutlineKind, OutlinePart, OutlineSection};
use super::plain_words;
use super::shown::shown;
use crate::resumes::names::is_degree;
use crate::resumes::roles::names_role;
use crate::resumes::{SectionKind, dates};

/// A longer line is no name of a position, an employer or a degree.
const NAME_WORDS: usize = 8;
/// How many lines below the dates of an entry may name it.
const NAMES_BELOW: usize = 2;

/// Refuses edits whose result states what the source does not.
pub(super) fn check(
    source: &str,
    facts: &Facts,
    edits: &[Edit],
    edited: &Edited,
    after: &Outline,
) -> Result<(), EditError> {
    if edits.is_empty() {
        return Ok(());
    }
    let before = super::outline::read(source);
    check_facts(facts, edited, &before, after)?;
    check_contact(edited, &before, after)?;
    check_entries(edited, &before, after)?;
    check_denials(source, edits)
}

/// The lines that the source does not have state no new fact.
fn check_facts(
    facts: &Facts,
    edited: &Edited,
    before: &Outline,
    after: &Outline,
) -> Result<(), EditError> {
    let known = texts(before);
    let own = |text: &str| known.contains(text);
    let headings = after.sections.iter().filter_map(|section| section.heading.as_deref());
    let plain = headings.chain(after.contact.iter().map(String::as_str));
    for text in plain.chain(after.name.as_deref()).filter(|text| !own(text)) {
        let new = facts.new_in(text);
        if !new.is_empty() {
            return Err(EditError::NewFacts { index: edited.edit_with(&new[0].text), facts: new });
        }
    }
    for section in &after.sections {
        let listed = matches!(
            section.kind,
            Some(SectionKind::Skills | SectionKind::Languages | SectionKind::Certifications)
        );
        for part in &section.parts {
            let lines = [&part.text, &part.dates].into_iter().filter(|text| !own(text));
            for text in lines {
                let mut new = facts.new_in(text);
                if listed && new.is_empty() {
                    new = facts.new_words(text);
                }
                // The dates of an entry are compared with those of the entry.
                new.retain(|fact| text == &part.text || fact.kind != FactKind::Name);
                if !new.is_empty() {
                    let index = edited.edit_at(part.start, part.end);
                    return Err(EditError::NewFacts { index, facts: new });
                }
            }
        }
    }
    Ok(())
}

/// All texts of an outline.
fn texts(outline: &Outline) -> HashSet<&str> {
    let mut texts: HashSet<&str> = outline.contact.iter().map(String::as_str).collect();
    texts.extend(outline.name.as_deref());
    for section in &outline.sections {
        texts.extend(section.heading.as_deref());
        texts.extend(
            section.parts.iter().flat_map(|part| [part.text.as_str(), part.dates.as_str()]),
        );
    }
    texts
}

/// The name and the contact data are the source's; some may be left out.
fn check_contact(edited: &Edited, before: &Outline, after: &Outline) -> Result<(), EditError> {
    if let Some(name) = &after.name
        && before.name.as_ref() != Some(name)
    {
        return Err(EditError::Field { index: edited.edit_with(name), text: name.clone() });
    }
    let known: Vec<Vec<String>> = before.contact.iter().map(|item| segments(item)).collect();
    let lines: Vec<Vec<String>> = parts(before).map(|part| segments(&part.text)).collect();
    let shared: HashSet<&String> = before.contact.iter().collect();
    for item in after.contact.iter().filter(|item| !shared.contains(item)) {
        let own = segments(item);
        if !known.iter().chain(&lines).any(|known| own.iter().all(|one| known.contains(one))) {
            return Err(EditError::Field { index: edited.edit_with(item), text: item.clone() });
        }
    }
    Ok(())
}

/// What a line or several say about one position or degree.
#[derive(Default)]
struct Entry {
    segments: Vec<String>,
    dates: String,
    text: String,
    start: usize,
    end: usize,
}

impl Entry {
    fn add(&mut self, part: &OutlinePart) {
        if self.text.is_empty() {
            self.start = part.start;
            self.text.clone_from(&part.text);
        }
        self.end = part.end;
        self.segments.extend(segments(&part.text));
        if !part.dates.is_empty() {
            self.dates.clone_from(&part.dates);
        }
    }

    fn key(self) -> (Vec<String>, String) {
        (self.segments, self.dates)
    }

    /// Whether everything here is in an entry of the source.
    fn is_of(&self, other: &Self) -> bool {
        let period = |dates: &str| {
            dates::period(dates)
                .or_else(|| dates::single(dates))
                .map(|found| (found.from, found.to))
        };
        let same_dates = self.dates.is_empty()
            || self.dates == other.dates
            || period(&self.dates).is_some() && period(&self.dates) == period(&other.dates);
        same_dates && self.segments.iter().all(|segment| other.segments.contains(segment))
    }
}

/// Every position and degree is one of the source: no title, employer or date of another one.
fn check_entries(edited: &Edited, before: &Outline, after: &Outline) -> Result<(), EditError> {
    let own = texts(before);
    let mut known: Vec<Entry> =
        before.sections.iter().flat_map(|part| entries(part, true)).collect();
    known.extend(parts(before).map(|part| {
        let mut entry = Entry::default();
        entry.add(part);
        entry
    }));
    let unchanged = before.sections.iter().flat_map(|section| entries(section, false));
    let mut seen: HashSet<(Vec<String>, String)> = unchanged.map(Entry::key).collect();
    for section in &after.sections {
        let mut found = entries(section, false);
        found.extend(names_alone(section, &own));
        found.retain(|entry| seen.insert((entry.segments.clone(), entry.dates.clone())));
        if let Some(new) = found.iter().find(|entry| !known.iter().any(|known| entry.is_of(known)))
        {
            let text = format!("{} {}", new.text, new.dates).trim().to_owned();
            return Err(EditError::Field { index: edited.edit_at(new.start, new.end), text });
        }
    }
    Ok(())
}

fn parts(outline: &Outline) -> impl Iterator<Item = &OutlinePart> {
    outline.sections.iter().flat_map(|section| &section.parts)
}

/// The entries of a section. With `wide`, all short lines below their dates belong to them.
fn entries(section: &OutlineSection, wide: bool) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut names = Entry::default();
    let mut rest = section.parts.iter().peekable();
    while let Some(part) = rest.next() {
        match part.kind {
            OutlineKind::Name => names.add(part),
            OutlineKind::Dated => {
                let mut entry = std::mem::take(&mut names);
                entry.add(part);
                let mut below = 0;
                let is_name =
                    |next: &&OutlinePart| next.kind == OutlineKind::Line && is_short(next);
                while below < NAMES_BELOW
                    && (wide || entry.segments.len() < 2)
                    && let Some(next) = rest.next_if(is_name)
                {
                    entry.add(next);
                    below += 1;
                }
                found.push(entry);
            }
            OutlineKind::Line | OutlineKind::Bullet => {}
        }
    }
    found
}

/// Changed lines that name a role or a degree, or that stand where names do.
fn names_alone<'a>(
    section: &'a OutlineSection,
    own: &'a HashSet<&str>,
) -> impl Iterator<Item = Entry> + 'a {
    let headed = section.heading.is_some();
    let dated = |at: usize| {
        let parts = &section.parts;
        let near = at.saturating_sub(NAMES_BELOW)..(at + NAMES_BELOW + 1).min(parts.len());
        near.into_iter().any(|near| {
            let between = &parts[near.min(at)..near.max(at)];
            parts[near].kind == OutlineKind::Dated
                && !between.iter().any(|part| part.kind == OutlineKind::Bullet)
        })
    };
    let lines = section.parts.iter().enumerate();
    let new = lines.filter(move |(at, part)| {
        part.kind == OutlineKind::Line
            && is_short(part)
            && !own.contains(part.text.as_str())
            && (!headed || dated(*at) || names_role(&part.text) || is_degree(&part.text))
    });
    new.map(|(_, part)| {
        let mut entry = Entry::default();
        entry.add(part);
        entry
    })
}

fn is_short(part: &OutlinePart) -> bool {
    let words = part.text.split_whitespace().count();
    words <= NAME_WORDS && !(words > 4 && part.text.ends_with('.'))
}

/// The names of a line in lower case: what is between commas, bars, brackets, dashes and "at".
fn segments(text: &str) -> Vec<String> {
    let mut text = shown(text).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    for word in [" at ", " @ ", " bei ", " chez ", " - ", " – ", " — ", " / "] {
        text = text.replace(word, "|");
    }
    let signs = |sign: char| matches!(sign, ',' | '|' | '·' | '•' | ';' | '(' | ')' | ':');
    let parts = text.split(signs).map(|part| part.trim_matches([' ', '.', '–', '—', '-']));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A line that stays keeps its words that deny or limit.
fn check_denials(source: &str, edits: &[Edit]) -> Result<(), EditError> {
    let mut start = 0;
    for line in source.split('\n') {
        let signs: Vec<char> = line.chars().collect();
        let end = start + signs.len();
        let touching: Vec<usize> = (0..edits.len())
            .filter(|at| edits[*at].start < end && edits[*at].end > start)
            .collect();
        if !touching.is_empty() {
            check_line(&signs, start, edits, &touching)?;
        }
        start = end + 1;
    }
    Ok(())
}

fn check_line(
    line: &[char],
    start: usize,
    edits: &[Edit],
    touching: &[usize],
) -> Result<(), EditError> {
    let mut order = touching.to_vec();
    order.sort_by_key(|at| edits[*at].start);
    let mut result = String::new();
    let mut done = 0;
    for edit in order.iter().map(|at| &edits[*at]) {
        let from = edit.start.saturating_sub(start).max(done);
        result.extend(&line[done..from]);
        result.push_str(&edit.text);
        done = (edit.end - start).min(line.len());
    }
    result.extend(&line[done..]);
    let result = shown(&result);
    if !result.contains(char::is_alphanumeric) {
        return Ok(());
    }
    let line: String = line.iter().collect();
    for is_kept in [plain_words::denies, plain_words::limits] {
        let before: Vec<&str> = words(&line).filter(|word| is_kept(word)).collect();
        if words(&result).filter(|word| is_kept(word)).count() < before.len() {
            return Err(EditError::Denial { index: touching[0], word: before[0].to_owned() });
        }
    }
    Ok(())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '\'' | '’')))
        .filter(|word| !word.is_empty())
}
