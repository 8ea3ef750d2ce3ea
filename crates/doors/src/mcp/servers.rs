//! Prompts, resources, completions and tasks of servers, forwarded to them.

use std::pin::pin;
use std::sync::Arc;

use proto::Principal;
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, InputRequiredResult, ListResourceTemplatesResult, ListResourcesResult,
    Prompt, ReadResourceRequestParams, ReadResourceResponse, Reference,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use strip::servers::{ClientIdentity, Offered, Server};
use strip::{Output, Reply, Request, Resume, Strip};

use super::apps::Links;
use super::call::call_options;
use super::client;
use super::context::{is_modern, session_of, trace};
use super::handler::Handler;
use super::listing::TTL_MS;
use super::results::{error_of, resume, typed};

/// The prompts of all servers, as clients see them.
pub(super) fn prompts(strip: &Strip, client: &ClientIdentity) -> Vec<Prompt> {
    let listing = strip.servers().listing_of(client);
    listing.prompts().filter_map(|listed| entry(strip, &client.principal, listed)).collect()
}

pub(super) fn resources(
    strip: &Strip,
    client: &ClientIdentity,
    modern: bool,
) -> ListResourcesResult {
    let (listing, principal) = (strip.servers().listing_of(client), &client.principal);
    let listed = listing.resources().filter_map(|listed| entry(strip, principal, listed)).collect();
    let mut result = ListResourcesResult::with_all_items(listed);
    result.ttl_ms = modern.then_some(TTL_MS);
    result.cache_scope = modern.then_some(CacheScope::Private);
    result
}

pub(super) fn templates(
    strip: &Strip,
    client: &ClientIdentity,
    modern: bool,
) -> ListResourceTemplatesResult {
    let (listing, principal) = (strip.servers().listing_of(client), &client.principal);
    let listed = listing.templates().filter_map(|listed| entry(strip, principal, listed)).collect();
    let mut result = ListResourceTemplatesResult::with_all_items(listed);
    result.ttl_ms = modern.then_some(TTL_MS);
    result.cache_scope = modern.then_some(CacheScope::Private);
    result
}

/// An entry of a list, if the caller may use its server.
fn entry<T: DeserializeOwned>(
    strip: &Strip,
    principal: &Principal,
    (server, listed): (&str, &Arc<Value>),
) -> Option<T> {
    if strip.may_use_server(principal, server) { T::deserialize(&**listed).ok() } else { None }
}

/// A request that is forwarded to a server.
struct Forwarded<'a> {
    server: &'a Arc<dyn Server>,
    method: &'a str,
    params: Value,
    resume: Option<Resume>,
}

impl Handler {
    pub(super) async fn forward_read(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let client = self.client(&context)?;
        let listing = self.state.strip.servers().listing_of(&client);
        let found = listing.resource(&request.uri);
        let found = found.filter(|found| {
            self.state.strip.may_use_server(&client.principal, found.server.name())
        });
        let Some(found) = found else {
            let message = format!("there is no resource `{}`", request.uri);
            return Err(ErrorData::resource_not_found(message, Some(json!({"uri": request.uri}))));
        };
        let forwarded = Forwarded {
            server: &found.server,
            method: "resources/read",
            params: json!({"uri": found.remote}),
            resume: resume(request.input_responses, request.request_state),
        };
        let mut output = self.forward(forwarded, context).await?;
        if output.reply == Reply::NeedsInput {
            return typed::<InputRequiredResult>(&output.data).map(Into::into);
        }
        let links = Links { listing: &listing, server: found.server.name(), readable: true };
        rename(&mut output.data, &links, (&found.remote, &request.uri));
        Ok(ReadResourceResponse::Complete(typed(&output.data)?))
    }

    pub(super) async fn forward_prompt(
        &self,
        found: Offered,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut params = json!({"name": found.remote});
        if let Some(arguments) = request.arguments {
            params["arguments"] = arguments.into();
        }
        let forwarded = Forwarded {
            server: &found.server,
            method: "prompts/get",
            params,
            resume: resume(request.input_responses, request.request_state),
        };
        let client = self.client(&context)?;
        let mut output = self.forward(forwarded, context).await?;
        if output.reply == Reply::NeedsInput {
            return typed::<InputRequiredResult>(&output.data).map(Into::into);
        }
        let listing = self.state.strip.servers().listing_of(&client);
        let links = Links { listing: &listing, server: found.server.name(), readable: true };
        links.translate_prompt(Arc::make_mut(&mut output.data));
        Ok(GetPromptResponse::Complete(typed(&output.data)?))
    }

    /// Completes an argument of a server's prompt or template; `None` if no server has it.
    pub(super) async fn forward_completion(
        &self,
        request: &CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Option<Result<CompleteResult, ErrorData>> {
        let client = self.client(&context).ok()?;
        let listing = self.state.strip.servers().listing_of(&client);
        let (found, key) = match &request.r#ref {
            Reference::Prompt(named) => (listing.prompt(&named.name)?, "name"),
            Reference::Resource(named) => {
                let found =
                    listing.template(&named.uri).or_else(|| listing.resource(&named.uri))?;
                (found, "uri")
            }
            _ => return None,
        };
        if !self.state.strip.may_use_server(&client.principal, found.server.name()) {
            return None;
        }
        if !found.server.offering().has("completions") {
            return Some(Ok(CompleteResult::default()));
        }
        let mut params = serde_json::to_value(request).ok()?;
        params["ref"][key] = found.remote.clone().into();
        let forwarded = Forwarded {
            server: &found.server,
            method: "completion/complete",
            params,
            resume: None,
        };
        Some(self.forward(forwarded, context).await.and_then(|output| typed(&output.data)))
    }

    /// Forwards a request about a task to the server that created the task.
    pub(super) async fn forward_task(
        &self,
        method: &str,
        mut params: Value,
        context: RequestContext<RoleServer>,
    ) -> Result<Arc<Value>, ErrorData> {
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
        }
        let listing = self.state.strip.servers().listing();
        let server = listing.task_server(params["taskId"].as_str().unwrap_or_default());
        let principal = self.principal(&context)?;
        let server =
            server.filter(|server| self.state.strip.may_use_server(&principal, server.name()));
        let Some(server) = server else {
            return Err(ErrorData::invalid_params("there is no such task", None));
        };
        let forwarded = Forwarded { server: &server, method, params, resume: None };
        self.forward(forwarded, context).await.map(|output| output.data)
    }

    async fn forward(
        &self,
        request: Forwarded<'_>,
        context: RequestContext<RoleServer>,
    ) -> Result<Output, ErrorData> {
        let Forwarded { server, method, params, resume } = request;
        let principal = self.principal(&context)?;
        // A forwarded request makes a server work, so the scope to read lists is not enough.
        if !auth::scope::covers(&principal, auth::scope::TOOLS_CALL) {
            return Err(ErrorData::invalid_request(auth::Refusal::MissingScope.to_string(), None));
        }
        let mut call = Request::new(String::new(), params, principal, self.door());
        call.trace = trace(&context);
        call.modern = is_modern(&context);
        call.run = self.run_of(&context, call.modern);
        let meta = &context.meta;
        call_options(|key| meta.get(key))?.apply(&mut call);
        let declared = client::capabilities(&context);
        let (client, notices) =
            client::of(&context, declared, self.log_level(), resume.is_some()).unzip();
        call.client = client;
        call.resume = resume.map(Arc::new);
        let (session, cancelled) = (session_of(&context).cloned(), context.ct);
        let cancel = self.state.strip.call_token(call.trace);
        call.cancel = cancel.clone();
        let work = pin!(self.state.strip.forward(server, method, call));
        let work = client::send_notices(notices, work);
        let done = client::cancel_on_end(&cancel, &cancelled, session.as_ref(), pin!(work)).await;
        done.map_err(error_of)
    }
}

/// Replaces the URIs of a server by those that callers use, and the one that was read by the one that was requested.
fn rename(result: &mut Arc<Value>, links: &Links<'_>, (remote, shown): (&str, &str)) {
    let contents = result.get("contents").and_then(Value::as_array);
    let is_same = |content: &Value| remote == shown && content["uri"].as_str() == Some(remote);
    if contents.is_none_or(|contents| contents.iter().all(is_same)) {
        // Not copied where nothing changes: a resource may be large.
        return;
    }
    let contents = Arc::make_mut(result).get_mut("contents").and_then(Value::as_array_mut);
    for content in contents.into_iter().flatten() {
        if content["uri"].as_str() == Some(remote) {
            content["uri"] = shown.into();
        } else if let Some(uri) = content.get_mut("uri") {
            links.translate_uri(uri);
        }
    }
}
