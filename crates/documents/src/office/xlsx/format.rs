//! Numbers as a sheet shows them: dates, times, percentages.

use std::collections::HashMap;

use extraction::{Limits, Unreadable};

use crate::xml::{Node, Xml};

/// The meaning of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Format {
    #[default]
    Number,
    Percent,
    Date,
}

/// The formats that cells name by number.
#[derive(Debug, Default)]
pub(super) struct Formats {
    cells: Vec<Format>,
    pub(super) since_1904: bool,
}

impl Formats {
    pub(super) fn read(
        styles: &str,
        since_1904: bool,
        limits: &Limits,
    ) -> Result<Self, Unreadable> {
        let mut xml = Xml::new(styles, limits);
        let mut own = HashMap::new();
        let mut formats = Self { cells: Vec::new(), since_1904 };
        let mut in_cells = false;
        loop {
            match xml.next()? {
                Node::Open(element) => match element.name() {
                    "numFmt" => {
                        let code = element.attribute("formatCode").unwrap_or_default();
                        own.insert(
                            element.attribute("numFmtId").unwrap_or_default(),
                            by_code(&code),
                        );
                    }
                    "cellXfs" => in_cells = true,
                    "xf" if in_cells => {
                        let id = element.attribute("numFmtId").unwrap_or_default();
                        formats.cells.push(own.get(&id).copied().unwrap_or_else(|| by_number(&id)));
                    }
                    _ => {}
                },
                Node::Close(name) if name == "cellXfs" => in_cells = false,
                Node::End => return Ok(formats),
                Node::Close(_) | Node::Text(_) => {}
            }
        }
    }

    pub(super) fn of(&self, style: usize) -> Format {
        self.cells.get(style).copied().unwrap_or_default()
    }
}

/// The formats that every program knows by number.
fn by_number(id: &str) -> Format {
    match id.parse() {
        Ok(9 | 10) => Format::Percent,
        Ok(14..=22 | 27..=36 | 45..=47 | 50..=58) => Format::Date,
        _ => Format::Number,
    }
}

/// A code such as `yyyy-mm-dd` or `0.0%`, without its quoted, escaped and bracketed parts.
fn by_code(code: &str) -> Format {
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => drop(characters.by_ref().find(|c| *c == '"')),
            '[' => drop(characters.by_ref().find(|c| *c == ']')),
            '\\' | '_' | '*' => drop(characters.next()),
            '%' => return Format::Percent,
            'y' | 'Y' | 'd' | 'D' | 'm' | 'M' | 'h' | 'H' | 's' | 'S' => return Format::Date,
            // `General` has no letter of a date.
            'G' => drop(characters.by_ref().nth(5)),
            _ => {}
        }
    }
    Format::Number
}

/// A number as text; a value that is not a number is unchanged.
pub(super) fn show(value: &str, format: Format, since_1904: bool) -> String {
    let Ok(number) = value.parse::<f64>() else { return value.to_owned() };
    match format {
        Format::Date => date(number, since_1904).unwrap_or_else(|| plain(value, number)),
        Format::Percent => format!("{}%", trimmed(number * 100.0)),
        Format::Number => plain(value, number),
    }
}

fn plain(value: &str, number: f64) -> String {
    // Files store 17 digits; the shortest form of the same number is what was typed.
    if number.abs() < 1e15 && (number == 0.0 || number.abs() > 1e-7) {
        number.to_string()
    } else {
        value.to_owned()
    }
}

fn trimmed(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Days since the end of 1899 (or the beginning of 1904) as date, time or both.
fn date(serial: f64, since_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&serial) {
        return None;
    }
    let seconds = (serial * 86_400.0).round();
    let (days, second) = ((seconds / 86_400.0).floor() as i64, (seconds % 86_400.0) as i64);
    let time = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if days == 0 && !since_1904 {
        return Some(time);
    }
    // Excel counts a 29 February 1900 that never was, as the program before it did.
    let since_1970 = match (since_1904, days) {
        (true, days) => days - 24_107,
        (false, ..=59) => days - 25_568,
        (false, _) => days - 25_569,
    };
    let date = proto::time::date_of_day(since_1970)?.to_string();
    Some(if second == 0 { date } else { format!("{date} {time}") })
}

#[cfg(test)]
mod tests;
