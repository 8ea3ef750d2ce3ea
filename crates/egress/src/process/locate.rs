//! Finds a program and the folders of its installation.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{Access, access};
use tokio::process::Command;

use super::RunError;

/// A version manager that takes longer than this is not asked again.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Links followed from a program to the file behind it.
const HOPS: usize = 16;

/// Looks programs up, and caches the programs behind the shims of version managers.
#[derive(Debug)]
pub(super) struct Locator {
    path: Vec<PathBuf>,
    shims: Mutex<HashMap<PathBuf, PathBuf>>,
}

impl Locator {
    pub(super) fn from_path(path: Option<OsString>) -> Self {
        let path = path.map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        Self { path, shims: Mutex::default() }
    }

    pub(super) async fn locate(&self, program: &OsStr) -> Result<PathBuf, RunError> {
        let not_found = || RunError::NotFound { program: program.to_owned() };
        let found = self.search(program).ok_or_else(not_found)?;
        let Some(manager) = self.manager(&found) else { return Ok(found) };

        let known = self.shims.lock().unwrap_or_else(PoisonError::into_inner).get(&found).cloned();
        if let Some(real) = known {
            return Ok(real);
        }
        // A shim is a script that needs its manager's home and settings, which no child gets;
        // and it costs more time than most tools. The manager knows which program it runs.
        let real = behind(&manager, &found).await.unwrap_or_else(|| found.clone());
        let mut shims = self.shims.lock().unwrap_or_else(PoisonError::into_inner);
        shims.insert(found, real.clone());
        Ok(real)
    }

    fn search(&self, program: &OsStr) -> Option<PathBuf> {
        if program.is_empty() {
            return None;
        }
        if program.as_bytes().contains(&b'/') {
            return std::path::absolute(program).ok().filter(|path| executable(path));
        }
        let folders = self.path.iter().filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(program)).find(|path| executable(path))
    }

    /// The version manager of `…/.pyenv/shims/python3` and its kin.
    fn manager(&self, shim: &Path) -> Option<PathBuf> {
        let folder = shim.parent()?;
        let home = (folder.file_name()? == "shims").then_some(folder.parent()?)?;
        let name = home.file_name()?.to_str()?.trim_start_matches('.');
        let own = home.join("bin").join(name);
        if executable(&own) { Some(own) } else { self.search(OsStr::new(name)) }
    }
}

async fn behind(manager: &Path, shim: &Path) -> Option<PathBuf> {
    let mut command = Command::new(manager);
    command.arg("which").arg(shim.file_name()?).stdin(std::process::Stdio::null());
    let output = tokio::time::timeout(TIMEOUT, command.kill_on_drop(true).output()).await;
    let output = output.ok()?.ok().filter(|output| output.status.success())?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && executable(&path)).then_some(path)
}

fn executable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// What a program needs to read of its own installation: itself, each file on the way of its
/// links, the prefix around its `bin`, and the same for the interpreter that its first line names.
pub(super) fn installation(program: &Path, locator: &Locator) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let mut parts = Vec::new();
    let interpreter = shebang(program).and_then(|name| locator.search(&name));
    for start in [Some(program.to_owned()), interpreter].into_iter().flatten() {
        let mut hop = start;
        for _ in 0..HOPS {
            parts.extend(prefix(&hop, home.as_deref()));
            let link = std::fs::read_link(&hop);
            parts.push(hop.clone());
            let (Ok(link), Some(folder)) = (link, hop.parent()) else { break };
            hop = folder.join(link);
        }
        parts.extend(hop.canonicalize().ok().and_then(|real| prefix(&real, home.as_deref())));
    }
    parts
}

/// The parent of a `bin` folder, unless it holds more than one installation, as a home folder does.
fn prefix(program: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let bin = program.parent()?;
    let prefix = matches!(bin.file_name()?.to_str()?, "bin" | "sbin" | "shims")
        .then_some(bin.parent()?)?
        .canonicalize()
        .ok()?;
    let home = home.and_then(|home| home.canonicalize().ok());
    let around_home = home.is_some_and(|home| home.starts_with(&prefix));
    let shared = prefix.file_name().is_none_or(|name| name == ".local");
    let private = prefix.join(".ssh").exists();
    (!around_home && !shared && !private).then_some(prefix)
}

/// The interpreter of a script: a path, or the name after `env`.
fn shebang(program: &Path) -> Option<OsString> {
    let mut start = [0; 256];
    let length = File::open(program).ok()?.read(&mut start).ok()?;
    let line = start.get(..length)?.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next()?;
    let named = if first.ends_with(b"/env") {
        words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?
    } else {
        first
    };
    Some(OsStr::from_bytes(named).to_owned())
}

#[cfg(test)]
mod tests;
