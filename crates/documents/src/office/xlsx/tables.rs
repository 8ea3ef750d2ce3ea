//! Each sheet that is shown as a table, with its merged cells.

use std::collections::{HashMap, HashSet};

use extraction::table::{Cell as TableCell, Table};
use extraction::{Limits, Unreadable};

use super::{Cell, Cells, Package, Workbook, column};
use crate::xml::{Element, Node, Xml};

/// The most cells of one sheet.
const MOST_CELLS: usize = 200_000;

/// The most merged cells of one sheet.
const MOST_MERGED: usize = 20_000;

/// The sheets that have cells, and how many are shown.
pub(crate) fn tables(bytes: &[u8], limits: &Limits) -> Result<(Vec<Table>, usize), Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let Workbook { relations, strings, formats, sheets } = Workbook::read(&mut package, limits)?;
    let (mut tables, mut shown) = (Vec::new(), 0);
    for sheet in sheets.into_iter().filter(|sheet| !sheet.hidden) {
        let Some(relation) = relations.iter().find(|relation| relation.id == sheet.relation) else {
            continue;
        };
        let Some(xml) = package.part(&relation.part)? else { continue };
        shown += 1;
        let cells = Cells { strings: &strings, formats: &formats, hidden: false };
        let found = SheetCells::read(&cells, &xml, limits)?;
        tables.extend(found.table(shown));
    }
    Ok((tables, shown))
}

/// The cells of a sheet with text, and what is merged or hidden.
#[derive(Default)]
struct SheetCells {
    cells: Vec<(usize, usize, String)>,
    /// The last row and column of merged cells, by the first ones.
    merged: HashMap<(usize, usize), (usize, usize)>,
    hidden_rows: HashSet<usize>,
    hidden_columns: HashSet<usize>,
}

impl SheetCells {
    fn read(cells: &Cells<'_>, sheet: &str, limits: &Limits) -> Result<Self, Unreadable> {
        let mut found = Self::default();
        let mut xml = Xml::new(sheet, limits);
        let (mut row, mut next) = (0, 0);
        let mut cell = Cell::default();
        let mut before_first = true;
        loop {
            match xml.next()? {
                Node::Open(element) => match element.name() {
                    "row" => {
                        let number = element.attribute("r").and_then(|it| it.parse::<usize>().ok());
                        let following = if before_first { 0 } else { row + 1 };
                        row = number.map_or(following, |number| number.saturating_sub(1));
                        (before_first, next) = (false, 0);
                        if is_hidden(&element) {
                            found.hidden_rows.insert(row);
                        }
                    }
                    "c" => {
                        cell = Cell::at(&element, next);
                        next = cell.column + 1;
                    }
                    "v" | "t" => cell.value.push_str(&xml.text()?),
                    "f" | "rPh" | "oddHeader" | "oddFooter" => xml.skip(|_| ())?,
                    "col" if is_hidden(&element) => found.hide_columns(&element),
                    "mergeCell" => found.merge(&element),
                    _ => {}
                },
                Node::Close(name) if name == "c" => {
                    let text = cells.value(&cell);
                    if !text.is_empty() && found.cells.len() < MOST_CELLS {
                        found.cells.push((row, cell.column, text));
                    }
                }
                Node::Close(_) | Node::Text(_) => {}
                Node::End => return Ok(found),
            }
        }
    }

    fn hide_columns(&mut self, element: &Element<'_>) {
        let number = |name| element.attribute(name).and_then(|it| it.parse::<usize>().ok());
        if let (Some(first), Some(last)) = (number("min"), number("max")) {
            self.hidden_columns.extend(first.saturating_sub(1)..last.min(16_384));
        }
    }

    fn merge(&mut self, element: &Element<'_>) {
        let reference = element.attribute("ref").unwrap_or_default();
        let Some((from, to)) = reference.split_once(':') else { return };
        let place = |reference: &str| Some((row(reference)?, column(reference)?));
        if let (Some(from), Some(to)) = (place(from), place(to))
            && self.merged.len() < MOST_MERGED
        {
            self.merged.insert(from, to);
        }
    }

    /// The table without empty and hidden rows and columns at its edges and in between.
    fn table(mut self, page: usize) -> Option<Table> {
        self.cells.retain(|(row, col, _)| {
            !self.hidden_rows.contains(row) && !self.hidden_columns.contains(col)
        });
        let distinct = |mut places: Vec<usize>| {
            places.sort_unstable();
            places.dedup();
            places
        };
        let rows = distinct(self.cells.iter().map(|(row, ..)| *row).collect());
        let cols = distinct(self.cells.iter().map(|(_, col, _)| *col).collect());
        let index = |places: &[usize], at: usize| places.partition_point(|place| *place < at);
        let end = |places: &[usize], at: usize| places.partition_point(|place| *place <= at);
        let cells: Vec<TableCell> = self
            .cells
            .into_iter()
            .map(|(row, col, text)| {
                let (last_row, last_col) =
                    self.merged.get(&(row, col)).copied().unwrap_or((row, col));
                let (first, left) = (index(&rows, row), index(&cols, col));
                TableCell {
                    row: first,
                    col: left,
                    row_end: end(&rows, last_row).max(first + 1) - 1,
                    col_end: end(&cols, last_col).max(left + 1) - 1,
                    text,
                }
            })
            .collect();
        (!cells.is_empty()).then_some(Table { page, cells, header_rows: 1 })
    }
}

fn is_hidden(element: &Element<'_>) -> bool {
    matches!(element.attribute("hidden").as_deref(), Some("1" | "true"))
}

/// The row of a cell reference such as `AB12`, counted from 0.
fn row(reference: &str) -> Option<usize> {
    let digits = reference.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse::<usize>().ok().filter(|row| (1..=1_048_576).contains(row)).map(|row| row - 1)
}
