use std::fmt;
use std::str::FromStr;

use crate::ToolId;

/// Longer than any id can be.
const MAX_LEN: usize = 300;

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPattern {
    #[error("a pattern names tools, such as `crm:*`; this one is empty")]
    Empty,
    #[error("the pattern is longer than {MAX_LEN} characters")]
    TooLong,
    #[error("the pattern has the character {0:?}, which no tool's id has")]
    Character(char),
}

/// A pattern of tool ids, in which `*` matches any characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it matches this tool.
    pub fn matches(&self, tool: &ToolId) -> bool {
        fits(self.0.as_bytes(), tool.as_str().as_bytes())
    }

    /// Whether it can match tools of this server.
    pub fn reaches(&self, server: &str) -> bool {
        match self.0.split_once(':') {
            Some((part, _)) => fits(part.as_bytes(), server.as_bytes()),
            // A star may match the colon, too.
            None => self.0.split_once('*').is_some_and(|(start, _)| {
                server.starts_with(start) || start.starts_with(&format!("{server}:"))
            }),
        }
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(InvalidPattern::Empty);
        }
        if text.len() > MAX_LEN {
            return Err(InvalidPattern::TooLong);
        }
        match text.chars().find(|c| !c.is_ascii_graphic() || *c == '@') {
            Some(character) => Err(InvalidPattern::Character(character)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Remembers only the last star: what an earlier one could take, that one can take too.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, seen));
            at += 1;
        } else if pattern.get(at) == Some(&text[seen]) {
            at += 1;
            seen += 1;
        } else if let Some((place, taken)) = star {
            star = Some((place, taken + 1));
            at = place + 1;
            seen = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
