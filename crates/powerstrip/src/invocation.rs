use std::time::Duration;

use serde_json::Value;

/// A call of a tool from the command line.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) verify: bool,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) timeout: Option<Duration>,
    /// The name of the run that the call belongs to.
    pub(crate) run: Option<String>,
}
