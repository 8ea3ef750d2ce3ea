//! The sessions of local processes: their sockets, and how their calls finish when the process ends.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use doors::{LocalDoor, SocketDoor};
use strip::Strip;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::socket_path::SocketPath;

/// How long calls of local sessions, and tasks of workflows, may take to finish when the process ends.
pub(super) const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long calls that were ended may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// After `shutdown`, lets the calls of local sessions finish for at most `time`.
pub(super) async fn drain(
    door: LocalDoor,
    strip: Arc<Strip>,
    shutdown: CancellationToken,
    time: Duration,
) {
    shutdown.cancelled().await;
    if timeout(time, door.calls_end()).await.is_err() {
        strip.stop_calls();
        let _ = timeout(ANSWER_TIMEOUT, door.calls_end()).await;
    }
}

/// Opens a socket in the data folder. Without it the gateway works, but other processes cannot connect.
pub(super) async fn open_socket(
    path: io::Result<SocketPath>,
    door: LocalDoor,
    closing: CancellationToken,
) -> Option<JoinHandle<()>> {
    let opened = async {
        let path = path?;
        let socket = SocketDoor::bind(path.path()).await?;
        Ok::<_, io::Error>((path, socket))
    };
    match opened.await {
        Ok((path, socket)) => Some(tokio::spawn(async move {
            // Keeps the folder handle open that the path may contain.
            let _path = path;
            if let Err(error) = socket.serve(door, closing, DRAIN_TIMEOUT).await {
                tracing::warn!(%error, "the local socket is closed");
            }
        })),
        Err(error) => {
            tracing::warn!(%error, "no local socket: other processes cannot connect to this one");
            None
        }
    }
}
