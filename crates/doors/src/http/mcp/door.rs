//! The MCP service of the HTTP door: the protocol library, its sessions and its streams.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderName, StatusCode};
use http_body_util::Full;
use http_server::Shares;
use proto::{Principal, TraceId};
use rmcp::transport::streamable_http_server::session::SessionStore;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use strip::Strip;

use crate::http::options::Options;
use crate::http::routes;
use crate::http::sessions::{ParkedSession, SessionLimits, Sessions};
use crate::mcp::{CALLER, Handler, Identity, ListVersions, McpState};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How many callers can have all the streams that one caller may have.
const LISTENERS: usize = 16;

pub(crate) struct McpDoor {
    pub(super) state: Arc<McpState>,
    pub(super) service: StreamableHttpService<Handler, Sessions>,
    pub(super) sessions: Arc<Sessions>,
    /// Open event streams, by caller.
    pub(super) streams: Arc<Shares>,
}

impl McpDoor {
    pub(in crate::http) fn new(strip: Arc<Strip>, options: &Options) -> Self {
        let state = Arc::new(McpState::new(strip, options.shutdown.clone()));
        let streams = options.streams_per_caller.saturating_mul(LISTENERS);
        let limits = SessionLimits {
            max: options.max_sessions,
            per_caller: options.sessions_per_caller,
            idle: options.session_idle,
            park: options.session_park,
        };
        let sessions = Arc::new(Sessions::new(limits, {
            let strip = Arc::clone(state.strip());
            move || ListVersions::of(&strip)
        }));
        // Admission has checked Host and Origin. Modern clients get plain JSON unless there is more than one message.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            // The body has been read before, under a limit that depends on the tools.
            .with_max_request_body_bytes(usize::MAX);
        config.session_store = Some(Arc::clone(&sessions) as Arc<dyn SessionStore>);
        let handled = Arc::clone(&state);
        let service = StreamableHttpService::new(
            move || Ok(Handler::new(Arc::clone(&handled), Identity::OfRequest)),
            Arc::clone(&sessions),
            config,
        );
        Self { state, service, sessions, streams: Shares::new(streams) }
    }

    /// Parks and ends unused sessions for as long as the gateway runs.
    pub(in crate::http) async fn tend(&self) {
        self.sessions.tend().await;
    }

    /// The limit of sessions, if it is reached.
    pub(in crate::http) fn exhausted_sessions(&self) -> Option<usize> {
        self.sessions.exhausted()
    }

    /// Starts a parked session again; false if it is not parked.
    pub(super) async fn wake(&self, id: &str, principal: &Arc<Principal>, trace: TraceId) -> bool {
        let Some(ParkedSession { version, lists, changing }) = self.sessions.parked(id).await
        else {
            return false;
        };
        // The library restores the session before it reads this message, which changes nothing.
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let request = http::Request::post(routes::MCP)
            // The library refuses requests without a host, but accepts any.
            .header(HOST, "localhost")
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header(SESSION_ID, id)
            .header(PROTOCOL_VERSION, version)
            .extension(Arc::clone(principal))
            .extension(trace);
        let request = match lists {
            Some(lists) => request.extension(lists),
            None => request,
        };
        let Ok(request) = request.body(Full::new(Bytes::from(ready))) else { return false };
        let service = self.service.clone();
        let starting = CALLER.scope(Arc::clone(principal), async move {
            let answered = service.handle(request).await;
            drop(changing);
            answered.status()
        });
        // In its own task: if the client disconnects, the session must still be started completely.
        match tokio::spawn(starting).await {
            Ok(StatusCode::ACCEPTED) => {}
            failed => tracing::warn!(session = id, ?failed, "a parked session did not start again"),
        }
        true
    }
}
