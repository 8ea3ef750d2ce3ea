//! Writes the pages of a document as text or Markdown.

use extraction::text::{self, Text};
use extraction::{Form, markdown};

use super::furniture::{self, Furniture};
use super::hyphens::Compounds;
use super::marker::{self, Marker};
use super::page::{Edge, Page};
use super::paragraphs::{Paragraph, paragraphs, push_or_join};
use super::regions::Block;

/// An item that is indented by this many points more than another one is nested in it.
const NESTED: f64 = 5.0;

/// Writes all pages.
pub(super) fn write(pages: &[Page], form: Form, text: &mut Text) {
    let furniture = furniture::find(pages);
    let mut compounds = Compounds::default();
    for page in pages {
        for block in &page.blocks {
            match block {
                Block::Lines(lines) | Block::Boxed(lines) => {
                    lines.iter().for_each(|line| compounds.add(&line.text));
                }
                Block::Table(rows) => {
                    let lines = rows.iter().flatten().flat_map(|cell| cell.split('\n'));
                    lines.for_each(|line| compounds.add(line));
                }
            }
        }
    }
    let headings = Headings::find(pages);
    let mut writer = Writer { compounds, headings, form, indents: Vec::new() };
    // Kept open over the end of a page: it may go on on the next one.
    let mut open: Vec<Paragraph> = Vec::new();
    // The page where it begins, counted from 1.
    let mut first_page = 0;
    for (number, page) in pages.iter().enumerate() {
        for paragraph in page_paragraphs(page, number, &furniture, form) {
            push_or_join(&mut open, paragraph);
            let finished = open.len().saturating_sub(1);
            text.on_page(first_page);
            for paragraph in open.drain(..finished) {
                writer.write(&paragraph, text);
            }
            if finished > 0 || first_page == 0 {
                first_page = number + 1;
            }
            if text.is_full() {
                return;
            }
        }
    }
    text.on_page(first_page);
    for paragraph in &open {
        writer.write(paragraph, text);
    }
}

/// The paragraphs of a page; without heads, feet and watermarks for the main content only.
fn page_paragraphs(
    page: &Page,
    number: usize,
    furniture: &Furniture,
    form: Form,
) -> Vec<Paragraph> {
    let edges = |edges: &[Edge], is_furniture: &[Vec<bool>]| -> Vec<Paragraph> {
        let flags = is_furniture.get(number).map(Vec::as_slice).unwrap_or_default();
        let kept = edges.iter().zip(flags).filter(|(_, furniture)| !form.is_main() || !**furniture);
        let lines = kept.map(|(edge, _)| edge.line.clone()).collect();
        paragraphs(&[Block::Lines(lines)])
    };
    let mut all = edges(&page.top, &furniture.top);
    for paragraph in paragraphs(&page.blocks) {
        push_or_join(&mut all, paragraph);
    }
    all.extend(edges(&page.bottom, &furniture.bottom));
    all.extend(paragraphs(&page.turned));
    if !form.is_main() {
        all.extend(paragraphs(&page.marks));
    }
    all
}

struct Writer {
    compounds: Compounds,
    headings: Headings,
    form: Form,
    /// The indents of the list items in which the last one is nested.
    indents: Vec<f64>,
}

impl Writer {
    fn write(&mut self, paragraph: &Paragraph, text: &mut Text) {
        match paragraph {
            _ if self.form.is_markdown() && self.numbered_heading(paragraph).is_some() => {
                self.indents.clear();
            }
            Paragraph::Item { indent, .. } => {
                self.indents.retain(|outer| *outer < *indent - NESTED);
                self.indents.push(*indent);
            }
            _ => self.indents.clear(),
        }
        if self.form.is_markdown() {
            self.write_markdown(paragraph, text);
        } else {
            self.write_text(paragraph, text);
        }
    }

    /// The level of a heading that looks like a list item, such as `1. Introduction`.
    fn numbered_heading(&self, paragraph: &Paragraph) -> Option<usize> {
        match paragraph {
            Paragraph::Item { marker: Marker::Number(_), lines, size, .. } => {
                self.headings.level(lines, *size)
            }
            _ => None,
        }
    }

    fn write_text(&self, paragraph: &Paragraph, text: &mut Text) {
        match paragraph {
            Paragraph::Text { lines, .. } => {
                text.block(text::Block::Paragraph, &self.compounds.join(lines).join("\n"));
            }
            Paragraph::Item { lines, .. } => {
                text.block(text::Block::Item, &self.compounds.join(lines).join("\n"));
            }
            Paragraph::Code { lines } => {
                text.set_off();
                text.block(text::Block::Paragraph, &lines.join("\n"));
            }
            Paragraph::Table { rows } => {
                text.set_off();
                for row in rows {
                    let cells: Vec<String> = row.iter().map(|cell| self.cell(cell)).collect();
                    text.block(text::Block::Row, cells.join("\t").trim_end());
                }
                text.set_off();
            }
        }
    }

    /// The text of a cell on one line.
    fn cell(&self, text: &str) -> String {
        let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        self.compounds.join(&lines).join(" ")
    }

    fn write_markdown(&self, paragraph: &Paragraph, text: &mut Text) {
        match paragraph {
            Paragraph::Text { lines, size, .. } => {
                let joined = self.compounds.join(lines).join("\n");
                let escaped = markdown::escape(&joined);
                match self.headings.level(lines, *size) {
                    Some(level) => {
                        text.block(text::Block::Paragraph, &markdown::heading(level, &escaped));
                    }
                    None => text.block(text::Block::Paragraph, &escaped),
                }
            }
            Paragraph::Item { marker, lines, .. } => {
                let joined = self.compounds.join(lines).join("\n");
                if let Some(level) = self.numbered_heading(paragraph) {
                    let heading = markdown::heading(level, &markdown::escape(&joined));
                    return text.block(text::Block::Paragraph, &heading);
                }
                let rest = marker::split(&joined).map_or(joined.as_str(), |(_, rest)| rest);
                let (mark, rest) = match marker {
                    Marker::Bullet => (markdown::Marker::Bullet, rest),
                    Marker::Number(number) => (markdown::Marker::Number(*number), rest),
                    Marker::Other => (markdown::Marker::Bullet, joined.as_str()),
                };
                let level = self.indents.len().saturating_sub(1);
                let item = markdown::item(level, mark, &markdown::escape(rest));
                text.block(text::Block::Item, &item);
            }
            Paragraph::Code { lines } => {
                let code = markdown::code_block("", &lines.join("\n"));
                text.block(text::Block::Paragraph, &code);
            }
            Paragraph::Table { rows } => {
                text.set_off();
                let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
                for (at, row) in rows.iter().enumerate() {
                    let escaped = |cell: &String| markdown::escape(&self.cell(cell)).into_owned();
                    let mut cells: Vec<String> = row.iter().map(escaped).collect();
                    cells.resize(columns, String::new());
                    text.block(text::Block::Row, &markdown::row(&cells));
                    if at == 0 {
                        text.block(text::Block::Row, &markdown::separator(columns));
                    }
                }
                text.set_off();
            }
        }
    }
}

/// The font sizes that make a heading, the largest first.
#[derive(Debug)]
struct Headings(Vec<f64>);

impl Headings {
    /// Headings are clearly larger than the text; there are few of them.
    fn find(pages: &[Page]) -> Self {
        let mut characters: std::collections::BTreeMap<u64, usize> = Default::default();
        let lines = pages.iter().flat_map(|page| {
            let edges = page.top.iter().map(|edge| &edge.line);
            let blocks = page.blocks.iter().flat_map(|block| match block {
                Block::Lines(lines) | Block::Boxed(lines) => lines.as_slice(),
                Block::Table(_) => &[],
            });
            edges.chain(blocks)
        });
        for line in lines {
            *characters.entry(rounded(line.size)).or_default() += line.text.len();
        }
        let all: usize = characters.values().sum();
        let body = characters.iter().max_by_key(|(_, count)| **count).map_or(0, |(size, _)| *size);
        let larger = characters
            .into_iter()
            .rev()
            .filter(|(size, count)| *size as f64 > body as f64 * 1.12 && count * 4 < all);
        Self(larger.map(|(size, _)| size as f64 / 2.0).take(5).collect())
    }

    fn level(&self, lines: &[String], size: f64) -> Option<usize> {
        let characters: usize = lines.iter().map(String::len).sum();
        if lines.len() > 4 || characters > 240 {
            return None;
        }
        let at = self.0.iter().position(|known| rounded(*known) == rounded(size))?;
        Some(at + 1)
    }
}

/// Half points, so that rounding in the document makes no difference.
fn rounded(size: f64) -> u64 {
    (size * 2.0).round() as u64
}
