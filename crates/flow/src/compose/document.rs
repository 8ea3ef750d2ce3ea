//! The report as a document.

use std::collections::HashMap;

use markup::{Block, Document, Item, Reference, Section};

use super::arrange::{Arranged, paragraphs};
use super::claims::{Claim, ReportQuestion};
use super::markers;
use super::phrases::Phrases;
use super::report::{BibliographyEntry, Method, Style};
use crate::outline::Outline;
use crate::source::Source;

/// All that a report is made of.
pub(super) struct Parts<'a> {
    pub(super) outline: &'a Outline,
    pub(super) asked: &'a [ReportQuestion<'a>],
    pub(super) claims: &'a [Claim],
    pub(super) arranged: &'a Arranged,
    pub(super) markers: &'a HashMap<usize, String>,
    pub(super) style: Style,
    pub(super) phrases: &'a Phrases,
    pub(super) method: Method,
}

impl Parts<'_> {
    pub(super) fn document(&self, references: Vec<Reference>) -> Document {
        let mut sections = vec![self.lead()];
        sections.extend((0..self.outline.sections.len()).map(|section| self.section(section)));
        Document { title: inline(&self.outline.title), sections, references }
    }

    fn lead(&self) -> Section {
        let mut blocks = Vec::new();
        if !self.arranged.lead.is_empty() {
            blocks.push(self.paragraph(&self.arranged.lead));
        }
        let empty = self.arranged.questions.iter().all(Vec::is_empty) && blocks.is_empty();
        let note = match self.method {
            _ if empty => self.phrases.nothing,
            Method::Extractive => self.phrases.extractive,
            Method::Model => self.phrases.by_model,
        };
        // No claim: quotes and lists need no citation.
        blocks.push(Block::Quote { text: note.to_owned() });
        let heading = if blocks.len() > 1 { self.phrases.lead } else { self.phrases.about };
        Section { heading: heading.to_owned(), level: 2, blocks }
    }

    fn section(&self, section: usize) -> Section {
        let heading = inline(&self.outline.sections[section].heading);
        let within: Vec<usize> =
            (0..self.asked.len()).filter(|at| self.asked[*at].section == section).collect();
        let lists: Vec<&[usize]> =
            within.iter().map(|at| self.arranged.questions[*at].as_slice()).collect();
        let mut blocks: Vec<Block> =
            paragraphs(&lists, |a, b| self.claims[a].disputes.contains(&b))
                .iter()
                .map(|part| self.paragraph(part))
                .collect();
        let open: Vec<&str> = within
            .iter()
            .filter(|at| !self.is_answered(**at))
            .map(|at| self.asked[*at].text)
            .collect();
        match &open[..] {
            [] if blocks.is_empty() && !within.is_empty() => {
                blocks.push(Block::Quote { text: self.phrases.elsewhere.to_owned() });
            }
            [] => {}
            [only] => {
                let text = format!("{} {}", self.phrases.unanswered, inline(only));
                blocks.push(Block::Quote { text });
            }
            several => {
                blocks.push(Block::Quote { text: self.phrases.unanswered.to_owned() });
                let items = several
                    .iter()
                    .map(|text| Item { text: inline(text), level: 0, number: None })
                    .collect();
                blocks.push(Block::List { items });
            }
        }
        Section { heading, level: 2, blocks }
    }

    /// A claim that answers several questions appears under one of them.
    fn is_answered(&self, question: usize) -> bool {
        let lead = self.arranged.lead.iter().filter(|index| !self.claims[**index].general);
        let placed = self.arranged.questions.iter().flatten().chain(lead);
        !self.arranged.questions[question].is_empty()
            || placed.into_iter().any(|index| self.claims[*index].answers.contains(&question))
    }

    fn paragraph(&self, claims: &[usize]) -> Block {
        let sentences: Vec<String> = claims.iter().map(|index| self.sentence(*index)).collect();
        Block::Paragraph { text: sentences.join(" ") }
    }

    /// `Text (disputed) [1].`
    fn sentence(&self, index: usize) -> String {
        let claim = &self.claims[index];
        let end = claim.text.chars().next_back().filter(|c| matches!(c, '.' | '!' | '。' | '！'));
        let body = end
            .map_or(claim.text.as_str(), |end| claim.text.strip_suffix(end).unwrap_or(&claim.text));
        let placed =
            |other: &usize| self.arranged.questions.iter().any(|list| list.contains(other));
        let disputed = claim.disputes.iter().any(placed);
        let note = if disputed { format!(" ({})", self.phrases.disputed) } else { String::new() };
        let citation = markers::cite(self.style, &claim.sources, self.markers);
        format!("{}{note} {citation}{}", inline(body), end.unwrap_or('.'))
    }
}

/// The line of a source in the list of references.
pub(super) fn reference(entry: &BibliographyEntry, source: &Source) -> Reference {
    Reference {
        id: entry.index.to_string(),
        text: inline(&entry.text),
        authors: source.author.iter().cloned().collect(),
        year: source.published_at.as_deref().and_then(|date| date.get(..4)).map(str::to_owned),
        title: source.title.clone(),
        container: source.site.clone(),
        doi: entry.doi.clone(),
        url: entry.url.clone(),
        accessed: entry.accessed.clone(),
    }
}

/// Plain text as inline Markdown.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '~' => out.extend(['\\', c]),
            _ if c.is_control() => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}
