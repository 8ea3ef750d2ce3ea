//! The socket in the data folder, over which commands reach the process that owns the folder.

mod hang_up;

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::LocalDoor;

/// A listener that only this user's processes can connect to.
pub struct SocketDoor {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl SocketDoor {
    /// Listens at a path; a stale socket is replaced.
    pub async fn bind(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        clear_stale(&path).await?;
        // Created under another name and renamed once it is private, so that other users can never connect to it.
        let making = with_suffix(&path, &format!(".{}", std::process::id()));
        let _ = fs::remove_file(&making);
        let listener = UnixListener::bind(&making).map_err(|error| named(&making, error))?;
        let private = fs::set_permissions(&making, fs::Permissions::from_mode(0o600))
            .and_then(|()| fs::metadata(&making))
            .and_then(|metadata| fs::rename(&making, &path).map(|()| metadata.uid()));
        match private {
            Ok(owner) => Ok(Self { listener, path, owner }),
            Err(error) => {
                let _ = fs::remove_file(&making);
                Err(named(&path, error))
            }
        }
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Serves every connection as a session of the door until `shutdown`, then lets sessions end for at most `drain`.
    ///
    /// Boxed, so that sessions are compiled in this crate.
    pub fn serve(
        self,
        door: LocalDoor,
        shutdown: CancellationToken,
        drain: Duration,
    ) -> BoxFuture<'static, io::Result<()>> {
        Box::pin(self.run(door, shutdown, drain))
    }

    async fn run(
        self,
        door: LocalDoor,
        shutdown: CancellationToken,
        drain: Duration,
    ) -> io::Result<()> {
        let sessions = TaskTracker::new();
        let cut = CancellationToken::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = shutdown.cancelled() => break,
            };
            match accepted {
                Ok((stream, _)) if self.is_ours(&stream) => {
                    let (door, cut) = (door.clone(), cut.clone());
                    sessions.spawn(async move {
                        let (read, write) = stream.into_split();
                        let (read, hang_up) = hang_up::watch(read);
                        let session = cut.run_until_cancelled_owned(door.serve(read, write));
                        let served = tokio::select! {
                            served = session => served,
                            // Nothing reads the answers any more: dropping the session cancels its calls.
                            () = hang_up.wait() => None,
                        };
                        if let Some(Err(error)) = served {
                            tracing::debug!(%error, "a local session ended");
                        }
                    });
                }
                Ok(_) => tracing::warn!("refused a connection of another user"),
                Err(error) => {
                    tracing::warn!(%error, "a local connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        sessions.close();
        if tokio::time::timeout(drain, sessions.wait()).await.is_err() {
            tracing::warn!(
                sessions = sessions.len(),
                "drain time is over; ending the remaining sessions"
            );
            cut.cancel();
        }
        sessions.wait().await;
        Ok(())
    }

    fn is_ours(&self, stream: &UnixStream) -> bool {
        stream.peer_cred().is_ok_and(|peer| peer.uid() == self.owner)
    }
}

impl Drop for SocketDoor {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a stale socket. Fails if another process listens there or the path is not a socket.
async fn clear_stale(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(named(path, error)),
    };
    if !metadata.file_type().is_socket() {
        let error = io::Error::new(io::ErrorKind::AlreadyExists, "is not a socket");
        return Err(named(path, error));
    }
    match UnixStream::connect(path).await {
        Ok(_) => {
            let error = io::Error::new(io::ErrorKind::AddrInUse, "another process listens there");
            Err(named(path, error))
        }
        Err(_) => fs::remove_file(path).map_err(|error| named(path, error)),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
