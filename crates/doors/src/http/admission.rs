//! The one place that every request passes: who asks, under which trace id, and what became of it.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{CONNECTION, CONTENT_TYPE, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proto::{Code, Principal, TraceId};
use serde_json::json;
use strip::{Door, Failure, RefusedRequest};
use tracing::{Instrument as _, debug_span, field};

use super::pages::{Pages, is_own_origin};
use super::routes::{Needs, Route};
use super::{Shared, reply, routes, scopes};
use crate::server::Peer;
use crate::validity::until_invalid;

/// Ties a response to its log lines and audit row; on REST it is also `meta.traceId`.
const X_TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

/// Lets a request in where the router sends it.
pub(super) async fn admit(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let pattern = matched.as_ref().map(MatchedPath::as_str);
    let asked = Asked::of(&shared, pattern, request.method());
    let peer = request.extensions().get::<Arc<Peer>>().cloned();
    admitted(&shared, request, asked, peer.as_deref(), |request| next.run(request)).await
}

/// Lets a request in to the one who serves this pattern.
pub(super) async fn admit_to<F: Future<Output = Response>>(
    shared: &Shared,
    pattern: &str,
    request: Request,
    peer: &Peer,
    serve: impl FnOnce(Request) -> F,
) -> Response {
    let asked = Asked::of(shared, Some(pattern), request.method());
    admitted(shared, request, asked, Some(peer), serve).await
}

async fn admitted<F: Future<Output = Response>>(
    shared: &Shared,
    mut request: Request,
    asked: Asked,
    peer: Option<&Peer>,
    serve: impl FnOnce(Request) -> F,
) -> Response {
    let began = Instant::now();
    let trace = TraceId::random();
    let route = asked.name();
    let span = debug_span!(
        "request",
        %trace,
        method = %request.method(),
        path = traced(request.uri().path()),
        parent = field::Empty,
    );
    if let Some(parent) = traceparent(request.headers()) {
        span.record("parent", parent);
    }
    request.extensions_mut().insert(trace);

    let answer = pin!(async {
        match check(shared, &mut request, asked, peer, trace).await {
            Ok(()) => serve(request).await,
            Err(refusal) => refusal.response(shared, &request, trace),
        }
    });
    // A panic ends its own request, never the process.
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

/// A path as logs and traces may have it: what opens something by itself is left out.
fn traced(path: &str) -> &str {
    let link = routes::APPROVAL_LINK;
    let before = link.split('{').next().unwrap_or(link);
    if path.starts_with(before) { link } else { path }
}

/// What a request asks for.
#[derive(Clone, Copy)]
enum Asked {
    Route(&'static Route),
    /// Something that is served but does not stand in the table: who may use it has not been said.
    Unlisted,
    /// Something that is not there.
    Nowhere,
}

impl Asked {
    fn of(shared: &Shared, pattern: Option<&str>, method: &Method) -> Self {
        match pattern.map(|pattern| routes::of(shared, pattern, method)) {
            Some(Some(route)) => Self::Route(route),
            Some(None) => Self::Unlisted,
            None => Self::Nowhere,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Route(route) => route.pattern,
            Self::Unlisted | Self::Nowhere => "none",
        }
    }
}

/// Why a request is turned away before any handler sees it.
enum TurnedAway {
    Refused(auth::Refusal, Option<&'static str>),
    /// The browser has no valid session.
    SignedOut(Arc<dyn Pages>),
    /// A form that was not sent by one of our pages.
    ForeignForm(Arc<dyn Pages>),
    Unlisted,
    /// The caller has too many connections.
    TooManyConnections(Failure),
    Draining,
}

impl TurnedAway {
    fn response(&self, shared: &Shared, request: &Request, trace: TraceId) -> Response {
        match self {
            Self::Refused(refusal, scope) => {
                scopes::refuse(&shared.access, request.uri().path(), refusal, *scope, trace)
            }
            Self::SignedOut(pages) => pages.signed_out(request.method(), request.uri()),
            Self::ForeignForm(pages) => pages.foreign_form(),
            Self::Unlisted => routes::missing(shared, request.method(), request.uri(), trace),
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
                let mut response = reply::refuse_as_usual(&failure, trace);
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                response
            }
        }
    }
}

async fn check(
    shared: &Shared,
    request: &mut Request,
    asked: Asked,
    peer: Option<&Peer>,
    trace: TraceId,
) -> Result<(), TurnedAway> {
    let (route, needs) = match asked {
        Asked::Route(route) => (route.pattern, Some(route.needs)),
        Asked::Unlisted => return Err(TurnedAway::Unlisted),
        Asked::Nowhere => ("", None),
    };
    let (headers, authority) = (request.headers(), request.uri().authority());
    let access = &shared.access;
    // Whoever brings a link is nobody: the link alone says what it opens.
    let needs = match needs {
        Some(Needs::LinkOr(_)) if brings_link(request.uri()) => Some(Needs::OurName),
        Some(Needs::LinkOr(scope)) => Some(Needs::Scope(scope)),
        needs => needs,
    };
    let principal = match needs {
        // A probe may come by any name; all it learns is that something lives here.
        Some(Needs::Nothing) => return Ok(()),
        Some(Needs::OurName) => {
            access
                .admit_anyone(headers, authority)
                .map_err(|why| TurnedAway::Refused(why, None))?;
            None
        }
        Some(Needs::Session) => {
            access
                .admit_anyone(headers, authority)
                .map_err(|why| TurnedAway::Refused(why, None))?;
            let pages = shared.options.pages.as_ref().ok_or(TurnedAway::Unlisted)?;
            let signed_out = || TurnedAway::SignedOut(Arc::clone(pages));
            let session = pages.session(headers).await.ok_or_else(signed_out)?;
            if request.method() != Method::GET
                && request.method() != Method::HEAD
                && !is_own_origin(headers, access.origin())
            {
                return Err(TurnedAway::ForeignForm(Arc::clone(pages)));
            }
            identify(shared, peer, &session.principal, trace).await?;
            request.extensions_mut().insert(session);
            None
        }
        Some(Needs::Scope(scope) | Needs::LinkOr(scope)) => {
            if let Some(origin) = foreign_page(shared, request) {
                let why = auth::Refusal::ForeignOrigin(origin);
                return Err(TurnedAway::Refused(why, None));
            }
            let admin = shared.options.admin.as_deref();
            let admitted = access.admit_with(scope, headers, authority, admin).await;
            Some(admitted.map_err(|why| TurnedAway::Refused(why, Some(scope)))?)
        }
        // Strangers do not learn what there is not, either.
        None => {
            let admitted = access.admit(headers, authority).await;
            Some(admitted.map_err(|why| TurnedAway::Refused(why, None))?)
        }
    };
    if shared.options.shutdown.is_cancelled() && route != routes::READYZ && route != routes::METRICS
    {
        return Err(TurnedAway::Draining);
    }
    if let Some(principal) = principal {
        identify(shared, peer, &principal, trace).await?;
        request.extensions_mut().insert(principal);
    }
    Ok(())
}

/// A request that was admitted, and what is needed to ask again whether it would be: streams outlive credentials.
pub(super) struct Admitted {
    scope: &'static str,
    headers: HeaderMap,
    authority: Option<Authority>,
    principal: Arc<Principal>,
}

impl Admitted {
    pub(super) fn new(scope: &'static str, parts: &Parts, principal: Arc<Principal>) -> Self {
        let (headers, authority) = (parts.headers.clone(), parts.uri.authority().cloned());
        Self { scope, headers, authority, principal }
    }

    /// Ends when the credential does not admit the same caller any more.
    pub(super) fn lapse(self, shared: Shared) -> BoxFuture<'static, ()> {
        let admitted = Arc::new(self);
        until_invalid(move || Arc::clone(&admitted).still_stands(shared.clone())).boxed()
    }

    async fn still_stands(self: Arc<Self>, shared: Shared) -> bool {
        let admin = shared.options.admin.as_deref();
        let authority = self.authority.as_ref();
        match shared.access.admit_with(self.scope, &self.headers, authority, admin).await {
            Ok(now) if now == self.principal => true,
            // An agent's own door: the caller was admitted, and became that agent.
            Ok(now) => self
                .principal
                .agent
                .as_deref()
                .and_then(|agent| auth::as_agent(&now, agent))
                .is_some_and(|agent| agent == self.principal),
            // An issuer that is down ends nothing: the credential was good.
            Err(refusal) => matches!(refusal, auth::Refusal::Unreachable(_)),
        }
    }
}

/// Counts a connection as its caller's.
async fn identify(
    shared: &Shared,
    peer: Option<&Peer>,
    principal: &Arc<Principal>,
    trace: TraceId,
) -> Result<(), TurnedAway> {
    let Some(Err(limit)) = peer.map(|peer| peer.identify(principal)) else { return Ok(()) };
    let message = format!(
        "you have {limit} connections open, which is as many as one caller may have; close some or use them again"
    );
    let failure = Failure::new(Code::RateLimit, message).details(json!({"limit": limit}));
    let refused = RefusedRequest {
        about: "connections",
        principal: Arc::clone(principal),
        door: Door::Http,
        trace,
    };
    // Boxed to keep the common future small.
    Box::pin(shared.strip.record_refusal(refused, &failure)).await;
    Err(TurnedAway::TooManyConnections(failure))
}

/// The origin of a page that is not ours and posts what browsers send without asking us first, as they do with all but a
/// few media types. A page of another port may well be on this machine, and speak for nobody who uses it.
fn foreign_page(shared: &Shared, request: &Request) -> Option<String> {
    let headers = request.headers();
    let origin = headers.get(ORIGIN).filter(|_| request.method() == Method::POST)?;
    let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
    let essence = kind.as_deref().map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let unasked = essence.is_none_or(|kind| {
        ["", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]
            .iter()
            .any(|simple| kind.eq_ignore_ascii_case(simple))
    });
    let foreign = unasked && !is_own_origin(headers, shared.access.origin());
    foreign.then(|| String::from_utf8_lossy(origin.as_bytes()).into_owned())
}

/// Whether a query has a signature in it, good or bad.
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
