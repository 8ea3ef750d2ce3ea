//! The process environment. Only this file reads it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use proto::Secret;

use crate::dotenv;
use crate::fault::Fault;

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
const KEY: &str = "POWERSTRIP_KEY";

/// The variable that sets the number of threads that answer calls.
const THREADS: &str = "POWERSTRIP_THREADS";

/// The supported variables and their meaning.
pub(crate) const VARIABLES: [(&str, &str); 9] = [
    ("POWERSTRIP_CONFIG", "the config file, as --config"),
    ("POWERSTRIP_DATA_DIR", "the data folder, as --data-dir"),
    ("POWERSTRIP_TOOLS", "tool folders, separated by `:`, as --tools"),
    ("POWERSTRIP_PROMPTS", "the prompts folder, as --prompts"),
    ("POWERSTRIP_LISTEN", "the address to listen on, as --listen"),
    ("POWERSTRIP_LOG", "the log filter, as --log"),
    (
        KEY,
        "the key that encrypts stored tokens for servers, instead of `vault.key` in the data folder",
    ),
    ("POWERSTRIP_TOKEN", "the token or key for the gateway that `--url` names"),
    (THREADS, "the number of threads that answer calls; by default one per core"),
];

/// Variables of capability servers, which may be set in the gateway's environment as well.
const OF_SERVERS: [&str; 2] = ["POWERSTRIP_GATEWAY", "POWERSTRIP_REGISTRATION_TOKEN"];

/// The beginnings of variables that complete `research`.
const OF_RESEARCH: [&str; 3] =
    ["POWERSTRIP_RESEARCH_TIMEOUT_", "POWERSTRIP_RESEARCH_SIZE_", "POWERSTRIP_RESEARCH_URL_"];

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// An environment with these variables only.
    #[cfg(test)]
    pub fn with<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// This environment, completed by the `.env` file of a folder, and what is wrong with that file.
    pub(crate) fn with_dotenv(&self, folder: &Path) -> (Self, Vec<Fault>) {
        let file = folder.join(dotenv::FILE_NAME);
        let text = match userfiles::read_text(&file, dotenv::MAX_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return (self.clone(), Vec::new());
            }
            Err(error) => {
                let why = format!("cannot be read: {error}");
                return (self.clone(), vec![Fault::of_file(&file, None, why)]);
            }
        };
        let parsed = dotenv::parse(&text);
        let mut completed = self.clone();
        for (name, value) in parsed.variables {
            completed.0.entry(name.into()).or_insert_with(|| value.into());
        }
        let fault = |(line, why)| Fault::of_file(&file, Some(line), why);
        (completed, parsed.faults.into_iter().map(fault).collect())
    }

    fn set(&self, name: &str) -> Option<&OsString> {
        self.0.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty())
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

    /// The key of the vault, if it is set.
    pub fn vault_key(&self) -> Option<Secret> {
        self.secret(KEY).map(Secret::new)
    }

    /// All variables with Unicode values, except the key of the vault, for tools whose packs name them.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let text = |value: &OsString| value.to_str().map(str::to_owned);
        let others = self.0.iter().filter(|(name, _)| *name != KEY);
        others.filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
    }

    /// Unknown variables with our prefix: most likely misspelt.
    pub fn unknown(&self) -> Vec<String> {
        // A gateway started by a tool inherits the tool's run marker.
        let known = |name: &str| {
            name == egress::process::RUN_MARK
                || OF_RESEARCH.iter().any(|prefix| name.starts_with(prefix))
                || OF_SERVERS.contains(&name)
                || VARIABLES.iter().any(|(known, _)| *known == name)
        };
        self.0
            .keys()
            .filter_map(|name| name.to_str())
            .filter(|name| name.starts_with("POWERSTRIP_") && !known(name))
            .map(str::to_owned)
            .collect()
    }
}
