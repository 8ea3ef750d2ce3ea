//! One reader process, as the program that uses it sees it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use egress::process::{Limits, Piped, Process, RunError, Runner, Spec};
use egress::sandbox::{Policy, Tier};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::bounds::Bounds;
use crate::frame::{self, Answer, Request, VERSION};

/// The first argument of a reader.
pub(crate) const ARGUMENT: &str = "read-documents";

/// A reader is ready in milliseconds; a host under heavy load gets this long.
const START: Duration = Duration::from_secs(10);

/// Of stderr, this many bytes at the end are kept.
const STDERR: usize = 16 << 10;

/// A text may be this much longer than its limit, by the signs that close open elements.
const MARGIN: u64 = 1 << 20;

/// Why there is no reader.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("this program was not found: {0}")]
    Program(#[source] io::Error),
    #[error("it did not start within 10 s")]
    TimedOut,
    #[error("it did not start: {0}")]
    Ended(String),
    #[error("this program was replaced by another version; restart it")]
    Replaced,
}

/// The bytes of a document.
pub(crate) enum Body {
    Bytes(bytes::Bytes),
    File(File),
}

/// A reader between documents, or at work.
pub(crate) struct Reader {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: JoinHandle<Vec<u8>>,
    process: Process,
    /// The tenant whose documents it reads; none for public ones.
    pub(crate) owner: Option<String>,
    /// The number of documents it has read.
    pub(crate) documents: u32,
}

impl Reader {
    pub(crate) async fn start(
        runner: &Runner,
        program: Option<PathBuf>,
        bounds: &Bounds,
        owner: Option<String>,
    ) -> Result<Self, StartError> {
        let program = program.map_or_else(own_program, Ok).map_err(StartError::Program)?;
        let piped = runner.spawn_piped(spec(program, bounds)).await?;
        let Piped { stdin, stdout, stderr, process } = piped;
        let stderr = tokio::spawn(tail(stderr));
        let mut reader =
            Self { stdin, stdout: BufReader::new(stdout), stderr, process, owner, documents: 0 };
        match timeout(START, frame::next_header(&mut reader.stdout)).await {
            Ok(Ok(Answer::Ready { version: VERSION })) => Ok(reader),
            Ok(Ok(_)) => Err(StartError::Replaced),
            Ok(Err(_)) => Err(StartError::Ended(reader.last_words().await)),
            Err(_) => Err(StartError::TimedOut),
        }
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    pub(crate) fn tier(&self) -> Tier {
        self.process.tier()
    }

    /// Sends one document, and returns the answer with its text or picture. After an error the reader is useless.
    pub(crate) async fn ask(
        &mut self,
        request: &Request,
        body: Body,
        limit: u64,
    ) -> io::Result<(Answer, Vec<u8>)> {
        self.documents += 1;
        self.stdin.write_all(&frame::header(request)?).await?;
        match body {
            Body::Bytes(bytes) => self.stdin.write_all(&bytes).await?,
            Body::File(file) => {
                let sent = tokio::io::copy(&mut file.take(request.length), &mut self.stdin).await?;
                if sent < request.length {
                    return Err(io::Error::other("the file became shorter while it was read"));
                }
            }
        }
        self.stdin.flush().await?;
        let answer = frame::next_header(&mut self.stdout).await?;
        let mut content = Vec::new();
        if let Answer::Read { length, .. }
        | Answer::Scaled { length, .. }
        | Answer::Worked { length, .. } = answer
        {
            if length > limit + MARGIN {
                return Err(io::Error::other("the answer is longer than its limit"));
            }
            content.reserve_exact(usize::try_from(length).map_err(io::Error::other)?);
            (&mut self.stdout).take(length).read_to_end(&mut content).await?;
            if (content.len() as u64) < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok((answer, content))
    }

    /// Ends the reader, and returns the end of what it has printed to stderr.
    pub(crate) async fn last_words(self) -> String {
        let Self { stdin, stdout, stderr, process, .. } = self;
        drop((stdin, stdout));
        let kill = process.kill();
        let (printed, ()) = tokio::join!(timeout(START, stderr), kill);
        let printed = printed.ok().and_then(Result::ok).unwrap_or_default();
        String::from_utf8_lossy(&printed).trim().to_owned()
    }
}

fn spec(program: PathBuf, bounds: &Bounds) -> Spec {
    let limits = Limits {
        memory: bounds.memory,
        file_size: 0,
        private_folder: 0,
        open_files: 64,
        processes: 16,
        // Each document has its own deadline, after which the reader is killed.
        cpu_seconds: None,
    };
    Spec::new(program)
        .arg(ARGUMENT)
        // The allocator would reserve a gigabyte at once, which is the whole limit.
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
        .limits(limits)
        .policy(Policy::new())
}

/// The path of this program; after an upgrade that of its replacement, which is used if it has the same frames.
fn own_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    let replaced =
        path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(replaced.unwrap_or(path))
}

/// Reads to the end, so that the reader never waits for room in the pipe, and keeps the last bytes.
async fn tail(mut pipe: ChildStderr) -> Vec<u8> {
    let mut kept = Vec::new();
    while let Ok(1..) = pipe.read_buf(&mut kept).await {
        if kept.len() > 2 * STDERR {
            kept.drain(..kept.len() - STDERR);
        }
    }
    kept
}
