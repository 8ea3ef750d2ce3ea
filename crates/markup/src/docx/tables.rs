//! Tables: columns as wide as their texts need.

use crate::inline::{parse, plain_text};
use crate::model::Alignment;

use super::content::Content;
use super::runs::Look;
use super::styles::Role;
use super::xml::escape;

/// The width of a character in tables and the padding of a cell, in twentieths of a point.
const CHARACTER: usize = 106;
const PADDING: usize = 240;
/// A column is not made wider for longer lines than this.
const LONG_LINE: usize = 60;
/// Rows whose texts decide the widths.
const MEASURED: usize = 500;

impl Content<'_> {
    pub(super) fn table(
        &mut self,
        header: &[String],
        rows: &[Vec<String>],
        alignments: &[Alignment],
    ) {
        let widths = widths(header, rows, self.room.width);
        let has_header = header.iter().any(|cell| !cell.is_empty());
        let total: u32 = widths.iter().sum();
        let style = escape(self.styles.get(Role::TableGrid));
        self.out.push_str(&format!(
            "<w:tbl><w:tblPr><w:tblStyle w:val=\"{style}\"/><w:tblW w:w=\"{total}\" w:type=\"dxa\"/>\
             <w:tblLook w:val=\"0620\" w:firstRow=\"{}\" w:lastRow=\"0\" w:firstColumn=\"0\" w:lastColumn=\"0\" \
             w:noHBand=\"1\" w:noVBand=\"1\"/></w:tblPr><w:tblGrid>",
            u8::from(has_header),
        ));
        for width in &widths {
            self.out.push_str(&format!("<w:gridCol w:w=\"{width}\"/>"));
        }
        self.out.push_str("</w:tblGrid>");
        if has_header {
            self.row(header, alignments, &widths, true);
        }
        rows.iter().for_each(|row| self.row(row, alignments, &widths, false));
        if !has_header && rows.is_empty() {
            self.row(header, alignments, &widths, false);
        }
        self.out.push_str("</w:tbl>");
        // Two tables in sequence would become one, and text would touch the border.
        self.out.push_str(
            "<w:p><w:pPr><w:spacing w:before=\"0\" w:after=\"0\" w:line=\"160\" w:lineRule=\"exact\"/></w:pPr></w:p>",
        );
    }

    fn row(&mut self, cells: &[String], alignments: &[Alignment], widths: &[u32], header: bool) {
        let repeated = if header { "<w:tblHeader/>" } else { "" };
        self.out.push_str(&format!("<w:tr><w:trPr><w:cantSplit/>{repeated}</w:trPr>"));
        for (at, width) in widths.iter().enumerate() {
            let text = cells.get(at).map_or("", String::as_str);
            let align = match alignments.get(at) {
                Some(Alignment::Center) => "<w:jc w:val=\"center\"/>",
                Some(Alignment::Right) => "<w:jc w:val=\"right\"/>",
                _ => "",
            };
            let keep = if header { "<w:keepNext/>" } else { "" };
            self.out.push_str(&format!(
                "<w:tc><w:tcPr><w:tcW w:w=\"{width}\" w:type=\"dxa\"/></w:tcPr><w:p><w:pPr>{keep}\
                 <w:spacing w:before=\"0\" w:after=\"0\" w:line=\"240\" w:lineRule=\"auto\"/>{align}</w:pPr>"
            ));
            self.inline(text, Look { bold: header, small: true, ..Look::default() });
            self.out.push_str("</w:p></w:tc>");
        }
        self.out.push_str("</w:tr>");
    }
}

/// The widths of columns: what their texts need if the page has it. Otherwise room is given first to words, then to the lines of
/// cells, then to those of the header, which is easier to read on several lines.
fn widths(header: &[String], rows: &[Vec<String>], room: u32) -> Vec<u32> {
    let columns = header.len().max(1);
    // Lengths in characters: the longest word, the longest line of the cells, and that of all.
    let (mut words, mut lines) = (vec![3_usize; columns], vec![3_usize; columns]);
    let mut all = vec![3_usize; columns];
    for (at, cell) in header.iter().enumerate() {
        let (word, line) = lengths(cell);
        // Bold characters are wider.
        let wide = |length: usize| length + length / 8;
        words[at] = words[at].max(wide(word));
        all[at] = all[at].max(wide(line));
    }
    for row in rows.iter().take(MEASURED) {
        for (at, cell) in row.iter().enumerate().take(columns) {
            let (word, line) = lengths(cell);
            words[at] = words[at].max(word);
            lines[at] = lines[at].max(line);
        }
    }
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    let twips = |lengths: &[usize]| -> Vec<usize> {
        lengths.iter().map(|length| length * CHARACTER + PADDING).collect()
    };
    let needed = twips(&words);
    let least: usize = needed.iter().sum();
    if least >= room {
        return needed.iter().map(|width| to_u32((width * room / least).max(200))).collect();
    }
    let widths = widen(widen(needed, &twips(&lines), room), &twips(&all), room);
    widths.into_iter().map(to_u32).collect()
}

/// Gives each column its share of the room that is left, up to what it wants.
fn widen(widths: Vec<usize>, desired: &[usize], room: usize) -> Vec<usize> {
    let left = room.saturating_sub(widths.iter().sum());
    let more: Vec<usize> = desired.iter().zip(&widths).map(|(a, b)| a.saturating_sub(*b)).collect();
    let all: usize = more.iter().sum::<usize>().max(1);
    let share = |more: usize| if all <= left { more } else { left * more / all };
    widths.into_iter().zip(more).map(|(width, more)| width + share(more)).collect()
}

/// The longest word of a cell and its whole length, in characters.
fn lengths(cell: &str) -> (usize, usize) {
    let text = plain_text(&parse(cell));
    let word = text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
    (word, text.chars().count().min(LONG_LINE))
}

fn to_u32(width: usize) -> u32 {
    u32::try_from(width).unwrap_or(u32::MAX / 1_000)
}
