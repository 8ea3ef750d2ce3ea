//! The skills that a résumé lists.

use super::lines::Line;
use super::section_kind::SectionKind;
use super::{dates, headings};
use crate::skills::{Lexicon, TermKind};

/// The longest name of a skill, in words.
const MAX_WORDS: usize = 6;

/// The skills of the section, or of the line that looks like a list of them.
pub(super) fn read(lines: &[Line]) -> Vec<String> {
    let own = lines.iter().filter(|line| {
        line.section == Some(SectionKind::Skills) && !line.heading && !dates::has_day(&line.text)
    });
    let mut skills: Vec<String> = unwrap_lines(own).iter().flat_map(|line| items(line)).collect();
    if skills.is_empty() {
        let rest = lines
            .iter()
            .filter(|line| line.section.is_none_or(|kind| kind != SectionKind::Contact));
        let rest = unwrap_lines(rest);
        let best = rest.iter().max_by_key(|line| listed(line));
        skills.extend(
            best.filter(|line| listed(line) >= 3).map(|line| items(line)).unwrap_or_default(),
        );
    }
    let mut seen = std::collections::HashSet::new();
    skills.retain(|skill| seen.insert(skill.to_lowercase()));
    skills
}

/// A shorter line is not full, so the next one does not continue it.
const FULL_LINE: usize = 50;

/// Joins the lines of an enumeration that goes on in the next line.
fn unwrap_lines<'a>(lines: impl Iterator<Item = &'a Line>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines {
        let list = line.text.matches([',', '|', '·', ';']).count() >= 2;
        match joined.last_mut() {
            Some(last) if open && !line.bullet && !line.after_blank && !line.text.contains(':') => {
                last.push(' ');
                last.push_str(&line.text);
            }
            _ => joined.push(line.text.clone()),
        }
        open = list && !line.bullet && line.text.chars().count() >= FULL_LINE;
    }
    joined
}

/// How many short items a line without dates has.
fn listed(text: &str) -> usize {
    let prose = text.ends_with('.')
        || text.contains('@')
        || dates::period(text).is_some()
        || dates::single(text).is_some();
    let items = items(text);
    let short = items.iter().all(|item| item.split_whitespace().count() <= 4);
    if prose || !short { 0 } else { items.len() }
}

/// The items of a line, without the label before a colon.
fn items(text: &str) -> Vec<String> {
    let text = match text.split_once(':') {
        Some((label, rest))
            if label.split_whitespace().count() <= 4
                && rest.starts_with(' ')
                && !rest.trim().is_empty() =>
        {
            rest
        }
        _ => text,
    };
    let text = without_row_label(text);
    let separated = text.contains([';', '|', '•', '·', '\t']);
    let parts: Vec<&str> = if separated {
        text.split([';', '|', '•', '·', '\t']).collect()
    } else {
        split_commas(text)
    };
    // A bar between groups, commas within them.
    let parts: Vec<&str> = parts.into_iter().flat_map(split_commas).collect();
    parts.iter().flat_map(|part| split_known(part)).filter_map(|part| tidy(&part)).collect()
}

/// A row of a table of skills without its first cell: "Languages | Go, Python".
fn without_row_label(text: &str) -> &str {
    match text.split_once(" | ") {
        // The names of the columns.
        Some((_, right)) if headings::kind_of(right) == Some(SectionKind::Skills) => "",
        Some((left, right))
            if !right.contains('|')
                && right.contains(',')
                && !left.contains(',')
                && left.split_whitespace().count() <= 3 =>
        {
            right
        }
        _ => text,
    }
}

/// Splits at commas outside of brackets.
pub(crate) fn split_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, sign) in text.char_indices() {
        match sign {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' | '，' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + sign.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// "Python and SQL" are two; "Health and safety" is one.
fn split_known(part: &str) -> Vec<String> {
    let known = |text: &str| {
        matches!(Lexicon::shipped().kind(&text.trim().to_lowercase()), Some(TermKind::Knowledge))
    };
    if !known(part) {
        for conjunction in [" and ", " und ", " et ", " y ", " & "] {
            if let Some((left, right)) = part.split_once(conjunction)
                && known(left)
                && known(right)
            {
                return vec![left.to_owned(), right.to_owned()];
            }
        }
    }
    vec![part.to_owned()]
}

/// The name of a skill without its level.
fn tidy(part: &str) -> Option<String> {
    let part = part.split(['(', '[']).next().unwrap_or("");
    let part = part.split(" – ").next().unwrap_or("").split(" - ").next().unwrap_or("");
    let part = part.trim().trim_end_matches(['.', ':', '★', '☆', '●', '○', '*']).trim();
    let part = ["and ", "und ", "et ", "y "]
        .iter()
        .find_map(|word| part.strip_prefix(word))
        .unwrap_or(part)
        .trim();
    let words = part.split_whitespace().count();
    (part.contains(char::is_alphabetic) && words <= MAX_WORDS).then(|| part.to_owned())
}
