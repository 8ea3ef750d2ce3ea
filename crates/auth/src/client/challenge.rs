//! `WWW-Authenticate`, as servers really write it: several challenges in one header or in several, quoted or not.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, StatusCode};

/// More than this is no challenge.
const MAX_BYTES: usize = 16 * 1024;

/// What a server wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bearer {
    /// Where its metadata is.
    pub resource_metadata: Option<String>,
    /// Scopes that would do.
    pub scopes: Vec<String>,
    /// `invalid_token`, `insufficient_scope` and the like.
    pub error: Option<String>,
}

impl Bearer {
    /// The challenge of a refusal that a token could turn; none if the refusal is about something else.
    pub fn of(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
            return None;
        }
        let offered = headers.get_all(WWW_AUTHENTICATE).iter();
        let bearers: Vec<Self> = offered
            .flat_map(|value| parse(value.as_bytes()))
            .filter(|challenge| challenge.scheme.eq_ignore_ascii_case("bearer"))
            .map(Self::from)
            .collect();
        // One that says where to go is worth more than one that does not.
        let best = bearers
            .iter()
            .find(|bearer| bearer.resource_metadata.is_some())
            .or(bearers.first())
            .cloned();
        if status == StatusCode::FORBIDDEN {
            return best.filter(Self::wants_more);
        }
        // Some servers say 401 and nothing else.
        Some(best.unwrap_or_default())
    }

    /// Whether a token was understood but does not reach far enough.
    pub fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl From<Challenge> for Bearer {
    fn from(challenge: Challenge) -> Self {
        let mut bearer = Self::default();
        for (name, value) in challenge.parameters {
            match &*name {
                "resource_metadata" if bearer.resource_metadata.is_none() => {
                    bearer.resource_metadata = Some(value);
                }
                "scope" if bearer.scopes.is_empty() => bearer.scopes = scopes(&value),
                "error" if bearer.error.is_none() => bearer.error = Some(value),
                _ => {}
            }
        }
        bearer
    }
}

/// The scopes of a list, without what no scope can hold.
pub(super) fn scopes(text: &str) -> Vec<String> {
    let sound = |scope: &&str| {
        scope.len() <= 256
            && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
    };
    text.split_ascii_whitespace().filter(sound).take(64).map(str::to_owned).collect()
}

/// All challenges of one header. Whatever comes in, something comes out: what makes no sense is passed over.
fn parse(header: &[u8]) -> Vec<Challenge> {
    let mut rest = Cursor(&header[..header.len().min(MAX_BYTES)]);
    let mut found: Vec<Challenge> = Vec::new();
    loop {
        rest.skip(|byte| is_space(byte) || byte == b',');
        let word = rest.take(is_token);
        if word.is_empty() {
            if rest.0.is_empty() {
                return found;
            }
            rest.0 = &rest.0[1..];
            continue;
        }
        let after = rest.0;
        rest.skip(is_space);
        if rest.0.first() != Some(&b'=') {
            rest.0 = after;
            found.push(Challenge { scheme: text(word), parameters: Vec::new() });
            continue;
        }
        rest.0 = &rest.0[1..];
        rest.skip(is_space);
        let value = match rest.0.first() {
            Some(b'"') => rest.quoted(),
            _ => text(rest.take(|byte| !is_space(byte) && byte != b',')),
        };
        // A parameter before any scheme is nobody's.
        if let Some(challenge) = found.last_mut() {
            challenge.parameters.push((text(word).to_ascii_lowercase(), value));
        }
    }
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, of: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !of(*byte)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    fn skip(&mut self, of: impl Fn(u8) -> bool) {
        self.take(of);
    }

    /// A quoted text; one that never ends ends with the header.
    fn quoted(&mut self) -> String {
        let mut value = Vec::new();
        let mut escaped = false;
        for (at, byte) in self.0.iter().copied().enumerate().skip(1) {
            match byte {
                _ if escaped => {
                    value.push(byte);
                    escaped = false;
                }
                b'\\' => escaped = true,
                b'"' => {
                    self.0 = &self.0[at + 1..];
                    return text(&value);
                }
                _ => value.push(byte),
            }
        }
        self.0 = &[];
        text(&value)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
