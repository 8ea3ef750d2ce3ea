//! Faults of a configuration. All faults are reported at once, each with its file, line and key.

use std::fmt;
use std::path::{Path, PathBuf};

use schema::yaml::{Node, Step, show_path};
use serde::Serialize;

use crate::reader::{ActualValue, Misread, Why, nearest};

/// Finds the lines of faults in the file.
#[derive(Clone, Copy)]
pub(crate) struct Locator<'a> {
    pub(crate) file: Option<&'a Path>,
    pub(crate) tree: Option<&'a Node>,
}

impl Locator<'_> {
    /// A fault of a key.
    pub(crate) fn fault(&self, path: &[&str], message: String) -> Fault {
        let steps: Vec<_> = path.iter().map(|key| Step::Key((*key).to_owned())).collect();
        Fault {
            file: self.file.map(Path::to_owned),
            line: self.tree.map(|tree| tree.line_of(&steps)),
            key: path.join("."),
            message,
        }
    }
}

/// Documented keys that this version does not support yet; they are not reported as typing errors.
const LATER: [&str; 5] = ["model", "trusted_proxies", "tls", "cors", "retention"];

/// One fault and its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file that contains the fault, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The key's path, or the flag or variable that set it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    pub message: String,
}

impl Fault {
    pub(super) fn misread(file: &Path, misread: Misread) -> Self {
        // Users write secrets in the wrong place of a server's entry, and its faults are shown to callers.
        let is_quotable = misread.server().is_none();
        let message = match (&misread.why, misread.path.split_last()) {
            (Why::Other(why), _) => why.clone(),
            (Why::WrongType { expected, found }, _) => match found {
                ActualValue::Text(text) if is_quotable => {
                    format!("expected {expected}, found the text `{text}`")
                }
                ActualValue::Text(_) => format!("expected {expected}, found text"),
                ActualValue::Other(found) => {
                    let next = how_to_write(&misread);
                    format!("expected {expected}, found {found}{next}")
                }
            },
            (Why::UnknownKey { known }, Some((Step::Key(key), above))) => {
                unknown_key(key, known, above)
            }
            (Why::UnknownKey { .. }, _) => "unknown key".to_owned(),
        };
        Self {
            file: Some(file.to_owned()),
            line: Some(misread.line),
            key: show_path(&misread.path),
            message,
        }
    }

    /// The file and line, if it is in a file.
    pub(crate) fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?.display();
        Some(self.line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}")))
    }

    pub fn of_file(file: &Path, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { file: Some(file.to_owned()), line, key: String::new(), message: message.into() }
    }
}

/// How to correct a known mistake with a wrong type. The message does not repeat the value, which may be a secret.
fn how_to_write(misread: &Misread) -> &'static str {
    let is_command = misread.server().is_some()
        && matches!(misread.path.as_slice(), [_, _, Step::Key(key)] if key == "command");
    if is_command {
        "; write the program as `command` and the words behind it as `args`, such as `command: npx` and \
         `args: [-y, foo]`"
    } else {
        ""
    }
}

fn unknown_key(key: &str, known: &[&str], above: &[Step]) -> String {
    if above.is_empty() && LATER.contains(&key) {
        let version = env!("CARGO_PKG_VERSION");
        return format!("powerstrip {version} does not support `{key}` yet");
    }
    match nearest(key, known) {
        Some(near) => format!("unknown key; did you mean `{near}`?"),
        None => {
            let mut known = known.to_vec();
            known.sort_unstable();
            format!("unknown key; known keys are `{}`", known.join("`, `"))
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            write!(f, "{place}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadConfig(pub Vec<Fault>);

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            fmt::Display::fmt(fault, f)?;
        }
        Ok(())
    }
}

impl std::error::Error for BadConfig {}
