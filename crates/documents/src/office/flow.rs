//! Running text with lists and tables, which DOCX and PPTX write with the same names.

use std::collections::HashSet;

use crate::extraction::{Limits, Unreadable};
use crate::text::{Block, Text, on_one_line};
use crate::xml::{Element, Node, Xml};

/// Text below two points counts as hidden; sizes are in half points.
const TINY: u32 = 4;

/// How one part is read.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The block kind of a paragraph that is no list item.
    pub(super) paragraphs: Option<Block>,
    /// Styles whose text is not shown.
    pub(super) hidden_styles: HashSet<String>,
    /// Styles of list items.
    pub(super) list_styles: HashSet<String>,
    /// Whether white text may be on a dark background, which is not determined here.
    pub(super) dark: bool,
    /// Whether this is a page of notes: only the notes are read, the rest repeats the slide.
    pub(super) notes: bool,
}

/// The state of the current run.
#[derive(Debug, Default)]
struct Run {
    hidden: bool,
    white: bool,
    backed: bool,
}

/// The current state of the reader.
#[derive(Debug, Default)]
struct Place {
    paragraph: String,
    /// The prefix of the next paragraph, such as the number of a note.
    mark: Option<String>,
    /// Whether the open shape is left out.
    apart: bool,
    level: Option<usize>,
    hidden_paragraph: bool,
    backed_paragraph: bool,
    run: Run,
    /// Finished cells of each open row, and the text of each open cell.
    rows: Vec<Vec<String>>,
    cells: Vec<Cell>,
}

#[derive(Debug, Default)]
struct Cell {
    text: String,
    backed: bool,
    span: usize,
}

impl Flow {
    /// Writes the text of a part.
    pub(super) fn read(
        &self,
        xml: &str,
        limits: &Limits,
        out: &mut Text,
    ) -> Result<(), Unreadable> {
        let mut xml = Xml::new(xml, limits);
        let mark = self.notes.then(|| "Notes:".to_owned());
        let mut place = Place { mark, apart: self.notes, ..Place::default() };
        loop {
            match xml.next()? {
                Node::Open(element) => self.open(&element, &mut xml, &mut place, out)?,
                Node::Close(name) => self.close(&name, &mut place, out),
                Node::Text(_) => {}
                Node::End => return Ok(()),
            }
            if out.is_full() {
                return Ok(());
            }
        }
    }

    fn open(
        &self,
        element: &Element<'_>,
        xml: &mut Xml<'_>,
        place: &mut Place,
        out: &mut Text,
    ) -> Result<(), Unreadable> {
        match element.name() {
            // Fallback content for old programs, deleted or moved text, and tab stops.
            "Fallback" | "del" | "moveFrom" | "tabs" | "tabLst" | "instrText" => {
                xml.skip(|_| ())?
            }
            // Separators of notes are drawn, not written.
            "footnote" | "endnote" if element.attribute("type").is_some() => xml.skip(|_| ())?,
            "footnote" | "endnote" => {
                place.mark = element.attribute("id").map(|id| format!("[{id}]"));
            }
            "comment" => place.mark = Some("[comment]".to_owned()),
            "sp" => place.apart = self.notes,
            "ph" if element.attribute("type").as_deref() == Some("body") => place.apart = false,
            "p" => {
                self.end_paragraph(place, out);
                place.hidden_paragraph = false;
                place.backed_paragraph = false;
            }
            "r" | "fld" => place.run = Run::default(),
            "t" => {
                let text = xml.text()?;
                if self.is_hidden(place) {
                    out.hide(&text);
                } else if !place.apart {
                    place.paragraph.push_str(&text);
                }
            }
            "tab" => place.paragraph.push('\t'),
            "br" | "cr" => place.paragraph.push('\n'),
            "noBreakHyphen" => place.paragraph.push('-'),
            "footnoteReference" | "endnoteReference" => {
                if let Some(id) = element.attribute("id") {
                    place.paragraph.push_str(&format!("[{id}]"));
                }
            }
            "ilvl" => place.level = element.attribute("val").and_then(|level| level.parse().ok()),
            "numId" if element.attribute("val").as_deref() == Some("0") => place.level = None,
            "pStyle" => {
                place.hidden_paragraph |= named(element, &self.hidden_styles);
                if named(element, &self.list_styles) {
                    place.level = Some(0);
                }
            }
            "rStyle" => place.run.hidden |= named(element, &self.hidden_styles),
            "vanish" => place.run.hidden |= element.is_on(),
            "sz" => {
                let size = element.attribute("val").and_then(|size| size.parse::<u32>().ok());
                place.run.hidden |= size.is_some_and(|size| size < TINY);
            }
            "color" => place.run.white = is_white(element.attribute("val")),
            "highlight" => place.run.backed = true,
            "shd" if element.attribute("fill").is_some_and(|fill| fill != "auto") => {
                // Shading belongs to the innermost open element; applying it to all of them only shows more text.
                place.run.backed = true;
                place.backed_paragraph = true;
                if let Some(cell) = place.cells.last_mut() {
                    cell.backed = true;
                }
            }
            "tr" => place.rows.push(Vec::new()),
            "tc" => place.cells.push(Cell::default()),
            "gridSpan" => {
                let span = element.attribute("val").and_then(|span| span.parse().ok());
                if let (Some(cell), Some(span)) = (place.cells.last_mut(), span) {
                    cell.span = usize::min(span, 64);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&self, name: &str, place: &mut Place, out: &mut Text) {
        match name {
            "p" => self.end_paragraph(place, out),
            "tc" => {
                self.end_paragraph(place, out);
                let cell = place.cells.pop().unwrap_or_default();
                if let Some(row) = place.rows.last_mut() {
                    row.push(on_one_line(&cell.text));
                    row.extend((1..cell.span).map(|_| String::new()));
                }
            }
            "tr" => {
                let row = place.rows.pop().unwrap_or_default().join("\t");
                match place.cells.last_mut() {
                    // A table within a cell becomes part of its line.
                    Some(cell) => {
                        cell.text.push(' ');
                        cell.text.push_str(&row);
                    }
                    None => out.block(Block::Row, row.trim_end()),
                }
            }
            "tbl" if place.cells.is_empty() => out.set_off(),
            _ => {}
        }
    }

    fn end_paragraph(&self, place: &mut Place, out: &mut Text) {
        let mut text = std::mem::take(&mut place.paragraph);
        let level = place.level.take();
        if !text.trim().is_empty()
            && let Some(mark) = place.mark.take()
        {
            text = format!("{mark} {}", text.trim_start());
        }
        if let Some(cell) = place.cells.last_mut() {
            cell.text.push_str(&text);
            cell.text.push(' ');
            return;
        }
        match level {
            Some(level) if !text.trim().is_empty() => {
                let indent = "  ".repeat(level.min(8));
                out.block(Block::Item, &format!("{indent}- {}", text.trim()));
            }
            _ => out.block(self.paragraphs.unwrap_or(Block::Paragraph), &text),
        }
    }

    fn is_hidden(&self, place: &Place) -> bool {
        let on_cell = place.cells.iter().any(|cell| cell.backed);
        let backed = self.dark || place.run.backed || place.backed_paragraph || on_cell;
        place.run.hidden || place.hidden_paragraph || (place.run.white && !backed)
    }
}

fn named(element: &Element<'_>, styles: &HashSet<String>) -> bool {
    element.attribute("val").is_some_and(|style| styles.contains(&style))
}

fn is_white(colour: Option<String>) -> bool {
    colour.is_some_and(|colour| colour.eq_ignore_ascii_case("ffffff"))
}
