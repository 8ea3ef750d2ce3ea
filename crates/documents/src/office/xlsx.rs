//! Excel: each sheet that is shown as lines of cells with tabs between them.

mod format;
mod tables;

use std::collections::HashSet;

use extraction::text::{Block, Text, on_one_line};
use extraction::{Extracted, Form, Limits, Unreadable, markdown};

use self::format::{Formats, show};
pub(crate) use self::tables::tables;
use super::{Package, Relation};
use crate::xml::{Element, Node, Xml};

/// The most consecutive empty cells that are written, so that a lone cell far to the right needs no thousand tabs.
const GAP: usize = 64;

/// What all sheets share.
struct Workbook {
    relations: Vec<Relation>,
    strings: Vec<String>,
    formats: Formats,
    sheets: Vec<Sheet>,
}

impl Workbook {
    fn read(package: &mut Package<'_>, limits: &Limits) -> Result<Self, Unreadable> {
        let (name, workbook) = package.main("xl/workbook.xml")?;
        let relations = package.relations(&name)?;
        let strings = match package.related(&name, "sharedStrings")?.first() {
            Some(part) => {
                shared_strings(package.part(part)?.as_deref().unwrap_or_default(), limits)?
            }
            None => Vec::new(),
        };
        let styles = match package.related(&name, "styles")?.first() {
            Some(part) => package.part(part)?,
            None => None,
        };
        let (sheets, since_1904) = sheets(&workbook, limits)?;
        let formats = Formats::read(styles.as_deref().unwrap_or_default(), since_1904, limits)?;
        Ok(Self { relations, strings, formats, sheets })
    }
}

pub(crate) fn read(bytes: &[u8], form: Form, limits: &Limits) -> Result<Extracted, Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let Workbook { relations, strings, formats, sheets } = Workbook::read(&mut package, limits)?;
    let mut text = Text::new(limits.text);
    let mut shown = 0;
    for sheet in sheets {
        let Some(relation) = relations.iter().find(|relation| relation.id == sheet.relation) else {
            continue;
        };
        // A sheet that is a chart has no cells.
        let Some(xml) = package.part(&relation.part)? else { continue };
        text.set_off();
        if !sheet.hidden {
            shown += 1;
            let name = on_one_line(&sheet.name);
            if form.is_markdown() {
                let name = markdown::escape(&name);
                text.block(Block::Paragraph, &markdown::heading(2, &name));
            } else {
                text.block(Block::Row, &format!("Sheet: {name}"));
            }
        }
        let cells = Cells { strings: &strings, formats: &formats, hidden: sheet.hidden };
        if form.is_markdown() {
            let mut table = Vec::new();
            cells.read(&xml, limits, &mut text, |_, row| table.push(row))?;
            write_table(&table, &mut text);
        } else {
            cells.read(&xml, limits, &mut text, |text, row| {
                text.block(Block::Row, &row.join("\t"));
            })?;
        }
        if text.is_full() {
            break;
        }
    }
    let meta = package.metadata()?;
    Ok(text.finish(shown, meta))
}

struct Sheet {
    name: String,
    relation: String,
    hidden: bool,
}

/// The sheets in order, and whether days are counted from 1904.
fn sheets(workbook: &str, limits: &Limits) -> Result<(Vec<Sheet>, bool), Unreadable> {
    let mut xml = Xml::new(workbook, limits);
    let (mut sheets, mut since_1904) = (Vec::new(), false);
    loop {
        match xml.next()? {
            Node::Open(element) => match element.name() {
                "sheet" => sheets.push(Sheet {
                    name: element.attribute("name").unwrap_or_default(),
                    relation: element.prefixed("id").unwrap_or_default(),
                    hidden: element.attribute("state").is_some_and(|state| state != "visible"),
                }),
                "workbookPr" => {
                    since_1904 =
                        matches!(element.attribute("date1904").as_deref(), Some("1" | "true"));
                }
                _ => {}
            },
            Node::End => return Ok((sheets, since_1904)),
            Node::Close(_) | Node::Text(_) => {}
        }
    }
}

/// The strings that cells name by number, without the reading aids of Japanese.
fn shared_strings(text: &str, limits: &Limits) -> Result<Vec<String>, Unreadable> {
    let mut xml = Xml::new(text, limits);
    let mut strings = Vec::new();
    let mut string = String::new();
    loop {
        match xml.next()? {
            Node::Open(element) => match element.name() {
                "si" => string.clear(),
                "rPh" => xml.skip(|_| ())?,
                "t" => string.push_str(&xml.text()?),
                _ => {}
            },
            Node::Close(name) if name == "si" => strings.push(on_one_line(&string)),
            Node::End => return Ok(strings),
            Node::Close(_) | Node::Text(_) => {}
        }
    }
}

struct Cells<'a> {
    strings: &'a [String],
    formats: &'a Formats,
    hidden: bool,
}

/// The cell that is being read.
#[derive(Default)]
struct Cell {
    column: usize,
    kind: String,
    style: usize,
    value: String,
}

impl Cell {
    /// The empty cell of an element; in column `next` if it names none.
    fn at(element: &Element<'_>, next: usize) -> Self {
        let reference = element.attribute("r");
        Self {
            column: reference.and_then(|it| column(&it)).unwrap_or(next),
            kind: element.attribute("t").unwrap_or_default(),
            style: element.attribute("s").and_then(|it| it.parse().ok()).unwrap_or(0),
            value: String::new(),
        }
    }
}

impl Cells<'_> {
    /// Reads the cells that are shown row by row, with empty cells in gaps.
    fn read(
        &self,
        sheet: &str,
        limits: &Limits,
        out: &mut Text,
        mut each: impl FnMut(&mut Text, Vec<String>),
    ) -> Result<(), Unreadable> {
        let mut xml = Xml::new(sheet, limits);
        let mut hidden_columns = HashSet::new();
        let (mut row, mut hidden_row) = (Vec::<String>::new(), false);
        let mut length = 0;
        let (mut next, mut cell) = (0, Cell::default());
        loop {
            match xml.next()? {
                Node::Open(element) => match element.name() {
                    "col"
                        if matches!(element.attribute("hidden").as_deref(), Some("1" | "true")) =>
                    {
                        let number =
                            |name| element.attribute(name).and_then(|it| it.parse::<usize>().ok());
                        if let (Some(first), Some(last)) = (number("min"), number("max")) {
                            hidden_columns.extend(first.saturating_sub(1)..last.min(16_384));
                        }
                    }
                    "row" => {
                        row.clear();
                        next = 0;
                        hidden_row =
                            matches!(element.attribute("hidden").as_deref(), Some("1" | "true"));
                    }
                    "c" => {
                        cell = Cell::at(&element, next);
                    }
                    "v" | "t" => cell.value.push_str(&xml.text()?),
                    // Formulas, and the reading aids of Japanese.
                    "f" | "rPh" | "oddHeader" | "oddFooter" => xml.skip(|_| ())?,
                    _ => {}
                },
                Node::Close(name) => match name.as_str() {
                    "c" => {
                        let value = self.value(&cell);
                        if self.hidden || hidden_row || hidden_columns.contains(&cell.column) {
                            out.hide(&value);
                        } else if !value.is_empty() {
                            let gap = cell.column.saturating_sub(next).min(GAP);
                            row.extend(std::iter::repeat_n(String::new(), gap));
                            length += value.len() + gap + 1;
                            row.push(value);
                            next = cell.column + 1;
                        }
                    }
                    "row" if !row.is_empty() => {
                        each(out, std::mem::take(&mut row));
                        // Text beyond the limit would be cut anyway.
                        if out.is_full() || length > limits.text {
                            return Ok(());
                        }
                    }
                    _ => {}
                },
                Node::Text(_) => {}
                Node::End => return Ok(()),
            }
        }
    }

    fn value(&self, cell: &Cell) -> String {
        match cell.kind.as_str() {
            "s" => {
                let index = cell.value.trim().parse::<usize>().ok();
                index.and_then(|index| self.strings.get(index)).cloned().unwrap_or_default()
            }
            "b" => if cell.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" => {
                show(cell.value.trim(), self.formats.of(cell.style), self.formats.since_1904)
            }
            _ => on_one_line(&cell.value),
        }
    }
}

/// Writes rows as a table with the first one as its head; columns that are empty at the left are dropped.
fn write_table(rows: &[Vec<String>], text: &mut Text) {
    let empty = |row: &Vec<String>| row.iter().take_while(|cell| cell.is_empty()).count();
    let left = rows.iter().map(empty).min().unwrap_or(0);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(left);
    for (at, row) in rows.iter().enumerate() {
        let mut cells: Vec<_> = row[left..].iter().map(|cell| markdown::escape(cell)).collect();
        cells.resize(columns, "".into());
        text.block(Block::Row, &markdown::row(&cells));
        if at == 0 {
            text.block(Block::Row, &markdown::separator(columns));
        }
        if text.is_full() {
            return;
        }
    }
}

/// The column of a cell reference such as `AB12`, counted from 0.
fn column(reference: &str) -> Option<usize> {
    let column = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let number = column.fold(0_usize, |number, letter| {
        let digit = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        number.saturating_mul(26).saturating_add(digit)
    });
    (1..=16_384).contains(&number).then(|| number - 1)
}
