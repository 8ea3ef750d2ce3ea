//! Running text with lists and tables, which DOCX and PPTX write with the same names.

use std::collections::HashMap;

use extraction::markdown::{self, Marker};
use extraction::text::{Block, Text, on_one_line};
use extraction::{Limits, Unreadable};

use super::Links;
use super::inline::Inline;
use super::look::{Look, is_shaded};
use super::styles::Styles;
use crate::xml::{Element, Node, Xml};

/// How one part is read.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The block kind of a paragraph that is no list item.
    pub(super) paragraphs: Option<Block>,
    pub(super) styles: Styles,
    /// Whether to write Markdown.
    pub(super) markdown: bool,
    /// Whether white text may be on a dark background, which is not determined here.
    pub(super) dark: bool,
    /// Whether this is a page of notes: only the notes are read, the rest repeats the slide.
    pub(super) notes: bool,
}

/// The state of the current run.
#[derive(Debug, Default)]
struct Run {
    /// The relation of its link.
    link: Option<String>,
    look: Look,
    /// How its style looks.
    style: Look,
}

/// The current state of the reader.
#[derive(Debug, Default)]
struct ReaderState {
    paragraph: Inline,
    /// The relation of the open hyperlink.
    link: Option<String>,
    /// The prefix of the next paragraph, such as the number of a note.
    mark: Option<String>,
    /// Whether the open shape is left out.
    apart: bool,
    /// Whether the open shape is the title of a slide, and whether it is a list.
    shape: Shape,
    level: Option<usize>,
    /// The list of the paragraph.
    list: Option<String>,
    heading: Option<usize>,
    /// The last number of each list and level.
    counts: HashMap<(String, usize), u32>,
    /// Rows of the open table that have been written.
    written: usize,
    /// How the style of the paragraph looks.
    style: Look,
    backed_paragraph: bool,
    /// Whether the style of the open table has colours behind the text.
    backed_table: bool,
    /// Whether each open shape is hidden.
    shapes: Vec<bool>,
    run: Run,
    /// Finished cells of each open row, and the text of each open cell.
    rows: Vec<Vec<String>>,
    cells: Vec<Cell>,
    /// The blocks of the open row of the outermost table, and whether they are a layout.
    row_blocks: Vec<(Block, String)>,
    is_layout: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Shape {
    #[default]
    Other,
    Title,
    /// Its paragraphs are list items unless they say otherwise.
    List,
}

#[derive(Debug, Default)]
struct Cell {
    text: String,
    backed: bool,
    span: usize,
    /// The cell as blocks, should its table be a layout.
    blocks: Vec<(Block, String)>,
    has_heading: bool,
}

/// A cell with this many paragraphs is a column of a layout.
const LAYOUT_PARAGRAPHS: usize = 8;

impl Cell {
    /// Whether the cell is a part of the document, as in a résumé of two columns, and not a value in a table.
    fn is_layout(&self) -> bool {
        self.has_heading || self.blocks.len() >= LAYOUT_PARAGRAPHS
    }
}

impl Flow {
    /// Writes the text of a part.
    pub(super) fn read(
        &self,
        xml: &str,
        links: &Links,
        limits: &Limits,
        out: &mut Text,
    ) -> Result<(), Unreadable> {
        let mut xml = Xml::new(xml, limits);
        let mark = self.notes.then(|| "Notes:".to_owned());
        let mut place = ReaderState { mark, apart: self.notes, ..ReaderState::default() };
        let target = |relation: &Option<String>| {
            relation.as_ref().and_then(|relation| links.get(relation)).map(String::as_str)
        };
        loop {
            match xml.next()? {
                Node::Open(element) if element.name() == "t" => {
                    let text = xml.text()?;
                    if self.is_hidden(&place) {
                        out.hide(&text);
                    } else if !place.apart {
                        let link = target(&place.run.link).or_else(|| target(&place.link));
                        place.paragraph.push(&text, link.filter(|_| self.markdown));
                    }
                }
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

    /// Writes a line of text that has no formatting.
    pub(super) fn write(&self, line: &str, out: &mut Text) {
        if self.markdown {
            out.block(Block::Item, &markdown::item(0, Marker::Bullet, &markdown::escape(line)));
        } else {
            out.block(self.paragraphs.unwrap_or(Block::Line), line);
        }
    }

    fn open(
        &self,
        element: &Element<'_>,
        xml: &mut Xml<'_>,
        place: &mut ReaderState,
        out: &mut Text,
    ) -> Result<(), Unreadable> {
        match element.name() {
            // Fallback content for old programs, deleted or moved text, tab stops, and reading aids above characters.
            "Fallback" | "del" | "moveFrom" | "tabs" | "tabLst" | "instrText" | "rt" => {
                xml.skip(|_| ())?
            }
            // Separators of notes are drawn, not written.
            "footnote" | "endnote" if element.attribute("type").is_some() => xml.skip(|_| ())?,
            "footnote" | "endnote" => {
                place.mark = element.attribute("id").map(|id| format!("[{id}]"));
            }
            "comment" => place.mark = Some("[comment]".to_owned()),
            "cNvPr" | "docPr" => {
                let hidden = element.attribute("hidden");
                if let Some(shape) = place.shapes.last_mut() {
                    *shape |= matches!(hidden.as_deref(), Some("1" | "true" | "on"));
                }
            }
            "ph" => {
                let kind = element.attribute("type");
                place.apart &= kind.as_deref() != Some("body");
                place.shape = match kind.as_deref() {
                    Some("title" | "ctrTitle") => Shape::Title,
                    None | Some("body" | "obj") => Shape::List,
                    Some(_) => Shape::Other,
                };
            }
            name if is_shape(name) => {
                place.shapes.push(false);
                if name == "sp" {
                    place.apart = self.notes;
                }
                if matches!(name, "sp" | "graphicFrame") {
                    place.shape = Shape::Other;
                }
            }
            "p" => {
                self.end_paragraph(place, out);
                place.style = self.styles.usual;
                place.backed_paragraph = false;
                if self.markdown && !self.notes && place.shape == Shape::List {
                    place.level = Some(0);
                }
            }
            "pPr" if self.markdown && !self.notes && place.shape != Shape::Title => {
                if let Some(level) = element.attribute("lvl").and_then(|level| level.parse().ok()) {
                    place.level = Some(level);
                }
            }
            "buNone" => place.level = None,
            "buChar" | "buAutoNum" if self.markdown => place.level = place.level.or(Some(0)),
            "hyperlink" => place.link = element.prefixed("id"),
            "hlinkClick" => place.run.link = element.prefixed("id"),
            "outlineLvl" => {
                let level = element.attribute("val").and_then(|level| level.parse::<usize>().ok());
                place.heading = level.filter(|level| *level < 9).map(|level| level + 1);
            }
            "r" | "fld" => place.run = Run::default(),
            "tab" | "ptab" => place.paragraph.push("\t", None),
            "br" | "cr" => place.paragraph.push("\n", None),
            "sym" => {
                if let Some(symbol) = element.attribute("char").and_then(|code| symbol(&code)) {
                    place.paragraph.push(symbol, None);
                }
            }
            "noBreakHyphen" => place.paragraph.push("-", None),
            "footnoteReference" | "endnoteReference" => {
                if let Some(id) = element.attribute("id") {
                    place.paragraph.push(&format!("[{id}]"), None);
                }
            }
            "ilvl" => place.level = element.attribute("val").and_then(|level| level.parse().ok()),
            "numId" => match element.attribute("val") {
                Some(none) if none == "0" => place.level = None,
                list => place.list = list,
            },
            "pStyle" => {
                let style = element.attribute("val").unwrap_or_default();
                place.style = self.styles.look(&style);
                if let Some(list) = self.styles.lists.get(&style) {
                    (place.level, place.list) = (Some(0), Some(list.clone()));
                }
                place.heading = self.styles.headings.get(&style).copied();
            }
            "rStyle" => {
                let style = element.attribute("val").unwrap_or_default();
                place.run.style = self.styles.look(&style);
            }
            "vanish" | "sz" | "rPr" | "color" | "highlight" => place.run.look.read(element),
            "shd" if is_shaded(element) => {
                // Shading belongs to the innermost open element; applying it to all of them only shows more text.
                place.run.look.read(element);
                place.backed_paragraph = true;
                if let Some(cell) = place.cells.last_mut() {
                    cell.backed = true;
                }
            }
            "tbl" if place.cells.is_empty() => (place.written, place.backed_table) = (0, false),
            "tblStyle" => {
                let style = element.attribute("val").unwrap_or_default();
                place.backed_table |= self.styles.look(&style).backed == Some(true);
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

    fn close(&self, name: &str, place: &mut ReaderState, out: &mut Text) {
        match name {
            "p" => self.end_paragraph(place, out),
            "hyperlink" => place.link = None,
            "tc" => {
                self.end_paragraph(place, out);
                let cell = place.cells.pop().unwrap_or_default();
                if place.cells.is_empty() {
                    place.is_layout |= cell.is_layout();
                    place.row_blocks.extend(cell.blocks);
                }
                if let Some(row) = place.rows.last_mut() {
                    row.push(on_one_line(&cell.text));
                    row.extend((1..cell.span).map(|_| String::new()));
                }
            }
            "tr" => {
                let row = place.rows.pop().unwrap_or_default();
                if place.cells.is_empty() && !place.is_layout {
                    place.row_blocks.clear();
                }
                match place.cells.last_mut() {
                    // A table within a cell becomes part of its line.
                    Some(cell) => {
                        cell.text.push(' ');
                        cell.text.push_str(&row.join("\t"));
                        cell.text.push(' ');
                    }
                    None if std::mem::take(&mut place.is_layout) => {
                        for (kind, block) in std::mem::take(&mut place.row_blocks) {
                            out.block(kind, &block);
                        }
                    }
                    None if self.markdown => {
                        out.block(Block::Row, &markdown::row(&row));
                        if place.written == 0 {
                            out.block(Block::Row, &markdown::separator(row.len()));
                        }
                        place.written += 1;
                    }
                    None => out.block(Block::Row, row.join("\t").trim_end()),
                }
            }
            "tbl" if place.cells.is_empty() => {
                place.backed_table = false;
                out.set_off();
            }
            name if is_shape(name) => {
                place.shapes.pop();
            }
            _ => {}
        }
    }

    fn end_paragraph(&self, place: &mut ReaderState, out: &mut Text) {
        let mut inline = std::mem::take(&mut place.paragraph);
        let (level, list) = (place.level.take(), place.list.take());
        let heading = match place.shape {
            Shape::Title if self.markdown => Some(2),
            _ => place.heading.take(),
        };
        if !inline.is_blank()
            && let Some(mark) = place.mark.take()
        {
            let mut marked = Inline::default();
            marked.push(&format!("{mark} "), None);
            marked.push(inline.plain().trim_start(), None);
            inline = marked;
        }
        let text = if self.markdown { inline.markdown() } else { inline.plain() };
        if inline.is_blank() {
            return;
        }
        let block = self.block(place, &text, heading, level.map(|level| (level, list)));
        match place.cells.last_mut() {
            Some(cell) => {
                cell.text.push_str(&text);
                cell.text.push(' ');
                cell.has_heading |= heading.is_some();
                cell.blocks.push(block);
            }
            None => out.block(block.0, &block.1),
        }
    }

    /// A paragraph as a block of the text.
    fn block(
        &self,
        place: &mut ReaderState,
        text: &str,
        heading: Option<usize>,
        item: Option<(usize, Option<String>)>,
    ) -> (Block, String) {
        match (heading, item) {
            (Some(heading), _) if self.markdown => {
                (Block::Paragraph, markdown::heading(heading, text))
            }
            (_, Some((level, list))) if self.markdown => {
                let marker = self.marker(place, list, level);
                (Block::Item, markdown::item(level, marker, text))
            }
            (_, Some((level, _))) => {
                let indent = "  ".repeat(level.min(8));
                (Block::Item, format!("{indent}- {}", text.trim()))
            }
            // A line break within a paragraph of Markdown is no more than a space.
            _ if self.markdown => (Block::Paragraph, text.to_owned()),
            _ => (self.paragraphs.unwrap_or(Block::Paragraph), text.to_owned()),
        }
    }

    /// The mark of a list item; numbers go on within a list and start again below another item.
    fn marker(&self, place: &mut ReaderState, list: Option<String>, level: usize) -> Marker {
        let key = (list.unwrap_or_default(), level);
        if !self.styles.numbered.contains(&key) {
            return Marker::Bullet;
        }
        place.counts.retain(|(list, deep), _| *list != key.0 || *deep <= level);
        let count = place.counts.entry(key).or_default();
        *count += 1;
        Marker::Number(*count)
    }

    fn is_hidden(&self, place: &ReaderState) -> bool {
        let on_cell = place.backed_table || place.cells.iter().any(|cell| cell.backed);
        let mut look = place.run.look.or(place.run.style).or(place.style);
        if self.dark || place.backed_paragraph || on_cell {
            look.backed = Some(true);
        }
        look.is_hidden() || place.shapes.contains(&true)
    }
}

/// The symbols of Wingdings that forms and lists use, by their code in the font.
pub(super) fn symbol(code: &str) -> Option<&'static str> {
    Some(match u32::from_str_radix(code, 16).ok()? & 0xff {
        0x6f | 0x71 | 0x72 | 0xa8 => "☐",
        0x78 | 0xfd => "☒",
        0xfe => "☑",
        0xfb => "✗",
        0xfc => "✓",
        0x6c | 0x9f | 0xb7 => "•",
        0x6e | 0xa7 => "▪",
        0xe0 | 0xe8 | 0xf0 => "→",
        _ => return None,
    })
}

/// Whether an element is a shape of a slide, or a drawing in a document, which can be hidden as a whole.
fn is_shape(name: &str) -> bool {
    matches!(name, "sp" | "grpSp" | "graphicFrame" | "pic" | "cxnSp" | "anchor" | "inline")
}
