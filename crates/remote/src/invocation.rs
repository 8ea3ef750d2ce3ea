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
