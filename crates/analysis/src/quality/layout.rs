//! The structure check: headings, sections and paragraphs.

use std::collections::HashMap;

use super::issue::{Check, Issue, Outcome, Severity, penalised};
use super::text::Text;

/// Paragraphs with more words tire a reader.
const LONG_PARAGRAPH: usize = 250;

/// Texts with more words need headings.
const NEEDS_HEADINGS: usize = 1_200;

pub(super) fn check(text: &Text<'_>) -> Outcome {
    let mut issues = Vec::new();
    levels(text, &mut issues);
    sections(text, &mut issues);
    paragraphs(text, &mut issues);
    let words = text.words.len();
    if words > NEEDS_HEADINGS && text.headings.is_empty() {
        let message = format!("The text has {words} words and no headings.");
        issues.push(issue(Severity::Warning, message, 0..first_line(text.source)));
    }
    let evidence = vec![format!("{} headings, {} findings", text.headings.len(), issues.len())];
    Outcome { value: penalised(&issues, words), evidence, issues }
}

fn issue(severity: Severity, message: String, place: std::ops::Range<usize>) -> Issue {
    Issue {
        check: Check::Structure,
        severity,
        message,
        start: place.start,
        end: place.end,
        suggestions: Vec::new(),
    }
}

fn first_line(source: &str) -> usize {
    source.find('\n').unwrap_or(source.len())
}

fn levels(text: &Text<'_>, issues: &mut Vec<Issue>) {
    let mut titles: HashMap<(usize, String), usize> = HashMap::new();
    let mut before: Option<usize> = None;
    for heading in &text.headings {
        if let Some(level) = before
            && heading.level > level + 1
        {
            let message =
                format!("The heading jumps from level {level} to level {}.", heading.level);
            issues.push(issue(Severity::Warning, message, heading.place.clone()));
        }
        before = Some(heading.level);
        if heading.title.is_empty() {
            issues.push(issue(
                Severity::Warning,
                "The heading is empty.".to_owned(),
                heading.place.clone(),
            ));
        }
        let seen = titles.entry((heading.level, heading.title.to_lowercase())).or_default();
        *seen += 1;
        if *seen == 2 && !heading.title.is_empty() {
            let message = format!("The heading `{}` is there twice.", heading.title);
            issues.push(issue(Severity::Info, message, heading.place.clone()));
        }
    }
}

/// Headings without text below them, at the end or before one of the same level.
fn sections(text: &Text<'_>, issues: &mut Vec<Issue>) {
    for (index, heading) in text.headings.iter().enumerate() {
        let next = text.headings.get(index + 1);
        let end = next.map_or(text.source.len(), |next| next.place.start);
        let deeper = next.is_some_and(|next| next.level > heading.level);
        if !deeper && text.source[heading.place.end..end].trim().is_empty() {
            let message = format!("The section `{}` is empty.", heading.title);
            issues.push(issue(Severity::Error, message, heading.place.clone()));
        }
    }
}

fn paragraphs(text: &Text<'_>, issues: &mut Vec<Issue>) {
    let mut words = text.words.iter().peekable();
    let mut start = 0;
    for paragraph in text.source.split("\n\n") {
        let end = start + paragraph.len();
        let mut count = 0;
        while words.next_if(|word| word.start < end).is_some() {
            count += 1;
        }
        if count > LONG_PARAGRAPH && !paragraph.contains("\n|") {
            let message = format!("This paragraph has {count} words. Split it.");
            let first = start + first_line(paragraph);
            issues.push(issue(Severity::Info, message, start..first));
        }
        start = end + 2;
    }
}
