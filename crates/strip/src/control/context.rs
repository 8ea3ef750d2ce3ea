use std::sync::{Arc, Weak};

use proto::{Blame, Code, Failure};
use serde_json::json;

use crate::files::{FileResolver, Files};
use crate::runs::Runs;
use prompts::Prompts;

/// What the control-flow tools work with. The strip owns it: a tool that outlives the strip fails.
pub(crate) struct Context {
    pub(crate) runs: Runs,
    pub(crate) files: Arc<Files>,
    pub(crate) resolver: Arc<FileResolver>,
    pub(crate) prompts: Arc<Prompts>,
}

impl Context {
    pub(super) fn upgrade(context: &Weak<Self>) -> Result<Arc<Self>, Failure> {
        context.upgrade().ok_or_else(|| {
            Failure::new(Code::Unavailable, "the gateway is shutting down").blame(Blame::Gateway)
        })
    }
}

/// Fails with everything that is wrong with an input.
pub(super) fn check(faults: &[String]) -> Result<(), Failure> {
    match faults {
        [] => Ok(()),
        faults => {
            Err(Failure::new(Code::InvalidInput, faults.join("; "))
                .details(json!({"faults": faults})))
        }
    }
}
