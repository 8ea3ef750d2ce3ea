//! The length of texts before they are made.

use std::fmt::{self, Write as _};
use std::io;

use minijinja::{Error, Value};

use super::budget::Budget;
use super::data;

/// The length of a value as text, unless it is longer than `limit`.
pub(super) fn text_length(value: &Value, limit: usize) -> Option<usize> {
    if let Some(text) = value.as_str() {
        return Some(text.len()).filter(|length| *length <= limit);
    }
    let mut counter = Counter { left: limit, indent: None };
    write!(counter, "{value}").ok()?;
    Some(limit - counter.left)
}

/// The length of a value in the layout of `pprint`, unless it is longer than `limit`.
pub(super) fn pretty_length(value: &Value, limit: usize) -> Option<usize> {
    let mut counter = Counter { left: limit, indent: None };
    write!(counter, "{value:#?}").ok()?;
    Some(limit - counter.left)
}

/// An upper bound of the length of a value as JSON, unless that is longer than `limit`.
pub(super) fn json_length(value: &Value, indent: usize, limit: usize) -> Option<usize> {
    let indent = (indent > 0).then(|| 1 + indent * (data::depth(value) + 1));
    let mut counter = Counter { left: limit, indent };
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => Some(limit - counter.left),
        // The filter itself reports what cannot be written.
        Err(error) if !error.is_io() => Some(0),
        Err(_) => None,
    }
}

/// Pays for a value as text.
pub(super) fn pay_for_text(value: &Value, budget: &Budget) -> Result<(), Error> {
    budget.work(data::weight(value))?;
    let length = text_length(value, budget.room());
    budget.check_room(length)?;
    budget.charge(length.unwrap_or(usize::MAX))
}

/// Counts what is written, up to a limit.
struct Counter {
    left: usize,
    /// The bytes of a line break, in indented JSON.
    indent: Option<usize>,
}

impl Counter {
    fn count(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }
}

impl fmt::Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.count(text.len()).ok_or(fmt::Error)
    }
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let extra = |byte: &u8| match byte {
            // Written as \u003c and so on.
            b'<' | b'>' | b'&' | b'\'' => 5,
            b',' | b':' | b'[' | b']' | b'{' | b'}' => self.indent.unwrap_or(1),
            _ => 0,
        };
        let extra = bytes.iter().map(extra).fold(0, usize::saturating_add);
        let whole = bytes.len().saturating_add(extra);
        self.count(whole).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
