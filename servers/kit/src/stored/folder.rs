//! References in a folder: they outlive the process, and replicas that share the folder serve each other's.
//!
//! A reference is one file named by its id: a line of JSON, then the bytes.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use userfiles::{Access, UserFile};

use super::{StorageLimits, StoredBytes, StoredRef, too_large};
use crate::Fault;

/// The longest first line.
const MAX_HEADER: usize = 4096;

#[derive(Debug)]
pub(super) struct FolderStore {
    folder: PathBuf,
    limits: StorageLimits,
}

/// One file of the folder.
struct Entry {
    path: PathBuf,
    written: SystemTime,
    size: u64,
}

impl FolderStore {
    /// Uses a folder that only its owner can enter, and creates it if it does not exist. Expired references are removed.
    pub(super) fn open(folder: &Path, limits: StorageLimits) -> io::Result<Self> {
        // Without a slash at the end, with which a link would be followed.
        let folder: PathBuf = folder.components().collect();
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent)?;
        }
        if is_shared(&folder)? {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "other users can open the folder, and it has files: name an empty one, or make it private with `chmod 700`",
            ));
        }
        userfiles::create_private_folder(&folder)?;
        let store = Self { folder: folder.canonicalize()?, limits };
        store.sweep()?;
        Ok(store)
    }

    pub(super) fn store(&self, stored: &StoredBytes) -> Result<(), Fault> {
        let StoredBytes { bytes, reference } = stored;
        if bytes.len() > self.limits.bytes {
            return Err(too_large(bytes.len(), self.limits.bytes));
        }
        self.write(bytes, reference).map_err(|error| failed(&error))?;
        self.sweep().map_err(|error| failed(&error))
    }

    fn write(&self, bytes: &Bytes, reference: &StoredRef) -> io::Result<()> {
        let mut content = serde_json::to_vec(reference)?;
        content.push(b'\n');
        content.extend_from_slice(bytes);
        let file = UserFile::find(&self.folder.join(&reference.ref_id))?;
        file.replace(&content, Access::OwnerOnly).map(drop)
    }

    /// The bytes of a reference that exists and has not expired.
    pub(super) fn find(&self, ref_id: &str) -> Result<Option<StoredBytes>, Fault> {
        // Anything else may be a path.
        if !is_id(ref_id) {
            return Ok(None);
        }
        let path = self.folder.join(ref_id);
        let written = match fs::symlink_metadata(&path).and_then(|file| file.modified()) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        if self.has_expired(written) {
            return Ok(None);
        }
        let max = (self.limits.bytes + MAX_HEADER) as u64;
        let content = match userfiles::read(&path, max) {
            Ok(content) => Bytes::from(content),
            // Another process may have removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let end = content.iter().take(MAX_HEADER).position(|byte| *byte == b'\n');
        let header = end.and_then(|end| {
            let reference: StoredRef = serde_json::from_slice(&content[..end]).ok()?;
            Some((reference, content.slice(end + 1..)))
        });
        let Some((reference, bytes)) = header.filter(|(it, bytes)| it.size == bytes.len()) else {
            return Err(Fault::internal(format!("the stored reference `{ref_id}` is damaged")));
        };
        Ok(Some(StoredBytes {
            bytes,
            reference: StoredRef { ref_id: ref_id.to_owned(), ..reference },
        }))
    }

    fn has_expired(&self, written: SystemTime) -> bool {
        // A file may be dated in the future, where the clock was wrong.
        let age = written.elapsed().unwrap_or_else(|ahead| ahead.duration());
        age > self.limits.lifetime
    }

    /// Removes references that have expired, then the oldest until the rest is within the limits. Other files stay.
    fn sweep(&self) -> io::Result<()> {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have removed it meanwhile.
            let Ok(about) = entry.metadata() else { continue };
            if about.is_file() && entry.file_name().to_str().is_some_and(is_id) {
                let written = about.modified()?;
                entries.push(Entry { path: entry.path(), written, size: about.len() });
            }
        }
        entries.sort_by_key(|entry| entry.written);
        let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
        let mut left = entries.len();
        for entry in entries {
            let fits = total <= self.limits.bytes as u64 && left <= self.limits.references;
            if fits && !self.has_expired(entry.written) {
                break;
            }
            total -= entry.size;
            left -= 1;
            match fs::remove_file(&entry.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether a folder exists that other users can open, with files in it.
fn is_shared(folder: &Path) -> io::Result<bool> {
    let about = match fs::symlink_metadata(folder) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let is_open = about.is_dir() && about.permissions().mode() & 0o077 != 0;
    Ok(is_open && fs::read_dir(folder)?.next().is_some())
}

/// Whether this is an id as [`super::ReferenceStore::store`] makes them: a word, `_` and 32 hexadecimal digits.
fn is_id(text: &str) -> bool {
    let Some((word, digits)) = text.rsplit_once('_') else { return false };
    !word.is_empty()
        && word.len() <= 32
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        && digits.len() == 32
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The path stays in the log: it names a user of this machine.
fn failed(error: &io::Error) -> Fault {
    tracing::warn!(%error, "the folder of references cannot be used");
    Fault::unavailable(format!("the folder of references cannot be used: {}", error.kind()))
}
