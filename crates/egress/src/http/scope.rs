//! What one tool declared in `caps.network`, and so what its requests may touch.

use serde::Deserialize;

use super::error::Refusal;
use super::host::{HostPattern, Names, PatternError};
use super::target::Target;

/// The schemes and hosts that one request and its redirects may touch; the default is nothing.
///
/// A list with schemes only opens these schemes to every host; with hosts only, these hosts over both
/// schemes; with both, these hosts over these schemes. `https://host` is a host over that scheme alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct Scope {
    schemes: Vec<&'static str>,
    hosts: Vec<HostRule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct HostRule {
    scheme: Option<&'static str>,
    host: HostPattern,
}

impl Scope {
    /// Nothing at all.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Both schemes and every host: for the gateway's own fetches.
    pub fn everything() -> Self {
        Self { schemes: vec!["http", "https"], hosts: Vec::new() }
    }

    /// The origins of these URLs alone: for requests to a server, whose redirects have to stay with it.
    pub fn origins<'a>(urls: impl IntoIterator<Item = &'a str>) -> Self {
        let targets = urls.into_iter().filter_map(|url| Target::parse(url).ok());
        let hosts = targets.map(|target| HostRule {
            scheme: scheme(target.url().scheme()),
            host: HostPattern {
                host: Names::Exactly(target.host().clone()),
                port: Some(target.port()),
            },
        });
        Self { schemes: Vec::new(), hosts: hosts.collect() }
    }

    /// Reads the entries of `caps.network`.
    pub fn parse<E: AsRef<str>>(
        entries: impl IntoIterator<Item = E>,
    ) -> Result<Self, PatternError> {
        let mut scope = Self::default();
        for entry in entries {
            let entry = entry.as_ref();
            match scheme(entry) {
                Some(scheme) => scope.schemes.push(scheme),
                None => scope.hosts.push(HostRule::parse(entry)?),
            }
        }
        Ok(scope)
    }

    /// Refuses a target outside the scope.
    pub fn check(&self, target: &Target) -> Result<(), Refusal> {
        let asked = target.url().scheme();
        let nothing = self.schemes.is_empty() && self.hosts.is_empty();
        let by_scheme = self.schemes.is_empty() || self.schemes.contains(&asked);
        let by_host =
            self.hosts.is_empty() || self.hosts.iter().any(|place| place.holds(target, by_scheme));
        // A place with a scheme of its own needs no entry for that scheme.
        if !nothing && by_host && (by_scheme || !self.hosts.is_empty()) {
            return Ok(());
        }
        Err(Refusal::Scope {
            scheme: asked.to_owned(),
            host: target.host().to_string(),
            port: target.port(),
        })
    }
}

impl HostRule {
    fn parse(entry: &str) -> Result<Self, PatternError> {
        let (scheme, host) = match entry.split_once("://") {
            None => (None, entry),
            Some((front, host)) => match scheme(front) {
                Some(scheme) => (Some(scheme), host),
                None => return Err(PatternError::new(entry, "only http and https can be reached")),
            },
        };
        Ok(Self { scheme, host: HostPattern::parse(host)? })
    }

    fn holds(&self, target: &Target, scheme_listed: bool) -> bool {
        let by_scheme = match self.scheme {
            Some(own) => own == target.url().scheme(),
            None => scheme_listed,
        };
        by_scheme && self.host.matches(target.host(), target.port())
    }
}

fn scheme(entry: &str) -> Option<&'static str> {
    match entry {
        "http" => Some("http"),
        "https" => Some("https"),
        _ => None,
    }
}

impl TryFrom<Vec<String>> for Scope {
    type Error = PatternError;

    fn try_from(entries: Vec<String>) -> Result<Self, PatternError> {
        Self::parse(entries)
    }
}

#[cfg(test)]
mod tests;
