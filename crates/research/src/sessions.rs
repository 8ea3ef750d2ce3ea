//! Research sessions: the steps, sources and gaps of one question.

mod memory;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::tools::{KnowledgeGap, ResearchSource, ResearchStep};

pub use memory::MemorySessions;

/// How long a session is kept without a step.
pub const TTL: Duration = Duration::from_secs(30 * 60);
/// How many sessions may be open at once.
pub const MAX_SESSIONS: usize = 50;
/// How often expired sessions are removed.
pub const SWEEP: Duration = Duration::from_secs(5 * 60);

/// The one whose session it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Owner {
    pub tenant: String,
    pub subject: String,
}

/// A session as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: String,
    pub owner: Owner,
    pub question: String,
    pub total_steps_estimate: u32,
    /// Whether the estimate was given by the caller.
    pub estimate_given: bool,
    pub steps: Vec<ResearchStep>,
    pub sources: Vec<ResearchSource>,
    pub gaps: Vec<KnowledgeGap>,
    pub started_at: String,
    pub completed_at: Option<String>,
    /// Counts the changes, so that two steps at once do not overwrite each other.
    pub version: u64,
}

/// Why a session was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// There are too many open sessions; the wait until the first one expires.
    Full { wait: Duration },
    /// The session has changed or expired since it was read.
    Stale,
}

/// A store of sessions, keyed by tenant and id. Sessions expire after a time without a change.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Stores a new session. A tenant with few sessions takes the place of an older one of a tenant with more.
    async fn open(&self, session: Session) -> Result<(), NotStored>;

    /// A session of this owner.
    async fn load(&self, owner: &Owner, id: &str) -> Option<Session>;

    /// The owner's session that was changed last and is not complete.
    async fn latest_open(&self, owner: &Owner) -> Option<Session>;

    /// Replaces a session if the stored one has the version before it.
    async fn save(&self, session: Session) -> Result<(), NotStored>;

    /// Removes expired sessions.
    async fn sweep(&self);

    /// How long a session is kept without a step.
    fn ttl(&self) -> Duration;
}

#[cfg(test)]
mod tests;
