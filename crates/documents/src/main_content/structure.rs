//! Completes structures of which a part is chosen: the rows and the note of a table, terms and their definitions, details and
//! their summaries, captions, program code, the headings of sections, and the text between the page's heading and what is chosen.

use std::ops::Range;

use html5ever::{LocalName, local_name};

use crate::html::block::{Block, Container, Kind};
use crate::html::page::Page;
use crate::html::tree::Id;

/// A block of so many words is prose.
const PROSE: usize = 15;

/// Adds the missing parts, but nothing of navigation and the like.
pub(super) fn add_structures(
    page: &Page,
    is_outside: impl Fn(&Block) -> bool,
    with_captions: bool,
    chosen: &mut Vec<usize>,
) {
    let (Some(first), Some(last)) = (chosen.first().copied(), chosen.last().copied()) else {
        return;
    };
    let blocks = &page.blocks.blocks;
    let mut is_chosen = vec![false; blocks.len()];
    for at in chosen.iter() {
        is_chosen[*at] = true;
    }
    let before = chosen.len();
    let mut content = Content { page, is_chosen, first, last };
    content.add_rows(&is_outside);
    content.add_notes(&is_outside);
    content.add_definitions(&is_outside);
    content.add_summaries(&is_outside);
    if with_captions {
        content.add_captions(&is_outside);
    }
    content.add_opening(&is_outside);
    content.add_code(&is_outside);
    content.add_headings(&is_outside);
    let added: Vec<usize> = (0..blocks.len()).filter(|at| content.is_chosen[*at]).collect();
    if added.len() > before {
        *chosen = added;
    }
}

/// The chosen blocks, and the range of the page that they cover.
struct Content<'a> {
    page: &'a Page,
    is_chosen: Vec<bool>,
    first: usize,
    last: usize,
}

impl Content<'_> {
    fn block(&self, at: usize) -> &Block {
        &self.page.blocks.blocks[at]
    }

    /// The innermost element around a block of one of these names.
    fn around(&self, at: usize, names: &[LocalName]) -> Option<Id> {
        let containers = &self.page.blocks.containers;
        let mut container = self.block(at).container;
        while container != 0 {
            let node = containers[container].node;
            if names.contains(self.page.tree.name(node)) {
                return Some(node);
            }
            container = containers[container].parent;
        }
        None
    }

    /// The innermost element with all chosen blocks, unless that is the page itself.
    fn element(&self) -> Option<usize> {
        let containers = &self.page.blocks.containers;
        let mut container = self.block(self.first).container;
        while container != 0 && containers[container].end <= self.last {
            container = containers[container].parent;
        }
        let name = self.page.tree.name(containers[container].node);
        (container != 0 && *name != local_name!("body")).then_some(container)
    }

    /// The end of the innermost element with all chosen blocks.
    fn end_of_element(&self) -> usize {
        self.element().map_or(self.last + 1, |element| self.page.blocks.containers[element].end)
    }

    /// The blocks of the element that the page declares as its main one, if all chosen blocks are in it; else those from
    /// the first chosen one to the end of the innermost element with all of them.
    fn main_range(&self) -> Range<usize> {
        let containers = &self.page.blocks.containers;
        let mut container = self.element().unwrap_or_default();
        while container != 0 {
            let Container { node, parent, first, end, .. } = containers[container];
            let role = self.page.tree.attribute(node, &local_name!("role"));
            if *self.page.tree.name(node) == local_name!("main") || role == Some("main") {
                return first..end;
            }
            container = parent;
        }
        self.first..self.end_of_element()
    }

    /// Adds all rows of a table of which some are chosen, and tables with a head among and right after the content.
    fn add_rows(&mut self, is_outside: impl Fn(&Block) -> bool) {
        let end = self.end_of_element();
        let count = self.page.blocks.blocks.len();
        let mut at = 0;
        while at < count {
            let table = self.block(at).origin;
            let is_row = |block: &Block| block.kind == Kind::Row && block.origin == table;
            let rows = (at..count).take_while(|row| is_row(self.block(*row))).count();
            if rows == 0 {
                at += 1;
                continue;
            }
            let range = at..at + rows;
            let has_chosen = range.clone().any(|row| self.is_chosen[row]);
            let within = at > self.first && range.end <= end && self.has_head(table);
            let linked: usize = range.clone().map(|row| self.block(row).linked).sum();
            let written: usize = range.clone().map(|row| self.block(row).text.len()).sum();
            let is_data = rows > 1 && linked * 2 <= written && !is_outside(self.block(at));
            if has_chosen && rows > 1 || within && is_data {
                self.is_chosen[range].fill(true);
            }
            at += rows;
        }
    }

    /// Whether a table has cells that name its columns or rows.
    fn has_head(&self, table: Id) -> bool {
        let tree = &self.page.tree;
        let rows = tree.children(table).flat_map(|section| tree.children(section));
        rows.take(3)
            .flat_map(|row| tree.children(row))
            .any(|cell| *tree.name(cell) == local_name!("th"))
    }

    /// Adds the paragraph right after a chosen table, such as its source.
    fn add_notes(&mut self, is_outside: impl Fn(&Block) -> bool) {
        for at in 1..self.page.blocks.blocks.len() {
            let note = self.block(at);
            if self.is_chosen[at - 1]
                && self.block(at - 1).kind == Kind::Row
                && note.kind == Kind::Paragraph
                && note.linked * 2 <= note.text.len()
                && self.follows_table(at)
                && !is_outside(note)
            {
                self.is_chosen[at] = true;
            }
        }
    }

    /// Whether the element of a block comes right after a table, or after an element that ends with it.
    fn follows_table(&self, at: usize) -> bool {
        let containers = &self.page.blocks.containers;
        let mut before = self.block(at - 1).container;
        while containers[containers[before].parent].end == at {
            before = containers[before].parent;
        }
        let own = &containers[self.block(at).container];
        *self.page.tree.name(own.node) == local_name!("p")
            && own.parent == containers[before].parent
    }

    /// Adds the program code of the main element: code has no sentences by which it could be rated.
    fn add_code(&mut self, is_outside: impl Fn(&Block) -> bool) {
        for at in self.main_range() {
            let block = self.block(at);
            if block.kind == Kind::Code
                && *self.page.tree.name(block.origin) == local_name!("pre")
                && block.linked * 2 <= block.text.len()
                && !is_outside(block)
            {
                self.is_chosen[at] = true;
            }
        }
    }

    /// Adds the headings among the content of sections that begin with a chosen block.
    fn add_headings(&mut self, is_outside: impl Fn(&Block) -> bool) {
        let mut next_is_chosen = false;
        let first = self.is_chosen.iter().position(|is_chosen| *is_chosen).unwrap_or_default();
        for at in (first..self.is_chosen.len()).rev() {
            let block = self.block(at);
            // Buttons may come before a block, such as one that copies code.
            if !self.is_chosen[at] && is_outside(block) {
                continue;
            }
            if next_is_chosen && matches!(block.kind, Kind::Heading(_)) {
                self.is_chosen[at] = true;
            }
            next_is_chosen = self.is_chosen[at];
        }
    }

    /// Adds the terms of chosen definitions, and the definitions of chosen terms.
    fn add_definitions(&mut self, is_outside: impl Fn(&Block) -> bool) {
        let parts = [local_name!("dt"), local_name!("dd")];
        let lists = [local_name!("dl")];
        let mut known: Vec<(usize, Id, bool)> = Vec::new();
        for at in 0..self.page.blocks.blocks.len() {
            let Some(part) = self.around(at, &parts) else { continue };
            let Some(list) = self.around(at, &lists) else { continue };
            let is_term = *self.page.tree.name(part) == local_name!("dt");
            known.push((at, list, is_term));
        }
        for pair in known.windows(2) {
            let [(term, list, true), (definition, same_list, false)] = pair else { continue };
            if list == same_list
                && self.is_chosen[*term] != self.is_chosen[*definition]
                && !is_outside(self.block(*term))
            {
                (self.is_chosen[*term], self.is_chosen[*definition]) = (true, true);
            }
        }
    }

    /// Adds the summaries of chosen details.
    fn add_summaries(&mut self, is_outside: impl Fn(&Block) -> bool) {
        let details = [local_name!("details")];
        for at in self.first.saturating_sub(1)..self.last {
            let summary = self.around(at, &[local_name!("summary")]);
            if summary.is_some()
                && self.is_chosen[at + 1]
                && self.around(at, &details) == self.around(at + 1, &details)
                && !is_outside(self.block(at))
            {
                self.is_chosen[at] = true;
            }
        }
    }

    /// Adds the captions of figures among the content.
    fn add_captions(&mut self, is_outside: impl Fn(&Block) -> bool) {
        let captions = [local_name!("figcaption"), local_name!("caption")];
        for at in self.first..=self.last {
            let block = self.block(at);
            if !self.is_chosen[at]
                && block.linked * 2 <= block.text.len()
                && self.around(at, &captions).is_some()
                && !is_outside(block)
            {
                self.is_chosen[at] = true;
            }
        }
    }

    /// Adds the prose between the page's only first-level heading and the content: the question that answers follow.
    fn add_opening(&mut self, is_outside: impl Fn(&Block) -> bool) {
        let is_top = |at: &usize| matches!(self.block(*at).kind, Kind::Heading(1));
        let mut tops = (0..self.first).filter(is_top);
        let (Some(heading), None) = (tops.next(), tops.next()) else { return };
        for at in heading + 1..self.first {
            let block = self.block(at);
            if block.text.split_whitespace().count() >= PROSE
                && block.linked * 3 <= block.text.len()
                && !is_outside(block)
            {
                self.is_chosen[at] = true;
            }
        }
    }
}
