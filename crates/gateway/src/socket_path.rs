//! Paths of the sockets in the data folder, kept within the length limit of socket addresses.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The socket for other processes of this user.
const SOCKET: &str = "socket";

/// The socket for operator commands. Messages of agents are never relayed to it.
const OPERATOR: &str = "operator";

/// The longest socket path (104 bytes on macOS), less the temporary suffix used while binding.
const MAX_PATH: usize = 90;

/// A socket's path. If the folder's path is too long, the folder is addressed through an open file handle.
#[derive(Debug)]
pub struct SocketPath {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketPath {
    /// The path of the local socket in a data folder.
    pub fn of(folder: &Path) -> io::Result<Self> {
        Self::named(folder, SOCKET)
    }

    /// The path of the operator socket in a data folder.
    pub fn for_operator(folder: &Path) -> io::Result<Self> {
        Self::named(folder, OPERATOR)
    }

    /// The path of a socket in a data folder.
    pub fn named(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= MAX_PATH || !cfg!(target_os = "linux") {
            return Ok(Self { path, _folder: None });
        }
        use std::os::fd::AsRawFd as _;
        let handle = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", handle.as_raw_fd()));
        Ok(Self { path, _folder: Some(handle) })
    }

    /// The path; valid as long as this value lives.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
