use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use server_entry::{Kind, ServerConfig};
use tokio::sync::watch;

use crate::caller::Caller;
use crate::context::ServerContext;
use crate::deps::Deps;
use crate::era::Era;
use crate::error::{AskResult, TransportError};
use crate::http::HttpTransport;
use crate::openapi::OpenApiService;
use crate::personal::Outdated;
use crate::rpc::{RpcError, RpcRequest};
use crate::status::Status;
use crate::stdio::StdioTransport;

/// How a server is reached.
pub(crate) enum Transport {
    Http(HttpTransport),
    Stdio(StdioTransport),
    OpenApi(OpenApiService),
}

impl Transport {
    pub(crate) fn new(
        name: &str,
        config: &Arc<ServerConfig>,
        deps: &Deps,
        context: &Arc<ServerContext>,
    ) -> Self {
        if config.kind == Kind::Openapi {
            Self::OpenApi(OpenApiService::new(name, config, deps))
        } else if config.command.is_some() {
            Self::Stdio(StdioTransport::new(name, config, deps, context))
        } else {
            Self::Http(HttpTransport::new(name, config, deps, context))
        }
    }

    /// Sends a request and waits for the answer; dropping the future cancels the request at the server.
    /// Without a caller it is sent for the gateway itself, or for all callers where they share a session.
    pub(crate) async fn ask(&self, caller: Option<&Caller>, request: &RpcRequest<'_>) -> AskResult {
        match self {
            Self::Http(http) => http.ask(caller, request).await,
            Self::Stdio(stdio) => stdio.ask(caller, request).await,
            // Its tools and its list have methods of their own; it has nothing else.
            Self::OpenApi(_) => Ok(Err(RpcError::unknown_method(request.method))),
        }
    }

    /// The caller by which its own process or session is known; none if it uses what the gateway lists from.
    /// `personal` says whether it has secrets of its own.
    pub(crate) fn instance_of(&self, caller: &Caller, personal: bool) -> Option<Caller> {
        match self {
            Self::Http(http) => http.has_sessions_for(caller).then(|| caller.clone()),
            Self::Stdio(stdio) => stdio.instance_of(caller, personal),
            Self::OpenApi(_) => None,
        }
    }

    /// Asks the process or session that a caller has, and starts none.
    pub(crate) async fn ask_own(&self, caller: &Caller, request: &RpcRequest<'_>) -> AskResult {
        match self {
            Self::Http(http) => http.ask_own(caller, request).await,
            Self::Stdio(stdio) => stdio.ask_own(caller, request).await,
            Self::OpenApi(_) => Ok(Err(RpcError::unknown_method(request.method))),
        }
    }

    /// Keeps the process or session of a caller, with subscriptions to the resources that are watched there, until there
    /// are none; an error if it ends before.
    pub(crate) async fn keep(
        &self,
        caller: &Caller,
        watched: watch::Receiver<BTreeSet<String>>,
    ) -> Result<(), TransportError> {
        match self {
            Self::Http(http) => http.keep(caller, watched).await,
            Self::Stdio(stdio) => stdio.keep(caller, watched).await,
            Self::OpenApi(_) => Ok(()),
        }
    }

    /// Whether the lists may show what only one of several people can see.
    pub(crate) fn lists_with_personal_token(&self) -> bool {
        matches!(self, Self::Http(http) if http.lists_with_personal_token())
    }

    /// The server's era, once it is known.
    pub(crate) fn era(&self) -> Option<Era> {
        match self {
            Self::Http(http) => http.era(),
            Self::Stdio(stdio) => stdio.era(),
            Self::OpenApi(_) => None,
        }
    }

    /// Restores the era that an earlier gateway found out. Only stdio servers are slow to probe.
    pub(crate) fn expect(&self, era: Option<Era>) {
        if let Self::Stdio(stdio) = self {
            stdio.expect(era);
        }
    }

    /// Waits until the server should be listed without a notification that its list has changed. `listed` says
    /// whether there is a list at all, `wait` how long the timer runs.
    pub(crate) async fn list_due(&self, listed: bool, wait: Duration) {
        match self {
            Self::Http(http) => http.list_due(wait).await,
            Self::Stdio(stdio) => stdio.list_due(listed, wait).await,
            Self::OpenApi(service) => service.list_due(wait).await,
        }
    }

    /// Does the background work (health checks, listening, supervision) until the transport is stopped.
    pub(crate) async fn maintain(&self) {
        match self {
            Self::Http(http) => http.maintain().await,
            Self::Stdio(stdio) => stdio.maintain().await,
            Self::OpenApi(_) => {}
        }
    }

    /// Ends the processes and sessions that use secrets that are out of date.
    pub(crate) async fn end_outdated(&self, outdated: &Outdated<'_>) {
        match self {
            Self::Http(http) => http.end_outdated(outdated).await,
            Self::Stdio(stdio) => stdio.end_outdated(outdated),
            Self::OpenApi(_) => {}
        }
    }

    /// Begins to end every process, without waiting for it.
    pub(crate) fn abandon(&self) {
        match self {
            Self::Http(http) => http.abandon(),
            Self::Stdio(stdio) => stdio.abandon(),
            Self::OpenApi(_) => {}
        }
    }

    /// Ends every process and session, and waits until they are gone.
    pub(crate) async fn stop(&self) {
        match self {
            Self::Http(http) => http.stop().await,
            Self::Stdio(stdio) => stdio.stop().await,
            Self::OpenApi(_) => {}
        }
    }

    /// Fills in what the transport knows.
    pub(crate) fn describe(&self, status: &mut Status) {
        match self {
            Self::Http(http) => http.describe(status),
            Self::Stdio(stdio) => stdio.describe(status),
            Self::OpenApi(service) => service.describe(status),
        }
    }
}
