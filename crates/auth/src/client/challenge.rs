//! `WWW-Authenticate` as servers write it in practice: several challenges in one header or several, quoted or not.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, StatusCode};

/// Longer headers are cut.
const MAX_BYTES: usize = 16 * 1024;

/// A `Bearer` challenge of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BearerChallenge {
    /// The URL of the server's metadata.
    pub resource_metadata: Option<String>,
    /// Scopes that would be sufficient.
    pub scopes: Vec<String>,
    /// `invalid_token`, `insufficient_scope` and the like.
    pub error: Option<String>,
    /// Whether the token must be bound to a key (DPoP, RFC 9449).
    pub wants_proof: bool,
}

impl BearerChallenge {
    /// The challenge of a response that a token could change; `None` for any other response.
    pub fn from_response(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
            return None;
        }
        let offered = headers.get_all(WWW_AUTHENTICATE).iter();
        let offered: Vec<Challenge> = offered.flat_map(|value| parse(value.as_bytes())).collect();
        let best = pick(&offered, "bearer").or_else(|| {
            pick(&offered, "dpop").map(|challenge| Self { wants_proof: true, ..challenge })
        });
        if status == StatusCode::FORBIDDEN {
            return best.filter(Self::lacks_scopes);
        }
        // Some servers answer 401 without a challenge.
        Some(best.unwrap_or_default())
    }

    /// Whether the token is valid and its proof lacks the server's nonce.
    pub(super) fn lacks_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce")
    }

    /// Whether the token is valid and lacks scopes.
    pub fn lacks_scopes(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// The best challenge of a scheme: one that names its metadata.
fn pick(offered: &[Challenge], scheme: &str) -> Option<BearerChallenge> {
    let own = offered.iter().filter(|challenge| challenge.scheme.eq_ignore_ascii_case(scheme));
    let own: Vec<BearerChallenge> = own.cloned().map(BearerChallenge::from).collect();
    let named = own.iter().find(|challenge| challenge.resource_metadata.is_some());
    named.or(own.first()).cloned()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

impl From<Challenge> for BearerChallenge {
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

/// The scopes of a list; malformed ones are dropped.
pub(super) fn scopes(text: &str) -> Vec<String> {
    let sound = |scope: &&str| {
        scope.len() <= 256
            && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
    };
    text.split_ascii_whitespace().filter(sound).take(64).map(str::to_owned).collect()
}

/// All challenges of one header; malformed parts are skipped.
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
        // A parameter before any scheme is dropped.
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

    /// A quoted string; an unterminated one ends with the header.
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
