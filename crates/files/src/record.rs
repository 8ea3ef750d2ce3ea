use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use proto::{Failure, FileId, FileKind};
use store::{DamagedRow, FileRecord, Origin};

use super::name;

/// The prefix of the URIs of files.
pub const URI: &str = "powerstrip://files/";

/// The bytes of a file as they are read.
pub type FileStream = BoxStream<'static, Result<Bytes, Failure>>;

/// A file that is about to be stored.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// The sender's name for it; it is cleaned before it is stored.
    pub name: String,
    pub kind: FileKind,
    /// How long it is kept, at most as long as the rules say for its kind.
    pub ttl: Option<Duration>,
    /// How long the gateway keeps it, whatever the rules say; never from a caller.
    pub fixed_ttl: Option<Duration>,
    pub run: Option<String>,
    pub origin: Option<Origin>,
    /// What it is, if the gateway made it; else its bytes decide.
    pub media_type: Option<&'static str>,
}

impl NewFile {
    /// A file of a kind, with defaults for everything else.
    pub fn new(kind: FileKind, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            ttl: None,
            fixed_ttl: None,
            run: None,
            origin: None,
            media_type: None,
        }
    }
}

/// Which files to list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub kind: Option<FileKind>,
    pub run: Option<String>,
    /// Where the last page ended.
    pub cursor: Option<String>,
    pub limit: Option<u32>,
}

/// A page of files, newest first, and where the next one begins.
#[derive(Clone, Debug)]
pub struct Page {
    pub files: Vec<FileRecord>,
    /// Files whose stored rows cannot be read.
    pub damaged: Vec<DamagedRow>,
    pub next: Option<String>,
}

/// The URI by which MCP clients read a file.
pub fn uri(id: &FileId) -> String {
    format!("{URI}{id}")
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The `Content-Disposition` that makes a browser save a file and never show it.
pub fn disposition(record: &FileRecord) -> String {
    name::attachment(&record.name)
}
