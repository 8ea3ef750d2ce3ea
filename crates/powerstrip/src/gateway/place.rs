//! Where a socket of the data folder lies, under a name that is short enough for a socket.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The door for other processes of this user.
const SOCKET: &str = "socket";

/// The door for the operator's own commands. No agent's messages are relayed to it.
const OPERATOR: &str = "operator";

/// The longest path that a socket may have (104 bytes on macOS), less the suffix that a socket is made under.
const MAX_PATH: usize = 90;

/// A socket's path. Where the folder's own path is too long, the folder is named by an open handle instead.
#[derive(Debug)]
pub(crate) struct SocketPlace {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketPlace {
    /// The place of the local socket in a data folder.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        Self::named(folder, SOCKET)
    }

    /// The place of the operator's socket in a data folder.
    pub(crate) fn for_operator(folder: &Path) -> io::Result<Self> {
        Self::named(folder, OPERATOR)
    }

    /// The place of a socket in a data folder.
    pub(crate) fn named(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= MAX_PATH || !cfg!(target_os = "linux") {
            return Ok(Self { path, _folder: None });
        }
        use std::os::fd::AsRawFd as _;
        let handle = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", handle.as_raw_fd()));
        Ok(Self { path, _folder: Some(handle) })
    }

    /// The path, as long as this place exists.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
