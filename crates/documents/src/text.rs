//! The text as it grows: blocks set apart, up to a cap.

use crate::extract::Extracted;

/// What a piece of text is, which decides how far it is set off from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Block {
    /// Set off by a blank line.
    Paragraph,
    /// Follows its like on the next line.
    Line,
    /// A list item; follows its like on the next line.
    Item,
    /// A table row; follows its like on the next line.
    Row,
}

#[derive(Debug)]
pub(crate) struct Text {
    out: String,
    cap: usize,
    last: Option<Block>,
    truncated: bool,
    hidden: usize,
}

impl Text {
    pub(crate) fn new(cap: usize) -> Self {
        Self { out: String::new(), cap, last: None, truncated: false, hidden: 0 }
    }

    /// Whether nothing more fits: readers stop there instead of reading what nobody gets.
    pub(crate) fn is_full(&self) -> bool {
        self.truncated
    }

    /// Writes a block; one without a visible character is nothing.
    pub(crate) fn block(&mut self, kind: Block, text: &str) {
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
        self.push(text);
        self.last = Some(kind);
    }

    /// Sets the next block off by a blank line, whatever it is.
    pub(crate) fn set_off(&mut self) {
        if self.last.is_some() {
            self.last = Some(Block::Paragraph);
        }
    }

    /// Counts text that is in the document but not to be seen.
    pub(crate) fn hide(&mut self, text: &str) {
        self.hidden += text.chars().filter(|character| !character.is_whitespace()).count();
    }

    fn push(&mut self, text: &str) {
        let room = self.cap.saturating_sub(self.out.len());
        if text.len() <= room {
            self.out.push_str(text);
        } else {
            self.out.push_str(&text[..text.floor_char_boundary(room)]);
            self.truncated = true;
        }
    }

    pub(crate) fn finish(self, parts: usize, title: Option<String>) -> Extracted {
        let title = title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
        Extracted {
            text: self.out,
            media_type: String::new(),
            parts,
            title,
            hidden: self.hidden,
            truncated: self.truncated,
        }
    }
}

/// One line without runs of white space.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
