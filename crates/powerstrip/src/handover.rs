//! One process owns a data folder. A server that starts where another process holds it asks for it:
//! a `stdio` process gives it up and becomes a client; a server does not.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use store::{Claim, DataFolder};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, timeout};

use crate::gateway::SocketPath;

/// Where an owner can be asked to give the folder up.
const SOCKET: &str = "handover";

/// Locked by the process that is about to take over, so that others let it.
const HEIR: &str = "heir";

const ASK: &str = "powerstrip.yield";
const YIELDING: &str = "yielding";

/// How long a process that yields may take to finish its calls.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a folder that is about to be free is tried.
const STEP: Duration = Duration::from_millis(25);

/// How long a conversation between two processes of ours may take.
const ANSWER: Duration = Duration::from_secs(5);

/// Takes the folder for a server, from a process that yields it if need be.
pub(crate) async fn inherit(path: &Path) -> anyhow::Result<DataFolder> {
    let mut owner = match DataFolder::claim(path)? {
        Claim::Owner(folder) => return Ok(folder),
        Claim::OwnedBy { pid } => pid,
    };
    let Some(_heir) = Heir::become_one(path)? else {
        bail!("another `powerstrip serve` is just starting on {}", path.display());
    };
    let deadline = Instant::now() + PATIENCE;
    let mut asked = false;
    loop {
        if !asked {
            match ask(path).await {
                Ok(answer) if answer == YIELDING => {
                    tracing::info!("the process that holds the data folder hands it over");
                    asked = true;
                }
                Ok(answer) if !answer.is_empty() => {
                    bail!(
                        "{} is already served{} at {answer}; stop that one, or give this one a folder of its \
                         own with --data-dir",
                        path.display(),
                        process(owner)
                    )
                }
                // It may be starting, ending, or a command that will soon be done.
                Ok(_) | Err(_) => {}
            }
        }
        match DataFolder::claim(path)? {
            Claim::Owner(folder) => return Ok(folder),
            Claim::OwnedBy { pid } => owner = pid.or(owner),
        }
        if Instant::now() > deadline {
            bail!("{} is held{}, which did not give it up in time", path.display(), process(owner));
        }
        tokio::time::sleep(STEP).await;
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(|| " by another process".to_owned(), |pid| format!(" by process {pid}"))
}

async fn ask(path: &Path) -> io::Result<String> {
    let place = SocketPath::named(path, SOCKET)?;
    let conversation = async {
        let mut stream = UnixStream::connect(place.path()).await?;
        stream.write_all(format!("{ASK}\n").as_bytes()).await?;
        let mut answer = String::new();
        BufReader::new(stream.take(1024)).read_line(&mut answer).await?;
        Ok(answer.trim_end().to_owned())
    };
    timeout(ANSWER, conversation).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Whether a server is about to take the folder over.
pub(crate) fn is_awaited(path: &Path) -> bool {
    matches!(Heir::become_one(path), Ok(None))
}

/// The one process that takes over next.
struct Heir(#[expect(dead_code, reason = "holds the lock as long as it is open")] File);

impl Heir {
    fn become_one(path: &Path) -> io::Result<Option<Self>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.join(HEIR))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The ear of an owner for the wish to take its folder.
pub(crate) struct Ear {
    listener: UnixListener,
    place: SocketPath,
}

impl Ear {
    /// Listens in a folder that this process owns.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let place = SocketPath::named(path, SOCKET)?;
        // Whoever left it there is gone: the folder is ours.
        let _ = std::fs::remove_file(place.path());
        let listener = UnixListener::bind(place.path())?;
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, place })
    }

    /// Returns when somebody wants the folder and was promised it.
    pub(crate) async fn asked(&self) {
        self.converse(YIELDING).await;
    }

    /// Tells everybody who wants the folder that it is served, and where. Never returns.
    pub(crate) async fn refuse(&self, url: &str) {
        loop {
            self.converse(url).await;
        }
    }

    /// Gives one asker this answer.
    async fn converse(&self, answer: &str) {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                // Out of file handles, most likely: more will be free soon.
                tokio::time::sleep(STEP).await;
                continue;
            };
            let heard = async {
                let mut line = String::new();
                BufReader::new((&mut stream).take(1024)).read_line(&mut line).await?;
                if line.trim_end() != ASK {
                    return Ok(false);
                }
                stream.write_all(format!("{answer}\n").as_bytes()).await?;
                Ok::<_, io::Error>(true)
            };
            if let Ok(Ok(true)) = timeout(ANSWER, heard).await {
                return;
            }
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.place.path());
    }
}
