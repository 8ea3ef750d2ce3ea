//! Calls that a person must approve: what is asked, who may decide, and what becomes of it.
//!
//! A confirmation is a row in the store; every change of its state is one conditional update there, so that of several
//! deciders and the deadline exactly one wins. What lives here in memory is who waits for it right now.
//!
//! Who waits: each call has a confirmation of its own. Only when a caller has left, the next equal call (same caller,
//! tool, definition, arguments and files) takes its place, and finds what was decided meanwhile.

mod deciding;
mod desk;
mod grant;
pub mod operations;
pub(crate) mod question;
mod rules;
mod shown;

use std::sync::Arc;
use std::time::Duration;

use proto::{ADMIN, Principal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use desk::Approvals;
pub(crate) use grant::{Grant, Grounds};
pub(crate) use rules::Asked;
pub use shown::{ApprovalView, ShownFile, inert};
pub use store::{ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, StoreError};

/// Who decides.
#[derive(Clone, Debug)]
pub enum Decider {
    /// Whoever can use the operator's socket in the data folder.
    Operator,
    /// Somebody with the right to, by the HTTP door or the dashboard; the door has checked the scope.
    Person(Arc<Principal>),
    /// Whoever was sent a signed link.
    Link,
    /// The person at the caller's own client, where that is a way to decide.
    Client(Arc<Principal>),
}

impl Decider {
    /// Whose confirmations they see: one tenant's, or all.
    pub fn tenant(&self) -> Option<&str> {
        match self {
            Self::Operator | Self::Link => None,
            Self::Person(principal) | Self::Client(principal) => reach(principal),
        }
    }

    fn by(&self) -> &str {
        match self {
            Self::Operator => "operator",
            Self::Link => "link",
            Self::Person(principal) | Self::Client(principal) => &principal.subject,
        }
    }

    fn via(&self) -> &'static str {
        match self {
            Self::Operator => "cli",
            Self::Person(_) => "http",
            Self::Link => "link",
            Self::Client(_) => "elicitation",
        }
    }
}

/// The tenant whose confirmations somebody may see; none for all.
pub fn reach(principal: &Principal) -> Option<&str> {
    (!principal.holds(ADMIN)).then(|| principal.tenant.as_str())
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Approve,
    Reject,
}

/// A decision and what comes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub decision: Verdict,
    /// What the caller is told.
    pub reason: Option<String>,
    /// Whether it holds for later calls, too.
    pub standing: Option<Standing>,
}

impl Decision {
    /// A decision about this one call.
    pub fn once(decision: Verdict, reason: Option<String>) -> Self {
        Self { decision, reason, standing: None }
    }
}

/// Which later calls of the same caller to the same tool need not be asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    #[serde(default)]
    pub arguments: Extent,
    /// Only calls of the same run.
    #[serde(default)]
    pub run: bool,
    /// For how long; an hour if nothing is said, thirty days at most.
    #[schemars(range(min = 1, max = 2_592_000))]
    pub seconds: Option<u64>,
}

/// Which arguments a standing rule is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Exactly those that were shown.
    #[default]
    These,
    Any,
}

/// Why a decision was not taken.
#[derive(Debug, thiserror::Error)]
pub enum Undecided {
    #[error("there is no confirmation `{0}`")]
    Unknown(String),
    #[error("an agent cannot decide about calls")]
    Agent,
    #[error(
        "this call was made with a credential that may decide itself, so its holder cannot: somebody else must, or the \
         operator"
    )]
    OwnCall,
    #[error("the confirmation is {} already", .0.state)]
    Over(Box<ApprovalRow>),
    #[error("{0}")]
    Invalid(&'static str),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Something that happened to a confirmation.
#[derive(Clone, Debug)]
pub struct Event {
    pub kind: EventKind,
    pub row: Arc<ApprovalRow>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    Created,
    Decided,
    Expired,
    Consumed,
}

impl EventKind {
    /// The word that event streams carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Decided => "decided",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
        }
    }
}

/// What an operator may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whether the person at the caller's own client may decide. Never where callers need credentials.
    pub elicitation: bool,
    /// Where people decide, as callers are told.
    pub dashboard: Option<String>,
    /// How many confirmations of one caller may wait.
    pub max_waiting: u64,
    /// For how long an approval may be used whose caller had left.
    pub good_for: Duration,
    /// How often a waiting caller is told that it still waits.
    pub notice_every: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            elicitation: false,
            dashboard: None,
            max_waiting: 100,
            good_for: Duration::from_secs(60 * 60),
            notice_every: Duration::from_secs(5),
        }
    }
}

/// What a call that waited hears.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) state: ApprovalState,
    pub(crate) by: String,
    pub(crate) reason: Option<String>,
}
