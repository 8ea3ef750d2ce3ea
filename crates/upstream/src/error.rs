//! Why a server gave no answer, and the failure that its caller receives: the one mapping of this crate.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use egress::http::{FetchError, Phase};
use http::StatusCode;
use proto::{Blame, Code, Failure, canonical, clean};
use serde_json::json;
use tokio::time::Instant;

use crate::rpc::{Answer, RpcError};

/// The longest text of a server that a caller is shown.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// The largest `data` of a server's error that is forwarded.
const MAX_DATA_BYTES: usize = 8_192;

/// When a caller may try again after every session or process was busy.
const BUSY_RETRY: Duration = Duration::from_secs(1);

/// A wait that an operator may want to shorten.
const LONG_WAIT: Duration = Duration::from_secs(5);

/// The outcome of a request.
pub(crate) type AskResult = Result<Answer, TransportError>;

/// Why there is no answer. The texts are for logs and `powerstrip servers`: they may name hosts, which callers do not
/// learn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum TransportError {
    /// It is known to be down, so nothing was sent.
    #[error("{why}")]
    Down { why: Arc<str>, until: Option<Instant> },
    /// No connection could be made: the server has not seen the request.
    #[error("{0}")]
    Unreachable(Arc<str>),
    /// The connection ended before the answer; the server may have seen the request.
    #[error("{0}")]
    Lost(Arc<str>),
    /// The server took the request and answered with a redirect, behind which this happened.
    #[error("{0}")]
    Redirected(Box<TransportError>),
    /// The server took the request, and does not tell what became of it.
    #[error("{0}")]
    Untold(Arc<str>),
    /// The server runs the request as a task, which asks what its caller cannot answer.
    #[error("its task asks something that the caller cannot answer")]
    Unanswerable,
    /// No answer came in time.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The egress policy refused the address.
    #[error("{0}")]
    Forbidden(Arc<str>),
    /// It did not accept the credentials.
    #[error("HTTP {0}: it wants other credentials")]
    Unauthorized(u16),
    /// A person has to log in, with this link.
    #[error("a person has to log in: `powerstrip login` gives them a link")]
    Login(Option<Arc<str>>),
    /// The caller has not stored their own values of these secrets.
    #[error("the caller has no value of the secret {0}")]
    NeedsOwnSecret(Arc<str>),
    /// Secrets of the caller cannot be used.
    #[error("{0}")]
    SecretsUnreadable(Arc<str>),
    /// It requires a token that could not be obtained.
    #[error("{why}")]
    NoToken { why: Arc<str>, transient: bool },
    /// An HTTP status without a JSON-RPC answer.
    #[error("HTTP {status}")]
    Status { status: u16, retry_after: Option<Duration> },
    /// The URL does not lead to an MCP server, whichever transport is tried.
    #[error(
        "HTTP {0}: no MCP server answers at this URL, neither over streamable HTTP nor over HTTP+SSE"
    )]
    NoServer(u16),
    /// The answer violates the protocol.
    #[error("{0}")]
    Malformed(Arc<str>),
    #[error("the answer has more than {0} bytes")]
    TooLarge(u64),
    /// The request was not sent, because no session or process could be used for it.
    #[error("{0}")]
    NotSent(Box<TransportError>),
    /// The session of the request has expired; the request was not processed.
    #[error("the session has expired")]
    Expired,
    /// The server does not speak the assumed era; the request was not processed.
    #[error("it shares no protocol version with the gateway: {0}")]
    WrongEra(Arc<str>),
    /// All sessions or processes that callers may have of this server are busy.
    #[error("all {0} sessions or processes of callers are busy")]
    AllBusy(usize),
    /// The caller already uses as many sessions or processes of this server as one caller may have.
    #[error("one caller keeps {0} sessions or processes busy")]
    CallerLimit(usize),
}

impl TransportError {
    pub(crate) fn lost(why: impl Into<Arc<str>>) -> Self {
        Self::Lost(why.into())
    }

    pub(crate) fn malformed(why: impl Into<Arc<str>>) -> Self {
        Self::Malformed(why.into())
    }

    /// A status that does not tell what a server did before it redirected the request.
    pub(crate) fn after_redirect(status: StatusCode) -> Self {
        Self::Untold(format!("HTTP {} after a redirect", status.as_u16()).into())
    }

    /// The error of a request that was not sent because of this error.
    pub(crate) fn not_sent(self) -> Self {
        if self.leaves_effect_unknown() { Self::NotSent(Box::new(self)) } else { self }
    }

    /// The error of a request that was sent before something else that it needs failed.
    pub(crate) fn after_sending(self) -> Self {
        if self.leaves_effect_unknown() { self } else { Self::lost(self.to_string()) }
    }

    /// Whether the server may have done what it was asked.
    fn leaves_effect_unknown(&self) -> bool {
        match self {
            Self::Lost(_)
            | Self::Redirected(_)
            | Self::Untold(_)
            | Self::Unanswerable
            | Self::TimedOut(_)
            | Self::Malformed(_)
            | Self::TooLarge(_) => true,
            Self::Status { status, .. } => Code::http_leaves_effect_unknown(*status),
            _ => false,
        }
    }

    /// Whether the connection ended, which another one may not.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Lost(_) => true,
            Self::NotSent(error) => error.is_lost(),
            _ => false,
        }
    }

    /// Whether the server never saw the request, so that another replica can be asked even if it must not run twice.
    pub(crate) fn was_never_seen(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Down { .. } | Self::NotSent(_) => true,
            Self::Status { status, .. } => *status == 503,
            _ => false,
        }
    }

    /// Whether there is no answer at all, so that a repeatable call can be sent to another replica.
    pub(crate) fn before_answer(&self) -> bool {
        self.is_unhealthy() || self.was_never_seen()
    }

    /// Whether it counts against the server's health. A refusal or a malformed answer is still an answer.
    pub(crate) fn is_unhealthy(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Lost(_) | Self::TimedOut(_) => true,
            Self::Status { status, .. } => matches!(status, 502..=504),
            Self::NotSent(error) | Self::Redirected(error) => error.is_unhealthy(),
            _ => false,
        }
    }

    /// The failure for the caller: it names the server and what to do, never hosts or programs.
    pub(crate) fn failure(self, server: &str) -> Failure {
        let failure = self.describe(server);
        let unknown = self.leaves_effect_unknown();
        let failure = if unknown { failure.with_unknown_effect() } else { failure };
        failure.caused_by(self)
    }

    fn describe(&self, server: &str) -> Failure {
        match self {
            Self::NotSent(error) | Self::Redirected(error) => error.describe(server),
            Self::Down { why, until } => {
                let wait = until.map(|until| until.saturating_duration_since(Instant::now()));
                down(server, &said(why), wait)
            }
            Self::Unreachable(why) => {
                unavailable(format!("server `{server}` cannot be reached{}", said(why)))
            }
            Self::Lost(why) => unavailable(format!(
                "the connection to server `{server}` ended before its answer{}",
                said(why)
            )),
            Self::Untold(why) => unavailable(format!(
                "server `{server}` took the call and does not tell what became of it{}",
                said(why)
            )),
            Self::Unanswerable => Failure::new(
                Code::Unsupported,
                format!(
                    "the task of server `{server}` asks something that the caller cannot answer; it is cancelled"
                ),
            )
            .blame(Blame::Tool),
            Self::TimedOut(after) => Failure::new(
                Code::Timeout,
                format!("server `{server}` did not answer within {} ms", after.as_millis()),
            ),
            Self::Forbidden(_) => unavailable(format!(
                "server `{server}` leads to an address that the gateway must not reach"
            ))
            .retryable(false),
            Self::Unauthorized(_) => {
                unavailable(format!("server `{server}` does not accept the gateway's credentials"))
                    .blame(Blame::Gateway)
                    .retryable(false)
            }
            Self::Login(link) => {
                let (how, login) = match link {
                    Some(link) => (format!("open {link} in a browser, and call again"), Some(link)),
                    None => (format!("`powerstrip login {server}` says how"), None),
                };
                let message = format!("server `{server}` wants a person to log in: {how}");
                Failure::new(Code::Denied, message)
                    .details(json!({"server": server, "login": login}))
            }
            Self::NeedsOwnSecret(names) => {
                let names: Vec<_> = names.split(' ').collect();
                let (what, first) = (names.join("`, `"), names.first().unwrap_or(&""));
                let message = format!(
                    "server `{server}` needs your own value of the secret `{what}`: store it with \
                     `powerstrip secret set --mine {first}` or on the page My secrets of the dashboard \
                     (/dashboard/secrets), and call again"
                );
                Failure::new(Code::Denied, message)
                    .details(json!({"server": server, "secrets": names}))
            }
            Self::SecretsUnreadable(_) => unavailable(format!(
                "your secrets for server `{server}` cannot be used; store them again with `powerstrip secret set --mine`"
            ))
            .blame(Blame::Gateway)
            .retryable(false),
            Self::NoToken { transient, .. } => {
                unavailable(format!("the gateway has no token for server `{server}`"))
                    .blame(Blame::Gateway)
                    .retryable(*transient)
            }
            Self::Status { status: 429, retry_after } => {
                let failure = Failure::new(
                    Code::RateLimit,
                    format!("server `{server}` takes no more calls for now"),
                )
                .blame(Blame::Tool);
                retry_after.map_or(failure.clone(), |wait| failure.retry_after(wait))
            }
            Self::Status { status: status @ 502..=504, .. } => {
                unavailable(format!("server `{server}` is not available (HTTP {status})"))
            }
            Self::Status { status: status @ 400..=499, .. } => {
                unavailable(format!("server `{server}` refuses the gateway with HTTP {status}"))
                    .retryable(false)
            }
            Self::Status { status, .. } => {
                internal(format!("server `{server}` answered with HTTP {status}"))
            }
            Self::NoServer(status) => unavailable(format!(
                "no MCP server answers at the URL of server `{server}` (HTTP {status}): check `servers.{server}.url`"
            ))
            .retryable(false),
            Self::Malformed(why) => {
                internal(format!("server `{server}` gave an answer that is not MCP{}", said(why)))
            }
            Self::TooLarge(limit) => {
                internal(format!("server `{server}` gave an answer of more than {limit} bytes"))
                    .details(json!({"server": server, "limit": limit}))
            }
            Self::Expired => {
                unavailable(format!("server `{server}` keeps closing the gateway's session"))
            }
            Self::WrongEra(_) => {
                unavailable(format!("server `{server}` and the gateway share no protocol version"))
            }
            Self::AllBusy(_) => unavailable(format!(
                "server `{server}` is busy for other callers; try again when one of them is done"
            ))
            .retry_after(BUSY_RETRY),
            Self::CallerLimit(limit) => Failure::new(
                Code::Unavailable,
                format!(
                    "this caller keeps {limit} sessions or processes of server `{server}` busy, \
                     which is the share of one caller; wait until one of its calls has ended"
                ),
            )
            .blame(Blame::Caller)
            .retry_after(BUSY_RETRY),
        }
    }
}

/// The reason behind a colon, without hosts, addresses and paths; nothing if there is none.
fn said(why: &str) -> String {
    match without_places(why) {
        why if why.is_empty() => why,
        why => format!(": {why}"),
    }
}

/// The failure of a call to a server that is down, and is tried again after `wait`.
pub(crate) fn down(server: &str, because: &str, wait: Option<Duration>) -> Failure {
    let when = match wait {
        Some(wait) if wait >= LONG_WAIT => format!(
            "it is tried again in {:.0} s, or at once with `powerstrip servers restart {server}`",
            wait.as_secs_f64()
        ),
        Some(wait) if wait.as_millis() >= 100 => {
            format!("it is tried again in {:.1} s", wait.as_secs_f64())
        }
        _ => "it is being tried again".to_owned(),
    };
    let failure = unavailable(format!("server `{server}` is down{because}; {when}"));
    wait.map_or(failure.clone(), |wait| failure.retry_after(wait))
}

pub(crate) fn unavailable(message: String) -> Failure {
    Failure::new(Code::Unavailable, message).blame(Blame::Tool)
}

fn internal(message: String) -> Failure {
    Failure::new(Code::Internal, message)
}

impl From<FetchError> for TransportError {
    fn from(error: FetchError) -> Self {
        let why: Arc<str> = error.to_string().into();
        match error {
            FetchError::Refused(_) => Self::Forbidden(why),
            FetchError::Resolve { .. } | FetchError::Connect { .. } | FetchError::Tls { .. } => {
                Self::Unreachable(why)
            }
            FetchError::Timeout { phase: Phase::Connect, .. } => Self::Unreachable(why),
            FetchError::Timeout { phase: Phase::Total, after } => Self::TimedOut(after),
            FetchError::TooLarge { limit, .. } => Self::TooLarge(limit),
            FetchError::Protocol { .. } => Self::Lost(why),
            FetchError::Redirected(error) => Self::Redirected(Box::new((*error).into())),
        }
    }
}

/// The failure for an error that the server answered with.
pub(crate) fn rpc_failure(server: &str, error: RpcError) -> Failure {
    let said = shown(&error.message);
    let failure = match error.code {
        -32602 => Failure::new(
            Code::InvalidInput,
            format!("server `{server}` does not accept the input: {said}"),
        ),
        -32002 => Failure::new(Code::NotFound, format!("server `{server}`: {said}")),
        -32601 => {
            Failure::new(Code::Unsupported, format!("server `{server}` cannot do that: {said}"))
                .blame(Blame::Tool)
        }
        -32021 => Failure::new(
            Code::Unsupported,
            format!("server `{server}` needs something that the caller does not offer: {said}"),
        ),
        -32001 => Failure::new(Code::Timeout, format!("server `{server}`: {said}")),
        _ => internal(format!("server `{server}` failed: {said}")),
    };
    let mut data = error.data.filter(|data| canonical::len(data) <= MAX_DATA_BYTES);
    if let Some(data) = &mut data {
        clean::json_in_place(data);
    }
    failure.details(json!({"server": server, "code": error.code, "data": data}))
}

/// An error in one line, with `…` for every URL, host, address and absolute path: callers do not learn where a server is.
pub(crate) fn without_places(error: &str) -> String {
    let line = clean::line(error);
    let mut shown = String::new();
    for word in line.split_whitespace() {
        if shown.len() > MAX_SHOWN_BYTES {
            shown.push_str(" …");
            break;
        }
        if !shown.is_empty() {
            shown.push(' ');
        }
        // An address of IPv6 begins with punctuation itself.
        let around = if word.contains(']') { "\"'`(),;:." } else { PUNCTUATION };
        let start = word.find(|c: char| !around.contains(c)).unwrap_or(word.len());
        let core = word[start..].trim_end_matches(|c: char| around.contains(c));
        if is_place(core) {
            let end = start + core.len();
            shown.extend([&word[..start], "…", &word[end..]]);
        } else {
            shown.push_str(word);
        }
    }
    shown
}

/// Characters that may surround a name.
const PUNCTUATION: &str = "\"'`()[]{}<>,;:.!?";

/// How much of an error a caller is shown.
const MAX_SHOWN_BYTES: usize = 400;

fn is_place(word: &str) -> bool {
    let host = word.rsplit_once(':').map_or(word, |(host, _)| host);
    let labels = || host.split('.');
    let is_name = host.contains('.')
        && labels().all(|label| !label.is_empty() && label.bytes().all(is_of_host))
        && labels().next_back().is_some_and(|last| last.bytes().any(|b| b.is_ascii_alphabetic()));
    word.contains("://")
        || (word.starts_with('/') && word.len() > 1)
        || word.contains(":\\")
        || host == "localhost"
        || host.parse::<IpAddr>().is_ok()
        || word.parse::<SocketAddr>().is_ok()
        || word.parse::<IpAddr>().is_ok()
        || is_name
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// A text of a server, without invisible characters, and shortened.
pub(crate) fn shown(text: &str) -> String {
    let (clean, _) = clean::text(text);
    match clean.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

#[cfg(test)]
mod tests;
