use std::time::Duration;

use serde_json::Value;

/// A call of a tool from the command line.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub tool: String,
    pub input: Value,
    pub verify: bool,
    pub idempotency_key: Option<String>,
    pub timeout: Option<Duration>,
    /// The name of the run that the call belongs to.
    pub run: Option<String>,
}

impl Invocation {
    /// A call with nothing but its input.
    pub fn of(tool: impl Into<String>, input: Value) -> Self {
        Self {
            tool: tool.into(),
            input,
            verify: false,
            idempotency_key: None,
            timeout: None,
            run: None,
        }
    }
}
