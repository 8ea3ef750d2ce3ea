//! ZIP archives: untrusted ones are read within limits, and ours are always the same bytes.

use std::io::{Cursor, Read, Write};

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::error::DocxError;

/// A file of an archive.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// The largest template, in bytes.
const MAX_ARCHIVE: usize = 10 << 20;
/// The most bytes of all parts of a template together.
pub(super) const MAX_INFLATED: u64 = 64 << 20;
const MAX_PARTS: usize = 2_000;
/// The signature of an entry in the central directory.
const ROW: &[u8] = b"PK\x01\x02";
/// Compound files, as encrypted documents are.
const COMPOUND: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0];

/// Reads all parts of an archive, of `inflated` bytes at most. Sizes in its headers are not trusted.
pub(super) fn open(bytes: &[u8], inflated: u64) -> Result<Vec<Part>, DocxError> {
    if bytes.len() > MAX_ARCHIVE {
        return Err(DocxError::TooLarge { what: "the template", limit: MAX_ARCHIVE as u64 });
    }
    if bytes.starts_with(COMPOUND) {
        return Err(DocxError::Unsupported("is an old .doc or an encrypted file".to_owned()));
    }
    // Counted before the directory is read: a million entries would be a million allocations.
    if bytes.windows(ROW.len()).filter(|window| *window == ROW).take(MAX_PARTS + 1).count()
        > MAX_PARTS
    {
        return Err(DocxError::TooManyParts { limit: MAX_PARTS });
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(fault)?;
    if archive.has_overlapping_entries().map_err(fault)? {
        return Err(DocxError::damaged("parts of the archive overlap"));
    }
    let mut budget = inflated;
    let mut parts: Vec<Part> = Vec::with_capacity(archive.len());
    for at in 0..archive.len() {
        let file = archive.by_index(at).map_err(fault)?;
        if file.is_dir() {
            continue;
        }
        let name = file.name().map_err(fault)?.trim_start_matches('/').to_owned();
        // The names are written again, and may be unpacked by a program that follows them.
        if name.contains('\\') || name.split('/').any(|step| matches!(step, "." | "..")) {
            return Err(DocxError::damaged("a part has a name that leads out of it"));
        }
        let mut bytes = Vec::new();
        file.take(budget + 1).read_to_end(&mut bytes).map_err(DocxError::damaged)?;
        budget = budget
            .checked_sub(bytes.len() as u64)
            .ok_or(DocxError::TooLarge { what: "the decompressed template", limit: inflated })?;
        // Names of parts have no case.
        if !parts.iter().any(|part| part.name.eq_ignore_ascii_case(&name)) {
            parts.push(Part { name, bytes });
        }
    }
    Ok(parts)
}

/// Writes an archive. Its times are those of no clock.
pub(super) fn write(parts: &[Part]) -> Result<Vec<u8>, DocxError> {
    let size: u64 = parts.iter().map(|part| part.bytes.len() as u64).sum();
    if size > 2 * MAX_INFLATED {
        return Err(DocxError::TooLarge { what: "the document", limit: 2 * MAX_INFLATED });
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for part in parts {
        let is_packed = [".png", ".jpeg", ".jpg"].iter().any(|end| part.name.ends_with(end));
        let method =
            if is_packed { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(zip::DateTime::default());
        zip.start_file(part.name.as_str(), options).map_err(fault)?;
        zip.write_all(&part.bytes).map_err(DocxError::damaged)?;
    }
    Ok(zip.finish().map_err(fault)?.into_inner())
}

fn fault(error: ZipError) -> DocxError {
    match error {
        ZipError::UnsupportedArchive(why) if why == ZipError::PASSWORD_REQUIRED => {
            DocxError::Encrypted
        }
        error => DocxError::damaged(error),
    }
}
