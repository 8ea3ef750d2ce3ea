//! Calls that fail because the server needs something from the caller that the caller's client cannot give.

use proto::{Blame, Code, Failure};
use strip::Client;

use crate::rpc::QUESTION_CAPABILITIES;

/// The failure of a call whose server asked the caller something that its client cannot be asked. It keeps the server's own
/// description.
pub(crate) fn question(server: &str, said: Option<Failure>) -> Failure {
    let why = said.as_ref().map(|failure| format!(" ({})", failure.message)).unwrap_or_default();
    let message = format!(
        "server `{server}` asked the caller something, and this caller cannot be asked{why}; call the tool from an MCP \
         client that supports elicitation or sampling, whichever the tool needs"
    );
    unsupported(message, said)
}

/// The failure of a call to a tool that the server offers only to clients with certain capabilities: it lists the tool to
/// the gateway, which declares them all, and says to this caller that there is no such tool.
pub(crate) fn of_hidden_tool(
    server: &str,
    tool: &str,
    client: Option<&dyn Client>,
    failure: Failure,
) -> Failure {
    let declares = |can: &str| client.is_some_and(|client| client.capabilities().contains_key(can));
    let missing: Vec<_> = QUESTION_CAPABILITIES.into_iter().filter(|can| !declares(can)).collect();
    let said = failure.message.to_lowercase();
    let is_unknown = said.contains(&tool.to_lowercase())
        && ["not found", "unknown tool"].iter().any(|words| said.contains(words));
    let is_answer = matches!(failure.code, Code::Internal | Code::InvalidInput | Code::NotFound);
    if missing.is_empty() || !is_unknown || !is_answer {
        return failure;
    }
    let message = format!(
        "server `{server}` does not offer `{tool}` to this caller ({}); such tools need an MCP client that supports one \
         of: {}",
        failure.message,
        missing.join(", ")
    );
    unsupported(message, Some(failure))
}

fn unsupported(message: String, said: Option<Failure>) -> Failure {
    let mut failure = Failure::new(Code::Unsupported, message).blame(Blame::Caller);
    if let Some(said) = said {
        failure.effect_unknown = said.effect_unknown;
        failure.native = said.native;
        failure.source = said.source;
    }
    failure
}
