//! Keys of an entry that are wrong.

use std::fmt;

/// A key of a server's entry that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidKey {
    /// The file and line, which only operators are shown.
    pub place: Option<String>,
    /// The key below the server's name; empty for the whole entry.
    pub key: String,
    pub message: String,
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
