use proto::{FileId, FileKind, TenantId, UploadId};

use crate::ObjectKey;

/// All that is known of a stored file but its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    pub id: FileId,
    pub tenant: TenantId,
    /// The subject who stored it.
    pub owner: String,
    pub kind: FileKind,
    pub name: String,
    /// As its bytes say.
    pub media_type: String,
    pub size: u64,
    pub sha256: [u8; 32],
    pub object: ObjectKey,
    /// In milliseconds since 1970, as the next.
    pub created_ms: u64,
    /// From when on it is no longer there.
    pub expires_ms: Option<u64>,
    /// The run that it belongs to.
    pub run: Option<String>,
    pub origin: Option<Origin>,
    /// Where its text is kept, once it was extracted.
    pub text: Option<ObjectKey>,
}

/// Which server a file came from, and what that server calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub server: String,
    pub reference: Option<String>,
    /// The agent for whom the server lent it.
    pub agent: Option<String>,
}

/// Which files of a tenant to list, newest first.
#[derive(Clone, Debug)]
pub struct FileFilter {
    pub tenant: TenantId,
    pub kind: Option<FileKind>,
    pub run: Option<String>,
    /// Those that were stored before the one with this time and id.
    pub after: Option<(u64, FileId)>,
    pub limit: u32,
    /// What has expired by now is left out.
    pub now_ms: u64,
}

/// An upload that comes in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadRow {
    pub id: UploadId,
    pub tenant: TenantId,
    pub owner: String,
    pub name: String,
    /// How many bytes it will have.
    pub size: u64,
    pub created_ms: u64,
    pub expires_ms: u64,
}
