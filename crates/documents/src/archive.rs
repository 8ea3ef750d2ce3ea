//! Untrusted ZIP archives: limits on the number and size of parts.

use std::io::{Cursor, Read};

use extraction::{Limits, Unreadable};
use zip::ZipArchive;
use zip::result::ZipError;

/// The signature of an entry in the central directory.
const ROW: &[u8] = b"PK\x01\x02";

/// An archive whose parts are read by name, with one byte budget for all of them.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    budget: u64,
    inflated: u64,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, Unreadable> {
        if bytes.len() > limits.archive {
            let (what, limit) = ("a document that is an archive", limits.archive as u64);
            return Err(Unreadable::TooLarge { what, limit });
        }
        // Counted before the directory is read: a million entries would be a million allocations.
        if rows(bytes, limits.parts) > limits.parts {
            return Err(Unreadable::TooManyParts { limit: limits.parts });
        }
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(fault)?;
        if zip.has_overlapping_entries().map_err(fault)? {
            return Err(Unreadable::damaged("parts of the archive overlap"));
        }
        Ok(Self { zip, budget: limits.inflated, inflated: limits.inflated })
    }

    /// The names of all parts.
    pub(crate) fn names(&self) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
        self.zip.file_names().flatten()
    }

    /// The bytes of a part, `None` if it is missing. Sizes in the archive's headers are not trusted.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        let part = match self.zip.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(fault(error)),
        };
        let mut bytes = Vec::new();
        part.take(self.budget + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Unreadable::damaged(format_args!("`{name}`: {error}")))?;
        self.budget = self
            .budget
            .checked_sub(bytes.len() as u64)
            .ok_or(Unreadable::TooLarge { what: "its decompressed parts", limit: self.inflated })?;
        Ok(Some(bytes))
    }
}

/// Counts directory entries anywhere in the bytes, up to one more than `enough`.
fn rows(bytes: &[u8], enough: usize) -> usize {
    let mut at = 0;
    let mut count = 0;
    while let Some(offset) = bytes[at..].windows(ROW.len()).position(|window| window == ROW) {
        count += 1;
        at += offset + ROW.len();
        if count > enough {
            break;
        }
    }
    count
}

fn fault(error: ZipError) -> Unreadable {
    match error {
        ZipError::UnsupportedArchive(why) if why == ZipError::PASSWORD_REQUIRED => {
            Unreadable::Encrypted
        }
        error => Unreadable::damaged(error),
    }
}
