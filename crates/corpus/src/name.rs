//! Names of collections.

use std::fmt;
use std::str::FromStr;

use proto::{Code, Failure};
use store::RUN_COLLECTION;

/// The longest name.
const MAX_CHARS: usize = 64;

/// The name of a collection: 1 to 64 of `a` to `z`, digits, `_` and `-`. That of a run is the run's id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollectionName(String);

impl CollectionName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the collection belongs to a run: it is not listed, and is deleted with the run.
    pub fn is_of_run(&self) -> bool {
        self.0.starts_with(RUN_COLLECTION)
    }

    /// Refuses to change the collection of another run than the one that asks.
    pub fn check_writable(&self, run: Option<&str>) -> Result<(), Failure> {
        if !self.is_of_run() || run == Some(self.as_str()) {
            return Ok(());
        }
        let message = format!(
            "the collection `{self}` belongs to a run: only that run may change it; choose a name that does not begin with `{RUN_COLLECTION}`"
        );
        Err(Failure::new(Code::InvalidInput, message))
    }

    /// Hides the collection of another run than the one that asks.
    pub fn check_readable(&self, run: Option<&str>) -> Result<(), Failure> {
        if !self.is_of_run() || run == Some(self.as_str()) { Ok(()) } else { Err(self.unknown()) }
    }

    /// The failure of a call that names a collection that does not exist for its caller.
    pub(super) fn unknown(&self) -> Failure {
        Failure::new(Code::NotFound, format!("there is no collection `{self}`"))
    }
}

impl FromStr for CollectionName {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-')
        };
        if (1..=MAX_CHARS).contains(&text.len()) && text.bytes().all(allowed) {
            return Ok(Self(text.to_owned()));
        }
        let shown: String = text.chars().take(MAX_CHARS).collect();
        let message = format!(
            "`{shown}` is not the name of a collection: it has 1 to {MAX_CHARS} of a-z, 0-9, `_` and `-`"
        );
        Err(Failure::new(Code::InvalidInput, message))
    }
}

impl fmt::Display for CollectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_few_characters() {
        for good in ["a", "city-heat_2", &"x".repeat(64)] {
            assert_eq!(good.parse::<CollectionName>().unwrap().as_str(), good);
        }
        for bad in ["", "A", "a b", "é", "a/b", "a.b", &"x".repeat(65), "a\n"] {
            assert_eq!(
                bad.parse::<CollectionName>().unwrap_err().code,
                Code::InvalidInput,
                "{bad}"
            );
        }
    }

    #[test]
    fn the_collection_of_a_run_is_for_that_run_only() {
        let name: CollectionName = "run_0123".parse().unwrap();
        assert!(name.check_writable(Some("run_0123")).is_ok());
        assert!(name.check_readable(Some("run_0123")).is_ok());
        for other in [None, Some("run_01234"), Some("city")] {
            assert_eq!(name.check_writable(other).unwrap_err().code, Code::InvalidInput);
            assert_eq!(name.check_readable(other).unwrap_err().code, Code::NotFound);
        }
        let named: CollectionName = "city".parse().unwrap();
        assert!(named.check_writable(None).is_ok() && named.check_readable(Some("run_0")).is_ok());
    }
}
