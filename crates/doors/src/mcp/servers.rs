//! Prompts, resources, completions and tasks of servers, forwarded to them.

use std::pin::pin;
use std::sync::Arc;

use proto::{Code, Principal};
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
use super::context::{content_kinds, is_modern, session_of, trace};
use super::handler::Handler;
use super::listing::TTL_MS;
use super::prompts;
use super::results::{error_of, remove_reserved, resume, typed};

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

/// A request that is forwarded to a server, if one offers what it asks for.
struct Forwarded<'a> {
    server: Option<&'a Arc<dyn Server>>,
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
        let remote = found.as_ref().map_or(&request.uri, |found| &found.remote);
        let forwarded = Forwarded {
            server: found.as_ref().map(|found| &found.server),
            method: "resources/read",
            params: json!({"uri": remote}),
            resume: resume(request.input_responses, request.request_state),
        };
        let answered = self.forward(forwarded, context).await?;
        let Some((found, mut output)) = found.zip(answered) else {
            let message = format!("there is no resource `{}`", request.uri);
            return Err(ErrorData::resource_not_found(message, Some(json!({"uri": request.uri}))));
        };
        if output.reply == Reply::NeedsInput {
            return typed::<InputRequiredResult>(&output.data).map(Into::into);
        }
        let links = Links { listing: &listing, server: found.server.name(), readable: true };
        rename(&mut output.data, &links, (&found.remote, &request.uri));
        Ok(ReadResourceResponse::Complete(typed(&output.data)?))
    }

    /// Gets a prompt that is not the strip's own.
    pub(super) async fn forward_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let client = self.client(&context)?;
        let listing = self.state.strip.servers().listing_of(&client);
        let found = listing.prompt(&request.name);
        let remote = found.as_ref().map_or(&request.name, |found| &found.remote);
        let mut params = json!({"name": remote});
        if let Some(arguments) = request.arguments {
            params["arguments"] = arguments.into();
        }
        let forwarded = Forwarded {
            server: found.as_ref().map(|found| &found.server),
            method: "prompts/get",
            params,
            resume: resume(request.input_responses, request.request_state),
        };
        let answered = self.forward(forwarded, context).await?;
        let Some((found, mut output)) = found.zip(answered) else {
            // The error for a prompt that does not exist.
            return prompts::get(&self.state.strip, &request.name, None).map(Into::into);
        };
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
    ) -> Result<Option<CompleteResult>, ErrorData> {
        let (strip, client) = (&self.state.strip, self.client(&context)?);
        let listing = strip.servers().listing_of(&client);
        let (found, key) = match &request.r#ref {
            Reference::Prompt(named) if prompts::has(strip, &named.name) => return Ok(None),
            Reference::Prompt(named) => (listing.prompt(&named.name), "name"),
            Reference::Resource(named) => {
                let found = listing.template(&named.uri).or_else(|| listing.resource(&named.uri));
                (found, "uri")
            }
            _ => return Ok(None),
        };
        let mut params = json!(request);
        if let Some(Offered { server, remote }) = &found {
            if strip.may_use_server(&client.principal, server.name())
                && !server.offering().has("completions")
            {
                return Ok(Some(CompleteResult::default()));
            }
            params["ref"][key] = remote.as_str().into();
        }
        let forwarded = Forwarded {
            server: found.as_ref().map(|found| &found.server),
            method: "completion/complete",
            params,
            resume: None,
        };
        let answered = self.forward(forwarded, context).await?;
        answered.map(|output| typed(&output.data)).transpose()
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
        let forwarded = Forwarded { server: server.as_ref(), method, params, resume: None };
        let answered = self.forward(forwarded, context).await?;
        let no_such = || ErrorData::invalid_params("there is no such task", None);
        answered.map(|output| output.data).ok_or_else(no_such)
    }

    /// Forwards a request; `None` if no server that the caller may use offers what it asks for.
    async fn forward(
        &self,
        request: Forwarded<'_>,
        context: RequestContext<RoleServer>,
    ) -> Result<Option<Output>, ErrorData> {
        let Forwarded { server, method, params, resume } = request;
        let principal = self.authorize_call(method, &context).await?;
        let meta = &context.meta;
        let options = match call_options(|key| meta.get(key)) {
            Ok(options) => options,
            Err(invalid) => {
                return Err(self.refuse(method, &context, Code::InvalidInput, invalid).await);
            }
        };
        let mut call = Request::new(String::new(), params, principal, self.door());
        call.trace = trace(&context);
        call.modern = is_modern(&context);
        call.run = self.run_of(&context, call.modern);
        options.apply(&mut call);
        let declared = client::capabilities(&context);
        let (client, notices) =
            client::of(&context, declared, self.log_level(), resume.is_some()).unzip();
        call.client = client;
        call.resume = resume.map(Arc::new);
        let kinds = content_kinds(&context);
        let (session, cancelled) = (session_of(&context).cloned(), context.ct);
        let cancel = self.state.strip.call_token(call.trace);
        call.cancel = cancel.clone();
        let work = pin!(self.state.strip.forward(server, method, call));
        let work = client::send_notices(notices, work);
        let done = client::cancel_on_end(&cancel, &cancelled, session.as_ref(), pin!(work)).await;
        let mut done = done.map_err(error_of)?;
        if let Some(output) = &mut done {
            remove_reserved(&mut output.data);
            kinds.render(&mut output.data);
        }
        Ok(done)
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
