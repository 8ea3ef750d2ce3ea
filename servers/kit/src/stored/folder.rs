//! References in a folder: they outlive the process, and replicas that share the folder serve each other's.
//!
//! A reference is one file named by its id: a line of JSON, then the bytes.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use userfiles::{Access, UserFile};

use super::{StorageLimits, StoredBytes, StoredRef, too_large};
use crate::Fault;

/// The longest first line.
const MAX_HEADER: usize = 4096;

/// An older draft was left by a process that was killed while it wrote.
const DRAFT_LIFETIME: Duration = Duration::from_secs(3600);

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
    is_newest: bool,
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
        store.sweep(None)?;
        Ok(store)
    }

    pub(super) fn store(&self, stored: &StoredBytes) -> Result<(), Fault> {
        let StoredBytes { bytes, reference } = stored;
        if bytes.len() > self.limits.bytes {
            return Err(too_large(bytes.len(), self.limits.bytes));
        }
        let written = match self.write(bytes, reference) {
            // The folder was removed while the server ran.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_folder().and_then(|()| self.write(bytes, reference))
            }
            written => written,
        };
        written.and_then(|()| self.sweep(Some(&reference.ref_id))).map_err(|error| failed(&error))
    }

    fn create_folder(&self) -> io::Result<()> {
        fs::create_dir_all(self.folder.parent().unwrap_or(&self.folder))?;
        userfiles::create_private_folder(&self.folder)
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
        age(written) > self.limits.lifetime
    }

    /// Removes references that have expired, then the oldest until the rest is within the limits. Other files stay, and so
    /// does the `newest` reference, whatever the clock said when the others were written.
    fn sweep(&self, newest: Option<&str>) -> io::Result<()> {
        let mut entries: Vec<Entry> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have removed it meanwhile.
            let Ok(about) = entry.metadata() else { continue };
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|_| about.is_file()) else { continue };
            let written = about.modified()?;
            if is_draft(name) && age(written) > DRAFT_LIFETIME {
                remove(&entry.path())?;
            } else if is_id(name) {
                let is_newest = newest == Some(name);
                entries.push(Entry { path: entry.path(), written, size: about.len(), is_newest });
            }
        }
        entries.sort_by_key(|entry| (entry.is_newest, entry.written));
        let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
        let mut left = entries.len();
        for entry in entries {
            let fits = total <= self.limits.bytes as u64 && left <= self.limits.references;
            if fits && !self.has_expired(entry.written) {
                continue;
            }
            total -= entry.size;
            left -= 1;
            remove(&entry.path)?;
        }
        Ok(())
    }
}

/// A file may be dated in the future, where the clock was wrong.
fn age(written: SystemTime) -> Duration {
    written.elapsed().unwrap_or_else(|ahead| ahead.duration())
}

/// Whether this is the name of a file that [`UserFile`] has not put in its place yet.
fn is_draft(name: &str) -> bool {
    name.starts_with(".powerstrip-") && name.ends_with(".tmp")
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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
