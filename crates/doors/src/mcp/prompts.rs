//! The prompts of the strip: lists, renders and completes them.

use prompts::PromptError;
use proto::{Code, PromptRef};
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, GetPromptResult,
    JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Reference, Role,
};
use serde_json::Value;
use strip::Strip;
use strip::servers::ClientIdentity;

use super::listing::TTL_MS;
use super::servers;

pub(super) fn list(strip: &Strip, client: &ClientIdentity, modern: bool) -> ListPromptsResult {
    let own = strip.prompts().snapshot();
    let mut prompts: Vec<Prompt> =
        own.prompts().iter().filter(|one| !one.is_shipped()).map(listed).collect();
    prompts.extend(servers::prompts(strip, client));
    let mut result = ListPromptsResult::with_all_items(prompts);
    result.ttl_ms = modern.then_some(TTL_MS);
    result.cache_scope = modern.then_some(CacheScope::Private);
    result
}

/// Whether the strip itself has a prompt with this name.
pub(super) fn has(strip: &Strip, name: &str) -> bool {
    reference(name).is_ok_and(|reference| strip.prompts().snapshot().get(&reference).is_ok())
}

pub(super) fn get(
    strip: &Strip,
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let own = strip.prompts().snapshot();
    let prompt = own.get(&reference(name)?).map_err(fault)?;
    let arguments = Value::Object(arguments.unwrap_or_default());
    let text = strip::run_blocking(usize::MAX, || prompt.render(&arguments)).map_err(fault)?;
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
        .with_description(prompt.description.clone()))
}

pub(super) fn complete(
    strip: &Strip,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let Reference::Prompt(named) = &request.r#ref else {
        return Err(ErrorData::invalid_params("only prompts' arguments can be completed", None));
    };
    let own = strip.prompts().snapshot();
    let prompt = own.get(&reference(&named.name)?).map_err(fault)?;
    let argument = &request.argument;
    if !prompt.arguments.iter().any(|known| known.name == argument.name) {
        let message = format!("`{}` has no argument `{}`", prompt.id(), argument.name);
        return Err(ErrorData::invalid_params(message, None));
    }
    let values = prompt.complete(&argument.name, &argument.value);
    let info = CompletionInfo::with_all_values(values)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

fn listed(prompt: &prompts::Prompt) -> Prompt {
    let arguments = prompt
        .arguments
        .iter()
        .map(|argument| {
            let mut listed = PromptArgument::new(&argument.name).with_required(argument.required);
            listed.description = argument.description.clone();
            listed
        })
        .collect();
    let description = match prompt.superseded_by {
        None => prompt.description.clone(),
        Some(newer) => {
            format!("Deprecated: major {newer} of this prompt replaces it. {}", prompt.description)
        }
    };
    let mut listed = Prompt::new(prompt.wire_name(), Some(description), Some(arguments));
    listed.title = prompt.title.clone();
    listed
}

fn reference(name: &str) -> Result<PromptRef, ErrorData> {
    name.parse()
        .map_err(|error: proto::InvalidId| ErrorData::invalid_params(error.to_string(), None))
}

/// An unknown prompt and a wrong argument are errors of the request; all others are ours.
fn fault(error: PromptError) -> ErrorData {
    match error.code() {
        Code::NotFound | Code::InvalidInput => {
            ErrorData::invalid_params(error.to_string(), error.details())
        }
        _ => {
            tracing::error!(%error, "a prompt could not be rendered");
            ErrorData::internal_error(error.to_string(), error.details())
        }
    }
}
