//! The growing text: separated blocks, up to a limit.

use crate::extracted::Extracted;
use crate::metadata::Metadata;

/// The kind of a block, which decides how it is separated from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// Preceded by a blank line.
    Paragraph,
    /// Follows another line without a blank line.
    Line,
    /// A list item; follows another item without a blank line.
    Item,
    /// A table row; follows another row without a blank line.
    Row,
}

/// The text of a document while it is written.
#[derive(Debug)]
pub struct Text {
    out: String,
    cap: usize,
    last: Option<Block>,
    truncated: bool,
    hidden: usize,
    hidden_text: String,
    /// The page of the next block, counted from 1; 0 where there are no pages.
    page: usize,
    /// Where the pages up to the last block begin.
    pages: Vec<usize>,
    unreadable_pages: Vec<usize>,
}

impl Text {
    /// No text yet; it will have at most `cap` bytes.
    pub fn new(cap: usize) -> Self {
        Self {
            out: String::new(),
            cap,
            last: None,
            truncated: false,
            hidden: 0,
            hidden_text: String::new(),
            page: 0,
            pages: Vec::new(),
            unreadable_pages: Vec::new(),
        }
    }

    /// Whether the limit is reached; readers stop then.
    pub fn is_full(&self) -> bool {
        self.truncated
    }

    /// Writes a block, unless it has no visible character.
    pub fn block(&mut self, kind: Block, text: &str) {
        // Indents of list items and empty cells at the start of a row stay.
        let text = text.trim_matches(['\n', '\r']).trim_end();
        if text.chars().all(char::is_whitespace) {
            return;
        }
        match self.last {
            None => {}
            Some(last) if last == kind && kind != Block::Paragraph => self.push("\n"),
            Some(_) => self.push("\n\n"),
        }
        self.begin_pages(self.page);
        self.push(text);
        self.last = Some(kind);
    }

    /// Says on which page the next block is, counted from 1. A page without a block begins where the next one does.
    pub fn on_page(&mut self, number: usize) {
        self.page = number;
    }

    fn begin_pages(&mut self, count: usize) {
        if self.pages.len() < count {
            self.pages.resize(count, self.out.len());
        }
    }

    /// Puts a blank line before the next block of any kind.
    pub fn set_off(&mut self) {
        if self.last.is_some() {
            self.last = Some(Block::Paragraph);
        }
    }

    /// Notes that text was left out because there was too much of it.
    pub fn cut(&mut self) {
        self.truncated = true;
    }

    /// Notes that a page shows text whose characters are not known.
    pub fn unreadable_page(&mut self, number: usize) {
        if self.unreadable_pages.len() < MOST_UNREADABLE {
            self.unreadable_pages.push(number);
        }
    }

    /// Counts hidden text.
    pub fn hide(&mut self, text: &str) {
        self.hidden += text.chars().filter(|character| !character.is_whitespace()).count();
        keep_hidden(&mut self.hidden_text, text);
    }

    fn push(&mut self, text: &str) {
        let free = self.cap.saturating_sub(self.out.len());
        if text.len() <= free {
            self.out.push_str(text);
        } else {
            self.out.push_str(&text[..text.floor_char_boundary(free)]);
            self.truncated = true;
        }
    }

    /// The text with its metadata; `parts` is the number of pages, slides or sheets.
    pub fn finish(mut self, parts: usize, meta: Metadata) -> Extracted {
        if self.page > 0 {
            self.begin_pages(parts);
        }
        Extracted {
            text: self.out,
            media_type: String::new(),
            parts,
            pages: self.pages,
            meta: meta.tidy(),
            hidden: self.hidden,
            hidden_text: self.hidden_text,
            truncated: self.truncated,
            unreadable_pages: self.unreadable_pages,
        }
    }
}

/// The most pages without readable text that are named.
const MOST_UNREADABLE: usize = 1_000;

/// Bytes of hidden text that are kept.
const MOST_HIDDEN: usize = 20_000;

/// Adds to the hidden text as much as is kept of it.
pub fn keep_hidden(kept: &mut String, text: &str) {
    let text = text.trim();
    let free = MOST_HIDDEN.saturating_sub(kept.len());
    if text.is_empty() || free == 0 {
        return;
    }
    kept.push_str(&text[..text.floor_char_boundary(free)]);
    kept.push('\n');
}

/// One line without runs of white space.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
