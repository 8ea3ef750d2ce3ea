//! Passes requests and tunnels on to checked targets.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http::header::{
    CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};
use ::http::uri::PathAndQuery;
use ::http::{HeaderMap, Method, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

use super::pass::Account;
use crate::http::{Connector, FetchError, HEADER_CEILING, Scope, Target};

/// How long a tunnel may be without a byte in one direction.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes that a tunnel reads at once.
const CHUNK: usize = 16 * 1024;

/// Marks the proxy's own answers, so that none is taken for an answer of the target.
pub(crate) const OWN_ANSWER: &str = "x-powerstrip-proxy";

pub(super) type Answer = Response<UnsyncBoxBody<Bytes, hyper::Error>>;

/// Headers about the connection to the proxy and not about the message.
const HOP_BY_HOP: [HeaderName; 7] = [
    CONNECTION,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The answer to a request without a valid pass.
pub(super) fn unauthorized() -> Answer {
    let mut answer =
        own(StatusCode::PROXY_AUTHENTICATION_REQUIRED, "this proxy serves one program only".into());
    let challenge = HeaderValue::from_static("Basic realm=\"powerstrip\"");
    answer.headers_mut().insert(PROXY_AUTHENTICATE, challenge);
    answer
}

/// Answers a request that carries a valid pass.
pub(super) async fn answer(
    request: Request<Incoming>,
    account: Arc<Account>,
    connector: Connector,
) -> Answer {
    account.begin();
    if account.is_revoked() {
        return own(StatusCode::FORBIDDEN, "the page has used up its traffic".into());
    }
    let target = match target(&request) {
        Ok(target) => target,
        Err(answer) => return *answer,
    };
    if let Err(refusal) = target.check(&connector.policy, &Scope::everything()) {
        return failed(&account, &target, refusal.into());
    }
    if request.method() == Method::CONNECT {
        tunnel(request, target, account, connector).await
    } else {
        forward(request, target, account, connector).await
    }
}

/// The checked form of what a request asks for.
fn target(request: &Request<Incoming>) -> Result<Target, Box<Answer>> {
    let uri = request.uri();
    let text = if request.method() == Method::CONNECT {
        uri.authority()
            .filter(|it| it.port().is_some())
            .map(|authority| format!("https://{authority}/"))
    } else {
        // Encrypted requests come through CONNECT: the proxy never speaks TLS for the program.
        uri.scheme_str().filter(|scheme| *scheme == "http").map(|_| uri.to_string())
    };
    let Some(text) = text else {
        let why = "write the target as an absolute http URL, or as host:port after CONNECT";
        return Err(Box::new(own(StatusCode::BAD_REQUEST, why.into())));
    };
    Target::parse(&text)
        .map_err(|refusal| Box::new(own(StatusCode::FORBIDDEN, refusal.to_string())))
}

/// Opens a connection to a target, if the pass may have one more.
async fn connect(
    target: &Target,
    account: &Account,
    connector: &Connector,
) -> Result<(OwnedSemaphorePermit, TcpStream), Box<Answer>> {
    let slot = account.slot().ok_or_else(|| Box::new(busy()))?;
    let upstream = connector.open(target).await;
    Ok((slot, upstream.map_err(|why| Box::new(failed(account, target, why)))?))
}

/// Connects a tunnel; its bytes are counted and otherwise left alone.
async fn tunnel(
    mut request: Request<Incoming>,
    target: Target,
    account: Arc<Account>,
    connector: Connector,
) -> Answer {
    let (slot, upstream) = match connect(&target, &account, &connector).await {
        Ok(connected) => connected,
        Err(answer) => return *answer,
    };
    tokio::spawn(async move {
        let _slot = slot;
        let Ok(client) = hyper::upgrade::on(&mut request).await else { return };
        tokio::select! {
            () = exchange(TokioIo::new(client), upstream, &account) => {}
            () = account.revoked() => {}
        }
    });
    Response::new(empty())
}

async fn exchange(client: impl AsyncRead + AsyncWrite, upstream: TcpStream, account: &Account) {
    let (from_client, to_client) = tokio::io::split(client);
    let (from_upstream, to_upstream) = upstream.into_split();
    tokio::join!(copy(from_client, to_upstream, account), copy(from_upstream, to_client, account),);
}

/// Copies until the source ends, is idle, or the pass is used up, and then closes the sink.
async fn copy(
    mut source: impl AsyncRead + Unpin,
    mut sink: impl AsyncWrite + Unpin,
    account: &Account,
) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(Ok(length @ 1..)) =
        tokio::time::timeout(IDLE_TIMEOUT, source.read(&mut chunk)).await
    {
        if !account.spend(length) || sink.write_all(&chunk[..length]).await.is_err() {
            break;
        }
    }
    let _ = sink.shutdown().await;
}

/// Sends a plain request over a connection of its own.
async fn forward(
    mut request: Request<Incoming>,
    target: Target,
    account: Arc<Account>,
    connector: Connector,
) -> Answer {
    let (slot, upstream) = match connect(&target, &account, &connector).await {
        Ok(connected) => connected,
        Err(answer) => return *answer,
    };
    let handshake = http1::Builder::new()
        .max_buf_size(HEADER_CEILING as usize)
        .handshake(TokioIo::new(upstream))
        .await;
    let broken = |error: &hyper::Error| FetchError::Protocol { why: error.to_string() };
    let (mut sender, connection) = match handshake {
        Ok(open) => open,
        Err(error) => return failed(&account, &target, broken(&error)),
    };
    let ending = Arc::clone(&account);
    tokio::spawn(async move {
        let _slot = slot;
        tokio::select! {
            _ = connection => {}
            () = ending.revoked() => {}
        }
    });
    drop_hop_by_hop(request.headers_mut());
    let authority = target.uri().authority().map_or("", |authority| authority.as_str());
    let Ok(host) = HeaderValue::from_str(authority) else {
        return own(StatusCode::BAD_REQUEST, "the host cannot be written as a header".into());
    };
    request.headers_mut().insert(HOST, host);
    let path = target.uri().path_and_query().cloned();
    *request.uri_mut() = path.unwrap_or_else(|| PathAndQuery::from_static("/")).into();
    let counted = Arc::clone(&account);
    let request = request.map(|body| Counted { body, account: counted });
    let mut response = match sender.send_request(request).await {
        Ok(response) => response,
        Err(error) => return failed(&account, &target, broken(&error)),
    };
    drop_hop_by_hop(response.headers_mut());
    response.map(|body| Counted { body, account }.boxed_unsync())
}

/// Removes the headers of this hop, and those that `Connection` names.
fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// A body whose bytes the pass pays for; it ends when they are used up.
struct Counted {
    body: Incoming,
    account: Arc<Account>,
}

impl Body for Counted {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
            && !self.account.spend(data.len())
        {
            // An overdrawn pass closes this connection: what it does not cover is not sent, however large the frame is.
            return Poll::Pending;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Reports a target that was refused or not reached, and remembers why.
fn failed(account: &Account, target: &Target, why: FetchError) -> Answer {
    let status = match &why {
        FetchError::Refused(_) => StatusCode::FORBIDDEN,
        FetchError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    let text = why.to_string();
    account.record(target, why);
    own(status, text)
}

fn busy() -> Answer {
    own(StatusCode::TOO_MANY_REQUESTS, "too many connections at once".into())
}

fn own(status: StatusCode, text: String) -> Answer {
    let body = Full::new(Bytes::from(text + "\n")).map_err(|never| match never {}).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(OWN_ANSWER, HeaderValue::from_static("1"));
    answer
}

fn empty() -> UnsyncBoxBody<Bytes, hyper::Error> {
    http_body_util::Empty::new().map_err(|never| match never {}).boxed_unsync()
}
