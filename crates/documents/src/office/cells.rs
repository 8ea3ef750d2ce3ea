//! The tables of Office files, cell by cell.

use extraction::table::{Table, TableBuilder};
use extraction::text::on_one_line;
use extraction::{Limits, Unreadable};

use super::Package;
use super::flow::symbol;
use super::pptx::{is_hidden, slide_ids};
use crate::xml::{Element, Node, Xml};

/// The tables of the body of a DOCX file.
pub(crate) fn of_docx(bytes: &[u8], limits: &Limits) -> Result<Vec<Table>, Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let (_, body) = package.main("word/document.xml")?;
    let mut tables = Vec::new();
    read(&body, 1, limits, &mut tables)?;
    Ok(tables)
}

/// The tables of the slides of a PPTX file, and how many slides are shown.
pub(crate) fn of_pptx(bytes: &[u8], limits: &Limits) -> Result<(Vec<Table>, usize), Unreadable> {
    let mut package = Package::open(bytes, limits)?;
    let (name, presentation) = package.main("ppt/presentation.xml")?;
    let relations = package.relations(&name)?;
    let (mut tables, mut shown) = (Vec::new(), 0);
    for id in slide_ids(&presentation, limits)? {
        let Some(relation) = relations.iter().find(|relation| relation.id == id) else { continue };
        let Some(slide) = package.part(&relation.part)? else { continue };
        if !is_hidden(&slide, limits)? {
            shown += 1;
            read(&slide, shown, limits, &mut tables)?;
        }
    }
    Ok((tables, shown))
}

/// An open table.
#[derive(Default)]
struct Open {
    builder: TableBuilder,
    /// Whether the first row is the head, as the table's own properties say.
    first_row: bool,
    rows: usize,
    row: Row,
    cell: Cell,
}

#[derive(Default)]
struct Row {
    is_header: bool,
    before: usize,
    /// Whether a cell has begun, with which the row is.
    begun: bool,
}

#[derive(Default)]
struct Cell {
    text: String,
    columns: usize,
    rows: usize,
    /// Whether it continues the cell above.
    below: bool,
    /// Whether the span of another cell takes its place.
    taken: bool,
    hidden: bool,
}

/// DOCX and PPTX write tables with the same names. A table within a cell is a table of its own.
fn read(
    xml: &str,
    page: usize,
    limits: &Limits,
    tables: &mut Vec<Table>,
) -> Result<(), Unreadable> {
    let mut xml = Xml::new(xml, limits);
    let mut open: Vec<Open> = Vec::new();
    loop {
        match xml.next()? {
            // As in running text: fallback content for old programs, text that was moved away, and reading aids.
            Node::Open(element) if matches!(element.name(), "Fallback" | "moveFrom" | "rt") => {
                xml.skip(|_| ())?;
            }
            Node::Open(element) if element.name() == "tbl" => open.push(Open::default()),
            Node::Open(element) if element.name() == "t" => {
                let text = xml.text()?;
                if let Some(table) = open.last_mut().filter(|table| !table.cell.hidden) {
                    table.cell.text.push_str(&text);
                }
            }
            Node::Open(element) => {
                if let Some(table) = open.last_mut() {
                    table.open(&element);
                }
            }
            Node::Close(name) if name == "tbl" => {
                let table = open.pop().map(|table| table.builder.finish(page));
                tables.extend(table.filter(|table| !table.cells.is_empty()));
            }
            Node::Close(name) => {
                if let Some(table) = open.last_mut() {
                    table.close(&name);
                }
            }
            Node::Text(_) => {}
            Node::End => return Ok(()),
        }
    }
}

impl Open {
    fn open(&mut self, element: &Element<'_>) {
        let number = |name| element.attribute(name).and_then(|value| value.parse().ok());
        let is_set = |name| matches!(element.attribute(name).as_deref(), Some("1" | "true"));
        match element.name() {
            "tblPr" => self.first_row |= is_set("firstRow"),
            "tr" => self.row = Row::default(),
            "tblHeader" => self.row.is_header = element.is_on(),
            "gridBefore" => self.row.before = number("val").unwrap_or(0),
            "tc" => {
                self.begin_row();
                self.cell = Cell {
                    columns: number("gridSpan").unwrap_or(1),
                    rows: number("rowSpan").unwrap_or(1),
                    taken: is_set("vMerge") || is_set("hMerge"),
                    ..Cell::default()
                };
            }
            "gridSpan" => self.cell.columns = number("val").unwrap_or(1),
            "vMerge" => self.cell.below = element.attribute("val").as_deref() != Some("restart"),
            "rPr" => self.cell.hidden = false,
            "vanish" => self.cell.hidden = element.is_on(),
            "p" | "br" | "tab" => self.cell.text.push(' '),
            "noBreakHyphen" => self.cell.text.push('-'),
            "sym" => {
                let symbol = element.attribute("char").and_then(|code| symbol(&code));
                self.cell.text.push_str(symbol.unwrap_or_default());
            }
            _ => {}
        }
    }

    fn begin_row(&mut self) {
        if !self.row.begun {
            let is_header = self.row.is_header || (self.first_row && self.rows == 0);
            self.builder.begin_row(is_header);
            self.builder.skip(self.row.before);
            self.rows += 1;
            self.row.begun = true;
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "r" => self.cell.hidden = false,
            "tc" => {
                let cell = std::mem::take(&mut self.cell);
                if cell.below {
                    self.builder.extend_above(cell.columns);
                } else if !cell.taken {
                    self.builder.cell(on_one_line(&cell.text), cell.columns, cell.rows);
                }
            }
            "tr" => self.begin_row(),
            _ => {}
        }
    }
}
