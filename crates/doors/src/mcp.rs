//! What MCP clients see, whatever transport they came by: tools and prompts of the strip, in both protocol eras.

mod call;
mod listing;
mod notices;
mod prompts;
mod render;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt as _;
use http::request::Parts;
use proto::{Principal, TraceId};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use strip::{Call, Door, Strip};
use tokio_util::sync::CancellationToken;

pub(crate) use call::{run as call, wishes};
use listing::Listing;
use notices::Notices;

const INSTRUCTIONS: &str = "Powerstrip gathers the tools of many servers behind one connection. A failed call says \
    why in its text, begun by a code such as INVALID_INPUT (mend the arguments as it says and call again), RATE_LIMIT, \
    TIMEOUT or UNAVAILABLE (the same call may succeed later). The list of tools can change while you are connected.";

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
}

impl Handler {
    pub(crate) fn new(core: Arc<Core>, caller: Caller) -> Self {
        Self { core, caller, notices: OnceLock::new() }
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

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let meta = &context.meta;
        let wishes = wishes(|key| meta.get(key))?;
        let modern = is_modern(&context);
        let principal = self.principal(&context)?;
        // The HTTP door has told most of them already, with a challenge; here nobody gets past.
        if !auth::scope::covers(&principal, auth::scope::TOOLS_CALL) {
            return Err(ErrorData::invalid_request(auth::Refusal::MissingScope.to_string(), None));
        }
        let trace = context
            .extensions
            .get::<Parts>()
            .and_then(|parts| parts.extensions.get::<TraceId>())
            .copied()
            .unwrap_or_else(TraceId::random);
        let input = Value::Object(request.arguments.unwrap_or_default());
        let mut call = Call::new(request.name, input, principal, self.door());
        call.trace = trace;
        call.cancel = context.ct;
        wishes.grant(&mut call);
        call::run(&self.core, call, modern).await.map(Into::into)
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.core.info.clone()
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
        AssertUnwindSafe(self.call(request, context)).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("a tool call's handler panicked");
            Err(ErrorData::internal_error("the gateway failed on this call", None))
        })
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list(&self.core.strip, is_modern(&context)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&self.core.strip, &request.name, request.arguments).map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        prompts::complete(&self.core.strip, &request)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        notices::listen(&self.core, &context).await;
        Ok(())
    }

    /// Clients before 2026-07-28 are told of changes without asking.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.notices.get_or_init(|| Notices::start(Arc::clone(&self.core), context.peer));
    }
}

/// Whether the request speaks 2026-07-28 or later, in which structured content may be any JSON.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
