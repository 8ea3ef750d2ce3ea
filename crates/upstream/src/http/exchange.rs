//! One POST and its answer, as a JSON body or within a stream of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use auth::client::ServerTokens;
use bytes::Bytes;
use egress::http::{
    Body, BodyStream, Client as HttpClient, Limits, Request, Scope, StreamingResponse,
};
use futures_util::{FutureExt as _, StreamExt as _};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use proto::Scrubber;
use strip::Client;
use tokio::task::JoinSet;

use super::ears::Ears;
use super::tokens::Showing;
use crate::broken::Broken;
use crate::gather::{Gathering, MAX_MESSAGE_BYTES, TooLarge};
use crate::hearing::{self, About};
use crate::link::{MAX_ANSWER_BYTES, News};
use crate::questions;
use crate::rpc::{Answer, Message, RpcError};
use crate::sse::Events;
use crate::who::Who;

/// As much as is read of the body of a refusal.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// How long the rest of a stream is read after the answer, so that its connection can be used again.
const REST: Duration = Duration::from_secs(1);

/// Sends requests to one server. Its connections are its own: a slow server holds up no other.
pub(super) struct Exchange {
    client: HttpClient,
    common: HeaderMap,
    tokens: Option<Arc<ServerTokens>>,
    limits: Limits,
    /// The server's own origins: a redirect must not lead to what other servers and tools may reach.
    scope: Scope,
    news: Arc<News>,
    /// Messages that are nobody's.
    pub(super) odd: AtomicU64,
}

/// A status other than success, and what came with it.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) status: StatusCode,
    pub(super) error: Option<RpcError>,
    /// Whether the text speaks of a session.
    pub(super) about_session: bool,
    pub(super) retry_after: Option<Duration>,
}

/// How a POST ended.
pub(super) enum Posted {
    Answer { answer: Answer, headers: HeaderMap },
    Rejected(Rejected),
}

/// Where to, with which headers; a reply to a question goes the same way as the request.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    /// For whom, which says with whose token.
    pub(super) who: Option<Who>,
}

impl Exchange {
    pub(super) fn new(
        client: HttpClient,
        common: HeaderMap,
        tokens: Option<Arc<ServerTokens>>,
        scope: Scope,
        news: &Arc<News>,
    ) -> Self {
        let limits = Limits {
            deadline: None,
            connect: Duration::from_secs(5),
            // Notifications may come before the answer.
            max_body_bytes: 2 * MAX_MESSAGE_BYTES as u64,
            ..Limits::default()
        };
        Self {
            client,
            common,
            tokens,
            limits,
            scope,
            news: Arc::clone(news),
            odd: AtomicU64::new(0),
        }
    }

    /// The headers that every request to this server starts with.
    pub(super) fn common(&self) -> HeaderMap {
        self.common.clone()
    }

    pub(super) fn tokens(&self) -> Option<&Arc<ServerTokens>> {
        self.tokens.as_ref()
    }

    /// Sends a request and waits for the answer to `id`. Dropping the future closes the stream.
    pub(super) async fn post(
        self: &Arc<Self>,
        way: &Way,
        id: u64,
        body: Body,
        client: Option<&Arc<dyn Client>>,
    ) -> Result<Posted, Broken> {
        let (response, secrets) = self.send(way, Method::POST, body, &self.limits).await?;
        if !response.status.is_success() {
            return Ok(Posted::Rejected(rejected(response, &secrets).await));
        }
        let answer = match kind(&response.headers) {
            Kind::Json => self.whole(id, response.body, &secrets).await?,
            Kind::Events => self.awaited(way, id, (response.body, &secrets), client).await?,
            Kind::Other => {
                let status = response.status.as_u16();
                return Err(Broken::malformed(format!("HTTP {status} without JSON or events")));
            }
        };
        Ok(Posted::Answer { answer, headers: response.headers })
    }

    /// Sends what has no answer.
    pub(super) async fn notify(
        &self,
        way: &Way,
        method: Method,
        body: Bytes,
    ) -> Result<StatusCode, Broken> {
        Ok(self.send(way, method, body.into(), &self.limits).await?.0.status)
    }

    /// Follows a stream without an end until it ends; `opened` is called once it flows.
    pub(super) async fn follow(
        self: &Arc<Self>,
        way: &Way,
        method: Method,
        body: Body,
        ears: Ears<'_>,
        opened: impl FnOnce(),
    ) -> Result<(), Broken> {
        let limits = Limits { max_body_bytes: u64::MAX, ..self.limits.clone() };
        let (response, secrets) = self.send(way, method, body, &limits).await?;
        if !response.status.is_success() || !matches!(kind(&response.headers), Kind::Events) {
            let status = response.status.as_u16();
            return Err(Broken::Status { status, retry_after: None });
        }
        opened();
        self.events(way, (response.body, &secrets), ears, |_| true).await.map(|_rest| ())
    }

    /// Sends a request. With the response it returns the scrubber for it, the token of this request included.
    async fn send(
        &self,
        way: &Way,
        method: Method,
        body: Body,
        limits: &Limits,
    ) -> Result<(StreamingResponse, Scrubber), Broken> {
        let request = |bearer: Option<HeaderValue>| {
            let mut headers = way.headers.clone();
            if let Some(bearer) = bearer {
                headers.insert(AUTHORIZATION, bearer);
            }
            Request { method: method.clone(), url: way.url.clone(), headers, body: body.clone() }
        };
        let Some(tokens) = &self.tokens else {
            let response = self.client.stream(request(None), limits, &self.scope).await?;
            return Ok((response, self.news.scrubber.clone()));
        };
        let mut showing = Showing::new(tokens, way);
        loop {
            let bearer = showing.bearer().await;
            let secrets = self.news.scrubber_with(bearer.as_ref());
            let response = self.client.stream(request(bearer), limits, &self.scope).await?;
            let Some(challenge) = showing.challenge(&way.url, &response) else {
                return Ok((response, secrets));
            };
            drop(response);
            showing.answer(&way.url, challenge).await?;
        }
    }

    async fn whole(
        &self,
        id: u64,
        mut body: BodyStream,
        secrets: &Scrubber,
    ) -> Result<Answer, Broken> {
        let mut gathering = Gathering::default();
        while let Some(chunk) = body.next().await {
            gathering.add(&chunk?);
            gathering.check().map_err(too_large)?;
        }
        gathering.take().open(secrets, |message| match message.map_err(Broken::malformed)? {
            Message::Answer { id: Some(answered), answer } if answered == id => Ok(answer),
            // A request that could not be read at all is refused without its id.
            Message::Answer { id: None, answer: Err(error) } => Ok(Err(error)),
            _ => {
                self.odd.fetch_add(1, Ordering::Relaxed);
                Err(Broken::malformed("the answer is to another request"))
            }
        })
    }

    async fn awaited(
        self: &Arc<Self>,
        way: &Way,
        id: u64,
        body: (BodyStream, &Scrubber),
        client: Option<&Arc<dyn Client>>,
    ) -> Result<Answer, Broken> {
        let mut found = None;
        let ears = client.map_or(Ears::Nobody, |client| Ears::Request(id, client));
        let rest = self.events(way, body, ears, |(answered, answer)| {
            if answered != Some(id) {
                self.odd.fetch_add(1, Ordering::Relaxed);
                return true;
            }
            found = Some(answer);
            false
        });
        let rest = rest.await?;
        if let Some(mut rest) = rest {
            // Read to its end, a connection can be used again; usually the end is there already.
            if !matches!(rest.next().now_or_never(), Some(None)) {
                tokio::spawn(tokio::time::timeout(REST, async move {
                    while let Some(Ok(_)) = rest.next().await {}
                }));
            }
        }
        found.ok_or_else(|| Broken::lost("the stream ended before the answer"))
    }

    /// Reads events until `take` has its answer or the stream ends; gives back what is left of it.
    async fn events(
        self: &Arc<Self>,
        way: &Way,
        (mut body, secrets): (BodyStream, &Scrubber),
        ears: Ears<'_>,
        mut take: impl FnMut((Option<u64>, Answer)) -> bool,
    ) -> Result<Option<BodyStream>, Broken> {
        let mut events = Events::default();
        let mut fault = None;
        let mut over = false;
        // What the server asks ends with the request that it asks for.
        let mut open: Option<JoinSet<()>> = None;
        while let Some(chunk) = body.next().await {
            let fed = events.feed(&chunk?, |mut data| {
                if data.json.is_empty() {
                    return true;
                }
                data.open(secrets, |message| match message {
                    Ok(Message::Answer { id, answer }) => over = !take((id, answer)),
                    Ok(Message::Request { id, method, params }) => {
                        let client = ears.of(&About::Anybody);
                        let asks = client
                            .as_ref()
                            .is_some_and(|client| questions::can(&**client, &method));
                        let answer = questions::answer(id, &method, params, client.as_ref());
                        let (exchange, way) = (Arc::clone(self), way.clone());
                        let reply = async move {
                            // A server that does not take the answer has nothing more to be told.
                            let _ = exchange.notify(&way, Method::POST, answer.await).await;
                        };
                        if asks {
                            open.get_or_insert_default().spawn(reply);
                        } else {
                            tokio::spawn(reply);
                        }
                    }
                    Ok(Message::Notification { method, params }) => {
                        let place = ears.place();
                        hearing::hear(&self.news, place, &method, params, |about| ears.of(&about));
                    }
                    Err(why) => fault = Some(Broken::malformed(why)),
                });
                !over && fault.is_none()
            });
            fed.map_err(too_large)?;
            while open.as_mut().and_then(JoinSet::try_join_next).is_some() {}
            if over {
                return Ok(Some(body));
            }
            if let Some(fault) = fault {
                return Err(fault);
            }
        }
        Ok(None)
    }
}

fn too_large(_: TooLarge) -> Broken {
    Broken::TooLarge(MAX_ANSWER_BYTES as u64)
}

enum Kind {
    Json,
    Events,
    Other,
}

fn kind(headers: &HeaderMap) -> Kind {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Kind::Json
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        Kind::Events
    } else {
        Kind::Other
    }
}

/// Reads what came with a refusal, as far as it comes within a moment.
async fn rejected(response: StreamingResponse, secrets: &Scrubber) -> Rejected {
    let StreamingResponse { status, headers, mut body, .. } = response;
    let mut bytes = Vec::new();
    let reading = async {
        while let Some(Ok(chunk)) = body.next().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_REFUSAL_BYTES {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(REST, reading).await;
    secrets.bytes(&mut bytes);
    let error = match Message::parse(&bytes) {
        Ok(Message::Answer { answer: Err(error), .. }) => Some(error),
        _ => None,
    };
    let about_session = String::from_utf8_lossy(&bytes).to_ascii_lowercase().contains("session");
    let retry_after = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(|seconds: u64| Duration::from_secs(seconds.min(3_600)));
    Rejected { status, error, about_session, retry_after }
}
