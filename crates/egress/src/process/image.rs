//! Files that are executed only if they are exactly the ones that were seen before.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use aws_lc_rs::digest::{Context, SHA256};
use rustix::fs::OFlags;

/// A SHA-256 digest.
pub type Sha256 = [u8; 32];

/// Opens a regular file for reading. Neither a pipe nor a device that has taken its place can block the caller.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Copies all that is left of a source, and returns its SHA-256 digest and length.
pub fn copy_with_digest(
    source: &mut impl Read,
    copy: &mut impl Write,
) -> io::Result<(Sha256, u64)> {
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; 128 * 1024];
    let mut length = 0;
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        context.update(&buffer[..read]);
        copy.write_all(&buffer[..read])?;
        length += read as u64;
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    Ok((digest, length))
}

/// The interpreter line of a script: the interpreter, and the one argument that the kernel passes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shebang {
    /// The first word of the line.
    pub interpreter: Vec<u8>,
    /// The rest of the line, without the white space around it.
    pub argument: Option<Vec<u8>>,
}

impl Shebang {
    /// Reads the first line of a file; none if it does not begin with `#!`. Longer lines than the kernel reads are cut.
    pub fn read(file: &mut impl Read) -> io::Result<Option<Self>> {
        let mut start = Vec::new();
        file.take(256).read_to_end(&mut start)?;
        let Some(line) = start.strip_prefix(b"#!") else { return Ok(None) };
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (interpreter, rest) = line.split_at(end);
        if interpreter.is_empty() {
            return Ok(None);
        }
        let argument = Some(rest.trim_ascii().to_vec()).filter(|rest| !rest.is_empty());
        Ok(Some(Self { interpreter: interpreter.to_vec(), argument }))
    }
}

/// Opens a program whose content has this digest; none if the content is another.
pub(crate) fn open_with_digest(path: &Path, expected: &Sha256) -> io::Result<Option<File>> {
    let mut file = open_regular(path)?;
    let (found, _) = copy_with_digest(&mut file, &mut io::sink())?;
    Ok((found == *expected).then_some(file))
}

#[cfg(test)]
mod tests;
