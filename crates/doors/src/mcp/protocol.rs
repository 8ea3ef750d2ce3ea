//! The methods of the protocol, as rmcp calls them.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};

use auth::scope::{TOOLS_CALL, covers};
use futures_util::FutureExt as _;
use http::request::Parts;
use proto::{Code, Failure};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ResourcesCapability, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams,
    SubscribeRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

use super::changes::{Changes, ListVersions};
use super::context::{is_modern, keep_worker, log_level, session_of, trace};
use super::handler::Handler;
use super::notices::{self, ChangeNotifier, WatchedResources};
use super::{apps, files, prompts, results, servers};

/// The methods by which clients subscribe to resources, in the two eras.
const SUBSCRIBE: &str = "resources/subscribe";
const LISTEN: &str = "subscriptions/listen";

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.state.info.clone();
        let listing = self.state.strip.servers().listing();
        let capabilities = &mut info.capabilities;
        // Files are always offered as resources; only servers report changes of resources.
        let mut resources = ResourcesCapability::default();
        if listing.has("resources") {
            resources.subscribe = Some(true);
            resources.list_changed = Some(true);
        }
        capabilities.resources = Some(resources);
        if listing.has("logging") {
            capabilities.logging = Some(JsonObject::new());
        }
        let extensions = apps::extensions(&self.state.strip, self.caller().as_deref());
        if !extensions.is_empty() {
            capabilities.extensions = Some(extensions);
        }
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let client = self.client(&context)?;
        let (strip, modern) = (&self.state.strip, is_modern(&context));
        self.state.listing.page(strip, &client, cursor.as_deref(), modern)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let principal = self.caller()?;
        let schema = self.state.listing.input_schema(&self.state.strip, &principal, name)?;
        Some(Tool::new_with_raw(name.to_owned(), None, schema))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Boxed, because rmcp holds one future with the size of its largest handler. The panic is caught, because rmcp
        // would never answer the request.
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
        let client = self.client(&context)?;
        Ok(prompts::list(&self.state.strip, &client, is_modern(&context)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let strip = &self.state.strip;
        if prompts::has(strip, &request.name) {
            return prompts::get(strip, &request.name, request.arguments).map(Into::into);
        }
        self.forward_prompt(request, context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match self.forward_completion(&request, context).await? {
            Some(completed) => Ok(completed),
            None => prompts::complete(&self.state.strip, &request),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (strip, client) = (&self.state.strip, self.client(&context)?);
        let cursor = request.and_then(|request| request.cursor);
        let mut listed = servers::resources(strip, &client, is_modern(&context));
        // The resources of servers are on the first page; all later pages are files.
        if cursor.is_some() {
            listed.resources.clear();
        }
        files::list(strip, &client.principal, cursor, &mut listed).await?;
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let client = self.client(&context)?;
        let mut listed = servers::templates(&self.state.strip, &client, is_modern(&context));
        files::template(&client.principal, &mut listed)?;
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri.starts_with(::files::URI) {
            let principal = self.principal(&context)?;
            let using = strip::files::FileUse {
                action: "read",
                id: request.uri.strip_prefix(::files::URI).unwrap_or_default(),
                principal: Arc::clone(&principal),
                door: self.door(),
                trace: trace(&context),
            };
            let read = files::read(&self.state.strip, &principal, using).await?;
            return Ok(ReadResourceResponse::Complete(results::typed(&read)?));
        }
        self.forward_read(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let client = Arc::new(self.client(&context)?);
        if !self.state.strip.servers().listing().has("resources") {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        self.authorize_call(SUBSCRIBE, &context).await?;
        let (strip, uri) = (&self.state.strip, &request.uri);
        let message = format!("`{uri}` cannot be subscribed to");
        let Some(server) = notices::server_of(strip, &client, uri) else {
            let refusal = ErrorData::resource_not_found(message, None);
            return Err(self.refuse(SUBSCRIBE, &context, Code::NotFound, refusal).await);
        };
        let (name, params) = (format!("{server}:{SUBSCRIBE}"), json!({"uri": uri}));
        let work = async {
            let added = self.subscriptions.add(strip, &client, uri);
            added.then_some(()).ok_or_else(|| Failure::new(Code::NotFound, message))
        };
        self.run_work(name, params, &context, work).await?;
        keep_worker(session_of(&context));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Since 2026-07-28 each request names its own level.
        if is_modern(&context) || !self.state.strip.servers().listing().has("logging") {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.log_level.lock().unwrap_or_else(PoisonError::into_inner) = log_level(request.level);
        keep_worker(session_of(&context));
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let params = json!(request);
        let result = self.forward_task("tasks/get", params, context).await?;
        results::typed(&result)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let params = json!(request);
        self.forward_task("tasks/update", params, context).await.map(|_acknowledged| ())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let params = json!(request);
        self.forward_task("tasks/cancel", params, context).await.map(|_acknowledged| ())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        // Watching a resource makes its server work.
        if !self.caller().is_some_and(|caller| covers(&caller, TOOLS_CALL)) {
            accepted.resource_subscriptions = None;
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context();
        let client = Arc::new(self.client(request)?);
        let mut resources = WatchedResources::of(context.accepted());
        if !resources.is_empty() {
            let params =
                json!({"resourceSubscriptions": context.accepted().resource_subscriptions});
            let work = async {
                resources.find(&self.state.strip, &client);
                Ok(())
            };
            self.run_work(LISTEN.to_owned(), params, request, work).await?;
        }
        notices::serve_subscription(&self.state, &client, &context, resources).await;
        Ok(())
    }

    /// Clients before 2026-07-28 are notified of changes without a subscription.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let subscriptions = Arc::clone(&self.subscriptions);
        let parts = context.extensions.get::<Parts>();
        let parked = parts.and_then(|parts| parts.extensions.get::<ListVersions>()).copied();
        let Some(client) = self.client_of_connection(&context) else { return };
        self.notifier.get_or_init(|| {
            let changes = Changes::of(&self.state.strip, Arc::new(client));
            ChangeNotifier::start(changes, context.peer, subscriptions, parked)
        });
    }
}
