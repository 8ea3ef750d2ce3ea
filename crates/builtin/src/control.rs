//! The control-flow tools, which every agent has: to ask a person, to store an artifact, to end a run.

mod ask;
mod complete;
mod faults;
mod store;

use std::sync::Arc;

use strip::typed::typed;
use strip::{Strip, Tool};

/// Asks a person and waits for the answer.
pub const REQUEST_USER_INPUT: &str = ask::ID;
/// Stores a file that a run has made.
pub const STORE_ARTIFACT: &str = store::ID;
/// Ends a run.
pub const COMPLETE_WORKFLOW: &str = complete::ID;

/// The catalog's source of these tools.
pub const SOURCE: &str = "control";

/// The control-flow tools. The strip owns them, so they only hold a weak reference to it.
pub fn tools(strip: &Arc<Strip>) -> Vec<Arc<dyn Tool>> {
    let strip = || Arc::downgrade(strip);
    vec![
        typed(ask::RequestUserInput { strip: strip() }),
        typed(store::StoreArtifact { strip: strip() }),
        typed(complete::CompleteWorkflow { strip: strip() }),
    ]
}
