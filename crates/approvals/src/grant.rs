//! The permission of a gated call to run: given before the look-up of a recorded answer, spent only when the tool runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proto::{Code, Digest};
use tokio::sync::OnceCell;

use crate::Approvals;
use proto::Failure;

/// The permission of a gated call to run.
pub struct Grant {
    approvals: Arc<Approvals>,
    fingerprint: Digest,
    grounds: Grounds,
    spending: AtomicBool,
    spent: OnceCell<()>,
}

pub enum Grounds {
    /// A person's approval of exactly this call.
    Approval(String),
    /// A standing rule.
    Rule(String),
    /// The call continues after a question; its approval was spent when it began.
    Continued,
}

impl Grant {
    pub fn new(approvals: Arc<Approvals>, fingerprint: Digest, grounds: Grounds) -> Self {
        Self {
            approvals,
            fingerprint,
            grounds,
            spending: AtomicBool::default(),
            spent: OnceCell::new(),
        }
    }

    /// Spends the grant, once per call; fails if the approval or the rule has ended.
    pub async fn spend(&self) -> Result<(), Failure> {
        self.spending.store(true, Ordering::Relaxed);
        let spending = self.spent.get_or_try_init(async || {
            let good = match &self.grounds {
                Grounds::Approval(id) => self.approvals.consume(id).await?,
                Grounds::Rule(id) => self.approvals.use_rule(id).await?,
                Grounds::Continued => true,
            };
            if good { Ok(()) } else { Err(withdrawn()) }
        });
        spending.await.copied()
    }

    /// Whether [`spend`](Self::spend) has begun and has no result yet: dropped now, the call would lose its approval unused.
    pub fn is_being_spent(&self) -> bool {
        self.spending.load(Ordering::Relaxed) && !self.spent.initialized()
    }

    /// Lets the call continue once its caller has answered the tool's question and sends the state that came with it.
    pub fn interrupted(&self, state: &str) {
        self.approvals.let_continue(&self.fingerprint, state);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if let Grounds::Approval(id) = &self.grounds {
            self.approvals.release(id);
        }
    }
}

fn withdrawn() -> Failure {
    Failure::new(
        Code::Denied,
        "the approval was used or ended before the call could run; call again to ask again",
    )
}
