//! Ends the calls in progress when the gateway stops before they have finished.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proto::{Blame, Code, Failure, TraceId};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Calls register at one of several tokens, to spread the lock contention.
const TOKENS: usize = 16;

#[derive(Default)]
pub(crate) struct Stop {
    stopping: AtomicBool,
    tokens: [CancellationToken; TOKENS],
}

impl Stop {
    /// A token that is cancelled when the gateway stops.
    pub(crate) fn token(&self, trace: TraceId) -> CancellationToken {
        let token = usize::from(trace.as_bytes()[0]) % TOKENS;
        self.tokens[token].child_token()
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.tokens.iter().for_each(CancellationToken::cancel);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// The answer to a call that was ended. The caller cannot know what a side-effecting tool has done by then.
    pub(crate) fn failure(side_effecting: bool) -> Failure {
        let failure = |message: &str| {
            let failure = Failure::new(Code::Unavailable, message).blame(Blame::Gateway);
            failure.retry_after(Duration::from_secs(1))
        };
        if side_effecting {
            let message = "the gateway shut down before the call had finished; look at what it did before you repeat it";
            return failure(message).retryable(false).details(json!({"outcome": "unknown"}));
        }
        failure("the gateway shut down before the call had finished; call again when it is back")
    }
}
