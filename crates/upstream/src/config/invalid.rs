use std::fmt;

use super::{ConfigFault, ServerConfig};

/// A key of a server's entry that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidKey {
    /// The file and line, which only operators are shown.
    pub place: Option<String>,
    /// The key below the server's name; empty for the whole entry.
    pub key: String,
    pub message: String,
}

impl From<ConfigFault> for InvalidKey {
    fn from(fault: ConfigFault) -> Self {
        Self { place: None, key: fault.key.to_owned(), message: fault.reason }
    }
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl ServerConfig {
    /// What is wrong with the entry, as far as is known without starting or reaching anything.
    pub(crate) fn faults(&self, server: &str) -> Vec<InvalidKey> {
        if self.invalid.is_empty() {
            return self.check(server).err().map(InvalidKey::from).into_iter().collect();
        }
        self.invalid.clone()
    }
}
