//! Archives that are not trusted: how many parts, how large, and whether they lie.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::extract::{Limits, Unreadable};

/// How a part's row in the directory of an archive begins.
const ROW: &[u8] = b"PK\x01\x02";

/// An archive from which parts are read by name, within one budget for all of them.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    budget: u64,
    inflated: u64,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, Unreadable> {
        if bytes.len() > limits.archive {
            let (what, limit) = ("a document of packed parts", limits.archive as u64);
            return Err(Unreadable::TooLarge { what, limit });
        }
        // Before the directory is read: a million rows would be a million allocations.
        if rows(bytes, limits.parts) > limits.parts {
            return Err(Unreadable::TooManyParts { limit: limits.parts });
        }
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(fault)?;
        if zip.has_overlapping_entries().map_err(fault)? {
            return Err(Unreadable::damaged("parts of the archive lie over each other"));
        }
        Ok(Self { zip, budget: limits.inflated, inflated: limits.inflated })
    }

    /// The bytes of a part; none if there is no such part. Sizes that the archive states are not believed.
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
        self.budget = self.budget.checked_sub(bytes.len() as u64).ok_or(Unreadable::TooLarge {
            what: "its parts once unpacked",
            limit: self.inflated,
        })?;
        Ok(Some(bytes))
    }
}

/// Rows of directories anywhere in the bytes, counted no further than needed.
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
