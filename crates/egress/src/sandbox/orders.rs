//! The protocol between the gateway and its launcher.
//!
//! The gateway sends orders over the launcher's stdin, ahead of the program's input:
//! arguments are visible to other users, and an environment could change what the launcher
//! itself does. The launcher reads not one byte more than it was sent, so the rest is the program's.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::{fmt, io, process};

use serde::{Deserialize, Serialize};

use super::{Host, Network, UnixSockets};
use crate::process::{Limits, Sha256};

/// The only argument, which turns our executable into the launcher.
pub(crate) const LAUNCH: &str = "__launch";

/// Exit code of a launcher that could not start its program; the reason is on stderr.
pub(crate) const FAILED: i32 = 125;

/// The first orders of a launcher: all preparation that does not depend on the program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Preparation {
    /// The gateway's process id: a launcher whose parent is another was orphaned before it could ask for a death signal.
    pub(crate) parent: u32,
    /// Proves to the gateway that a failure line is the launcher's and not the program's.
    pub(crate) token: String,
    /// The network of the namespaces to enter, none to enter no namespaces.
    pub(crate) isolation: Option<Network>,
}

impl Preparation {
    pub(crate) fn to_bytes(&self) -> io::Result<Vec<u8>> {
        frame(&serde_json::to_vec(self)?)
    }

    pub(super) fn read(mut source: impl Read) -> io::Result<Self> {
        let bytes = unframe(&mut source)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// The orders for one run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// Prepare everything, report the Landlock ABI and start nothing.
    pub(crate) probe: bool,
    pub(crate) limits: Limits,
    pub(crate) confinement: Option<Confinement>,
    /// The digest that the program's file must have.
    pub(crate) digest: Option<Sha256>,
    /// Whether the program gets stdin as descriptor 3 and stdout as descriptor 4.
    pub(crate) moves_pipes: bool,
}

impl Orders {
    /// The preparation that these orders need.
    pub(crate) fn isolation(&self) -> Option<Network> {
        let confinement = self.confinement.as_ref();
        confinement.filter(|confinement| confinement.host.namespaces).map(|it| it.network)
    }

    pub(crate) fn to_bytes(&self, program: &Program) -> io::Result<Vec<u8>> {
        let mut bytes = frame(&serde_json::to_vec(self)?)?;
        bytes.extend(frame(&program.to_words()?)?);
        Ok(bytes)
    }

    /// Waits for the orders; `None` if the gateway does not need this launcher.
    pub(super) fn read(mut source: impl Read) -> io::Result<Option<(Self, Program)>> {
        let Some(orders) = unframe(&mut source)? else { return Ok(None) };
        let words = unframe(&mut source)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let program = Program::of_words(&words).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Some((serde_json::from_slice(&orders)?, program)))
    }
}

/// The confinement that the launcher must apply; if any of it fails, nothing is started.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Confinement {
    pub(crate) host: Host,
    pub(crate) network: Network,
    pub(crate) unix_sockets: UnixSockets,
    pub(crate) read: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    /// The private folder of the run: writable, but nothing in it can be executed.
    pub(crate) private: Option<PathBuf>,
    /// Folders that a mount namespace covers, so that a readable folder around them does not expose them.
    pub(crate) hidden: Vec<PathBuf>,
}

/// The program to execute once the confinement is applied.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: OsString,
    /// Where it starts; none leaves it where the launcher is.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
}

impl Program {
    /// Strings that each end with a zero byte, which the kernel allows in none of them.
    fn to_words(&self) -> io::Result<Vec<u8>> {
        let folder = self.folder.as_deref().map_or(OsStr::new(""), |folder| folder.as_os_str());
        let count = OsString::from(self.arguments.len().to_string());
        let start = [self.path.as_os_str(), folder, &count].into_iter();
        let variables = self.environment.iter().flat_map(|(name, value)| [name, value]);
        let rest = self.arguments.iter().chain(variables).map(OsString::as_os_str);
        let mut words = Vec::new();
        for word in start.chain(rest) {
            if word.as_bytes().contains(&0) {
                let reason = "an argument, a variable or a path holds a zero byte";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
            }
            words.extend_from_slice(word.as_bytes());
            words.push(0);
        }
        Ok(words)
    }

    fn of_words(words: &[u8]) -> Option<Self> {
        let mut words = words
            .strip_suffix(&[0])?
            .split(|byte| *byte == 0)
            .map(|word| OsString::from_vec(word.to_vec()));
        let path = words.next()?;
        let folder = words.next().filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let count: usize = words.next()?.to_str()?.parse().ok()?;
        let arguments: Vec<_> = words.by_ref().take(count).collect();
        let mut environment = BTreeMap::new();
        while let Some(name) = words.next() {
            environment.insert(name, words.next()?);
        }
        (arguments.len() == count).then_some(Self { path, folder, arguments, environment })
    }
}

/// Bytes prefixed with their length.
fn frame(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut framed = Vec::with_capacity(bytes.len() + size_of::<u32>());
    framed.extend(length.to_le_bytes());
    framed.extend(bytes);
    Ok(framed)
}

/// The next frame; `None` if the stream ends before it.
fn unframe(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; size_of::<u32>()];
    match source.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    source.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

/// Stdin without the buffer of std, which would read ahead into the program's input.
pub(super) struct Stdin;

impl Read for Stdin {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(rustix::stdio::stdin(), bytes)?)
    }
}

/// The step at which a launch failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    Session,
    Namespaces,
    Folder,
    Limits,
    Landlock,
    Seccomp,
    /// The program's file has another digest.
    Digest,
    Exec,
}

/// Why the program was not started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) not_found: bool,
    pub(crate) reason: String,
}

impl Failure {
    pub(crate) fn at<E: fmt::Display>(step: Step) -> impl FnOnce(E) -> Self {
        move |error| Self { step, not_found: false, reason: error.to_string() }
    }

    pub(super) fn exec(error: &io::Error) -> Self {
        Self {
            step: Step::Exec,
            not_found: error.kind() == io::ErrorKind::NotFound,
            reason: error.to_string(),
        }
    }

    /// Finds the failure that a launcher with this token left on stderr.
    pub(crate) fn find(stderr: &[u8], token: &str) -> Option<Self> {
        let line = stderr.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty())?;
        let rest = line.strip_prefix(format!("{LAUNCH} {token} ").as_bytes())?;
        serde_json::from_slice(rest).ok()
    }

    /// Leaves the failure on stderr and ends the process.
    pub(super) fn report(&self, token: &str) -> ! {
        // cannot fail: three plain fields.
        let text = serde_json::to_string(self).unwrap_or_default();
        // If stderr is closed, the exit code still reports the failure.
        let _ = writeln!(io::stderr(), "{LAUNCH} {token} {text}");
        process::exit(FAILED)
    }
}

#[cfg(test)]
mod tests;
