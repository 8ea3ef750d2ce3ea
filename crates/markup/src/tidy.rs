//! Brings the structure of a document into order. Its words stay as they are.

mod source;

use std::collections::HashMap;

use crate::inline::{self, Token, escape_text, parse, plain_text};
use crate::model::{Block, Document, Item, Section};

pub use source::source_changes;

/// What a text is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TidyStyle {
    /// A title, and sections below it.
    #[default]
    Report,
    /// Without headings: they become bold lines.
    Letter,
    /// As a report, with the title of every section in the outline.
    Article,
    /// As a report, without bold and italic text.
    Plain,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TidyOptions {
    pub style: TidyStyle,
    /// Puts a table of contents before the first section.
    pub toc: bool,
    pub number_headings: bool,
}

/// One kind of change, and how often it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: &'static str,
    pub count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    pub level: u8,
    /// Without marks.
    pub title: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tidied {
    pub document: Document,
    pub outline: Vec<OutlineEntry>,
    pub changes: Vec<Change>,
}

/// Brings a document into order.
pub fn tidy(mut document: Document, options: TidyOptions) -> Tidied {
    let mut changes = vec![Change { kind: "heading_levels", count: settle_levels(&mut document) }];
    match options.style {
        TidyStyle::Letter => {
            changes.push(Change { kind: "headings_to_bold", count: drop_headings(&mut document) });
        }
        TidyStyle::Plain => {
            changes.push(Change { kind: "emphasis_removed", count: drop_emphasis(&mut document) });
        }
        TidyStyle::Report | TidyStyle::Article => {}
    }
    if options.number_headings {
        changes.push(Change { kind: "headings_numbered", count: number(&mut document) });
    }
    let outline = outline(&document);
    if options.toc {
        changes.push(Change { kind: "toc_entries", count: add_toc(&mut document) });
    }
    changes.retain(|change| change.count > 0);
    Tidied { document, outline, changes }
}

/// The title and the headings.
fn outline(document: &Document) -> Vec<OutlineEntry> {
    let title = (1, &document.title);
    let headings = document.sections.iter().map(|section| (section.level, &section.heading));
    std::iter::once(title)
        .chain(headings)
        .filter(|(_, text)| !text.is_empty())
        .map(|(level, text)| OutlineEntry { level, title: plain_text(&parse(text)) })
        .collect()
}

/// Levels that begin below the title and go one step down at a time.
fn settle_levels(document: &mut Document) -> usize {
    let levels = document.sections.iter().filter(|it| !it.heading.is_empty()).map(|it| it.level);
    let lowest = levels.min().unwrap_or(2);
    let base = if document.title.is_empty() { lowest.min(2) } else { 2 };
    let mut open: Vec<u8> = Vec::new();
    let mut changed = 0;
    for section in document.sections.iter_mut().filter(|section| !section.heading.is_empty()) {
        while open.last().is_some_and(|last| *last >= section.level) {
            open.pop();
        }
        open.push(section.level);
        let depth = u8::try_from(open.len().min(6)).unwrap_or(6);
        let level = (base + depth - 1).clamp(1, 6);
        changed += usize::from(level != section.level);
        section.level = level;
    }
    changed
}

/// Makes bold paragraphs of the title and the headings.
fn drop_headings(document: &mut Document) -> usize {
    let mut all = Section { level: 1, ..Section::default() };
    let title = std::mem::take(&mut document.title);
    let mut count = 0;
    let mut bold = |heading: &str, blocks: &mut Vec<Block>| {
        if !heading.is_empty() {
            count += 1;
            blocks.push(Block::Paragraph { text: bold_text(heading) });
        }
    };
    bold(&title, &mut all.blocks);
    for section in std::mem::take(&mut document.sections) {
        bold(&section.heading, &mut all.blocks);
        all.blocks.extend(section.blocks);
    }
    document.sections = vec![all];
    count
}

fn bold_text(text: &str) -> String {
    let strong = inline::Style::Strong;
    let inner = inline::drop_styles(parse(text), |style| style == strong);
    let begin = std::iter::once(Token::Begin(strong));
    let tokens: Vec<Token> = begin.chain(inner).chain([Token::End(strong)]).collect();
    inline::write(&tokens)
}

fn drop_emphasis(document: &mut Document) -> usize {
    let mut count = 0;
    let mut drop = |text: &mut String| {
        let tokens = parse(text);
        let marks = tokens.iter().filter(|token| matches!(token, Token::Begin(_))).count();
        if marks > 0 {
            count += marks;
            *text = inline::write(&inline::drop_styles(tokens, |_| true));
        }
    };
    drop(&mut document.title);
    for section in &mut document.sections {
        drop(&mut section.heading);
        for block in &mut section.blocks {
            match block {
                Block::Paragraph { text } | Block::Footnote { text, .. } => drop(text),
                Block::Quote { text } => {
                    let mut parts: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
                    parts.iter_mut().for_each(&mut drop);
                    *text = parts.join("\n\n");
                }
                Block::List { items } => items.iter_mut().for_each(|item| drop(&mut item.text)),
                Block::Table { header, rows, .. } => {
                    header.iter_mut().chain(rows.iter_mut().flatten()).for_each(&mut drop);
                }
                Block::Code { .. } | Block::Image { .. } | Block::Rule => {}
            }
        }
    }
    count
}

/// Puts numbers such as `1.2` before headings that have none.
fn number(document: &mut Document) -> usize {
    let base =
        document.sections.iter().filter(|it| !it.heading.is_empty()).map(|it| it.level).min();
    let base = base.unwrap_or(1);
    let mut counters: Vec<usize> = Vec::new();
    let mut count = 0;
    for section in document.sections.iter_mut().filter(|section| !section.heading.is_empty()) {
        counters.resize(usize::from(section.level - base) + 1, 0);
        if let Some(last) = counters.last_mut() {
            *last += 1;
        }
        if !is_numbered(&section.heading) {
            let number = counters.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
            section.heading = format!("{number} {}", section.heading);
            count += 1;
        }
    }
    count
}

/// Whether a heading begins with a number as `2.`, `2\.` or `2.1`.
fn is_numbered(heading: &str) -> bool {
    let word = heading.split(' ').next().unwrap_or_default().replace('\\', "");
    word.contains('.')
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Puts links to all sections before the first one.
fn add_toc(document: &mut Document) -> usize {
    let headings: Vec<&Section> =
        document.sections.iter().filter(|section| !section.heading.is_empty()).collect();
    let base = headings.iter().map(|section| section.level).min().unwrap_or(1);
    let mut taken: HashMap<String, usize> = HashMap::new();
    let items = headings.iter().map(|section| {
        let title = plain_text(&parse(&section.heading));
        let anchor = free_anchor(&title, &mut taken);
        let text = format!("[{}](#{anchor})", escape_text(&title).replace(['[', ']'], ""));
        Item { text, level: section.level - base, number: None }
    });
    let items: Vec<Item> = items.collect();
    let count = items.len();
    if count > 0 {
        let mut blocks = vec![Block::List { items }];
        let first = document.sections.first();
        let list_follows = first.is_some_and(|section| {
            section.heading.is_empty() && matches!(section.blocks.first(), Some(Block::List { .. }))
        });
        if list_follows {
            blocks.push(Block::Rule);
        }
        document.sections.insert(0, Section { level: 1, blocks, ..Section::default() });
    }
    count
}

/// The anchor of a heading as GitHub and most renderers make it. `taken` counts the anchors that are a text, or are it with a
/// number.
fn free_anchor(title: &str, taken: &mut HashMap<String, usize>) -> String {
    let kept = title
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || matches!(c, '-' | '_') => Some(c),
            _ => None,
        })
        .collect::<String>();
    let anchor = match taken.get(&kept) {
        None => kept,
        Some(number) => format!("{kept}-{number}"),
    };
    if let Some((text, number)) = anchor.rsplit_once('-')
        && number.parse::<usize>().is_ok()
    {
        *taken.entry(text.to_owned()).or_default() += 1;
    }
    *taken.entry(anchor.clone()).or_default() += 1;
    anchor
}

#[cfg(test)]
mod tests;
