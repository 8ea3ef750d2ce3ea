//! The control-flow tools, which every agent has: to ask a person, to store an artifact, to end a run.

mod ask;
mod complete;
mod context;
mod store;

use std::sync::Arc;

pub(crate) use context::Context;

use crate::Tool;
use crate::typed::typed;

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
        typed(ask::RequestUserInput { context: context() }),
        typed(store::StoreArtifact { context: context() }),
        typed(complete::CompleteWorkflow { context: context() }),
    ]
}
