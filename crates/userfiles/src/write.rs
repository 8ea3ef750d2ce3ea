//! Replaces a file in one step.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, fchown, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::locate::Writer;
use crate::read::{read_file, require_regular, text};

/// How many copies of a file are kept.
const MAX_BACKUPS: usize = 1000;

const OWNER_ONLY: u32 = 0o600;

/// The users that may read a file after it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The same users as before; a new file has the mode that the umask gives it.
    AsBefore,
    /// Its owner, because it contains secrets.
    OwnerOnly,
}

/// A file that is written, with its folder held open: a path that changes meanwhile leads nowhere else.
#[derive(Debug)]
pub struct UserFile {
    folder: File,
    path: PathBuf,
    name: OsString,
}

impl UserFile {
    /// Finds the file of a path in an existing folder; the file itself may be missing. A link is resolved here, once, and
    /// refused if it leads out of the folders of its owner.
    pub fn find(path: &Path) -> io::Result<Self> {
        Self::find_for(&Writer::current(), path)
    }

    pub(crate) fn find_for(writer: &Writer, path: &Path) -> io::Result<Self> {
        let path = writer.locate(path)?;
        let name = path.file_name().unwrap_or_default().to_owned();
        let folder = path.parent().unwrap_or(Path::new("/"));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, Mode::empty())?;
        Ok(Self { folder: folder.into(), path, name })
    }

    /// The path of the file, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until no other process holds the lock on the folder, and holds it until this value is dropped.
    pub fn lock(&self) -> io::Result<()> {
        self.folder.lock()
    }

    /// The file's text of at most `max_bytes` bytes; `None` if there is no file.
    pub fn read_text(&self, max_bytes: u64) -> io::Result<Option<String>> {
        match self.open()? {
            Some(file) => read_file(file, max_bytes).and_then(text).map(Some),
            None => Ok(None),
        }
    }

    /// Writes the file: readers see the old content or the new one. Owner, group and mode stay, within `access`. Returns
    /// whether users who could read the file before no longer can.
    pub fn replace(&self, content: &[u8], access: Access) -> io::Result<bool> {
        self.replace_if(content, access, || Ok(()))
    }

    /// Like `replace`, but leaves the file as it is if `check` fails, which runs right before the new content takes its place.
    pub fn replace_if(
        &self,
        content: &[u8],
        access: Access,
        check: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<bool> {
        let before = self.open()?.map(|file| file.metadata()).transpose()?;
        let new_mode = match (access, &before) {
            (Access::AsBefore, None) => Mode::from_raw_mode(0o666),
            _ => Mode::from_raw_mode(OWNER_ONLY),
        };
        let draft = OsString::from(format!(".powerstrip-{}.tmp", uuid::Uuid::new_v4().simple()));
        let mut file = self.create(&draft, new_mode)?;
        let written = (|| {
            let mut narrowed = false;
            if let Some(before) = &before {
                let mode = kept_mode(&file, before)?;
                let allowed = if access == Access::OwnerOnly { mode & OWNER_ONLY } else { mode };
                narrowed = mode != allowed;
                file.set_permissions(Permissions::from_mode(allowed))?;
            }
            file.write_all(content)?;
            file.sync_all()?;
            check()?;
            renameat(&self.folder, &draft, &self.folder, &self.name)?;
            self.folder.sync_all()?;
            Ok(narrowed)
        })();
        if written.is_err() {
            // Best effort: the error of the write is the one to report.
            let _ = unlinkat(&self.folder, &draft, AtFlags::empty());
        }
        written
    }

    /// Copies the file to the first free name that ends with `.bak`, `.bak1` and so on, readable by its owner only. Returns
    /// the path of the copy, or `None` if there is no file.
    pub fn back_up(&self, max_bytes: u64) -> io::Result<Option<PathBuf>> {
        let Some(file) = self.open()? else { return Ok(None) };
        let content = read_file(file, max_bytes)?;
        for number in 0..MAX_BACKUPS {
            let mut name = self.name.clone();
            name.push(if number == 0 { ".bak".to_owned() } else { format!(".bak{number}") });
            // A link of that name, also one that leads nowhere, counts as taken.
            let mut copy = match self.create(&name, Mode::from_raw_mode(OWNER_ONLY)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            return match copy.write_all(&content).and_then(|()| copy.sync_all()) {
                Ok(()) => Ok(Some(self.path.with_file_name(name))),
                Err(error) => {
                    let _ = unlinkat(&self.folder, &name, AtFlags::empty());
                    Err(error)
                }
            };
        }
        let message = format!("there are {MAX_BACKUPS} copies of it (`.bak`): remove some");
        Err(io::Error::new(io::ErrorKind::AlreadyExists, message))
    }

    fn open(&self) -> io::Result<Option<File>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file: File = match openat(&self.folder, &self.name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened?.into(),
        };
        require_regular(&file.metadata()?)?;
        Ok(Some(file))
    }

    fn create(&self, name: &OsStr, mode: Mode) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.folder, name, flags, mode)?.into())
    }
}

/// Gives a new file the owner and group of the one that it replaces. Returns the mode to keep: without its bits for the
/// group, if the new file belongs to another one.
fn kept_mode(file: &File, before: &fs::Metadata) -> io::Result<u32> {
    let mode = before.mode() & 0o777;
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (before.uid(), before.gid()) {
        return Ok(mode);
    }
    let owner = Uid::from_raw(before.uid());
    let group = Gid::from_raw(before.gid());
    let kept = fchown(file, Some(owner), Some(group)).is_ok()
        || new.gid() == before.gid()
        || fchown(file, None, Some(group)).is_ok();
    Ok(if kept { mode } else { mode & 0o707 })
}

/// Creates a file that does not exist yet, with the mode that the umask gives it. A link of that name counts as a file.
pub fn create_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = File::options();
    let mut file = options.write(true).create_new(true).custom_flags(flags).open(path)?;
    file.write_all(content)
}

/// Creates a folder that only its owner can enter. A link in its place is refused: it may lead anywhere.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !fs::symlink_metadata(path)?.is_dir() {
                return Err(error);
            }
            fs::set_permissions(path, Permissions::from_mode(0o700))
        }
        created => created,
    }
}

/// Opens a file that only its owner may read and write, and creates it if it does not exist. A link is refused.
pub fn open_private(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(OWNER_ONLY);
    options.custom_flags(flags).open(path).map_err(|error| {
        if error.raw_os_error() != Some(Errno::LOOP.raw_os_error()) {
            return error;
        }
        let message = "it is a link; nothing is written through it: remove the link";
        io::Error::new(io::ErrorKind::PermissionDenied, message)
    })
}

#[cfg(test)]
mod tests;
