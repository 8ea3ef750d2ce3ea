//! Sends requests and follows redirects.

use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};
use http::{HeaderMap, Method, StatusCode};
use hyper::body::Body as _;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use tokio::time::Instant;
use url::Url;

use super::body::{BodyStream, Deadline, OFFERED, too_large};
use super::connect::Connector;
use super::error::{FetchError, HEADER_CEILING, Part, Phase, Refusal, cause};
use super::policy::AddressPolicy;
use super::pool::{ConnectionPool, IDLE_TIMEOUT, IncomingBody, MAX_IDLE_PER_HOST};
use super::redirect::{Message, location};
use super::resolve::{Resolve, SystemResolver};
use super::scope::Scope;
use super::sent::{Body, Sending};
use super::target::Target;
use super::tls::Tls;

/// The upper bound of `Limits::max_redirects`.
const MAX_REDIRECTS: u8 = 5;

const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("powerstrip/", env!("CARGO_PKG_VERSION")));

/// Headers that frame or address the message: a caller that could set them could
/// smuggle a second request, or reach another host than the one that was checked.
const FRAMING_HEADERS: [HeaderName; 10] = [
    HOST,
    CONNECTION,
    CONTENT_LENGTH,
    EXPECT,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Whether the client refuses a header of this name because it frames or addresses the message.
pub fn is_framing_header(name: &str) -> bool {
    FRAMING_HEADERS.iter().any(|header| header.as_str().eq_ignore_ascii_case(name))
}

/// A request to send; mark a header value sensitive (`set_sensitive`) to have it treated as a credential.
#[derive(Clone)]
pub struct Request {
    /// The method, `CONNECT` excepted.
    pub method: Method,
    /// The absolute URL, not yet checked.
    pub url: String,
    /// Headers, without those that frame the message.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

impl Request {
    /// A `GET` without headers.
    pub fn get(url: impl Into<String>) -> Self {
        Self { method: Method::GET, url: url.into(), headers: HeaderMap::new(), body: Body::none() }
    }
}

/// Limits of one request.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Time for everything, redirects and body included; `None` for streams without an end.
    pub deadline: Option<Duration>,
    /// Time to resolve, connect and do the TLS handshake, for each hop.
    pub connect: Duration,
    /// Bytes of the body, on the wire and unpacked.
    pub max_body_bytes: u64,
    /// Bytes of the response headers; at most 64 KiB.
    pub max_header_bytes: u64,
    /// Redirects to follow; at most 5.
    pub max_redirects: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Some(Duration::from_secs(30)),
            connect: Duration::from_secs(10),
            max_body_bytes: 10 * 1024 * 1024,
            max_header_bytes: u64::from(HEADER_CEILING),
            max_redirects: MAX_REDIRECTS,
        }
    }
}

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status of the last hop.
    pub status: StatusCode,
    /// The headers of the last hop.
    pub headers: HeaderMap,
    /// The body, unpacked.
    pub body: Bytes,
    /// Where the answer came from after redirects.
    pub final_url: Url,
    /// Whether a server took a request that may have effects and answered it with a redirect, so that the status says
    /// nothing about these effects.
    pub redirected: bool,
}

/// An answer whose body is still arriving.
pub struct StreamingResponse {
    /// The status of the last hop.
    pub status: StatusCode,
    /// The headers of the last hop.
    pub headers: HeaderMap,
    /// The body, unpacked, with cap and deadline applied.
    pub body: BodyStream,
    /// Where the answer comes from after redirects.
    pub target: Arc<Target>,
    /// As in [`Response::redirected`].
    pub redirected: bool,
}

/// The guarded HTTP client; clones share its connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    connector: Connector,
    pool: Mutex<Pool>,
    /// The last URL and its parsed form: most clients send all requests to one URL.
    last: Mutex<Option<(String, Arc<Target>)>>,
}

type Connections = legacy::Client<Connector, Sending>;

/// Idle connections, all dialled under one policy as it was at one moment.
struct Pool {
    generation: u64,
    /// TLS connections, which HTTP/2 may share between requests.
    connections: Connections,
    plain: Arc<ConnectionPool>,
}

impl Pool {
    fn new(generation: u64, connector: &Connector) -> Self {
        Self { generation, connections: connections(connector), plain: Arc::default() }
    }
}

/// Puts a [`Client`] together.
pub struct ClientBuilder {
    policy: AddressPolicy,
    resolver: Option<Arc<dyn Resolve>>,
    roots: Vec<CertificateDer<'static>>,
}

impl ClientBuilder {
    /// Uses this resolver instead of the machine's.
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Trusts these certificate authorities too.
    pub fn trust(mut self, roots: Vec<CertificateDer<'static>>) -> Self {
        self.roots = roots;
        self
    }

    /// Builds the client; fails only if the machine's resolver cannot be set up.
    pub fn build(self) -> io::Result<Client> {
        let resolver = match self.resolver {
            Some(resolver) => resolver,
            None => Arc::new(SystemResolver::new()?),
        };
        let tls = Arc::new(Tls::new(self.roots));
        Ok(Client::over(Connector { policy: self.policy, resolver, tls }))
    }
}

impl Client {
    /// A client under `policy` with the machine's resolver and trust store.
    pub fn new(policy: AddressPolicy) -> io::Result<Self> {
        Self::builder(policy).build()
    }

    /// A client with parts of the caller's choice.
    pub fn builder(policy: AddressPolicy) -> ClientBuilder {
        ClientBuilder { policy, resolver: None, roots: Vec::new() }
    }

    /// A client under another policy: same resolver and trust, connections of its own. A policy made from this client's
    /// follows the same changes.
    pub fn with_policy(&self, policy: AddressPolicy) -> Self {
        Self::over(Connector { policy, ..self.0.connector.clone() })
    }

    /// The policy that every address has to pass.
    pub fn policy(&self) -> &AddressPolicy {
        &self.0.connector.policy
    }

    /// The connector that opens this client's connections.
    pub(crate) fn connector(&self) -> &Connector {
        &self.0.connector
    }

    fn over(connector: Connector) -> Self {
        let generation = connector.policy.generation();
        let pool = Mutex::new(Pool::new(generation, &connector));
        Self(Arc::new(Inner { connector, pool, last: Mutex::default() }))
    }

    /// Sends a request, follows redirects and reads the whole answer; dropping the future cancels it.
    pub async fn send(
        &self,
        request: Request,
        limits: &Limits,
        scope: &Scope,
    ) -> Result<Response, FetchError> {
        let StreamingResponse { status, headers, body, target, redirected } =
            self.stream(request, limits, scope).await?;
        let final_url = target.url().clone();
        Ok(Response { status, headers, body: body.bytes().await?, final_url, redirected })
    }

    /// Sends a request, follows redirects and returns the body as a stream.
    pub async fn stream(
        &self,
        request: Request,
        limits: &Limits,
        scope: &Scope,
    ) -> Result<StreamingResponse, FetchError> {
        let (answer, deadline) = self.answer(request, limits, scope).await?;
        if answer.response.body().size_hint().lower() > limits.max_body_bytes {
            return Err(too_large(limits.max_body_bytes));
        }
        Ok(answer.into_streaming(limits, deadline))
    }

    /// Sends a request and follows redirects within the deadline, which the body shares. Boxed, so that the client is
    /// compiled here and not again in every crate that sends requests.
    pub(super) fn answer<'a>(
        &'a self,
        request: Request,
        limits: &'a Limits,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<(Answer, Option<Deadline>), FetchError>> {
        // An allowance beyond what the clock can hold is none.
        let deadline = limits.deadline.and_then(|after| {
            let at = Instant::now().checked_add(after)?;
            Some(Deadline { at, after })
        });
        Box::pin(async move {
            let following = pin!(self.follow(request, limits, scope));
            let answer = match deadline {
                None => following.await?,
                Some(deadline) => tokio::time::timeout_at(deadline.at, following)
                    .await
                    .map_err(|_| deadline.missed())??,
            };
            Ok((answer, deadline))
        })
    }

    async fn follow(
        &self,
        request: Request,
        limits: &Limits,
        scope: &Scope,
    ) -> Result<Answer, FetchError> {
        let mut taken = false;
        let answer = self.follow_noting(request, limits, scope, &mut taken).await;
        answer.map_err(|error| if taken { FetchError::Redirected(Box::new(error)) } else { error })
    }

    /// Follows redirects, and notes once a server has taken a request that may have effects.
    async fn follow_noting(
        &self,
        request: Request,
        limits: &Limits,
        scope: &Scope,
        taken: &mut bool,
    ) -> Result<Answer, FetchError> {
        let policy = self.policy();
        let mut target = self.read(request.url)?;
        target.check(policy, scope)?;
        let mut message =
            Message { method: request.method, headers: request.headers, body: request.body };
        // A caller that sets Accept-Encoding decompresses the body itself.
        let unpack = !message.headers.contains_key(ACCEPT_ENCODING);
        prepare(&mut message)?;
        let limit = limits.max_redirects.min(MAX_REDIRECTS);
        for _ in 0..=limit {
            let response = self.exchange(&target, &message, limits).await?;
            *taken |= message.is_taken(response.status());
            check_headers(response.headers(), limits)?;
            let Some(location) = location(response.status(), response.headers())? else {
                return Ok(Answer { target, response, unpack, redirected: *taken });
            };
            let next = target.join(location, policy, scope)?;
            message.redirected(response.status());
            if !next.same_origin(&target) {
                message.drop_credentials();
            }
            target = Arc::new(next);
        }
        Err(Refusal::Redirects { limit }.into())
    }

    /// Parses a URL, unless it is the last one. The address is checked for every request nevertheless.
    fn read(&self, url: String) -> Result<Arc<Target>, Refusal> {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, target)) = &*last
            && *known == url
        {
            return Ok(Arc::clone(target));
        }
        let target = Arc::new(Target::parse(&url)?);
        *last = Some((url, Arc::clone(&target)));
        Ok(target)
    }

    async fn exchange(
        &self,
        target: &Target,
        message: &Message,
        limits: &Limits,
    ) -> Result<http::Response<IncomingBody>, FetchError> {
        let mut request = http::Request::new(message.body.sending());
        *request.method_mut() = message.method.clone();
        *request.uri_mut() = target.uri().clone();
        *request.headers_mut() = message.headers.clone();
        if target.url().scheme() == "http" {
            let plain = self.pooled(|pool| Arc::clone(&pool.plain));
            return plain.request(&self.0.connector, request, limits.connect).await;
        }
        Box::pin(self.over_tls(request, limits)).await
    }

    async fn over_tls(
        &self,
        mut request: http::Request<Sending>,
        limits: &Limits,
    ) -> Result<http::Response<IncomingBody>, FetchError> {
        let connections = self.pooled(|pool| pool.connections.clone());
        let captured = capture_connection(&mut request);
        tokio::select! {
            answer = connections.request(request) => {
                answer.map(|answer| answer.map(IncomingBody::from)).map_err(|e| cause(&e))
            }
            () = unconnected(captured, limits.connect) => {
                Err(FetchError::Timeout { phase: Phase::Connect, after: limits.connect })
            }
        }
    }

    /// Reads from the pool, which is replaced if what the policy allows has changed since its connections were made.
    fn pooled<T>(&self, read: impl FnOnce(&Pool) -> T) -> T {
        let generation = self.policy().generation();
        let mut pool = self.0.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.generation != generation {
            *pool = Pool::new(generation, &self.0.connector);
        }
        read(&pool)
    }
}

/// The last hop's answer before its body is read.
pub(super) struct Answer {
    target: Arc<Target>,
    response: http::Response<IncomingBody>,
    unpack: bool,
    redirected: bool,
}

impl Answer {
    pub(super) fn into_streaming(
        self,
        limits: &Limits,
        deadline: Option<Deadline>,
    ) -> StreamingResponse {
        let (mut head, incoming) = self.response.into_parts();
        let (unpack, limit) = (self.unpack, limits.max_body_bytes);
        let body = BodyStream::new(incoming, &mut head.headers, unpack, limit, deadline);
        let (status, headers) = (head.status, head.headers);
        StreamingResponse {
            status,
            headers,
            body,
            target: self.target,
            redirected: self.redirected,
        }
    }
}

fn connections(connector: &Connector) -> Connections {
    legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE_PER_HOST)
        .http1_max_buf_size(HEADER_CEILING as usize)
        .http2_max_header_list_size(HEADER_CEILING)
        .build(connector.clone())
}

fn prepare(message: &mut Message) -> Result<(), Refusal> {
    if message.method == Method::CONNECT {
        return Err(Refusal::Method(message.method.to_string()));
    }
    if let Some(name) = message.headers.keys().find(|name| FRAMING_HEADERS.contains(name)) {
        return Err(Refusal::Header(name.to_string()));
    }
    message.headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static(OFFERED));
    message.headers.entry(USER_AGENT).or_insert(AGENT);
    Ok(())
}

fn check_headers(headers: &HeaderMap, limits: &Limits) -> Result<(), FetchError> {
    let size: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size as u64 > limits.max_header_bytes {
        return Err(FetchError::TooLarge { part: Part::Headers, limit: limits.max_header_bytes });
    }
    Ok(())
}

/// Resolves when `allowance` has passed without a connection, and never once there is one.
async fn unconnected(mut captured: CaptureConnection, allowance: Duration) {
    if tokio::time::timeout(allowance, captured.wait_for_connection_metadata()).await.is_ok() {
        std::future::pending::<()>().await;
    }
}
