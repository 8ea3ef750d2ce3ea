//! Tables and records for people. On a terminal, long cells are cut and long lines wrapped to its width; in a pipe,
//! everything is printed whole.
//!
//! ```ignore
//! let mut table = Table::new(["NAME", "STATE", "TOOLS", "LAST ERROR"]);
//! for server in servers {
//!     table.row([
//!         Cell::new(&server.name).tone(Tone::Strong),
//!         Cell::state(&server.state),
//!         Cell::new(server.tools),
//!         Cell::new(server.last_error),
//!     ]);
//! }
//! table.print(Style::stdout(&context.environment))?;
//! ```

use std::fmt::Display;
use std::io;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::{Style, Tone, line, shown};

/// The space between two columns.
const GAP: usize = 2;

/// The least width of a cell that is cut.
const NARROWEST: usize = 12;

/// One cell: a text on one line, without characters that act on the terminal.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Any text, also an untrusted one.
    pub fn new(text: impl Display) -> Self {
        Self { text: shown(&text.to_string()), tone: Tone::Plain }
    }

    /// A text, or `-` where there is none.
    pub fn maybe(text: Option<impl Display>) -> Self {
        text.map_or_else(|| Self::new("-").tone(Tone::Faint), Self::new)
    }

    /// A state, in the colour that goes with it.
    pub fn state(state: &str) -> Self {
        Self::new(state).tone(Tone::of_state(state))
    }

    /// The same text in another tone.
    pub fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// The text without its colour.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text in its colour, outside a table.
    pub fn painted(&self, style: Style) -> String {
        style.paint(self.tone, &self.text)
    }
}

/// Rows below a header. The last column gives way on a narrow terminal; [`Table::cut`] names others.
#[derive(Debug)]
pub struct Table {
    headers: Vec<&'static str>,
    cut: Vec<usize>,
    right: Vec<usize>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    cells: Vec<Cell>,
    details: Vec<Cell>,
}

impl Table {
    /// An empty table with these headers.
    pub fn new<const COLUMNS: usize>(headers: [&'static str; COLUMNS]) -> Self {
        Self {
            headers: headers.to_vec(),
            cut: vec![COLUMNS.saturating_sub(1)],
            right: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Lets these columns be cut on a narrow terminal, instead of the last one.
    pub fn cut<const COUNT: usize>(mut self, headers: [&str; COUNT]) -> Self {
        self.cut = self.columns(&headers);
        self
    }

    /// Aligns these columns to the right: numbers and sizes.
    pub fn right<const COUNT: usize>(mut self, headers: [&str; COUNT]) -> Self {
        self.right = self.columns(&headers);
        self
    }

    fn columns(&self, headers: &[&str]) -> Vec<usize> {
        let all = self.headers.iter().enumerate();
        all.filter(|(_, header)| headers.contains(header)).map(|(column, _)| column).collect()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row with one cell for each header.
    pub fn row<const COLUMNS: usize>(&mut self, cells: [Cell; COLUMNS]) {
        debug_assert_eq!(COLUMNS, self.headers.len(), "one cell for each header");
        self.rows.push(Row { cells: cells.to_vec(), details: Vec::new() });
    }

    /// Adds an indented line below the last row.
    pub fn detail(&mut self, text: Cell) {
        if let Some(row) = self.rows.last_mut() {
            row.details.push(text);
        }
    }

    /// Prints the table to standard output.
    pub fn print(&self, style: Style) -> io::Result<()> {
        self.lines(style).into_iter().try_for_each(line)
    }

    pub(crate) fn lines(&self, style: Style) -> Vec<String> {
        let widths = self.widths(style.width());
        let header: Vec<_> =
            self.headers.iter().map(|header| Cell::new(header).tone(Tone::Faint)).collect();
        let mut lines = vec![self.line(&header, &widths, style)];
        for row in &self.rows {
            lines.push(self.line(&row.cells, &widths, style));
            for detail in &row.details {
                let wrapped =
                    wrap(&detail.text, style.width().map(|width| width.saturating_sub(2)));
                lines.extend(
                    wrapped.iter().map(|text| format!("  {}", style.paint(detail.tone, text))),
                );
            }
        }
        lines
    }

    /// The width of each column: that of its widest cell, less where the terminal is narrower than all.
    fn widths(&self, terminal: Option<usize>) -> Vec<usize> {
        let widest = |column: usize, header: &str| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
            cells.map(|cell| cell.text.width()).max().unwrap_or(0).max(header.width())
        };
        let mut widths: Vec<_> = self
            .headers
            .iter()
            .enumerate()
            .map(|(column, header)| widest(column, header))
            .collect();
        let Some(terminal) = terminal else { return widths };
        let gaps = GAP * widths.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(terminal);
        // The widest column gives way first, so that no short cell is cut for a long one.
        while excess > 0 {
            let widest = self.cut.iter().copied().max_by_key(|column| widths[*column]);
            let Some(column) = widest.filter(|column| widths[*column] > NARROWEST) else { break };
            widths[column] -= 1;
            excess -= 1;
        }
        widths
    }

    fn line(&self, cells: &[Cell], widths: &[usize], style: Style) -> String {
        let mut text = String::new();
        let mut padding = 0;
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let shown = truncate(&cell.text, *width);
            let blank = width.saturating_sub(shown.width());
            let (before, after) =
                if self.right.contains(&column) { (blank, 0) } else { (0, blank) };
            text.push_str(&" ".repeat(padding + before));
            text.push_str(&style.paint(cell.tone, shown));
            // Kept back so that no line ends with blanks.
            padding = after + GAP;
        }
        text
    }
}

/// Named values, one below the other: what `show` commands print.
#[derive(Debug, Default)]
pub struct Record {
    fields: Vec<(String, Cell)>,
}

impl Record {
    /// A record without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field.
    pub fn field(&mut self, name: &str, value: Cell) {
        self.fields.push((name.to_owned(), value));
    }

    /// Adds a field if it has a value.
    pub fn maybe(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.field(name, Cell::new(value));
        }
    }

    /// Prints the fields to standard output, the values aligned and wrapped on a terminal.
    pub fn print(&self, style: Style) -> io::Result<()> {
        self.lines(style).into_iter().try_for_each(line)
    }

    fn lines(&self, style: Style) -> Vec<String> {
        let indent = self.fields.iter().map(|(name, _)| name.width()).max().unwrap_or(0) + GAP;
        let room = style.width().map(|width| width.saturating_sub(indent).max(NARROWEST));
        let mut lines = Vec::new();
        for (name, value) in &self.fields {
            let mut label = name.as_str();
            for text in wrap(&value.text, room) {
                let padding = " ".repeat(indent - label.width());
                let text = style.paint(value.tone, text);
                lines.push(format!("{}{padding}{text}", style.paint(Tone::Faint, label)));
                label = "";
            }
        }
        lines
    }
}

/// A text of at most this width; one that is cut ends with `…`.
pub fn truncate(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used >= width {
            break;
        }
        kept.push(character);
    }
    format!("{}…", kept.trim_end())
}

/// A text in lines of at most this width, broken between words where possible; one line if there is no width.
pub fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.filter(|width| text.width() > *width) else {
        return vec![text.to_owned()];
    };
    let width = width.max(NARROWEST);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut rest = word;
        loop {
            let current = lines.last_mut().expect("there is a line from the start on");
            let blank = usize::from(!current.is_empty());
            if current.width() + blank + rest.width() <= width {
                if blank == 1 {
                    current.push(' ');
                }
                current.push_str(rest);
                break;
            }
            if !current.is_empty() {
                lines.push(String::new());
                continue;
            }
            let at = split_at_width(rest, width);
            current.push_str(&rest[..at]);
            rest = &rest[at..];
            lines.push(String::new());
        }
    }
    lines
}

/// The length in bytes of as much of a text as fits this width, one character at least.
fn split_at_width(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > width && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests;
