//! What differs between Markdown as it was written and its canonical form.

use std::collections::HashSet;

use crate::model::{Block, Document};
use crate::write::write_block;

use super::Change;

/// The changes that writing the document makes to the Markdown that it was read from.
pub fn source_changes(markdown: &str, document: &Document) -> Vec<Change> {
    let mut counts = Counts::default();
    let mut fence: Option<&str> = None;
    let mut blank = false;
    for line in markdown.lines() {
        let text = line.trim_start();
        if let Some(mark) = fence {
            if text.starts_with(mark) {
                fence = None;
            }
            continue;
        }
        fence = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        counts.add(line, text, blank);
        blank = text.is_empty();
    }
    let tables = document.sections.iter().flat_map(|section| &section.blocks);
    let tables = tables.filter(|block| matches!(block, Block::Table { .. }));
    let lines: HashSet<&str> = markdown.lines().map(str::trim).collect();
    let is_written = |table: &&Block| write_block(table).lines().all(|line| lines.contains(line));
    counts.tables = tables.filter(|table| !is_written(table)).count();
    let changes = [
        ("list_markers", counts.markers),
        ("heading_marks", counts.headings),
        ("blank_lines", counts.blanks),
        ("trailing_spaces", counts.trailing),
        ("table_alignment", counts.tables),
    ];
    changes
        .into_iter()
        .map(|(kind, count)| Change { kind, count })
        .filter(|it| it.count > 0)
        .collect()
}

#[derive(Default)]
struct Counts {
    markers: usize,
    headings: usize,
    blanks: usize,
    trailing: usize,
    tables: usize,
}

impl Counts {
    fn add(&mut self, line: &str, text: &str, after_blank: bool) {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let other_bullet = text.starts_with("* ") || text.starts_with("+ ");
        let other_number = digits > 0 && text[digits..].starts_with(") ");
        self.markers += usize::from(other_bullet || other_number);
        let underline = text.len() > 1
            && (text.bytes().all(|b| b == b'=')
                || (text.bytes().all(|b| b == b'-') && !after_blank));
        let closed = text.starts_with('#') && text.trim_end().ends_with(" #");
        self.headings += usize::from(underline || closed);
        self.blanks += usize::from(text.is_empty() && after_blank);
        // Two spaces at the end of a text are a line break.
        let spaces = line.len() - line.trim_end().len();
        self.trailing += usize::from(spaces > 0 && (spaces != 2 || text.is_empty()));
    }
}
