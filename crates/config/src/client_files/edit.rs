//! Edits the configuration files of clients and keeps the rest of their text, comments included.

mod json;
mod toml;

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use userfiles::{Access, UserFile};

use super::{MAX_FILE_BYTES, contains_secret, parse, read_text};
use crate::clients::Format;

/// The format of a file, by its name.
pub fn format_of(path: &Path) -> Format {
    let toml = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
    if toml { Format::Toml } else { Format::Json }
}

/// What became of a file.
#[derive(Debug)]
pub struct Written {
    /// The copy of the file that was there.
    pub backup: Option<PathBuf>,
    /// Whether users who could read the file before no longer can.
    pub narrowed: bool,
}

/// The text of a client's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFile {
    format: Format,
    text: String,
}

impl ClientFile {
    /// Reads a file; one that does not exist is empty.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = if path.exists() { read_text(path)? } else { String::new() };
        Self::new(format_of(path), text)
    }

    /// A file with this text.
    pub fn new(format: Format, text: String) -> Result<Self, String> {
        match parse(&text, format)? {
            Value::Object(_) | Value::Null => Ok(Self { format, text }),
            _ => Err("is not an object".to_owned()),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value at a path.
    pub fn get(&self, path: &[&str]) -> Option<Value> {
        let document = parse(&self.text, self.format).ok()?;
        path.iter().try_fold(&document, |value, key| value.get(key)).cloned()
    }

    /// Sets the value at a path of keys. A value that is there already leaves the text as it is.
    pub fn set(&mut self, path: &[&str], value: &Value) -> Result<(), String> {
        if self.get(path).as_ref() == Some(value) {
            return Ok(());
        }
        let mut expected = self.document()?;
        *place(&mut expected, path) = value.clone();
        let edited = match self.format {
            Format::Json => json::set(&self.text, path, value),
            Format::Toml => toml::set(&self.text, path, value),
        };
        self.accept(edited, &expected)
    }

    /// Removes the key at a path; a missing one leaves the text as it is.
    pub fn remove(&mut self, path: &[&str]) -> Result<(), String> {
        let Some((name, above)) = path.split_last().filter(|_| self.get(path).is_some()) else {
            return Ok(());
        };
        let mut expected = self.document()?;
        if let Value::Object(map) = place(&mut expected, above) {
            map.remove(*name);
        }
        let edited = match self.format {
            Format::Json => json::remove(&self.text, path),
            Format::Toml => toml::remove(&self.text, path),
        };
        self.accept(edited, &expected)
    }

    /// Prepares to replace the file at a path, from which this text was read: finds out whether that is possible.
    pub fn replacement(&self, path: &Path) -> io::Result<Replacement> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Replacement { file: UserFile::find(path)?, before: self.text.clone(), backup: None })
    }

    fn document(&self) -> Result<Value, String> {
        let document = parse(&self.text, self.format)?;
        Ok(if document.is_null() { Value::Object(Map::new()) } else { document })
    }

    /// Takes an edited text if it means what was intended.
    fn accept(&mut self, edited: Option<String>, expected: &Value) -> Result<(), String> {
        let unusual = "is written in an unusual form; edit it by hand".to_owned();
        let Some(edited) = edited else { return Err(unusual) };
        let mut now = parse(&edited, self.format).map_err(|_| unusual.clone())?;
        let mut expected = expected.clone();
        if self.format == Format::Toml {
            // A table without keys is not written.
            drop_empty(&mut now);
            drop_empty(&mut expected);
        }
        if now != expected {
            return Err(unusual);
        }
        self.text = edited;
        Ok(())
    }
}

/// A client's file that is to be replaced.
#[derive(Debug)]
pub struct Replacement {
    file: UserFile,
    /// The text that was read.
    before: String,
    backup: Option<PathBuf>,
}

impl Replacement {
    /// Copies the file, which fails if no file can be made in its folder. Only the owner can read the copy.
    pub fn back_up(&mut self) -> io::Result<()> {
        self.backup = self.file.back_up(MAX_FILE_BYTES)?;
        Ok(())
    }

    /// Waits until no other command of ours changes files in this folder, and keeps them from it until this value is
    /// dropped. Returns whether the file is still as it was read. The lock is the one with which the config file is
    /// edited, so a config in this folder cannot be edited meanwhile.
    pub fn lock(&self) -> io::Result<bool> {
        self.file.lock()?;
        self.is_unchanged()
    }

    /// Replaces the file, unless it is another one than was read: then nothing is written and `None` returned. With
    /// secrets in the text, only the owner can read the file afterwards.
    pub fn write(&self, new: &ClientFile) -> io::Result<Option<Written>> {
        let secret = parse(&new.text, new.format).is_ok_and(|document| contains_secret(&document));
        let access = if secret { Access::OwnerOnly } else { Access::AsBefore };
        let mut unchanged = true;
        let replaced = self.file.replace_if(new.text.as_bytes(), access, || {
            unchanged = self.is_unchanged()?;
            if unchanged { Ok(()) } else { Err(io::Error::other("it was changed meanwhile")) }
        });
        match replaced {
            Err(_) if !unchanged => Ok(None),
            replaced => Ok(Some(Written { backup: self.backup.clone(), narrowed: replaced? })),
        }
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        Ok(self.file.read_text(MAX_FILE_BYTES)?.unwrap_or_default() == self.before)
    }
}

fn drop_empty(value: &mut Value) {
    if let Value::Object(map) = value {
        map.values_mut().for_each(drop_empty);
        map.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
    }
}

/// The value at a path; missing objects are made.
fn place<'a>(document: &'a mut Value, path: &[&str]) -> &'a mut Value {
    let mut value = document;
    for key in path {
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        value = &mut value[*key];
    }
    value
}

#[cfg(test)]
mod tests;
