use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::rand;

use crate::StoreError;

const LOCK_FILE: &str = "lock";
const IGNORE_FILE: &str = ".gitignore";

/// The name of the data folder where the config has no other.
const DEFAULT_NAME: &str = ".powerstrip";
/// The file of the SQLite database in a data folder.
pub const DATABASE_FILE: &str = "powerstrip.db";

/// A data folder that this process owns until the value is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    // The kernel ties the lock to this open file and lets go of it even after `kill -9`: it cannot go stale.
    _lock: File,
}

/// The result of claiming a data folder.
#[derive(Debug)]
pub enum Claim {
    Owner(DataFolder),
    /// Another process was faster; its id, if it has already written it down.
    OwnedBy {
        pid: Option<u32>,
    },
}

impl DataFolder {
    /// Tries to become the one process that owns a data folder, and creates the folder if need be.
    pub fn claim(path: &Path) -> Result<Claim, StoreError> {
        prepare(path)?;
        let claimed = ignore_in_git(path).and_then(|()| claim_prepared(path));
        claimed.map_err(|source| StoreError::Folder { path: path.to_owned(), source })
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Keeps the folder out of Git: it holds keys. A folder that holds other files as well is left as it is.
fn ignore_in_git(path: &Path) -> io::Result<()> {
    let ours = path.file_name().is_some_and(|name| name == DEFAULT_NAME)
        || fs::read_dir(path)?.next().is_none();
    let file = path.join(IGNORE_FILE);
    if !ours || file.exists() {
        return Ok(());
    }
    userfiles::open_private(&file)?.write_all(b"*\n")
}

fn claim_prepared(path: &Path) -> io::Result<Claim> {
    let mut file = userfiles::open_private(&path.join(LOCK_FILE))?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            writeln!(file, "{}", std::process::id())?;
            Ok(Claim::Owner(DataFolder { path: path.to_owned(), _lock: file }))
        }
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            file.take(32).read_to_string(&mut text)?;
            Ok(Claim::OwnedBy { pid: text.trim().parse().ok() })
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Makes sure that the folder is there, for its owner only.
pub(crate) fn prepare(path: &Path) -> Result<(), StoreError> {
    let fault = |source| StoreError::Folder { path: path.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(fault)?;
    let mode = fs::metadata(path).map_err(fault)?.permissions().mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    // Someone may have named a folder that others need, such as `/tmp`: only our own or an empty one is closed to them.
    let ours = [LOCK_FILE, DATABASE_FILE].iter().any(|file| path.join(file).exists())
        || fs::read_dir(path).map_err(fault)?.next().is_none();
    let closed = ours && fs::set_permissions(path, Permissions::from_mode(0o700)).is_ok();
    if !closed {
        tracing::warn!(
            folder = %path.display(),
            "others may look into the data folder; the files in it are for its owner only"
        );
    }
    Ok(())
}

/// The 32 random bytes that a file in the data folder keeps for its owner only; made at first use.
pub fn private_key(path: &Path) -> Result<[u8; 32], StoreError> {
    let kept = || {
        let mut file = userfiles::open_private(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        let mut bytes = Vec::new();
        (&mut file).take(33).read_to_end(&mut bytes)?;
        if let Ok(key) = bytes.try_into() {
            return Ok(key);
        }
        // New, or not written to its end: what it signed was never given out.
        let mut key = [0; 32];
        rand::fill(&mut key)
            .map_err(|_| io::Error::other("this machine gives no random numbers"))?;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&key)?;
        file.sync_all()?;
        Ok(key)
    };
    kept().map_err(|source| StoreError::Folder { path: path.to_owned(), source })
}
