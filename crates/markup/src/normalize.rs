//! Brings a document into the form that survives being written and read.

use crate::inline::{self, escape_text, normalize, parse, plain_text};
use crate::model::{Block, Document, Item, MAX_DEPTH, Section};
use crate::read::read_blocks;
use crate::url::is_kept_image;
use crate::write::write_block;

/// Lists, tables and documents with more parts are cut.
pub const MAX_PARTS: usize = 100_000;
/// Columns of a table that are written.
pub const MAX_COLUMNS: usize = 256;

/// The document with canonical texts, levels in range, and blocks that Markdown can hold.
pub(crate) fn normalize_document(document: &Document) -> Document {
    let mut references = document.references.clone();
    references.truncate(MAX_PARTS);
    let mut sections: Vec<Section> = Vec::new();
    for section in document.sections.iter().take(MAX_PARTS) {
        let heading = normalize(&section.heading, false);
        let blocks = section.blocks.iter().filter_map(normalize_block);
        match sections.last_mut() {
            // Without a heading, Markdown does not keep it apart from the section before.
            Some(before) if heading.is_empty() => before.blocks.extend(blocks),
            _ => sections.push(Section {
                heading,
                level: section.level.clamp(1, 6),
                blocks: blocks.collect(),
            }),
        }
    }
    for section in &mut sections {
        section.blocks = settle(std::mem::take(&mut section.blocks));
    }
    sections.retain(|section| !section.heading.is_empty() || !section.blocks.is_empty());
    Document { title: normalize(&document.title, false), sections, references }
}

fn normalize_block(block: &Block) -> Option<Block> {
    Some(match block {
        Block::Paragraph { text } => Block::Paragraph { text: some_text(normalize(text, true))? },
        Block::Quote { text } => {
            let parts = text.split("\n\n").map(|part| normalize(part, true));
            let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
            Block::Quote { text: some_text(parts.join("\n\n"))? }
        }
        Block::List { items } => {
            let items = items.iter().take(MAX_PARTS).map(|item| Item {
                text: normalize(&item.text, true),
                level: item.level.min(MAX_DEPTH),
                number: item.number,
            });
            Block::List { items: items.collect() }
        }
        Block::Code { language, text } => Block::Code {
            language: language
                .chars()
                .filter(|c| c.is_alphanumeric() || "+-#._".contains(*c))
                .collect(),
            text: inline::clean(text).replace("\r\n", "\n").trim_end_matches('\n').to_owned(),
        },
        Block::Table { header, rows, alignments } => {
            let cells = |row: &Vec<String>| {
                row.iter().take(MAX_COLUMNS).map(|cell| normalize(cell, false)).collect()
            };
            Block::Table {
                header: cells(header),
                rows: rows.iter().take(MAX_PARTS).map(cells).collect(),
                alignments: alignments.clone(),
            }
        }
        Block::Image { url, alt } => {
            let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
            if is_kept_image(url) {
                Block::Image { url: url.clone(), alt }
            } else {
                Block::Paragraph { text: some_text(escape_text(&alt))? }
            }
        }
        Block::Footnote { label, text } => {
            Block::Footnote { label: label.clone(), text: some_text(normalize(text, false))? }
        }
        Block::Rule => Block::Rule,
    })
}

fn some_text(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// Merges lists that Markdown cannot keep apart, and replaces each block that would be read differently by a simpler one.
pub(crate) fn settle(blocks: Vec<Block>) -> Vec<Block> {
    let mut settled: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let block = match block {
            Block::List { items } => match settled.pop() {
                Some(Block::List { items: mut before }) => {
                    before.extend(items);
                    Block::List { items: before }
                }
                other => {
                    settled.extend(other);
                    Block::List { items }
                }
            },
            block => block,
        };
        settled.push(block);
    }
    settled.into_iter().filter_map(|block| keep(tidy(block))).collect()
}

/// The block if it is read as it is written; otherwise its text as a paragraph; nothing if it has none.
fn keep(block: Block) -> Option<Block> {
    let survives = |block: &Block| {
        read_blocks(&write_block(block)).is_some_and(|read| {
            read.len() == 1 && read.into_iter().next().map(tidy).as_ref() == Some(block)
        })
    };
    if survives(&block) {
        return Some(block);
    }
    let text = plain(&block);
    let simpler = Block::Paragraph { text: some_text(normalize(&escape_text(&text), false))? };
    if survives(&simpler) {
        return Some(simpler);
    }
    let words: Vec<_> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    Some(Block::Paragraph { text: some_text(words.join(" "))? })
}

/// Levels without gaps, numbers that count, rows of one width.
fn tidy(block: Block) -> Block {
    match block {
        Block::List { items } => Block::List { items: tidy_items(items) },
        Block::Table { header, mut rows, mut alignments } => {
            for row in &mut rows {
                row.resize(header.len(), String::new());
            }
            alignments.resize(header.len(), crate::Alignment::None);
            Block::Table { header, rows, alignments }
        }
        block => block,
    }
}

fn tidy_items(items: Vec<Item>) -> Vec<Item> {
    let mut out: Vec<Item> = Vec::with_capacity(items.len());
    // The last number at each level; none where the last item has no number.
    let mut numbers: Vec<Option<u32>> = Vec::new();
    for mut item in items.into_iter().filter(|item| !item.text.is_empty()) {
        let level = usize::from(item.level).min(numbers.len()).min(usize::from(MAX_DEPTH));
        item.level = u8::try_from(level).unwrap_or(MAX_DEPTH);
        // Markdown has numbers of up to nine digits.
        let largest = 999_999_999;
        let before = numbers.get(level).copied().flatten();
        item.number = item.number.map(|number| match before {
            Some(before) => (before + 1).min(largest),
            None => number.min(largest),
        });
        numbers.truncate(level);
        numbers.push(item.number);
        out.push(item);
    }
    out
}

fn plain(block: &Block) -> String {
    let text = |text: &str| plain_text(&parse(text));
    match block {
        Block::Paragraph { text: t }
        | Block::Quote { text: t }
        | Block::Footnote { text: t, .. } => text(t),
        Block::List { items } => {
            items.iter().map(|item| text(&item.text)).collect::<Vec<_>>().join(" ")
        }
        Block::Code { text, .. } => text.clone(),
        Block::Table { header, rows, .. } => {
            let cells = header.iter().chain(rows.iter().flatten());
            cells.map(|cell| text(cell)).collect::<Vec<_>>().join(" ")
        }
        Block::Image { alt, .. } => alt.clone(),
        Block::Rule => String::new(),
    }
}
