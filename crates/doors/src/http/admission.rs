//! Admission, which every request passes: finds its caller, gives it a trace id, and records its outcome.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use axum::RequestExt as _;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{CONNECTION, CONTENT_TYPE, ORIGIN, WWW_AUTHENTICATE};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_server::Peer;
use proto::{Code, Failure, Principal, TraceId};
use serde_json::json;
use strip::{Door, RefusedRequest};
use tracing::{Instrument as _, debug_span, field};

use super::pages::{Pages, is_own_origin, wants_page};
use super::routes::{Calls, Needs, Route};
use super::state::Shared;
use super::{mcp, reply, routes, scopes, unrouted};
use crate::validity::until_invalid;

/// Connects a response with its log lines and audit row; on REST it is also `meta.traceId`.
const X_TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

/// Admits a request of the router.
pub(super) async fn admit(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let pattern = matched.as_ref().map(MatchedPath::as_str);
    let target = Target::of(&shared, pattern, request.method());
    let peer = request.extensions().get::<Arc<Peer>>().cloned();
    serve_admitted(&shared, request, target, peer.as_deref(), |request| next.run(request)).await
}

/// Admits a request for the handler of this pattern.
pub(super) async fn admit_to<F: Future<Output = Response>>(
    shared: &Shared,
    pattern: &str,
    request: Request,
    peer: &Peer,
    serve: impl FnOnce(Request) -> F,
) -> Response {
    let target = Target::of(shared, Some(pattern), request.method());
    serve_admitted(shared, request, target, Some(peer), serve).await
}

async fn serve_admitted<F: Future<Output = Response>>(
    shared: &Shared,
    mut request: Request,
    target: Target,
    peer: Option<&Peer>,
    serve: impl FnOnce(Request) -> F,
) -> Response {
    let began = Instant::now();
    let trace = TraceId::random();
    let route = target.name();
    let span = debug_span!(
        "request",
        %trace,
        method = %request.method(),
        path = loggable(request.uri().path()),
        parent = field::Empty,
    );
    if let Some(parent) = traceparent(request.headers()) {
        span.record("parent", parent);
    }
    request.extensions_mut().insert(trace);

    let answer = pin!(async {
        match check(shared, &mut request, target, peer, trace).await {
            Ok(()) => serve(request).await,
            Err(refusal) => refusal.response(shared, &request, trace),
        }
    });
    // A panic ends only its own request.
    let answered = AssertUnwindSafe(answer.instrument(span.clone())).catch_unwind().await;
    let mut response = answered.unwrap_or_else(|_| {
        span.in_scope(|| tracing::error!(%trace, "a handler panicked"));
        let failure = Failure::new(Code::Internal, "the gateway failed on this request")
            .blame(proto::Blame::Gateway);
        reply::refuse_as_usual(&failure, trace)
    });

    if let Ok(value) = HeaderValue::from_str(&trace.to_string()) {
        response.headers_mut().insert(X_TRACE_ID, value);
    }
    let took = began.elapsed();
    shared.meter.count(route, response.status(), took);
    span.in_scope(|| tracing::debug!(status = response.status().as_u16(), ?took, "answered"));
    response
}

/// A path for logs and traces, without the secret of a signed link.
fn loggable(path: &str) -> &str {
    let link = routes::APPROVAL_LINK;
    let before = link.split('{').next().unwrap_or(link);
    if path.starts_with(before) { link } else { path }
}

/// The route that a request is for.
#[derive(Clone, Copy)]
enum Target {
    Route(Route),
    /// A route that is served but not listed in the table, so that nothing says who may use it.
    Unlisted,
    /// No route.
    Missing,
}

impl Target {
    fn of(shared: &Shared, pattern: Option<&str>, method: &Method) -> Self {
        match pattern.map(|pattern| unrouted::find(shared, pattern, method)) {
            Some(Some(route)) => Self::Route(route),
            Some(None) => Self::Unlisted,
            None => Self::Missing,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Route(route) => route.pattern,
            Self::Unlisted | Self::Missing => "none",
        }
    }
}

/// Why a request is refused before any handler sees it.
enum Refused {
    ByAccess(auth::Refusal, Option<&'static str>),
    /// The browser has no valid session.
    SignedOut(Arc<dyn Pages>),
    /// A form that was not sent by one of our pages.
    ForeignForm(Arc<dyn Pages>),
    Unlisted,
    /// The caller has too many connections.
    TooManyConnections(Failure),
    Draining,
}

impl Refused {
    fn response(&self, shared: &Shared, request: &Request, trace: TraceId) -> Response {
        match self {
            Self::ByAccess(refusal, scope) => {
                let path = request.uri().path();
                let response = scopes::refuse(&shared.access, path, refusal, *scope, trace);
                as_page(shared, request, response, &refusal.to_string())
            }
            Self::SignedOut(pages) => pages.signed_out(request.method(), request.uri()),
            Self::ForeignForm(pages) => pages.foreign_form(),
            Self::Unlisted => {
                let (method, uri, headers) = (request.method(), request.uri(), request.headers());
                unrouted::missing(shared, method, uri, headers, trace)
            }
            Self::TooManyConnections(failure) => {
                let mut response = reply::refuse_as_usual(failure, trace);
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                response
            }
            Self::Draining => {
                let failure = Failure::new(
                    Code::Unavailable,
                    "the gateway is shutting down and takes no new requests",
                )
                .retry_after(std::time::Duration::from_secs(1));
                let mut response = if routes::is_mcp(request.uri().path()) {
                    mcp::errors::refuse_with(StatusCode::SERVICE_UNAVAILABLE, &failure)
                } else {
                    reply::refuse_as_usual(&failure, trace)
                };
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                response
            }
        }
    }
}

/// A refusal as a page, if a browser asked; status and challenge stay the same.
fn as_page(shared: &Shared, request: &Request, refused: Response, message: &str) -> Response {
    let is_browser = wants_page(request.method(), request.headers());
    let Some(pages) = shared.options.pages.as_ref().filter(|_| is_browser) else { return refused };
    let mut page = pages.refusal(refused.status(), message);
    if let Some(challenge) = refused.headers().get(WWW_AUTHENTICATE) {
        page.headers_mut().insert(WWW_AUTHENTICATE, challenge.clone());
    }
    page
}

async fn check(
    shared: &Shared,
    request: &mut Request,
    target: Target,
    peer: Option<&Peer>,
    trace: TraceId,
) -> Result<(), Refused> {
    let (route, needs) = match target {
        Target::Route(route) => (route.pattern, Some(route.needs)),
        Target::Unlisted => return Err(Refused::Unlisted),
        Target::Missing => ("", None),
    };
    let (headers, authority) = (request.headers(), request.uri().authority());
    let access = &shared.access;
    // A request with a signed link has no caller: the handler checks what the link opens.
    let needs = match needs {
        Some(Needs::LinkOr(_)) if brings_link(request.uri()) => Some(Needs::OurName),
        Some(Needs::LinkOr(scope)) => Some(Needs::Scope(scope)),
        needs => needs,
    };
    let principal = match needs {
        // A probe may use any host name; it learns only that the process is alive.
        Some(Needs::Nothing) => return Ok(()),
        Some(Needs::OurName) => {
            access.admit_anyone(headers, authority).map_err(|why| Refused::ByAccess(why, None))?;
            None
        }
        Some(Needs::Session) => {
            access.admit_anyone(headers, authority).map_err(|why| Refused::ByAccess(why, None))?;
            let pages = shared.options.pages.as_ref().ok_or(Refused::Unlisted)?;
            let signed_out = || Refused::SignedOut(Arc::clone(pages));
            let session = pages.session(headers).await.ok_or_else(signed_out)?;
            if request.method() != Method::GET
                && request.method() != Method::HEAD
                && !is_own_origin(headers, access.origin())
            {
                return Err(Refused::ForeignForm(Arc::clone(pages)));
            }
            identify(shared, peer, &session.principal, trace).await?;
            request.extensions_mut().insert(session);
            None
        }
        Some(Needs::Scope(scope) | Needs::LinkOr(scope) | Needs::Call { scope, .. }) => {
            if let Some(origin) = foreign_page(shared, request) {
                let why = auth::Refusal::ForeignOrigin(origin);
                return Err(Refused::ByAccess(why, None));
            }
            let admin = shared.options.admin.as_deref();
            let refused = |why| Refused::ByAccess(why, Some(scope));
            shared.wrong_tokens.check(access, headers, peer).map_err(refused)?;
            let path = request.uri().path();
            let admitted = access.admit_with(path, scope, headers, authority, admin).await;
            if let Some(Needs::Call { calls, .. }) = needs
                && matches!(admitted, Err(auth::Refusal::MissingScope))
            {
                // Boxed to keep the common future small.
                Box::pin(record_missing_scope(shared, request, calls, trace)).await;
            }
            let count = |why| shared.wrong_tokens.count(why, peer);
            Some(admitted.map_err(count).map_err(refused)?)
        }
        // Callers without credentials do not learn which routes exist.
        None => {
            let refused = |why| Refused::ByAccess(why, None);
            shared.wrong_tokens.check(access, headers, peer).map_err(refused)?;
            let admitted = access.admit(request.uri().path(), headers, authority).await;
            let count = |why| shared.wrong_tokens.count(why, peer);
            Some(admitted.map_err(count).map_err(refused)?)
        }
    };
    if shared.options.shutdown.is_cancelled() && route != routes::READYZ && route != routes::METRICS
    {
        return Err(Refused::Draining);
    }
    if let Some(principal) = principal {
        identify(shared, peer, &principal, trace).await?;
        request.extensions_mut().insert(principal);
    }
    Ok(())
}

/// The credentials of an admitted request, which are checked again while its stream is open.
pub(super) struct Admitted {
    /// The path that the credential must open.
    path: String,
    scope: &'static str,
    headers: HeaderMap,
    authority: Option<Authority>,
    principal: Arc<Principal>,
}

impl Admitted {
    pub(super) fn new(scope: &'static str, parts: &Parts, principal: Arc<Principal>) -> Self {
        let (headers, authority) = (parts.headers.clone(), parts.uri.authority().cloned());
        // The routes of an agent are served without their prefix.
        let path = match &principal.agent {
            Some(agent) => format!("/agents/{agent}{}", routes::MCP),
            None => parts.uri.path().to_owned(),
        };
        Self { path, scope, headers, authority, principal }
    }

    /// Waits until the credential no longer admits the same caller.
    pub(super) fn until_invalid(self, shared: Shared) -> BoxFuture<'static, ()> {
        let admitted = Arc::new(self);
        until_invalid(move || Arc::clone(&admitted).is_valid(shared.clone())).boxed()
    }

    async fn is_valid(self: Arc<Self>, shared: Shared) -> bool {
        let admin = shared.options.admin.as_deref();
        let authority = self.authority.as_ref();
        let access = &shared.access;
        match access.admit_with(&self.path, self.scope, &self.headers, authority, admin).await {
            Ok(now) if now == self.principal => true,
            // An agent's route: the caller was admitted, then acted as that agent.
            Ok(now) => self
                .principal
                .agent
                .as_deref()
                .and_then(|agent| auth::as_agent(&now, agent))
                .is_some_and(|agent| agent == self.principal),
            // An unreachable issuer ends no stream: the credential was valid.
            Err(refusal) => matches!(refusal, auth::Refusal::Unreachable(_)),
        }
    }
}

/// Writes the audit row of a call whose caller lacks the scope for it.
async fn record_missing_scope(
    shared: &Shared,
    request: &mut Request,
    calls: Calls,
    trace: TraceId,
) {
    let about = match calls {
        Calls::ToolInPath => match request.extract_parts::<Path<String>>().await {
            Ok(Path(tool)) => tool,
            Err(_) => return,
        },
        Calls::Named(about) => about.to_owned(),
    };
    let (headers, uri) = (request.headers(), request.uri());
    let admitted = shared.access.admit(uri.path(), headers, uri.authority()).await;
    let Ok(principal) = admitted else { return };
    let missing = Failure::new(Code::Denied, auth::Refusal::MissingScope.to_string());
    shared.refuse_call(&about, &principal, trace, missing).await;
}

/// Counts the connection against the limit of its caller.
async fn identify(
    shared: &Shared,
    peer: Option<&Peer>,
    principal: &Arc<Principal>,
    trace: TraceId,
) -> Result<(), Refused> {
    let Some(Err(limit)) = peer.map(|peer| peer.identify(principal)) else { return Ok(()) };
    let message =
        format!("you have {limit} connections open, the limit per caller; close or reuse some");
    let failure = Failure::new(Code::RateLimit, message).details(json!({"limit": limit}));
    let refused = RefusedRequest {
        about: "connections",
        principal: Arc::clone(principal),
        door: Door::Http,
        trace,
    };
    // Boxed to keep the common future small.
    let failure = Box::pin(shared.strip.record_refusal(refused, failure)).await;
    Err(Refused::TooManyConnections(failure))
}

/// The origin of a page of another site that posts a media type which browsers send without a preflight request. A page
/// on another port of this machine is another site, too.
fn foreign_page(shared: &Shared, request: &Request) -> Option<String> {
    let headers = request.headers();
    let origin = headers.get(ORIGIN).filter(|_| request.method() == Method::POST)?;
    let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
    let essence = kind.as_deref().map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let no_preflight = essence.is_none_or(|kind| {
        ["", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]
            .iter()
            .any(|simple| kind.eq_ignore_ascii_case(simple))
    });
    let foreign = no_preflight && !is_own_origin(headers, shared.access.origin());
    foreign.then(|| String::from_utf8_lossy(origin.as_bytes()).into_owned())
}

/// Whether a query has a signature, valid or not.
fn brings_link(uri: &http::Uri) -> bool {
    uri.query().is_some_and(|query| query.split('&').any(|pair| pair.starts_with("sig=")))
}

/// The W3C trace parent, if the header is one.
fn traceparent(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("traceparent")?.to_str().ok()?;
    let parts: Vec<_> = value.splitn(5, '-').collect();
    let hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let [version, trace, parent, flags, ..] = parts.as_slice() else {
        return None;
    };
    let well_formed = hex(version, 2)
        && *version != "ff"
        && hex(trace, 32)
        && hex(parent, 16)
        && hex(flags, 2)
        && (parts.len() == 4 || *version != "00")
        && trace.bytes().any(|b| b != b'0')
        && parent.bytes().any(|b| b != b'0');
    (well_formed && value.len() <= 256).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_trace_parents_are_recorded() {
        let read = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", HeaderValue::from_str(value).expect("a header value"));
            traceparent(&headers).is_some()
        };
        assert!(read("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"));
        assert!(read("01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-later"));
        for bad in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-0AF7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
            "ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        ] {
            assert!(!read(bad), "{bad}");
        }
    }
}
