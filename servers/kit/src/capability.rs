//! rmcp's handler for a server built with the kit.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, Implementation,
    InputResponses, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsRequestMethod, ListToolsResult, PaginatedRequestParams,
    PromptsCapability, ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourcesCapability, ServerCapabilities, ServerConfig, Tool,
    ToolsCapability,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use crate::base::Base;
use crate::call;
use crate::jobs::Jobs;
use crate::program::Program;
use crate::prompt::RegisteredPrompt;
use crate::resource::{Locator, Reader, RegisteredTemplate};
use crate::shared::Shared;
use crate::stdio::TOO_LONG;
use crate::stored::ReferenceStore;
use crate::tool::RegisteredTool;
use crate::{Ctx, Fault, Limits};

/// Everything a server offers, in the order it was described.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) instructions: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) tools: Vec<RegisteredTool>,
    pub(crate) prompts: Vec<RegisteredPrompt>,
    pub(crate) resources: Vec<(Resource, Reader)>,
    pub(crate) templates: Vec<RegisteredTemplate>,
    pub(crate) references: Option<ReferenceStore>,
    pub(crate) jobs: Option<Jobs>,
    pub(crate) programs: Vec<Program>,
    pub(crate) base: Arc<Base>,
}

/// A server ready to be served; cheap to clone, one clone per session.
#[derive(Clone)]
pub struct Capability {
    name: &'static str,
    version: &'static str,
    parts: Arc<Parts>,
}

impl Capability {
    pub(crate) fn new(name: &'static str, version: &'static str, parts: Arc<Parts>) -> Self {
        Self { name, version, parts }
    }

    /// The jobs, which a program starts and stops with its server.
    pub(crate) fn jobs(&self) -> Option<Jobs> {
        self.parts.jobs.clone()
    }

    fn offers_resources(&self) -> bool {
        let parts = &self.parts;
        !(parts.resources.is_empty() && parts.templates.is_empty()) || parts.references.is_some()
    }

    fn ctx(
        &self,
        context: RequestContext<RoleServer>,
        responses: Option<InputResponses>,
        state: Option<String>,
    ) -> Ctx {
        let shared = Shared {
            references: self.parts.references.clone(),
            jobs: self.parts.jobs.clone(),
            base: Arc::clone(&self.parts.base),
        };
        Ctx::new(context, responses, state, shared)
    }

    fn find_resource(&self, uri: &str) -> Option<(Locator, &Reader)> {
        if let Some((resource, read)) =
            self.parts.resources.iter().find(|(resource, _)| resource.uri == uri)
        {
            let locator = Locator { uri: resource.uri.clone(), variables: Default::default() };
            return Some((locator, read));
        }
        self.parts
            .templates
            .iter()
            .find_map(|template| Some((template.locate(uri)?, &template.read)))
    }
}

/// Lists have one page, so every cursor is unknown.
fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|page| page.cursor) {
        Some(cursor) => {
            Err(ErrorData::invalid_params("unknown cursor", Some(json!({ "cursor": cursor }))))
        }
        None => Ok(()),
    }
}

impl ServerHandler for Capability {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = (!self.parts.tools.is_empty()).then(ToolsCapability::default);
        capabilities.prompts = (!self.parts.prompts.is_empty()).then(PromptsCapability::default);
        capabilities.resources = self.offers_resources().then(ResourcesCapability::default);
        let mut config = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(self.name, self.version));
        config.instructions = self.parts.instructions.clone();
        config
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if self.parts.tools.is_empty() {
            return Err(ErrorData::method_not_found::<ListToolsRequestMethod>());
        }
        first_page(request)?;
        Ok(ListToolsResult::with_all_items(
            self.parts.tools.iter().map(|tool| tool.listing.clone()).collect(),
        ))
    }

    // rmcp compares `Mcp-Param-*` headers with the arguments only for tools it can find here.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.parts
            .tools
            .iter()
            .find(|tool| tool.listing.name == name)
            .map(|tool| tool.listing.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.parts.tools.iter().find(|tool| tool.listing.name == request.name)
        else {
            return Err(ErrorData::invalid_params(format!("unknown tool: {}", request.name), None));
        };
        let ctx = self.ctx(context, request.input_responses, request.request_state);
        call::run(tool, request.arguments.unwrap_or_default(), ctx, self.parts.limits).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if self.parts.prompts.is_empty() {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        }
        first_page(request)?;
        Ok(ListPromptsResult::with_all_items(
            self.parts.prompts.iter().map(|prompt| prompt.listing.clone()).collect(),
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if self.parts.prompts.is_empty() {
            return Err(ErrorData::method_not_found::<GetPromptRequestMethod>());
        }
        let Some(prompt) =
            self.parts.prompts.iter().find(|prompt| prompt.listing.name == request.name)
        else {
            return Err(ErrorData::invalid_params(
                format!("unknown prompt: {}", request.name),
                None,
            ));
        };
        let ctx = self.ctx(context, request.input_responses, request.request_state);
        let arguments = request.arguments.unwrap_or_default();
        call::guard(prompt.get(arguments, ctx.clone()), &ctx, self.parts.limits.timeout)
            .await
            .map_err(Fault::into_error)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.offers_resources() {
            return Err(ErrorData::method_not_found::<ListResourcesRequestMethod>());
        }
        first_page(request)?;
        let listed = self.parts.resources.iter().map(|(resource, _)| resource.clone()).collect();
        Ok(ListResourcesResult::with_all_items(listed))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if !self.offers_resources() {
            return Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>());
        }
        first_page(request)?;
        let templates = self.parts.templates.iter().map(|template| template.listing.clone());
        let listed =
            templates.chain(self.parts.references.iter().map(|store| store.template())).collect();
        Ok(ListResourceTemplatesResult::with_all_items(listed))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == TOO_LONG {
            let limit = self.parts.limits.body_bytes;
            let message = format!(
                "the request has more than {limit} bytes: send a smaller file, or start the server with a larger \
                 --max-body-bytes"
            );
            return Err(ErrorData::invalid_request(message, Some(json!({ "limit": limit }))));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.offers_resources() {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        if let Some(store) = &self.parts.references
            && let Some(stored) = store.read(&request.uri).await
        {
            return Ok(ReadResourceResult::new(vec![stored.map_err(Fault::into_error)?]).into());
        }
        let Some((locator, read)) = self.find_resource(&request.uri) else {
            return Err(ErrorData::resource_not_found(
                "resource not found",
                Some(json!({ "uri": request.uri })),
            ));
        };
        let ctx = self.ctx(context, request.input_responses, request.request_state);
        let contents = call::guard(read(locator, ctx.clone()), &ctx, self.parts.limits.timeout)
            .await
            .map_err(Fault::into_error)?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
