//! Reads a regular file up to a limit.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading. Pipes, devices and folders are refused before they are opened, so that they can
/// neither block the caller nor act on being opened.
pub fn open(path: &Path) -> io::Result<File> {
    require_regular(&fs::metadata(path)?)?;
    // Another file may have taken its place since: open it without blocking, and check again.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `max_bytes` bytes.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_file(open(path)?, max_bytes)
}

/// Reads a regular file of at most `max_bytes` bytes of UTF-8 text.
pub fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    text(read(path, max_bytes)?)
}

/// Reads a source to its end, which must come within `max_bytes` bytes.
pub fn read_all(source: impl Read, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(too_large(max_bytes));
    }
    Ok(bytes)
}

/// Reads an open file; a length that is known to be too large is refused before anything is read.
pub(crate) fn read_file(file: File, max_bytes: u64) -> io::Result<Vec<u8>> {
    if file.metadata()?.len() > max_bytes {
        return Err(too_large(max_bytes));
    }
    read_all(file, max_bytes)
}

pub(crate) fn text(bytes: Vec<u8>) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(not_text)
}

pub(crate) fn require_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let found = if metadata.is_dir() { "a folder" } else { "a pipe, socket or device" };
    let message = format!("it is {found}, not a regular file");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn too_large(max_bytes: u64) -> io::Error {
    let message = format!("it has more than the {max_bytes} bytes that are read");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("text"), "12345").unwrap();
        std::os::unix::fs::symlink("text", path("link")).unwrap();
        assert_eq!(read_text(&path("text"), 5).unwrap(), "12345");
        assert_eq!(read_text(&path("link"), 5).unwrap(), "12345");
        assert_eq!(read(&path("text"), 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(&path("none"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
        // The length of such a file is 0 before it is read.
        let counted = read(Path::new("/proc/self/status"), 10).unwrap_err();
        assert_eq!(counted.kind(), io::ErrorKind::FileTooLarge);

        let fifo = rustix::fs::FileType::Fifo;
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), fifo, mode, 0).unwrap();
        File::create(path("sparse")).unwrap().set_len(5 << 30).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero")).unwrap();
        for (name, said) in [
            ("pipe", "a pipe"),
            ("zero", "a pipe, socket or device"),
            (".", "a folder"),
            ("sparse", "more than the 1000 bytes"),
        ] {
            let why = read(&path(name), 1000).unwrap_err().to_string();
            assert!(why.contains(said), "{name}: {why}");
        }
        fs::write(path("binary"), [0xff]).unwrap();
        assert!(read_text(&path("binary"), 5).unwrap_err().to_string().contains("UTF-8"));
    }
}
