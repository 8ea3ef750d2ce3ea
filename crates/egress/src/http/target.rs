//! The URL guard: parses and checks a URL before a name is resolved.

use http::Uri;
use url::{Host, Position, Url};

use super::error::Refusal;
use super::host::normal;
use super::policy::AddressPolicy;
use super::scope::Scope;

/// A parsed http(s) URL without credentials or fragment, its host in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host<String>,
    port: u16,
    uri: Uri,
}

impl Target {
    /// Parses an absolute URL and refuses what can never be fetched.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let url = Url::parse(text).map_err(|e| Refusal::Url(e.to_string()))?;
        Self::from_url(url)
    }

    /// Parses a URL and checks all that can be known before a name is resolved.
    pub fn admit(text: &str, policy: &AddressPolicy, scope: &Scope) -> Result<Self, Refusal> {
        let target = Self::parse(text)?;
        target.check(policy, scope)?;
        Ok(target)
    }

    /// Where a `Location` header leads, checked like the first URL.
    pub(super) fn join(
        &self,
        location: &str,
        policy: &AddressPolicy,
        scope: &Scope,
    ) -> Result<Self, Refusal> {
        let url = self.url.join(location).map_err(|e| Refusal::Url(e.to_string()))?;
        let target = Self::from_url(url)?;
        target.check(policy, scope)?;
        Ok(target)
    }

    /// Checks all that can be known before a name is resolved.
    pub(crate) fn check(&self, policy: &AddressPolicy, scope: &Scope) -> Result<(), Refusal> {
        scope.check(self)?;
        policy.check_literal(self)
    }

    fn from_url(mut url: Url) -> Result<Self, Refusal> {
        let default_port = match url.scheme() {
            "http" => 80,
            "https" => 443,
            // Cut short, so that untrusted text cannot fill the logs.
            other => return Err(Refusal::Scheme(other.chars().take(32).collect())),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Userinfo);
        }
        // The `Host` enum and not its text: in `[::1]` the text hides an address behind brackets.
        let written = url.host().ok_or_else(|| Refusal::Url("no host".to_owned()))?.to_owned();
        let host =
            normal(written).ok_or_else(|| Refusal::Url("not a valid host name".to_owned()))?;
        url.set_host(Some(&host.to_string())).map_err(|e| Refusal::Url(e.to_string()))?;
        url.set_fragment(None);
        let port = url.port().unwrap_or(default_port);
        let uri = uri(&url, &host)?;
        Ok(Self { url, host, port, uri })
    }

    /// The URL in normal form.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host, as a name or an address.
    pub fn host(&self) -> &Host<String> {
        &self.host
    }

    /// The port, the scheme's default written out.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether both have the same scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.url.scheme() == other.url.scheme()
            && self.host == other.host
            && self.port == other.port
    }

    /// The request target for hyper.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }
}

/// Built from the checked parts, so that a second parser cannot find another host in the same text.
fn uri(url: &Url, host: &Host<String>) -> Result<Uri, Refusal> {
    let authority = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    };
    Uri::builder()
        .scheme(url.scheme())
        .authority(authority)
        .path_and_query(&url[Position::BeforePath..Position::AfterQuery])
        .build()
        .map_err(|e| Refusal::Url(e.to_string()))
}

#[cfg(test)]
mod tests;
