//! Typed errors of a fetch. No message contains a path, a query or a header: those may hold secrets.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::address::Class;

/// The most header bytes that a connection reads before it gives up.
pub(crate) const HEADER_CEILING: u32 = 64 * 1024;

/// Why a fetch gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The guard refused; nothing was sent to the refused host.
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    /// The name has no address, or the name server did not answer.
    #[error("the name cannot be resolved")]
    Resolve {
        /// The requested name. No message contains it: callers do not learn where servers are.
        host: String,
    },
    /// No checked address accepted a connection.
    #[error("cannot connect to {host}: {why}")]
    Connect {
        /// The host of the URL.
        host: String,
        /// What the operating system said.
        why: String,
    },
    /// The server's certificate or handshake was not acceptable.
    #[error("no secure connection to {host}: {why}")]
    Tls {
        /// The host of the URL.
        host: String,
        /// What the TLS library said.
        why: String,
    },
    /// Time ran out.
    #[error("timed out after {} ms {phase}", after.as_millis())]
    Timeout {
        /// Which allowance was used up.
        phase: Phase,
        /// The allowance.
        after: Duration,
    },
    /// The answer is larger than the caller allows.
    #[error("{part} exceeds {limit} bytes")]
    TooLarge {
        /// The part that was too large.
        part: Part,
        /// The limit in bytes.
        limit: u64,
    },
    /// The other side broke the HTTP protocol or the connection.
    #[error("broken exchange: {why}")]
    Protocol {
        /// The violation, in words.
        why: String,
    },
    /// A server took the request and answered with a redirect; what happened on the way there.
    #[error("the request was taken and led elsewhere: {0}")]
    Redirected(Box<FetchError>),
}

/// Which time allowance ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Resolving, dialling and the TLS handshake.
    Connect,
    /// The whole exchange, redirects and body included.
    Total,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "while connecting",
            Self::Total => "overall",
        })
    }
}

/// Which part of an answer was too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The response headers.
    Headers,
    /// The response body, on the wire or unpacked.
    Body,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Headers => "response headers",
            Self::Body => "response body",
        })
    }
}

/// Why the guard refused a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The text is no absolute URL.
    #[error("not a usable URL: {0}")]
    Url(String),
    /// Only `http` and `https` are allowed.
    #[error("scheme `{0}` is not allowed, only http and https")]
    Scheme(String),
    /// The URL contains a user name or password.
    #[error("the URL carries a user name or password")]
    Userinfo,
    /// `CONNECT` would make a tunnel whose content is not checked.
    #[error("method {0} is not allowed")]
    Method(String),
    /// The client itself writes this header.
    #[error("header `{0}` is written by the gateway")]
    Header(String),
    /// The request is outside what the tool declared.
    #[error("{scheme}://{host}:{port} is outside the tool's declared network")]
    Scope {
        /// `http` or `https`.
        scheme: String,
        /// The host of the URL.
        host: String,
        /// The port, default ports written out.
        port: u16,
    },
    /// The host is, or resolves to, an address that is not on the public internet.
    #[error("{host} is {}{class}; name it in egress.allow if tools may reach it", resolved(host, *address))]
    Address {
        /// The host of the URL.
        host: String,
        /// The offending address.
        address: IpAddr,
        /// The network it belongs to.
        class: Class,
    },
    /// The address is one of our own listeners.
    #[error("{address} is a listener of this gateway")]
    OwnListener {
        /// The listener that would have been called.
        address: SocketAddr,
    },
    /// The connection ended up at another address than the checked one.
    #[error("dialled {dialled} but reached {reached}")]
    Peer {
        /// The checked address.
        dialled: SocketAddr,
        /// Where the connection ended.
        reached: SocketAddr,
    },
    /// One redirect more than allowed.
    #[error("more than {limit} redirects")]
    Redirects {
        /// How many were followed.
        limit: u8,
    },
}

/// Where a host name leads to; nothing for an address.
fn resolved(host: &str, address: IpAddr) -> String {
    let written = host.trim_start_matches('[').trim_end_matches(']');
    match written.parse::<IpAddr>() {
        Ok(same) if address == same => String::new(),
        _ => format!("at {address}, "),
    }
}

/// Finds our own error among the causes of hyper's, or describes hyper's.
pub(super) fn cause(error: &(dyn Error + 'static)) -> FetchError {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    let mut last = String::new();
    while let Some(error) = next {
        if let Some(own) = error.downcast_ref::<FetchError>() {
            return own.clone();
        }
        if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse_too_large) {
            return FetchError::TooLarge { part: Part::Headers, limit: u64::from(HEADER_CEILING) };
        }
        last = error.to_string();
        next = error.source();
    }
    FetchError::Protocol { why: last }
}
