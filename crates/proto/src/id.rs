use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The longest part of an id, on either side of the colon.
const MAX_PART: usize = 128;

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    #[error("an id must not be empty")]
    Empty,
    #[error("`{0}` is longer than {MAX_PART} characters")]
    TooLong(String),
    #[error("`{id}` has the character {character:?}; {allowed}")]
    Character { id: String, character: char, allowed: &'static str },
    #[error(
        "the server name `{0}` must not contain `__`, which separates server and tool on the wire"
    )]
    DoubleUnderscore(String),
    #[error("`{0}` has an empty part between dots")]
    EmptySegment(String),
    #[error("`{0}` does not end in `@` and a major version")]
    Major(String),
    #[error(
        "`{0}` is not a prompt's name; write `domain/name`, or `domain/name@N` for a certain version"
    )]
    Prompt(String),
}

/// A tool's canonical id: `{server}:{tool}` for a tool of a server, dotted for a tool of the strip itself.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolId(Arc<str>);

impl ToolId {
    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The whole id, shared without a copy.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// The server's name, for a tool of a server.
    pub fn server(&self) -> Option<&str> {
        self.0.split_once(':').map(|(server, _)| server)
    }

    /// The tool's own name, without its server.
    pub fn name(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(_, name)| name)
    }
}

fn check_dotted(id: &str, part: &str) -> Result<(), InvalidId> {
    let character =
        part.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
    if let Some(character) = character {
        return Err(InvalidId::Character {
            id: id.to_owned(),
            character,
            allowed: "A-Z, a-z, 0-9, `_`, `-` and `.` are allowed",
        });
    }
    if part.split('.').any(str::is_empty) {
        return Err(InvalidId::EmptySegment(id.to_owned()));
    }
    Ok(())
}

fn check_length(part: &str) -> Result<(), InvalidId> {
    match part.len() {
        0 => Err(InvalidId::Empty),
        length if length > MAX_PART => Err(InvalidId::TooLong(part.chars().take(32).collect())),
        _ => Ok(()),
    }
}

impl FromStr for ToolId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((server, tool)) => {
                check_length(server)?;
                check_length(tool)?;
                check_dotted(text, server)?;
                if server.contains("__") {
                    return Err(InvalidId::DoubleUnderscore(server.to_owned()));
                }
                // Servers choose their tools' names; only characters that would break a reference are refused.
                if let Some(character) = tool.chars().find(|c| !c.is_ascii_graphic() || *c == '@') {
                    return Err(InvalidId::Character {
                        id: text.to_owned(),
                        character,
                        allowed: "printable ASCII without spaces and `@` is allowed",
                    });
                }
            }
            None => {
                check_length(text)?;
                check_dotted(text, text)?;
            }
        }
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for ToolId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ToolId> for String {
    fn from(id: ToolId) -> Self {
        (*id.0).to_owned()
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// A reference to a tool: an id, and a major version if it pins one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolRef {
    pub id: ToolId,
    pub major: Option<u64>,
}

/// Short names of early versions, which keep resolving.
const SHORT_URIS: [(&str, &str); 5] = [
    ("web.search", "web.search.query"),
    ("docs.load", "docs.load.fetch"),
    ("vector.query", "vector.query.search"),
    ("citations.audit", "citations.audit.check"),
    ("exports.render", "exports.render.markdown"),
];

impl FromStr for ToolRef {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (uri, text) = match text.strip_prefix("mcp.tool:") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (name, major) = match text.rsplit_once('@') {
            Some((name, major)) => {
                (name, Some(major.parse().map_err(|_| InvalidId::Major(text.to_owned()))?))
            }
            None => (text, None),
        };
        let name = SHORT_URIS
            .iter()
            .find(|(short, _)| uri && *short == name)
            .map_or(name, |(_, full)| full);
        Ok(Self { id: name.parse()?, major })
    }
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.major {
            Some(major) => write!(f, "{}@{major}", self.id),
            None => fmt::Display::fmt(&self.id, f),
        }
    }
}

impl From<ToolId> for ToolRef {
    fn from(id: ToolId) -> Self {
        Self { id, major: None }
    }
}

/// A prompt as callers name it: `mcp.prompt:<domain>/<name>@<major>`, the scheme and the major optional.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PromptRef {
    pub domain: String,
    pub name: String,
    pub major: Option<u64>,
}

impl FromStr for PromptRef {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || InvalidId::Prompt(text.chars().take(200).collect());
        let rest = text.strip_prefix("mcp.prompt:").unwrap_or(text);
        let (path, major) = match rest.rsplit_once('@') {
            Some((path, major)) => (path, Some(major.parse().map_err(|_| malformed())?)),
            None => (rest, None),
        };
        let (domain, name) = path.split_once('/').ok_or_else(malformed)?;
        for part in [domain, name] {
            check_length(part)?;
            check_dotted(text, part)?;
        }
        Ok(Self { domain: domain.to_owned(), name: name.to_owned(), major })
    }
}

impl fmt::Display for PromptRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.domain, self.name)?;
        self.major.map_or(Ok(()), |major| write!(f, "@{major}"))
    }
}

/// The id that links a call's answer, log lines and audit row: a UUID v4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TraceId(Uuid);

impl TraceId {
    /// A new random trace id.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// The id's sixteen bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests;
