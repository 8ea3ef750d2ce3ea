//! What a server states about a failed call for programs: code, retry advice and details, in the shape of the server kit.

use std::time::Duration;

use proto::{ANSWERED_BY, Blame, Code, Failure, canonical, clean};
use serde_json::{Map, Value, json};

/// The `_meta` key of a failed result under which servers of the kit repeat their failure for programs.
const FAULT: &str = "powerstrip/fault";

/// The most bytes of such a `_meta` whose details are passed on.
const MAX_DETAILS: usize = 4096;

/// The detail with the wait that a server asks for, in milliseconds.
const RETRY_AFTER: &str = "retryAfterMs";

/// The longest wait that a server may ask for.
const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Details that only the gateway states. `waiting` makes a workflow wait for other calls, `server` marks a JSON-RPC
/// error, `outcome` says what became of an earlier call, and `login` is a link that the gateway made.
const RESERVED: [&str; 4] = ["waiting", "server", "outcome", "login"];

/// The failure of a call whose server answered `isError`, with `said` as its text.
pub(crate) fn failure(server: &str, result: &Value, said: String) -> Failure {
    let fault = &result["_meta"][FAULT];
    let stated = stated_code(result);
    let code = stated.unwrap_or(Code::Internal);
    let retryable = match (stated, fault["retryable"].as_bool()) {
        // The same input stays invalid.
        (Some(Code::InvalidInput), _) => false,
        (_, Some(advice)) => advice,
        (Some(code), None) => code.retryable(),
        (None, None) => false,
    };
    let message = match stated {
        Some(code) => without_code(code, said),
        None => said,
    };
    let wait = fault["details"][RETRY_AFTER].as_u64().map(Duration::from_millis);
    let wait = wait.filter(|_| retryable).map(|wait| wait.min(MAX_WAIT));
    let failure = if message.trim().is_empty() {
        Failure::new(code, format!("server `{server}` says that the call failed"))
    } else {
        Failure::new(code, message).details(details(server, fault, wait))
    };
    // Stated codes always blame the tool: a server cannot blame the caller or the gateway.
    let failure = failure.blame(Blame::Tool).retryable(retryable);
    match wait {
        Some(wait) => failure.retry_after(wait),
        None => failure,
    }
}

/// Whether a server answered a call with a failure and stated its code.
pub(crate) fn states_code(failure: &Failure) -> bool {
    failure.native.as_deref().is_some_and(|result| stated_code(result).is_some())
}

/// The code that a server states, if servers may state it.
fn stated_code(result: &Value) -> Option<Code> {
    let code = result["_meta"][FAULT]["code"].as_str()?;
    code.parse().ok().filter(|code| may_be_stated(*code))
}

/// Whether a server can know that a code applies. That a person or a rule denied a call, and that a repeated call was
/// answered differently, only the gateway knows.
fn may_be_stated(code: Code) -> bool {
    match code {
        Code::InvalidInput
        | Code::NotFound
        | Code::RateLimit
        | Code::Timeout
        | Code::Unavailable
        | Code::Internal
        | Code::Unsupported => true,
        Code::Nondeterministic | Code::Denied => false,
    }
}

/// The text of a failure without its code, which servers of the kit put before it.
fn without_code(code: Code, said: String) -> String {
    let rest = said.strip_prefix(code.as_str()).and_then(|rest| rest.strip_prefix(": "));
    rest.map(str::to_owned).unwrap_or(said)
}

/// The server that answered, and the details that the server states; `wait` is what is left of the wait it asks for.
fn details(server: &str, fault: &Value, wait: Option<Duration>) -> Value {
    let is_small = canonical::len(fault) <= MAX_DETAILS;
    let mut stated = if is_small { fault["details"].clone() } else { Value::Null };
    clean::json_in_place(&mut stated);
    let mut details = match stated {
        Value::Object(stated) => stated,
        _ => Map::new(),
    };
    details.retain(|key, _| !RESERVED.contains(&key.as_str()));
    details.remove(RETRY_AFTER);
    if let Some(wait) = wait {
        let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        details.insert(RETRY_AFTER.to_owned(), json!(milliseconds));
    }
    details.insert(ANSWERED_BY.to_owned(), json!(server));
    Value::Object(details)
}

#[cfg(test)]
mod tests;
