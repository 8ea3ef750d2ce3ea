//! What servers offer beside tools, as MCP lists, reads and completes it.

use std::pin::pin;
use std::sync::Arc;

use proto::{Code, Principal};
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, InputRequiredResult, ListResourceTemplatesResult,
    ListResourcesResult, Prompt, ReadResourceRequestParams, ReadResourceResponse, Reference,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use strip::servers::{Offered, Server};
use strip::{Failure, Output, Reply, Request, Resume, Strip};

use super::Handler;
use super::client;
use super::listing::TTL_MS;

/// The prompts of all servers, as clients see them.
pub(super) fn prompts(strip: &Strip, principal: &Principal) -> Vec<Prompt> {
    let shelf = strip.servers().shelf();
    shelf.prompts().filter_map(|listed| read(strip, principal, listed)).collect()
}

pub(super) fn resources(strip: &Strip, principal: &Principal, modern: bool) -> ListResourcesResult {
    let shelf = strip.servers().shelf();
    let listed = shelf.resources().filter_map(|listed| read(strip, principal, listed)).collect();
    let mut result = ListResourcesResult::with_all_items(listed);
    result.ttl_ms = modern.then_some(TTL_MS);
    result.cache_scope = modern.then_some(CacheScope::Private);
    result
}

pub(super) fn templates(
    strip: &Strip,
    principal: &Principal,
    modern: bool,
) -> ListResourceTemplatesResult {
    let shelf = strip.servers().shelf();
    let listed = shelf.templates().filter_map(|listed| read(strip, principal, listed)).collect();
    let mut result = ListResourceTemplatesResult::with_all_items(listed);
    result.ttl_ms = modern.then_some(TTL_MS);
    result.cache_scope = modern.then_some(CacheScope::Private);
    result
}

/// An entry of a list, if its caller may use what its server offers.
fn read<T: DeserializeOwned>(
    strip: &Strip,
    principal: &Principal,
    (server, entry): (&str, &Arc<Value>),
) -> Option<T> {
    if strip.reaches(principal, server) { T::deserialize(&**entry).ok() } else { None }
}

/// A request that is handed on to a server.
struct Passed<'a> {
    server: &'a Arc<dyn Server>,
    method: &'a str,
    params: Value,
    resume: Option<Resume>,
}

impl Handler {
    pub(super) async fn read_of_server(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let shelf = self.core.strip.servers().shelf();
        let principal = self.principal(&context)?;
        let found = shelf.resource(&request.uri);
        let found = found.filter(|found| self.core.strip.reaches(&principal, found.server.name()));
        let Some(found) = found else {
            let message = format!("there is no resource `{}`", request.uri);
            return Err(ErrorData::resource_not_found(message, Some(json!({"uri": request.uri}))));
        };
        let passed = Passed {
            server: &found.server,
            method: "resources/read",
            params: json!({"uri": found.remote}),
            resume: resume(request.input_responses, request.request_state),
        };
        let mut output = self.hand_on(passed, context).await?;
        if output.reply == Reply::NeedsInput {
            return typed::<InputRequiredResult>(&output.data).map(Into::into);
        }
        if found.remote != request.uri {
            rename(Arc::make_mut(&mut output.data), &found.remote, &request.uri);
        }
        Ok(ReadResourceResponse::Complete(typed(&output.data)?))
    }

    pub(super) async fn prompt_of_server(
        &self,
        found: Offered,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut params = json!({"name": found.remote});
        if let Some(arguments) = request.arguments {
            params["arguments"] = arguments.into();
        }
        let passed = Passed {
            server: &found.server,
            method: "prompts/get",
            params,
            resume: resume(request.input_responses, request.request_state),
        };
        let output = self.hand_on(passed, context).await?;
        if output.reply == Reply::NeedsInput {
            return typed::<InputRequiredResult>(&output.data).map(Into::into);
        }
        Ok(GetPromptResponse::Complete(typed(&output.data)?))
    }

    /// Completes an argument of a server's prompt or template; `None` if no server has it.
    pub(super) async fn completion_of_server(
        &self,
        request: &CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Option<Result<CompleteResult, ErrorData>> {
        let shelf = self.core.strip.servers().shelf();
        let principal = self.principal(&context).ok()?;
        let (found, key) = match &request.r#ref {
            Reference::Prompt(named) => (shelf.prompt(&named.name)?, "name"),
            Reference::Resource(named) => {
                let found = shelf.template(&named.uri).or_else(|| shelf.resource(&named.uri))?;
                (found, "uri")
            }
            _ => return None,
        };
        if !self.core.strip.reaches(&principal, found.server.name()) {
            return None;
        }
        if !found.server.offering().has("completions") {
            return Some(Ok(CompleteResult::default()));
        }
        let mut params = serde_json::to_value(request).ok()?;
        params["ref"][key] = found.remote.clone().into();
        let passed =
            Passed { server: &found.server, method: "completion/complete", params, resume: None };
        Some(self.hand_on(passed, context).await.and_then(|output| typed(&output.data)))
    }

    /// Hands a request about a task on to the server that made it.
    pub(super) async fn task_of_server(
        &self,
        method: &str,
        mut params: Value,
        context: RequestContext<RoleServer>,
    ) -> Result<Arc<Value>, ErrorData> {
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
        }
        let shelf = self.core.strip.servers().shelf();
        let server = shelf.task_server(params["taskId"].as_str().unwrap_or_default());
        let principal = self.principal(&context)?;
        let server = server.filter(|server| self.core.strip.reaches(&principal, server.name()));
        let Some(server) = server else {
            return Err(ErrorData::invalid_params("there is no such task", None));
        };
        let passed = Passed { server: &server, method, params, resume: None };
        self.hand_on(passed, context).await.map(|output| output.data)
    }

    async fn hand_on(
        &self,
        passed: Passed<'_>,
        context: RequestContext<RoleServer>,
    ) -> Result<Output, ErrorData> {
        let Passed { server, method, params, resume } = passed;
        let principal = self.principal(&context)?;
        // Whatever reaches a server makes it work: to be allowed to look at our lists is not enough.
        if !auth::scope::covers(&principal, auth::scope::TOOLS_CALL) {
            return Err(ErrorData::invalid_request(auth::Refusal::MissingScope.to_string(), None));
        }
        let mut call = Request::new(String::new(), params, principal, self.door());
        call.trace = super::trace(&context);
        call.run = self.run_of(&context, super::is_modern(&context));
        let meta = &context.meta;
        super::wishes(|key| meta.get(key))?.grant(&mut call);
        let caller = client::of(&context, self.log_level(), resume.is_some());
        let (client, ear) = caller.unzip();
        call.client = client;
        call.resume = resume.map(Arc::new);
        let (session, asked) = (super::session_of(&context).cloned(), context.ct);
        let cancel = self.core.strip.call_token(call.trace);
        call.cancel = cancel.clone();
        let work = pin!(self.core.strip.pass_on(server, method, call));
        let work = client::attended(ear, work);
        client::cancelling(&cancel, &asked, session.as_ref(), pin!(work)).await.map_err(fault)
    }
}

/// What came with a request that is sent again.
pub(super) fn resume(
    responses: Option<rmcp::model::InputResponses>,
    state: Option<String>,
) -> Option<Resume> {
    if responses.is_none() && state.is_none() {
        return None;
    }
    let responses = responses.unwrap_or_default().into_iter().collect();
    Some(Resume { responses, state })
}

/// A server's result as the protocol library knows it.
pub(super) fn typed<T: DeserializeOwned>(result: &Value) -> Result<T, ErrorData> {
    // A legacy server does not say that a result is whole, and a modern client wants to hear it.
    let said = result.get("resultType").is_some() || !result.is_object();
    let whole = (!said).then(|| {
        let mut whole = result.clone();
        whole["resultType"] = "complete".into();
        whole
    });
    T::deserialize(whole.as_ref().unwrap_or(result)).map_err(|why| {
        tracing::warn!(%why, "a server's result is not what the protocol says");
        ErrorData::internal_error("the server gave an answer that is not MCP", None)
    })
}

/// Shows contents under the URI by which the caller asked for them.
fn rename(result: &mut Value, remote: &str, shown: &str) {
    let contents = result.get_mut("contents").and_then(Value::as_array_mut);
    for content in contents.into_iter().flatten() {
        if content["uri"].as_str() == Some(remote) {
            content["uri"] = shown.into();
        }
    }
}

/// A server's own error as it stands; else what a failure means in JSON-RPC.
pub(super) fn fault(failure: Failure) -> ErrorData {
    if let Some(error) = of_server(&failure) {
        return error;
    }
    match failure.code {
        Code::NotFound => ErrorData::resource_not_found(failure.message, failure.details),
        Code::InvalidInput => ErrorData::invalid_params(failure.message, failure.details),
        _ => {
            let mut data = Map::new();
            data.insert("code".to_owned(), failure.code.as_str().into());
            data.insert("retryable".to_owned(), failure.retryable.into());
            ErrorData::internal_error(failure.message, Some(data.into()))
        }
    }
}

/// The JSON-RPC error that a server answered with, if that is what failed.
pub(super) fn of_server(failure: &Failure) -> Option<ErrorData> {
    let details = failure.details.as_ref()?;
    details.get("server")?;
    let code = i32::try_from(details.get("code")?.as_i64()?).ok()?;
    let data = details.get("data").filter(|data| !data.is_null()).cloned();
    Some(ErrorData::new(ErrorCode(code), failure.message.clone(), data))
}
