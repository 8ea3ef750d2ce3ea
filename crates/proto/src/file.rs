use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How many random bytes an id has: too many to guess.
pub const FILE_ID_BYTES: usize = 16;

const FILE: &str = "file_";
const REFERENCE: &str = "ref_";
const UPLOAD: &str = "upload_";

/// The purpose of a stored file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// An upload.
    File,
    /// A result that a run stores.
    Artifact,
    /// A part of a tool's answer that is too large to return, stored for a while.
    Reference,
}

impl FileKind {
    /// Its name in rows and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Artifact => "artifact",
            Self::Reference => "reference",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::File | Self::Artifact => FILE,
            Self::Reference => REFERENCE,
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for FileKind {
    type Err = InvalidFileId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::File, Self::Artifact, Self::Reference]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or(InvalidFileId)
    }
}

/// A text that is not a file id. The message does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an id of a file is `file_`, `ref_` or, for an upload, `upload_`, and 32 hexadecimal digits"
)]
pub struct InvalidFileId;

/// The id of a stored file: `file_…`, or `ref_…` for a reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileId(String);

impl FileId {
    /// The id that random bytes make.
    pub fn from_random(kind: FileKind, bytes: [u8; FILE_ID_BYTES]) -> Self {
        Self(written(kind.prefix(), bytes))
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the id of a reference.
    pub fn is_reference(&self) -> bool {
        self.0.starts_with(REFERENCE)
    }
}

/// The id of an upload that comes in parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UploadId(String);

impl UploadId {
    /// The id that random bytes make.
    pub fn from_random(bytes: [u8; FILE_ID_BYTES]) -> Self {
        Self(written(UPLOAD, bytes))
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn written(prefix: &str, bytes: [u8; FILE_ID_BYTES]) -> String {
    format!("{prefix}{:032x}", u128::from_be_bytes(bytes))
}

/// Whether a text is the prefix and 32 lower-case hex digits, the only spelling of an id.
fn is_written(text: &str, prefix: &str) -> bool {
    let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == 2 * FILE_ID_BYTES && rest.bytes().all(digit))
}

impl FromStr for FileId {
    type Err = InvalidFileId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = is_written(text, FILE) || is_written(text, REFERENCE);
        if known { Ok(Self(text.to_owned())) } else { Err(InvalidFileId) }
    }
}

impl FromStr for UploadId {
    type Err = InvalidFileId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if is_written(text, UPLOAD) { Ok(Self(text.to_owned())) } else { Err(InvalidFileId) }
    }
}

impl TryFrom<String> for FileId {
    type Error = InvalidFileId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl TryFrom<String> for UploadId {
    type Error = InvalidFileId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<FileId> for String {
    fn from(id: FileId) -> Self {
        id.0
    }
}

impl From<UploadId> for String {
    fn from(id: UploadId) -> Self {
        id.0
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for UploadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_has_one_spelling() {
        for kind in [FileKind::File, FileKind::Artifact, FileKind::Reference] {
            let id = FileId::from_random(kind, [7; 16]);
            assert_eq!(id.as_str().parse(), Ok(id.clone()));
            assert_eq!(id.is_reference(), kind == FileKind::Reference);
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(format!("file_{digits}").parse::<FileId>().is_ok());
        for bad in [
            digits.to_owned(),
            format!("file_{}", digits.to_uppercase()),
            format!("file_{digits}0"),
            format!("file_{}", &digits[1..]),
            format!("art_{digits}"),
            format!("file_{}/", &digits[1..]),
            format!("upload_{digits}"),
            "file_../../../../../etc/passwd/......".to_owned(),
            String::new(),
        ] {
            assert_eq!(bad.parse::<FileId>(), Err(InvalidFileId), "{bad}");
        }
        assert!(format!("upload_{digits}").parse::<UploadId>().is_ok());
        assert!(format!("file_{digits}").parse::<UploadId>().is_err());
    }
}
