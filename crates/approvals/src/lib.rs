//! Calls that a person must approve: what is asked, who may decide, and what is decided.
//!
//! An approval is a row in the store. Every change of its state is one conditional update, so that of several deciders
//! and the deadline exactly one wins. Memory only holds which calls wait for a decision.
//!
//! Each call has its own approval. When a caller has left, the next equal call (same caller, tool, definition, arguments
//! and files) takes over its approval, and finds what was decided in the meantime.
//!
//! A task of a workflow does not wait: its approval is *parked*, no call claims it, and the task is repeated after the decision.

mod approvals;
mod deadlines;
mod deciding;
mod grant;
pub mod operations;
pub mod question;
mod rules;
mod shown;
mod uncertain;

use std::sync::Arc;
use std::time::Duration;

use proto::{ADMIN, Principal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::StoreError;

pub use approvals::Approvals;
pub use deadlines::run_to_end;
pub use grant::{Grant, Grounds};
pub use rules::RuleQuery;
pub use shown::{
    ApprovalView, Damage, RuleView, ShownFile, inert, shown_arguments, shown_files,
    stored_arguments,
};
pub use store::{ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, DamagedRow, Listed};

/// The side that decides.
#[derive(Clone, Debug)]
pub enum Decider {
    /// The operator, through the socket in the data folder.
    Operator,
    /// A person with the scope to decide, through HTTP or the dashboard; the door has checked the scope.
    Person(Arc<Principal>),
    /// A person who received a signed link.
    Link,
    /// The person at the caller's own client, if `elicitation` is allowed.
    Client(Arc<Principal>),
}

impl Decider {
    /// The tenant whose approvals they may see; none for all.
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

/// The tenant whose approvals a caller may see; none for all.
pub fn reach(principal: &Principal) -> Option<&str> {
    (!principal.holds(ADMIN)).then(|| principal.tenant.as_str())
}

/// A decision's verdict.
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
    /// The reason for the caller.
    pub reason: Option<String>,
    /// Whether it applies to later calls, too.
    pub standing: Option<Standing>,
}

impl Decision {
    /// A decision about this one call.
    pub fn once(decision: Verdict, reason: Option<String>) -> Self {
        Self { decision, reason, standing: None }
    }
}

/// Which later calls of the same caller to the same tool need no approval.
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

/// Why a decision was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error("there is no approval `{0}`; `powerstrip approvals ls --all` lists them")]
    Unknown(String),
    #[error("an agent cannot decide about calls")]
    Agent,
    #[error(
        "this call was made with a credential that may decide itself, so its holder cannot: another person or the \
         operator must"
    )]
    OwnCall,
    #[error("the approval is {} already", .0.state)]
    Over(Box<ApprovalRow>),
    #[error("{0}")]
    Invalid(&'static str),
    /// The call cannot be approved.
    #[error(transparent)]
    Damaged(#[from] Damage),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A change of an approval.
#[derive(Clone, Debug)]
pub struct Event {
    pub kind: EventKind,
    pub row: Arc<ApprovalRow>,
}

/// The kind of change to an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    Created,
    Decided,
    Expired,
    Consumed,
    /// The workflow that it belongs to ended before anyone decided.
    Cancelled,
}

impl EventKind {
    /// The event's name in streams.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Decided => "decided",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What an operator may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whether the person at the caller's own client may decide. Never where callers need credentials.
    pub elicitation: bool,
    /// The address where people decide, for messages to callers.
    pub dashboard: Option<String>,
    /// How many approvals of one caller may be pending.
    pub max_waiting: u64,
    /// How long an approval is valid whose caller had left.
    pub good_for: Duration,
    /// How often a waiting caller receives a progress notice.
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

/// The decision about a call that waits.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub state: ApprovalState,
    pub by: String,
    pub reason: Option<String>,
}
