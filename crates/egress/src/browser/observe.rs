//! Follows the events of a page: answers its questions and notes what it does.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::cdp::{Connection, Event};
use super::messages::{
    AuthRequired, DialogOpening, FrameNavigated, NavigatedWithinDocument, OfRequest, RequestPaused,
    RequestWillBeSent, ResponseBody, ResponseReceived,
};
use crate::proxy::{OWN_ANSWER, Pass};

/// Requests that a page may have open before we stop to count them.
const MAX_COUNTED: usize = 4096;

/// The kinds of requests that a finished page may wait for: they end late or never.
const UNLIMITED: [&str; 6] = ["EventSource", "WebSocket", "Media", "Ping", "Prefetch", "Preflight"];

/// What is known about the page so far.
pub(super) struct Observed {
    /// The last change on the network.
    pub(super) changed: Instant,
    /// The URL that the main frame asked for last.
    pub(super) requested: Option<String>,
    /// The URL that the main frame shows.
    pub(super) location: String,
    pub(super) captured: Vec<(String, Bytes)>,
    in_flight: HashSet<String>,
    /// The load that the main frame shows.
    loader: String,
    /// The answers to loads of the main frame; not all of them are shown.
    documents: HashMap<String, Document>,
}

/// The main document's answer.
#[derive(Clone, Copy)]
pub(super) struct Document {
    pub(super) status: u16,
    /// Whether the proxy answered in place of the server.
    pub(super) is_own_answer: bool,
}

impl Observed {
    pub(super) fn new() -> Self {
        Self {
            changed: Instant::now(),
            requested: None,
            location: String::new(),
            captured: Vec::new(),
            in_flight: HashSet::new(),
            loader: String::new(),
            documents: HashMap::new(),
        }
    }

    pub(super) fn touch(&mut self) {
        self.changed = Instant::now();
    }

    /// The answer that the main frame shows.
    pub(super) fn document(&self) -> Option<Document> {
        self.documents.get(&self.loader).copied()
    }

    /// Whether the page waits for an answer.
    pub(super) fn waits(&self) -> bool {
        !self.in_flight.is_empty()
    }
}

pub(super) struct Observer<'a> {
    pub(super) connection: &'a Connection,
    pub(super) session: &'a str,
    /// The main frame.
    pub(super) frame: &'a str,
    pub(super) pass: &'a Pass,
    pub(super) capture: Option<fn(&str) -> bool>,
    pub(super) max_captured: u64,
    pub(super) observed: &'a Mutex<Observed>,
}

impl Observer<'_> {
    /// Handles events until the page crashes or is closed.
    pub(super) async fn follow(&self, mut events: mpsc::Receiver<Event>) {
        let mut chosen = HashMap::new();
        let mut asked = HashSet::new();
        let mut bodies = FuturesUnordered::new();
        loop {
            let event = tokio::select! {
                event = events.recv() => event,
                Some(()) = bodies.next() => continue,
            };
            let Some(event) = event else { return };
            match event.method.as_str() {
                "Fetch.requestPaused" => self.let_pass(&event),
                "Fetch.authRequired" => self.authorize(&event, &mut asked),
                "Network.requestWillBeSent" => self.note_request(&event),
                "Network.responseReceived" => {
                    if let Some((request, url)) = self.note_response(&event) {
                        chosen.insert(request, url);
                    }
                }
                "Network.dataReceived" => self.observed().touch(),
                "Network.loadingFinished" | "Network.loadingFailed" => {
                    let Some(OfRequest { request_id }) = event.params() else { continue };
                    self.note_end(&request_id);
                    if let Some(url) = chosen.remove(&request_id) {
                        bodies.push(self.keep_body(request_id, url));
                    }
                }
                "Page.frameNavigated" => self.note_navigation(&event),
                "Page.navigatedWithinDocument" => {
                    let moved: Option<NavigatedWithinDocument> = event.params();
                    if let Some(moved) = moved.filter(|it| it.frame_id == self.frame) {
                        self.observed().location = moved.url;
                    }
                }
                "Page.javascriptDialogOpening" => self.dismiss(&event),
                "Inspector.targetCrashed" | "Inspector.detached" => return,
                _ => {}
            }
        }
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn post(&self, method: &str, params: serde_json::Value) {
        self.connection.post(self.session, method, params);
    }

    /// Lets requests for the network and for the page's own data pass.
    fn let_pass(&self, event: &Event) {
        let Some(RequestPaused { request_id, request }) = event.params() else { return };
        let scheme = request.url.split(':').next().unwrap_or_default();
        if matches!(scheme, "http" | "https" | "ws" | "wss" | "data" | "blob" | "about") {
            self.post("Fetch.continueRequest", json!({ "requestId": request_id }));
        } else {
            let refused = json!({ "requestId": request_id, "errorReason": "BlockedByClient" });
            self.post("Fetch.failRequest", refused);
        }
    }

    /// Gives the proxy its password, once for each request, and no server any.
    fn authorize(&self, event: &Event, asked: &mut HashSet<String>) {
        let Some(AuthRequired { request_id, auth_challenge }) = event.params() else { return };
        let is_proxy = auth_challenge.source.as_deref() == Some("Proxy");
        let answer = if is_proxy && asked.len() < MAX_COUNTED && asked.insert(request_id.clone()) {
            json!({
                "response": "ProvideCredentials",
                "username": self.pass.user(),
                "password": self.pass.password(),
            })
        } else {
            json!({ "response": "CancelAuth" })
        };
        let params = json!({ "requestId": request_id, "authChallengeResponse": answer });
        self.post("Fetch.continueWithAuth", params);
    }

    fn note_request(&self, event: &Event) {
        let Some(sent) = event.params::<RequestWillBeSent>() else { return };
        let mut observed = self.observed();
        observed.touch();
        if sent.kind == "Document" && sent.frame_id.as_deref() == Some(self.frame) {
            observed.requested = Some(sent.request.url);
        }
        let counts = !UNLIMITED.contains(&sent.kind.as_str());
        if counts && observed.in_flight.len() < MAX_COUNTED {
            observed.in_flight.insert(sent.request_id);
        }
    }

    /// Notes an answer, and returns request and URL if its body is to be kept.
    fn note_response(&self, event: &Event) -> Option<(String, String)> {
        let received = event.params::<ResponseReceived>()?;
        let mut observed = self.observed();
        observed.touch();
        let response = received.response;
        if received.kind == "Document" && received.frame_id.as_deref() == Some(self.frame) {
            let is_own_answer =
                response.headers.keys().any(|name| name.eq_ignore_ascii_case(OWN_ANSWER));
            if observed.documents.len() >= MAX_COUNTED {
                observed.documents.clear();
            }
            let document = Document { status: response.status, is_own_answer };
            observed.documents.insert(received.loader_id, document);
        }
        let chosen = self.capture.is_some_and(|capture| capture(&response.url));
        chosen.then_some((received.request_id, response.url))
    }

    fn note_end(&self, request: &str) {
        let mut observed = self.observed();
        observed.touch();
        observed.in_flight.remove(request);
    }

    fn note_navigation(&self, event: &Event) {
        let Some(FrameNavigated { frame }) = event.params() else { return };
        if frame.id != self.frame {
            return;
        }
        let mut observed = self.observed();
        observed.touch();
        observed.in_flight.clear();
        if let Some(unreachable) = frame.unreachable_url {
            observed.requested = Some(unreachable);
        }
        observed.location = frame.url;
        observed.loader = frame.loader_id;
    }

    fn dismiss(&self, event: &Event) {
        let Some(DialogOpening { kind }) = event.params() else { return };
        // A page that asks whether to leave it is left.
        let params = json!({ "accept": kind == "beforeunload" });
        self.post("Page.handleJavaScriptDialog", params);
    }

    async fn keep_body(&self, request: String, url: String) {
        let params = json!({ "requestId": request });
        let body = self.connection.call(self.session, "Network.getResponseBody", params).await;
        let Ok(ResponseBody { body, base64_encoded }) = body else { return };
        let body = if base64_encoded {
            let Ok(body) = STANDARD.decode(body) else { return };
            Bytes::from(body)
        } else {
            Bytes::from(body)
        };
        let mut observed = self.observed();
        let kept: usize = observed.captured.iter().map(|(_, body)| body.len()).sum();
        if (kept + body.len()) as u64 <= self.max_captured {
            observed.captured.push((url, body));
        }
    }
}
