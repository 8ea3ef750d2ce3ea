//! Footnotes as Word has them: each belongs to the place that cites it first.

use std::collections::{BTreeMap, BTreeSet};

use crate::inline::{Token, parse};
use crate::model::{Block, Document};

#[derive(Debug, Default)]
pub(super) struct Footnotes {
    texts: BTreeMap<String, String>,
    /// Labels that some text cites.
    citations: BTreeSet<String>,
    /// Labels in the order in which they were cited, and the number of each.
    pub(super) cited: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// The id of the first one.
    pub(super) first: i64,
    /// Within a footnote others are not cited.
    pub(super) closed: bool,
}

impl Footnotes {
    /// The footnotes of a document; the first definition of a label counts.
    pub(super) fn of(document: &Document, first: i64) -> Self {
        let mut texts = BTreeMap::new();
        for block in document.sections.iter().flat_map(|section| &section.blocks) {
            if let Block::Footnote { label, text } = block {
                texts.entry(label.clone()).or_insert_with(|| text.clone());
            }
        }
        let mut citations = BTreeSet::new();
        if !texts.is_empty() {
            each_text(document, |text| collect_citations(text, &mut citations));
        }
        Self { texts, citations, first, ..Self::default() }
    }

    pub(super) fn will_be_cited(&self, label: &str) -> bool {
        self.citations.contains(label)
    }

    /// The content of a run that cites a footnote; nothing if there is none with this label. Word has one mark for each
    /// footnote, so that later citations repeat its number as text.
    pub(super) fn cite(&mut self, label: &str) -> Option<String> {
        if self.closed || !self.texts.contains_key(label) {
            return None;
        }
        if let Some(number) = self.numbers.get(label) {
            return Some(format!("<w:t>{number}</w:t>"));
        }
        let id = self.first + i64::try_from(self.cited.len()).unwrap_or(i64::MAX / 2);
        self.cited.push(label.to_owned());
        self.numbers.insert(label.to_owned(), self.cited.len());
        Some(format!("<w:footnoteReference w:id=\"{id}\"/>"))
    }

    pub(super) fn text(&self, label: &str) -> &str {
        self.texts.get(label).map_or("", String::as_str)
    }

    pub(super) fn is_cited(&self, label: &str) -> bool {
        self.numbers.contains_key(label)
    }
}

/// The texts that may cite footnotes, which footnotes themselves may not.
fn each_text(document: &Document, mut each: impl FnMut(&str)) {
    each(&document.title);
    for section in &document.sections {
        each(&section.heading);
        for block in &section.blocks {
            match block {
                Block::Paragraph { text } => each(text),
                Block::Quote { text } => text.split("\n\n").for_each(&mut each),
                Block::List { items } => items.iter().for_each(|item| each(&item.text)),
                Block::Table { header, rows, .. } => {
                    header.iter().chain(rows.iter().flatten()).for_each(|cell| each(cell));
                }
                Block::Code { .. } | Block::Image { .. } | Block::Footnote { .. } | Block::Rule => {
                }
            }
        }
    }
}

fn collect_citations(text: &str, citations: &mut BTreeSet<String>) {
    for token in parse(text) {
        let Token::Text(text) = token else { continue };
        let labels = text.split("[^").skip(1).filter_map(|rest| rest.split_once(']'));
        citations.extend(labels.map(|(label, _)| label.to_owned()));
    }
}
