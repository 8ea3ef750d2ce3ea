//! Host patterns as people write them in `egress.allow` and `caps.network`.

use std::net::Ipv6Addr;

use url::Host;

/// Why an entry of `egress.allow` or `caps.network` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}`: {why}")]
pub struct PatternError {
    /// The entry as written.
    pub entry: String,
    /// The reason why it is invalid.
    pub why: &'static str,
}

impl PatternError {
    pub(super) fn new(entry: &str, why: &'static str) -> Self {
        Self { entry: entry.to_owned(), why }
    }
}

/// One host, or every name below one, optionally on one port only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPattern {
    pub(super) host: Names,
    pub(super) port: Option<u16>,
}

/// The host part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Exactly(Host<String>),
    /// `*.example.com`: every name below, the name itself not.
    Below(String),
}

impl HostPattern {
    pub(super) fn parse(entry: &str) -> Result<Self, PatternError> {
        if let Ok(ip) = entry.parse::<Ipv6Addr>() {
            return Ok(Self { host: Names::Exactly(Host::Ipv6(ip)), port: None });
        }
        // In `[::1]` the last colon is part of the address.
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) if !entry.ends_with(']') => (host, Some(parse_port(entry, port)?)),
            _ => (entry, None),
        };
        let (below, name) = match host.strip_prefix("*.") {
            Some(parent) => (true, parent),
            None => (false, host),
        };
        if name.contains('*') {
            return Err(PatternError::new(
                entry,
                "a wildcard is allowed only in front, as in `*.example.com`",
            ));
        }
        let host = match (below, parse_host(entry, name)?) {
            (false, host) => Names::Exactly(host),
            (true, Host::Domain(parent)) => Names::Below(parent),
            (true, _) => {
                return Err(PatternError::new(entry, "a wildcard needs a name, not an address"));
            }
        };
        Ok(Self { host, port })
    }

    pub(super) fn matches(&self, host: &Host<String>, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
            && match (&self.host, host) {
                (Names::Exactly(own), other) => own == other,
                (Names::Below(parent), Host::Domain(name)) => name
                    .strip_suffix(parent.as_str())
                    .is_some_and(|front| front.len() > 1 && front.ends_with('.')),
                (Names::Below(_), _) => false,
            }
    }
}

fn parse_port(entry: &str, port: &str) -> Result<u16, PatternError> {
    // `u16::from_str` takes a leading `+`; a URL does not.
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse() {
        Ok(port) if digits && port != 0 => Ok(port),
        _ => Err(PatternError::new(entry, "the port is not a number from 1 to 65535")),
    }
}

fn parse_host(entry: &str, host: &str) -> Result<Host<String>, PatternError> {
    let host =
        Host::parse(host).map_err(|_| PatternError::new(entry, "not a host name or address"))?;
    normal(host).ok_or_else(|| PatternError::new(entry, "not a host name or address"))
}

/// Removes the root dot of a name, so that `example.com.` and `example.com` are one host;
/// `None` for names that no server can have.
pub(super) fn normal(host: Host<String>) -> Option<Host<String>> {
    let Host::Domain(name) = host else { return Some(host) };
    let name = name.strip_suffix('.').unwrap_or(&name);
    let fits = name.len() <= 253 && name.split('.').all(|label| (1..=63).contains(&label.len()));
    fits.then(|| Host::Domain(name.to_owned()))
}

#[cfg(test)]
mod tests;
