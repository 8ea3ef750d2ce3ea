//! One MCP connection, or one stateless request.

use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::request::Parts;
use proto::{Code, Failure, Principal, TraceId};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::{NotificationContext, RequestContext};
use runs::RunOf;
use serde_json::Value;
use strip::servers::ClientIdentity;
use strip::{Door, LogLevel, RefusedRequest, Request};

use super::call::{answer, call_options, run_of_header};
use super::caller::CALLER;
use super::client::SESSION_ID;
use super::context::{content_kinds, is_modern, session_of, trace};
use super::notices::{ChangeNotifier, ResourceSubscriptions};
use super::state::McpState;
use super::{client, results};
use crate::call_options::CallOptions;

/// How the caller of a request is known.
pub(crate) enum Identity {
    /// One caller for the whole connection: a pipe or a local socket.
    Fixed(Arc<Principal>),
    /// The caller that the HTTP door admitted with each request.
    OfRequest,
}

/// One connection, or one stateless request.
pub(crate) struct Handler {
    pub(super) state: Arc<McpState>,
    pub(super) identity: Identity,
    /// The principal that opened the connection; rmcp asks for capabilities outside of any request.
    opener: Option<Arc<Principal>>,
    /// Notifies a legacy client of changes until the connection ends.
    pub(super) notifier: OnceLock<ChangeNotifier>,
    pub(super) subscriptions: Arc<ResourceSubscriptions>,
    /// The lowest level of log messages that a legacy client asked for.
    pub(super) log_level: Mutex<Option<LogLevel>>,
    /// The session id of a legacy client whose transport has none.
    session: OnceLock<Arc<str>>,
}

impl Handler {
    pub(crate) fn new(state: Arc<McpState>, identity: Identity) -> Self {
        Self {
            state,
            identity,
            opener: CALLER.try_with(Arc::clone).ok(),
            notifier: OnceLock::new(),
            subscriptions: Arc::default(),
            log_level: Mutex::default(),
            session: OnceLock::new(),
        }
    }

    /// The lowest level of log messages for a legacy client, also before it chooses one.
    pub(super) fn log_level(&self) -> Option<LogLevel> {
        let chosen = *self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
        chosen.or_else(|| {
            self.state.strip.servers().listing().has("logging").then_some(LogLevel::Info)
        })
    }

    pub(super) fn door(&self) -> Door {
        match self.identity {
            Identity::Fixed(_) => Door::McpStdio,
            Identity::OfRequest => Door::McpHttp,
        }
    }

    /// The caller, where rmcp gives no context of the request; none if it is not known.
    pub(super) fn caller(&self) -> Option<Arc<Principal>> {
        match &self.identity {
            Identity::Fixed(principal) => Some(Arc::clone(principal)),
            Identity::OfRequest => CALLER.try_with(Arc::clone).ok().or_else(|| self.opener.clone()),
        }
    }

    /// The caller of a request; an error if no door has admitted it.
    pub(super) fn principal(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Principal>, ErrorData> {
        match &self.identity {
            Identity::Fixed(principal) => Ok(Arc::clone(principal)),
            Identity::OfRequest => context
                .extensions
                .get::<Parts>()
                .and_then(|parts| parts.extensions.get::<Arc<Principal>>())
                .cloned()
                .ok_or_else(|| ErrorData::internal_error("the request has no principal", None)),
        }
    }

    /// The caller of a request and its client.
    pub(super) fn client(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<ClientIdentity, ErrorData> {
        let modern = is_modern(context);
        let named = call_options(|key| context.meta.get(key)).ok().and_then(CallOptions::into_run);
        let session = || self.run_of(context, modern).session().map(Into::into);
        Ok(ClientIdentity {
            principal: self.principal(context)?,
            capabilities: client::capabilities(context),
            asking: client::ask_mode(modern),
            session: named.or_else(session),
        })
    }

    /// The caller and client of a legacy connection that has just been opened.
    pub(super) fn client_of_connection(
        &self,
        context: &NotificationContext<RoleServer>,
    ) -> Option<ClientIdentity> {
        let parts = context.extensions.get::<Parts>();
        let admitted = parts.and_then(|parts| parts.extensions.get::<Arc<Principal>>()).cloned();
        let declared = context.peer.peer_info().map(|info| info.capabilities.clone());
        Some(ClientIdentity {
            principal: admitted.or_else(|| self.caller())?,
            capabilities: client::declared(declared),
            asking: client::ask_mode(false),
            session: Some(self.session_id(parts)),
        })
    }

    /// The run of a request that names none: the session of a legacy client, the current run of others.
    pub(super) fn run_of(&self, context: &RequestContext<RoleServer>, modern: bool) -> RunOf {
        if modern {
            return RunOf::Current;
        }
        RunOf::Session(self.session_id(context.extensions.get::<Parts>()))
    }

    /// The session id of a legacy client.
    fn session_id(&self, parts: Option<&Parts>) -> Arc<str> {
        match parts.and_then(|parts| parts.headers.get(SESSION_ID)?.to_str().ok()) {
            Some(id) => id.into(),
            None => {
                let own = || TraceId::random().to_string().into();
                Arc::clone(self.session.get_or_init(own))
            }
        }
    }

    /// The caller of a request that makes a tool or a server work, for which the scope to read lists is not enough. The
    /// HTTP door has refused most such requests with a challenge; this covers the rest.
    pub(super) async fn authorize_call(
        &self,
        about: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Principal>, ErrorData> {
        let principal = self.principal(context)?;
        if auth::scope::covers(&principal, auth::scope::TOOLS_CALL) {
            return Ok(principal);
        }
        let missing = ErrorData::invalid_request(auth::Refusal::MissingScope.to_string(), None);
        Err(self.refuse(about, context, Code::Denied, missing).await)
    }

    /// Runs work for a request that makes a server work but is not forwarded. It leaves an audit row with this name, and
    /// counts against the rate.
    pub(super) async fn run_work<T>(
        &self,
        name: String,
        params: Value,
        context: &RequestContext<RoleServer>,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, ErrorData> {
        let principal = self.principal(context)?;
        let mut request = Request::new(name, params, principal, self.door());
        request.trace = trace(context);
        self.state.strip.run_work(request, work).await.map_err(results::error_of)
    }

    /// Records a refusal of a request that did not reach the stack, and returns the error for the caller.
    pub(super) async fn refuse(
        &self,
        about: &str,
        context: &RequestContext<RoleServer>,
        code: Code,
        refusal: ErrorData,
    ) -> ErrorData {
        // A request without a caller was not admitted, which is refused elsewhere.
        if let Ok(principal) = self.principal(context) {
            let request =
                RefusedRequest { about, principal, door: self.door(), trace: trace(context) };
            let failure = Failure::new(code, refusal.message.clone());
            // Boxed to keep the future of calls small.
            let failure = Box::pin(self.state.strip.record_refusal(request, failure)).await;
            if failure.code != code {
                // The caller is over its rate.
                return results::error_of(failure);
            }
        }
        refusal
    }

    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let _running = self.state.running.token();
        let options = match options(&context) {
            Ok(options) => options,
            Err(invalid) => {
                return Err(self
                    .refuse(&request.name, &context, Code::InvalidInput, invalid)
                    .await);
            }
        };
        let modern = is_modern(&context);
        let principal = self.authorize_call(&request.name, &context).await?;
        let input = Value::Object(request.arguments.unwrap_or_default());
        let mut call = Request::new(request.name, input, principal, self.door());
        call.trace = trace(&context);
        call.modern = modern;
        call.run = self.run_of(&context, modern);
        options.apply(&mut call);
        let mut notices = None;
        let client = self.client(&context)?;
        if self.state.may_ask(&client, &call.tool) {
            let resume = results::resume(request.input_responses, request.request_state);
            (call.client, notices) =
                client::of(&context, client.capabilities, self.log_level(), resume.is_some())
                    .unzip();
            call.resume = resume.map(Arc::new);
        }
        let kinds = content_kinds(&context);
        let (session, cancelled) = (session_of(&context).cloned(), context.ct);
        let cancel = self.state.strip.call_token(call.trace);
        call.cancel = cancel.clone();
        let work = pin!(answer(&self.state, call, kinds));
        let work = client::send_notices(notices, work);
        client::cancel_on_end(&cancel, &cancelled, session.as_ref(), pin!(work)).await
    }
}

/// The options of a call, from its `_meta` and its headers.
fn options(context: &RequestContext<RoleServer>) -> Result<CallOptions, ErrorData> {
    let mut options = call_options(|key| context.meta.get(key))?;
    if let Some(parts) = context.extensions.get::<Parts>() {
        run_of_header(&parts.headers, &mut options)?;
    }
    Ok(options)
}
