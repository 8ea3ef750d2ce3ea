//! Where a text has its list of references, and where its body is.

mod entries;
mod headings;

use std::ops::Range;

pub(super) use entries::{Entry, strip_marker};

use self::headings::{Heading, Name, references_name};

/// More references are counted, not read.
pub(super) const MAX_REFERENCES: usize = 10_000;

/// A line of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Without the line break.
    pub(super) text: &'a str,
    /// Within a fenced code block, or one of its fences.
    pub(super) code: bool,
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }

    fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// A text in parts.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) entries: Vec<Entry>,
    /// How many entries were left out.
    pub(super) omitted: usize,
    /// Paragraphs, list items, table rows and headings outside of the references and code.
    pub(super) body: Vec<Part>,
}

/// A part of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) range: Range<usize>,
    pub(super) kind: PartKind,
    /// The heading above it, folded.
    pub(super) section: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    Paragraph,
    Heading,
    /// List items, table rows and quotes, which need no citation of their own.
    Other,
}

/// Splits a text; linear in its length.
pub(super) fn layout(text: &str) -> Layout {
    let lines = lines(text);
    let headings = headings::headings(&lines);
    let sections = reference_sections(&lines, &headings);
    let mut inside = vec![false; lines.len()];
    let mut found = Vec::new();
    for section in &sections {
        inside[section.clone()].fill(true);
        found.extend(entries::in_section(&lines[section.clone()]));
    }
    if sections.is_empty() {
        let (listed, used) = entries::without_heading(&lines);
        for at in used {
            inside[at] = true;
        }
        found = listed;
    }
    let omitted = found.len().saturating_sub(MAX_REFERENCES);
    found.truncate(MAX_REFERENCES);
    let body = body(&lines, &headings, &inside);
    Layout { entries: found, omitted, body }
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut fence: Option<(char, usize)> = None;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let trimmed = content.trim_start();
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        let mut code = fence.is_some();
        match (fence, mark) {
            (None, Some(mark)) if length >= 3 && !trimmed[length..].contains('`') => {
                fence = Some((mark, length));
                code = true;
            }
            (Some((open, least)), Some(mark))
                if open == mark && length >= least && trimmed[length..].trim().is_empty() =>
            {
                fence = None;
            }
            _ => {}
        }
        lines.push(Line { start, text: content, code });
        start += line.len();
    }
    lines
}

/// The ranges of lines after a heading such as `References`, up to the next heading of its level.
fn reference_sections(lines: &[Line<'_>], headings: &[Heading]) -> Vec<Range<usize>> {
    let of = |section: Name| {
        let mut sections: Vec<Range<usize>> = Vec::new();
        for (at, heading) in headings.iter().enumerate() {
            if references_name(&heading.text) != Some(section)
                || sections.last().is_some_and(|section| section.contains(&heading.line))
            {
                continue;
            }
            let next = headings[at + 1..].iter().find(|next| next.level <= heading.level);
            sections.push(heading.line..next.map_or(lines.len(), |next| next.line));
        }
        sections
    };
    let sections = of(Name::Certain);
    if !sections.is_empty() {
        return sections;
    }
    // `Notes` or `Sources` may be prose: it counts if it lists something that looks like references.
    let mut sections = of(Name::Possible);
    sections.retain(|section| {
        let entries = entries::in_section(&lines[section.clone()]);
        let like =
            entries.iter().filter(|entry| entries::looks_like_reference(&entry.text)).count();
        like > 0 && like * 2 >= entries.len()
    });
    sections
}

fn body(lines: &[Line<'_>], headings: &[Heading], inside: &[bool]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut section = String::new();
    let mut open = false;
    let mut next_heading = 0;
    for (at, line) in lines.iter().enumerate() {
        let heading = headings.get(next_heading).filter(|heading| heading.line == at);
        next_heading += usize::from(heading.is_some());
        if inside[at] || line.code || line.is_blank() {
            open = false;
            continue;
        }
        if let Some(heading) = heading {
            section = headings::fold(&heading.text);
            parts.push(Part {
                range: line.range(),
                kind: PartKind::Heading,
                section: section.clone(),
            });
            open = false;
            continue;
        }
        let starts_item = strip_marker(line.text).is_some();
        let other = starts_item || line.text.trim_start().starts_with(['|', '>', '<', '!']);
        match parts.last_mut() {
            Some(part) if open && !other => part.range.end = line.range().end,
            _ => {
                let kind =
                    if other || line.indent() >= 4 { PartKind::Other } else { PartKind::Paragraph };
                parts.push(Part { range: line.range(), kind, section: section.clone() });
            }
        }
        open = true;
    }
    parts
}
