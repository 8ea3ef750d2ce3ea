//! The control-flow tools, which every agent has: to ask a person, to store an artifact, to end a run.

mod ask;
mod complete;
mod context;
mod sheet;
mod store;

use std::sync::Arc;

pub(crate) use context::Context;

use crate::Tool;

/// Asks a person and waits for the answer.
pub const REQUEST_USER_INPUT: &str = ask::ID;
/// Stores a file that a run has made.
pub const STORE_ARTIFACT: &str = store::ID;
/// Ends a run.
pub const COMPLETE_WORKFLOW: &str = complete::ID;

/// The catalog's source of these tools.
pub const SOURCE: &str = "control";

pub(crate) fn tools(context: &Arc<Context>) -> Vec<Arc<dyn Tool>> {
    let context = || Arc::downgrade(context);
    vec![
        Arc::new(ask::RequestUserInput::new(context())),
        Arc::new(store::StoreArtifact::new(context())),
        Arc::new(complete::CompleteWorkflow::new(context())),
    ]
}
