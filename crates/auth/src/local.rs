//! Without an identity provider the gateway serves the local user. Host and Origin are checked on every request, so that
//! web pages in the user's browser cannot reach it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use proto::{Principal, TenantId, Via};

use crate::fault::{TokenFault, Unreachable};
use crate::scope;

/// The tenant of the local user, and of keys that name no other.
pub const LOCAL_TENANT: &str = "local";

/// The subject of the local user.
pub const LOCAL_SUBJECT: &str = "local";

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "the Host header names `{0}`, which is not this server; a loopback address or `localhost` is expected"
    )]
    ForeignHost(String),
    #[error("requests from web pages of `{0}` are not accepted")]
    ForeignOrigin(String),
    #[error(
        "this gateway serves callers with a token or a key only; send it as `Authorization: Bearer …`"
    )]
    NoToken,
    #[error("the token is not accepted: {0}")]
    BadToken(TokenFault),
    #[error("too many wrong tokens came from your address; wait, or send a valid token")]
    TooManyWrong(Duration),
    #[error("the token does not cover this")]
    MissingScope,
    #[error(
        "only the operator decides here: send the admin token, a file in the data folder, as `Authorization: Bearer …`"
    )]
    NotOperator,
    #[error(
        "an agent can neither decide about calls nor answer questions to people, whatever its token covers"
    )]
    Agent,
    #[error(transparent)]
    Unreachable(Unreachable),
}

/// Access for the user who runs the gateway, from loopback only.
#[derive(Clone, Debug)]
pub struct LocalAccess {
    user: Arc<Principal>,
    /// The same user by HTTP.
    visitor: Arc<Principal>,
}

impl Default for LocalAccess {
    fn default() -> Self {
        let user = |via| {
            Arc::new(Principal {
                tenant: TenantId::new(LOCAL_TENANT),
                subject: LOCAL_SUBJECT.to_owned(),
                agent: None,
                scopes: scope::ALL.map(str::to_owned).to_vec(),
                via,
            })
        };
        Self { user: user(Via::Local), visitor: user(Via::Loopback) }
    }
}

impl LocalAccess {
    /// The local user, for doors that only a local process can reach (pipes, sockets in the data folder).
    pub fn user(&self) -> Arc<Principal> {
        Arc::clone(&self.user)
    }

    /// Admits a request as the local user if its Host and Origin are local.
    pub fn admit(
        &self,
        headers: &HeaderMap,
        uri_authority: Option<&Authority>,
    ) -> Result<Arc<Principal>, Refusal> {
        // HTTP/2 carries the host in the URI; if both are present, both must be local.
        for host in headers.get_all(HOST) {
            let host = String::from_utf8_lossy(host.as_bytes());
            if !is_loopback(&host) {
                return Err(Refusal::ForeignHost(host.into_owned()));
            }
        }
        match uri_authority {
            Some(authority) if !is_loopback(authority.as_str()) => {
                return Err(Refusal::ForeignHost(authority.to_string()));
            }
            None if !headers.contains_key(HOST) => {
                return Err(Refusal::ForeignHost(String::new()));
            }
            _ => {}
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = String::from_utf8_lossy(origin.as_bytes());
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !host.is_some_and(is_loopback) {
                return Err(Refusal::ForeignOrigin(origin.into_owned()));
            }
        }
        Ok(Arc::clone(&self.visitor))
    }
}

pub(crate) fn is_loopback(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else {
        return false;
    };
    if authority.as_str().contains('@') {
        return false;
    }
    let host = authority.host();
    let literal = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn admit(host: Option<&str>, origin: Option<&str>) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        if let Some(host) = host {
            headers.insert(HOST, HeaderValue::from_str(host).expect("a header value"));
        }
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).expect("a header value"));
        }
        LocalAccess::default().admit(&headers, None).map(drop)
    }

    #[test]
    fn loopback_is_admitted() {
        for host in ["127.0.0.1:7777", "localhost:7777", "LOCALHOST", "[::1]:7777", "127.0.0.2"] {
            assert_eq!(admit(Some(host), None), Ok(()), "{host}");
        }
        assert_eq!(admit(Some("localhost"), Some("http://localhost:6274")), Ok(()));
    }

    #[test]
    fn rebinding_hosts_are_refused() {
        for host in [
            "evil.com",
            "127.0.0.1.evil.com",
            "localhost.evil.com",
            "localhost@evil.com",
            "evil.com@localhost",
            "10.0.0.1",
            "",
        ] {
            assert!(matches!(admit(Some(host), None), Err(Refusal::ForeignHost(_))), "{host}");
        }
        assert!(admit(None, None).is_err());
    }

    #[test]
    fn foreign_origins_are_refused() {
        for origin in [
            "https://evil.com",
            "null",
            "file://",
            "http://localhost.evil.com",
            "http://localhost@evil.com",
        ] {
            assert!(
                matches!(admit(Some("localhost"), Some(origin)), Err(Refusal::ForeignOrigin(_))),
                "{origin}"
            );
        }
    }
}
