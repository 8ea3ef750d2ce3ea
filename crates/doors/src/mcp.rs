//! What MCP clients see, whatever transport they came by: tools and prompts of the strip, in both protocol eras.
#![expect(
    deprecated,
    reason = "logging is passed on to and from the clients and servers that still use it"
)]

mod call;
mod client;
mod files;
mod listing;
mod notices;
mod prompts;
mod render;
mod servers;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::FutureExt as _;
use http::request::Parts;
use proto::{Principal, TraceId};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, ServerCapabilities,
    ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestMethod,
    SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, Tool, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use serde_json::value::RawValue;
use strip::agents::ApprovalRule;
use strip::runs::RunOf;
use strip::{Door, LogLevel, Request, Strip};
use tokio_util::sync::CancellationToken;

use crate::http::SessionUse;

pub(crate) use call::{MISSING_CAPABILITY, run as call, run_of_header, wishes};
use listing::Listing;
pub(crate) use notices::Marks;
use notices::{Notices, Watches};

const INSTRUCTIONS: &str = "Powerstrip gathers the tools of many servers behind one connection. A failed call says \
    why in its text, begun by a code such as INVALID_INPUT (mend the arguments as it says and call again), RATE_LIMIT, \
    TIMEOUT or UNAVAILABLE (the same call may succeed later). The list of tools can change while you are connected.";

/// Names the session of a legacy client over HTTP.
const SESSION_ID: &str = "mcp-session-id";

tokio::task_local! {
    /// Who sent the request at hand, where the protocol library looks at tools before it says for whom.
    pub(crate) static VIEWER: Arc<Principal>;
}

/// Which name a request's caller goes by.
pub(crate) enum Caller {
    /// One caller for the whole connection: a pipe or a local socket.
    Fixed(Arc<Principal>),
    /// Whom the HTTP door let in with each request.
    OfRequest,
}

/// What all connections share.
pub(crate) struct Core {
    strip: Arc<Strip>,
    info: ServerConfig,
    listing: Listing,
    shutdown: CancellationToken,
}

impl Core {
    pub(crate) fn new(strip: Arc<Strip>, shutdown: CancellationToken) -> Self {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("powerstrip", env!("CARGO_PKG_VERSION"))
                    .with_title("Powerstrip"),
            )
            .with_instructions(INSTRUCTIONS);
        Self { strip, info, listing: Listing::default(), shutdown }
    }

    pub(crate) fn strip(&self) -> &Arc<Strip> {
        &self.strip
    }

    /// A page of the tools, ready to be sent to a client of 2026-07-28.
    pub(crate) fn page(
        &self,
        principal: &Principal,
        cursor: Option<&str>,
    ) -> Option<Arc<RawValue>> {
        self.listing.written(&self.strip, principal, cursor)
    }

    /// Whether a call may tell or ask its caller something: a server's tool does, and a person who has to approve it.
    pub(crate) fn may_ask(&self, name: &str) -> bool {
        let snapshot = self.strip.catalog().snapshot();
        snapshot.resolve(name).is_ok_and(|entry| {
            let id = &entry.descriptor.id;
            id.server().is_some() || self.strip.approval_rule(id) != ApprovalRule::Free
        })
    }

    /// Whether some of a tool's arguments must be repeated in headers.
    pub(crate) fn takes_headers(&self, principal: &Principal, name: &str) -> bool {
        self.listing.takes_headers(&self.strip, principal, name)
    }
}

/// One connection, or one stateless request.
pub(crate) struct Handler {
    core: Arc<Core>,
    caller: Caller,
    /// Ends with the connection.
    notices: OnceLock<Notices>,
    watches: Arc<Watches>,
    /// The least level of log messages that a legacy client asked for.
    log_level: Mutex<Option<LogLevel>>,
    /// What a connection of a legacy client without a session id of its own is known by.
    session: OnceLock<Arc<str>>,
}

impl Handler {
    pub(crate) fn new(core: Arc<Core>, caller: Caller) -> Self {
        Self {
            core,
            caller,
            notices: OnceLock::new(),
            watches: Arc::default(),
            log_level: Mutex::default(),
            session: OnceLock::new(),
        }
    }

    /// From which level on a legacy client hears log messages, also before it says so.
    fn log_level(&self) -> Option<LogLevel> {
        let chosen = *self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
        chosen
            .or_else(|| self.core.strip.servers().shelf().has("logging").then_some(LogLevel::Info))
    }

    fn door(&self) -> Door {
        match self.caller {
            Caller::Fixed(_) => Door::McpStdio,
            Caller::OfRequest => Door::McpHttp,
        }
    }

    /// Who asks. A request that no door has let in is never served as anybody.
    fn principal(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Principal>, ErrorData> {
        match &self.caller {
            Caller::Fixed(principal) => Ok(Arc::clone(principal)),
            Caller::OfRequest => context
                .extensions
                .get::<Parts>()
                .and_then(|parts| parts.extensions.get::<Arc<Principal>>())
                .cloned()
                .ok_or_else(|| ErrorData::internal_error("the request has no principal", None)),
        }
    }

    /// The run of a request that names none: the session of a legacy client, and the run at hand of others.
    fn run_of(&self, context: &RequestContext<RoleServer>, modern: bool) -> RunOf {
        if modern {
            return RunOf::Current;
        }
        let parts = context.extensions.get::<Parts>();
        let id = parts.and_then(|parts| parts.headers.get(SESSION_ID)?.to_str().ok());
        RunOf::Session(match id {
            Some(id) => id.into(),
            None => {
                let own = || TraceId::random().to_string().into();
                Arc::clone(self.session.get_or_init(own))
            }
        })
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let meta = &context.meta;
        let mut wishes = wishes(|key| meta.get(key))?;
        if let Some(parts) = context.extensions.get::<Parts>() {
            run_of_header(&parts.headers, &mut wishes)?;
        }
        let modern = is_modern(&context);
        let principal = self.principal(&context)?;
        // The HTTP door has told most of them already, with a challenge; here nobody gets past.
        if !auth::scope::covers(&principal, auth::scope::TOOLS_CALL) {
            return Err(ErrorData::invalid_request(auth::Refusal::MissingScope.to_string(), None));
        }
        let input = Value::Object(request.arguments.unwrap_or_default());
        let mut call = Request::new(request.name, input, principal, self.door());
        call.trace = trace(&context);
        call.run = self.run_of(&context, modern);
        wishes.grant(&mut call);
        let mut ear = None;
        if self.core.may_ask(&call.tool) {
            let resume = servers::resume(request.input_responses, request.request_state);
            (call.client, ear) = client::of(&context, self.log_level(), resume.is_some()).unzip();
            call.resume = resume.map(Arc::new);
        }
        let (session, asked) = (session_of(&context).cloned(), context.ct);
        let cancel = self.core.strip.call_token(call.trace);
        call.cancel = cancel.clone();
        let work = pin!(call::answered(&self.core, call, modern));
        let work = client::attended(ear, work);
        client::cancelling(&cancel, &asked, session.as_ref(), pin!(work)).await
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.core.info.clone();
        let shelf = self.core.strip.servers().shelf();
        let capabilities = &mut info.capabilities;
        // Files are resources of our own; only servers tell when one of theirs changes.
        let mut resources = ResourcesCapability::default();
        if shelf.has("resources") {
            resources.subscribe = Some(true);
            resources.list_changed = Some(true);
        }
        capabilities.resources = Some(resources);
        if shelf.has("logging") {
            capabilities.logging = Some(JsonObject::new());
        }
        if shelf.extends(TASKS_EXTENSION_ID) {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        }
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let principal = self.principal(&context)?;
        let (strip, modern) = (&self.core.strip, is_modern(&context));
        self.core.listing.page(strip, &principal, cursor.as_deref(), modern)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let principal = match &self.caller {
            Caller::Fixed(principal) => Arc::clone(principal),
            Caller::OfRequest => VIEWER.try_with(Arc::clone).ok()?,
        };
        let schema = self.core.listing.input_schema(&self.core.strip, &principal, name)?;
        Some(Tool::new_with_raw(name.to_owned(), None, schema))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // rmcp never answers a request whose handler panicked: its client would wait for ever.
        // Apart from the others: the library holds one future that has room for the largest of all handlers.
        let call = Box::pin(self.call(request, context));
        AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("a tool call's handler panicked");
            Err(ErrorData::internal_error("the gateway failed on this call", None))
        })
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let principal = self.principal(&context)?;
        Ok(prompts::list(&self.core.strip, &principal, is_modern(&context)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let strip = &self.core.strip;
        let principal = self.principal(&context)?;
        let found = strip.servers().shelf().prompt(&request.name);
        match found.filter(|found| strip.reaches(&principal, found.server.name())) {
            Some(found) if !prompts::has(strip, &request.name) => {
                self.prompt_of_server(found, request, context).await
            }
            _ => prompts::get(strip, &request.name, request.arguments).map(Into::into),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match self.completion_of_server(&request, context).await {
            Some(completed) => completed,
            None => prompts::complete(&self.core.strip, &request),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (strip, principal) = (&self.core.strip, self.principal(&context)?);
        let cursor = request.and_then(|request| request.cursor);
        let mut listed = servers::resources(strip, &principal, is_modern(&context));
        // What servers offer stands on the first page; all pages after it are files.
        if cursor.is_some() {
            listed.resources.clear();
        }
        files::list(strip, &principal, cursor, &mut listed).await?;
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let principal = self.principal(&context)?;
        let mut listed = servers::templates(&self.core.strip, &principal, is_modern(&context));
        files::template(&principal, &mut listed)?;
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri.starts_with(strip::files::URI) {
            let principal = self.principal(&context)?;
            let using = strip::files::FileUse {
                action: "read",
                id: request.uri.strip_prefix(strip::files::URI).unwrap_or_default(),
                principal: Arc::clone(&principal),
                door: self.door(),
                trace: trace(&context),
            };
            let read = files::read(&self.core.strip, &principal, using).await?;
            return Ok(ReadResourceResponse::Complete(servers::typed(&read)?));
        }
        self.read_of_server(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let principal = self.principal(&context)?;
        if !self.core.strip.servers().shelf().has("resources") {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        if self.watches.begin(&self.core.strip, &principal, &request.uri) {
            keep_worker(session_of(&context));
            return Ok(());
        }
        let message = format!("`{}` cannot be subscribed to", request.uri);
        Err(ErrorData::resource_not_found(message, None))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watches.end(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Since 2026-07-28 each request names its own level.
        if is_modern(&context) || !self.core.strip.servers().shelf().has("logging") {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = named(request.level);
        keep_worker(session_of(&context));
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let params = serde_json::to_value(request).unwrap_or_default();
        let result = self.task_of_server("tasks/get", params, context).await?;
        servers::typed(&result)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let params = serde_json::to_value(request).unwrap_or_default();
        self.task_of_server("tasks/update", params, context).await.map(|_acknowledged| ())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let params = serde_json::to_value(request).unwrap_or_default();
        self.task_of_server("tasks/cancel", params, context).await.map(|_acknowledged| ())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let principal = self.principal(context.request_context())?;
        notices::listen(&self.core, &principal, &context).await;
        Ok(())
    }

    /// Clients before 2026-07-28 are told of changes without asking.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let watches = Arc::clone(&self.watches);
        let parts = context.extensions.get::<Parts>();
        let parked = parts.and_then(|parts| parts.extensions.get::<Marks>()).copied();
        self.notices.get_or_init(|| Notices::start(&self.core, context.peer, watches, parked));
    }
}

/// Whether the request speaks 2026-07-28 or later, in which structured content may be any JSON.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The session that a request belongs to, over HTTP.
fn session_of(context: &RequestContext<RoleServer>) -> Option<&SessionUse> {
    context.extensions.get::<Parts>()?.extensions.get()
}

/// Has the library's tasks for a session go on: they remember something from now on.
fn keep_worker(session: Option<&SessionUse>) {
    if let Some(session) = session {
        session.keep_worker();
    }
}

/// The trace that the door gave a request, or one of its own.
fn trace(context: &RequestContext<RoleServer>) -> TraceId {
    context
        .extensions
        .get::<Parts>()
        .and_then(|parts| parts.extensions.get::<TraceId>())
        .copied()
        .unwrap_or_else(TraceId::random)
}

fn named(level: LoggingLevel) -> Option<LogLevel> {
    let name = serde_json::to_value(level).ok()?;
    LogLevel::named(name.as_str()?)
}
