//! Document → plain text, and what plain text cannot hold.

use crate::inline::{Token, parse, plain_text};
use crate::model::{Block, Document};
use crate::normalize::normalize_document;
use crate::url::picture_data;
use crate::write::line_of;

/// How often a document has what other formats may not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Pictures that are in the document itself.
    pub pictures: usize,
    /// Pictures of which only the address is known.
    pub remote_pictures: usize,
    pub links: usize,
    pub tables: usize,
    /// Blocks that are no tables.
    pub other_blocks: usize,
    /// Bold and italic texts.
    pub emphasis: usize,
}

/// Writes the words of a document: an empty line between blocks, and tabs between the cells of a table.
pub fn to_text(document: &Document) -> String {
    let document = normalize_document(document);
    let plain = |text: &String| plain_text(&parse(text));
    let mut parts = vec![plain(&document.title)];
    for section in &document.sections {
        parts.push(plain(&section.heading));
        parts.extend(section.blocks.iter().map(|block| match block {
            Block::Paragraph { text } => lines(text),
            Block::Quote { text } => text.split("\n\n").map(lines).collect::<Vec<_>>().join("\n\n"),
            Block::List { items } => {
                let items = items.iter().map(|item| {
                    let indent = "  ".repeat(usize::from(item.level));
                    let mark = item.number.map_or_else(|| "-".to_owned(), |it| format!("{it}."));
                    format!("{indent}{mark} {}", plain(&item.text))
                });
                items.collect::<Vec<_>>().join("\n")
            }
            Block::Code { text, .. } => text.clone(),
            Block::Table { header, rows, .. } => {
                let rows = std::iter::once(header).chain(rows);
                let rows = rows.map(|row| row.iter().map(plain).collect::<Vec<_>>().join("\t"));
                rows.collect::<Vec<_>>().join("\n")
            }
            Block::Image { alt, .. } => alt.clone(),
            Block::Footnote { label, text } => format!("[{label}] {}", plain(text)),
            Block::Rule => String::new(),
        }));
    }
    let references = document.references.iter().zip(1..);
    let references = references.map(|(it, number)| format!("{number}. {}", plain(&line_of(it))));
    parts.push(references.collect::<Vec<_>>().join("\n"));
    parts.retain(|part| !part.trim().is_empty());
    let mut text = parts.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// A text with its line breaks.
fn lines(text: &str) -> String {
    let mut out = String::new();
    for token in parse(text) {
        match token {
            Token::Break => out.push('\n'),
            token => out.push_str(&plain_text(&[token])),
        }
    }
    out
}

/// Counts what a document has.
pub fn count_parts(document: &Document) -> Parts {
    let mut parts = Parts::default();
    parts.add_text(&document.title);
    for section in &document.sections {
        parts.add_text(&section.heading);
        parts.other_blocks += usize::from(!section.heading.is_empty());
        for block in &section.blocks {
            parts.other_blocks += usize::from(!matches!(block, Block::Table { .. }));
            match block {
                Block::Paragraph { text }
                | Block::Quote { text }
                | Block::Footnote { text, .. } => {
                    parts.add_text(text);
                }
                Block::List { items } => items.iter().for_each(|item| parts.add_text(&item.text)),
                Block::Table { header, rows, .. } => {
                    parts.tables += 1;
                    header.iter().chain(rows.iter().flatten()).for_each(|it| parts.add_text(it));
                }
                Block::Image { url, .. } => parts.add_picture(url),
                Block::Code { .. } | Block::Rule => {}
            }
        }
    }
    parts
}

impl Parts {
    fn add_text(&mut self, text: &str) {
        for token in parse(text) {
            match token {
                Token::BeginLink(_) => self.links += 1,
                Token::Begin(_) => self.emphasis += 1,
                Token::Image { url, .. } => self.add_picture(&url),
                _ => {}
            }
        }
    }

    fn add_picture(&mut self, url: &str) {
        if picture_data(url).is_some() {
            self.pictures += 1;
        } else {
            self.remote_pictures += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_markdown;

    const MARKDOWN: &str = "# A *b*\n\nOne [two](https://e.org)\\\nthree ![four](data:image/png;base64,AAAA)\n\n- **x**\n  1. y\n\n\
        | h | i |\n|---|---|\n| 1 | 2 |\n\n![far](https://e.org/p.png)\n\n---\n\n[^n]: Note.\n";

    #[test]
    fn text_has_the_words_and_no_marks() {
        let text = to_text(&from_markdown(MARKDOWN));
        assert_eq!(
            text,
            "A b\n\nOne two\nthree four\n\n- x\n  1. y\n\nh\ti\n1\t2\n\nfar\n\n[n] Note.\n"
        );
    }

    #[test]
    fn parts_are_counted() {
        let expected = Parts {
            pictures: 1,
            remote_pictures: 1,
            links: 1,
            tables: 1,
            other_blocks: 5,
            emphasis: 2,
        };
        assert_eq!(count_parts(&from_markdown(MARKDOWN)), expected);
    }
}
