//! `{{ path.to.value }}` in the text of a paragraph, also where it is split across runs.

use std::ops::Range;

use super::error::DocxError;
use super::tree::{Element, Node};
use super::xml::text_elements;

/// A longer text between braces is no placeholder.
const MAX_LENGTH: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// The names of its path.
    pub(super) path: Vec<String>,
    /// Where it is in the text of the paragraph.
    pub(super) range: Range<usize>,
}

impl Placeholder {
    pub(super) fn name(&self) -> String {
        self.path.join(".")
    }
}

/// The text of a paragraph: the texts of its runs, and a line feed for each tab or break. Paragraphs within it, such as those
/// of text boxes, are not part of it.
#[derive(Debug, Default)]
pub(super) struct ParagraphText {
    pub(super) text: String,
    /// Where the text of each `w:t` is.
    pieces: Vec<Range<usize>>,
}

impl ParagraphText {
    pub(super) fn of(paragraph: &Element) -> Self {
        let mut text = Self::default();
        text.collect(paragraph);
        text
    }

    fn collect(&mut self, element: &Element) {
        for child in element.elements() {
            match child.name.as_str() {
                "w:t" => {
                    let start = self.text.len();
                    self.text.push_str(&child.own_text());
                    self.pieces.push(start..self.text.len());
                }
                "w:tab" | "w:br" | "w:cr" | "w:drawing" | "w:pict" => self.text.push('\n'),
                "w:p" => {}
                _ => self.collect(child),
            }
        }
    }

    pub(super) fn placeholders(&self) -> Result<Vec<Placeholder>, DocxError> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(start) = self.text[at..].find("{{").map(|start| at + start) {
            let most = self.text.floor_char_boundary(start + 2 + MAX_LENGTH + 2);
            let length = self.text[start..most].find("}}");
            // Text between braces on several lines or of great length is no name.
            let Some(length) = length.filter(|it| !self.text[start..start + it].contains('\n'))
            else {
                at = start + 2;
                continue;
            };
            let inner = &self.text[start + 2..start + length];
            let path: Vec<String> = inner.trim().split('.').map(str::to_owned).collect();
            let is_name = |name: &String| {
                let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
                !name.is_empty() && name.chars().all(fits)
            };
            if !path.iter().all(is_name) {
                let name = inner.trim().chars().take(80).collect();
                let why = "is no path; write names separated by dots, such as {{ customer.name }}";
                return Err(DocxError::Placeholder { name, why });
            }
            found.push(Placeholder { path, range: start..start + length + 2 });
            at = start + length + 2;
        }
        Ok(found)
    }

    /// Puts values in the place of placeholders. Each gets the look of the run in which the placeholder begins.
    pub(super) fn replace(&self, paragraph: &mut Element, values: &[(Range<usize>, String)]) {
        let texts: Vec<Option<String>> =
            self.pieces.iter().map(|piece| self.replaced(piece, values)).collect();
        let mut texts = texts.into_iter();
        apply(paragraph, &mut texts);
    }

    /// The new text of a piece; none if it is unchanged.
    fn replaced(&self, piece: &Range<usize>, values: &[(Range<usize>, String)]) -> Option<String> {
        let mut text = String::new();
        let mut at = piece.start;
        let mut changed = false;
        for (range, value) in values {
            if range.end <= piece.start || range.start >= piece.end {
                continue;
            }
            changed = true;
            if range.start >= piece.start {
                text.push_str(&self.text[at..range.start]);
                text.push_str(value);
            }
            at = range.end.min(piece.end);
        }
        text.push_str(&self.text[at..piece.end]);
        changed.then_some(text)
    }
}

fn apply(element: &mut Element, texts: &mut impl Iterator<Item = Option<String>>) {
    for node in &mut element.children {
        let Node::Element(child) = node else { continue };
        match child.name.as_str() {
            "w:t" => {
                if let Some(Some(text)) = texts.next() {
                    *node = Node::Raw(text_elements(&text));
                }
            }
            "w:p" => {}
            _ => apply(child, texts),
        }
    }
}
