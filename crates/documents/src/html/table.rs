//! Distinguishes tables of data from those that lay a page out.

use std::collections::HashSet;
use std::ops::Range;

use html5ever::local_name;

use super::tree::{Id, Tree};

/// Tables of more columns are not aligned.
const MOST_COLUMNS: usize = 1_000;

/// Longer texts are in the first row of their cell only: repeating them would multiply the size of a page.
const LONGEST_REPEATED: usize = 200;

/// Tables whose cells are pieces of a page.
pub(super) struct Layouts(HashSet<Id>);

impl Layouts {
    /// A table lays the page out if it says so, has a single column, or contains what data does not: tables, lists, headings,
    /// code.
    pub(super) fn find(tree: &Tree) -> Self {
        let mut layouts = HashSet::new();
        for element in tree.elements() {
            match *tree.name(element) {
                local_name!("table") => {
                    let role = tree.attribute(element, &local_name!("role")).unwrap_or_default();
                    if matches!(role, "presentation" | "none") || !has_columns(tree, element) {
                        layouts.insert(element);
                    }
                }
                local_name!("ul")
                | local_name!("ol")
                | local_name!("pre")
                | local_name!("h1")
                | local_name!("h2")
                | local_name!("h3")
                | local_name!("h4")
                | local_name!("article")
                | local_name!("section") => {}
                _ => continue,
            }
            let mut above = tree.parent(element);
            while let Some(node) = above {
                if *tree.name(node) == local_name!("table") && !layouts.insert(node) {
                    break;
                }
                above = tree.parent(node);
            }
        }
        Self(layouts)
    }

    pub(super) fn contains(&self, table: Id) -> bool {
        self.0.contains(&table)
    }
}

/// The most columns and rows of one cell.
const MOST_SPANNED: usize = 100;

/// The columns and rows of a cell.
pub(super) fn spans(tree: &Tree, cell: Id) -> (usize, usize) {
    let number = |name| {
        let value = tree.attribute(cell, &name).and_then(|value| value.trim().parse().ok());
        value.unwrap_or(1).clamp(1, MOST_SPANNED)
    };
    (number(local_name!("colspan")), number(local_name!("rowspan")))
}

/// A column that a cell of an earlier row takes.
#[derive(Debug, Default, Clone)]
struct Spanned {
    /// The rows that are still taken.
    rows: usize,
    text: String,
}

/// For each column of a table, the cell of an earlier row that still takes it.
#[derive(Debug, Default)]
pub(super) struct Spanning(Vec<Spanned>);

impl Spanning {
    /// Notes a cell that takes further rows.
    pub(super) fn add(&mut self, columns: Range<usize>, rows: usize, text: &str) {
        if rows == 0 || columns.is_empty() || columns.end > MOST_COLUMNS {
            return;
        }
        if self.0.len() < columns.end {
            self.0.resize(columns.end, Spanned::default());
        }
        let first = columns.start;
        self.0[columns].fill(Spanned { rows, text: String::new() });
        if text.len() <= LONGEST_REPEATED {
            text.clone_into(&mut self.0[first].text);
        }
    }

    /// The text to repeat in a column that is taken in this row, which uses up one of its rows.
    pub(super) fn take(&mut self, column: usize) -> Option<&str> {
        let spanned = self.0.get_mut(column).filter(|spanned| spanned.rows > 0)?;
        spanned.rows -= 1;
        Some(&spanned.text)
    }
}

/// Whether any row has two cells.
fn has_columns(tree: &Tree, table: Id) -> bool {
    let is = |node: Id, name| *tree.name(node) == name;
    let sections = tree.children(table).flat_map(|child| tree.children(child));
    sections.filter(|row| is(*row, local_name!("tr"))).any(|row| {
        let cells = tree
            .children(row)
            .filter(|cell| is(*cell, local_name!("td")) || is(*cell, local_name!("th")));
        cells.count() > 1
    })
}
