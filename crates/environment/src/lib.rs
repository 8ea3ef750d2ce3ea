//! The process environment, read once. Only this crate reads it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// The environment variables, read once when the program starts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

/// Shows names only: values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// An environment variable whose value cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadVariable(String);

/// The variable that holds the key of the vault.
pub const VAULT_KEY: &str = "POWERSTRIP_KEY";

/// The variable that sets the number of threads that answer calls.
pub const THREADS: &str = "POWERSTRIP_THREADS";

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// This environment and those of the variables that it lacks.
    pub fn with<T: Into<OsString>>(mut self, variables: impl IntoIterator<Item = (T, T)>) -> Self {
        for (name, value) in variables {
            self.0.entry(name.into()).or_insert_with(|| value.into());
        }
        self
    }

    fn set(&self, name: &str) -> Option<&OsString> {
        self.0.get(OsStr::new(name)).filter(|value| !value.is_empty())
    }

    /// The names of all variables that are Unicode.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().filter_map(|name| name.to_str())
    }

    /// A variable that holds text; an empty one counts as unset.
    pub fn text(&self, name: &str) -> Option<String> {
        self.set(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// A variable that holds a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.set(name).map(PathBuf::from)
    }

    /// A variable that holds paths, separated as in `PATH`.
    pub fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.set(name).map_or_else(Vec::new, |value| {
            std::env::split_paths(value).filter(|path| !path.as_os_str().is_empty()).collect()
        })
    }

    /// The value behind `{env: NAME}`; must be Unicode.
    pub fn secret(&self, name: &str) -> Option<String> {
        self.set(name).and_then(|value| value.to_str()).map(str::to_owned)
    }

    /// The number of threads that answer calls. Fewer leave more of a small machine to servers and clients on it.
    pub fn threads(&self) -> Result<usize, BadVariable> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let Some(text) = self.text(THREADS) else { return Ok(cores) };
        let fits = |threads: &usize| (1..=1_024).contains(threads);
        text.parse().ok().filter(fits).ok_or_else(|| {
            BadVariable(format!("`{THREADS}` is `{text}`; it must be a number from 1 to 1024"))
        })
    }

    /// All variables with Unicode values, except the key of the vault, for tools whose packs name them.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let text = |value: &OsString| value.to_str().map(str::to_owned);
        let others = self.0.iter().filter(|(name, _)| *name != VAULT_KEY);
        others.filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
    }
}
