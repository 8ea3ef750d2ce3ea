//! Handover of a data folder. One process owns a data folder. A `serve` process that finds it owned asks the owner to
//! release it: a `stdio` process does and becomes a client, another `serve` process refuses.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use store::{Claim, DataFolder};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Instant, timeout};

use crate::SocketPath;

/// The socket on which an owner can be asked to release the folder.
const SOCKET: &str = "handover";

/// A file locked by the process that is about to take over, so that other processes wait.
const SUCCESSOR_LOCK: &str = "successor";

const ASK: &str = "powerstrip.yield";
/// Asks a gateway where it listens; other owners do not answer.
const WHERE: &str = "powerstrip.where";
const YIELDING: &str = "yielding";

/// How long an owner may take to finish its calls and release the folder.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a folder that is about to be free is tried.
const RETRY_INTERVAL: Duration = Duration::from_millis(25);

/// How long a request and its answer may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Takes the folder for a server, from an owner that releases it if necessary.
pub async fn inherit(path: &Path) -> anyhow::Result<DataFolder> {
    let mut owner = match DataFolder::claim(path)? {
        Claim::Owner(folder) => return Ok(folder),
        Claim::OwnedBy { pid } => pid,
    };
    let Some(_successor) = Successor::claim(path)? else {
        bail!("another `powerstrip serve` is starting on {}", path.display());
    };
    let deadline = Instant::now() + RELEASE_TIMEOUT;
    let mut asked = false;
    loop {
        if !asked {
            match ask(path, ASK).await {
                Ok(answer) if answer == YIELDING => {
                    tracing::info!("the owner of the data folder releases it");
                    asked = true;
                }
                Ok(answer) if !answer.is_empty() => {
                    bail!(
                        "{} is already served{} at {answer}; stop that gateway, or use another folder with --data-dir",
                        path.display(),
                        process(owner)
                    )
                }
                // The owner may be starting, stopping, or a short-lived command.
                Ok(_) | Err(_) => {}
            }
        }
        match DataFolder::claim(path)? {
            Claim::Owner(folder) => return Ok(folder),
            Claim::OwnedBy { pid } => owner = pid.or(owner),
        }
        if Instant::now() > deadline {
            bail!("{} is held{}, which did not release it in time", path.display(), process(owner));
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(|| " by another process".to_owned(), |pid| format!(" by process {pid}"))
}

/// The URL of the gateway that serves a folder; none if no gateway does.
pub async fn served_at(path: &Path) -> Option<String> {
    ask(path, WHERE).await.ok().filter(|url| !url.is_empty())
}

async fn ask(path: &Path, question: &str) -> io::Result<String> {
    let path = SocketPath::named(path, SOCKET)?;
    let exchange = async {
        let mut stream = UnixStream::connect(path.path()).await?;
        stream.write_all(format!("{question}\n").as_bytes()).await?;
        let mut answer = String::new();
        BufReader::new(stream.take(1024)).read_line(&mut answer).await?;
        Ok(answer.trim_end().to_owned())
    };
    timeout(REQUEST_TIMEOUT, exchange).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Whether a server is about to take the folder over.
pub fn is_awaited(path: &Path) -> bool {
    matches!(Successor::claim(path), Ok(None))
}

/// The lock of the process that takes over next.
struct Successor(#[expect(dead_code, reason = "holds the lock as long as it is open")] File);

impl Successor {
    fn claim(path: &Path) -> io::Result<Option<Self>> {
        let file = userfiles::open_private(&path.join(SUCCESSOR_LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Listens for requests to release the folder.
pub struct HandoverListener {
    listener: UnixListener,
    path: SocketPath,
}

impl HandoverListener {
    /// Listens in a folder that this process owns.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = SocketPath::named(path, SOCKET)?;
        // A leftover of a crashed owner: this process owns the folder now.
        let _ = std::fs::remove_file(path.path());
        let listener = UnixListener::bind(path.path())?;
        std::fs::set_permissions(path.path(), std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, path })
    }

    /// Returns after a server has asked for the folder and was promised it.
    pub async fn release_requested(&self) {
        self.answer_once(YIELDING).await;
    }

    /// Answers each request with the URL at which the folder is served. Never returns.
    pub async fn refuse(&self, url: &str) {
        loop {
            self.answer_once(url).await;
        }
    }

    /// Gives one request this answer.
    async fn answer_once(&self, answer: &str) {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                // Most likely out of file handles: retry.
                tokio::time::sleep(RETRY_INTERVAL).await;
                continue;
            };
            let exchange = async {
                let mut line = String::new();
                BufReader::new((&mut stream).take(1024)).read_line(&mut line).await?;
                match line.trim_end() {
                    ASK => {}
                    WHERE if answer != YIELDING => {}
                    _ => return Ok(false),
                }
                stream.write_all(format!("{answer}\n").as_bytes()).await?;
                Ok::<_, io::Error>(true)
            };
            if let Ok(Ok(true)) = timeout(REQUEST_TIMEOUT, exchange).await {
                return;
            }
        }
    }
}

impl Drop for HandoverListener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.path.path());
    }
}
