//! Numbers as a sheet shows them: dates, times, percentages, amounts of money.

mod code;
mod decimal;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use extraction::{Limits, Unreadable};

use self::code::{NumberFormat, Parts, date_parts};
use crate::xml::{Node, Xml};

/// How a number is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Format {
    /// As it is.
    #[default]
    General,
    Number(NumberFormat),
    /// As date, time or duration in the form of ISO 8601.
    Date(Parts),
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
                        formats.cells.push(own.get(&id).cloned().unwrap_or_else(|| by_number(&id)));
                    }
                    _ => {}
                },
                Node::Close(name) if name == "cellXfs" => in_cells = false,
                Node::End => return Ok(formats),
                Node::Close(_) | Node::Text(_) => {}
            }
        }
    }

    pub(super) fn of(&self, style: usize) -> &Format {
        self.cells.get(style).unwrap_or(&Format::General)
    }
}

/// The formats that every program knows by number.
fn by_number(id: &str) -> Format {
    let code = match id.parse() {
        Ok(1) => "0",
        Ok(2) => "0.00",
        Ok(3) => "#,##0",
        Ok(4) => "#,##0.00",
        Ok(5 | 6) => "$#,##0_);($#,##0)",
        Ok(7 | 8) => "$#,##0.00_);($#,##0.00)",
        Ok(9) => "0%",
        Ok(10) => "0.00%",
        Ok(11) => "0.00E+00",
        Ok(14..=17 | 22 | 27..=31 | 34..=36 | 50..=58) => "yyyy-mm-dd",
        Ok(18..=21 | 32 | 33 | 45 | 47) => "hh:mm:ss",
        Ok(46) => "[h]:mm:ss",
        Ok(37 | 38) => "#,##0_);(#,##0)",
        Ok(39 | 40) => "#,##0.00_);(#,##0.00)",
        Ok(41) => "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)",
        Ok(42) => "_($* #,##0_);_($* (#,##0);_($* \"-\"_);_(@_)",
        Ok(43) => "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
        Ok(44) => "_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)",
        Ok(48) => "##0.0E+0",
        _ => "General",
    };
    by_code(code)
}

/// The format of a code such as `yyyy-mm-dd` or `#,##0.00`.
fn by_code(code: &str) -> Format {
    match date_parts(code) {
        Some(parts) => Format::Date(parts),
        None => NumberFormat::parse(code).map_or(Format::General, Format::Number),
    }
}

/// A number as text; a value that is not a number is unchanged.
pub(super) fn show(value: &str, format: &Format, since_1904: bool) -> String {
    let Some(number) = value.parse::<f64>().ok().filter(|number| number.is_finite()) else {
        return value.to_owned();
    };
    match format {
        Format::Date(Parts::Duration) => duration(number).unwrap_or_else(|| plain(value, number)),
        Format::Date(parts) => {
            date(number, *parts, since_1904).unwrap_or_else(|| plain(value, number))
        }
        Format::Number(format) => format.show(number, |number| number.to_string()),
        Format::General => plain(value, number),
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

/// Hours that are counted on after a day.
fn duration(days: f64) -> Option<String> {
    let seconds = (days.abs() * 86_400.0).round();
    if seconds > 1e12 {
        return None;
    }
    let (seconds, sign) = (seconds as i64, if days < 0.0 { "-" } else { "" });
    Some(format!("{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60))
}

/// Days since the end of 1899 (or the beginning of 1904) as date, time or both.
fn date(serial: f64, parts: Parts, since_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&serial) {
        return None;
    }
    let seconds = (serial * 86_400.0).round();
    let (days, second) = ((seconds / 86_400.0).floor() as i64, (seconds % 86_400.0) as i64);
    let time = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if parts == Parts::Time || days == 0 && !since_1904 {
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
