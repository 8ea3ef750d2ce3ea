use std::fmt;
use std::str::FromStr;

use proto::Digest;
use serde::{Deserialize, Serialize};

/// How far a confirmation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// A person has to decide.
    Pending,
    /// A person said yes, and no call has used it yet.
    Approved,
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// A call was made with it.
    Consumed,
    /// It is about something that is no more.
    Cancelled,
}

impl ApprovalState {
    const ALL: [Self; 6] = [
        Self::Pending,
        Self::Approved,
        Self::Rejected,
        Self::Expired,
        Self::Consumed,
        Self::Cancelled,
    ];

    /// The word that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for ApprovalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ApprovalState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(())
    }
}

/// One confirmation: what a person is asked about, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRow {
    pub id: String,
    pub tenant: String,
    /// Who called.
    pub owner: String,
    pub agent: Option<String>,
    /// Whether the credential that made the call could also decide.
    #[serde(skip)]
    pub decider: bool,
    pub tool: String,
    pub version: String,
    pub definition: Digest,
    /// The digest of the code that the call would run; none if the tool runs no code of the gateway's host.
    pub code: Option<Digest>,
    /// The caller's idempotency key, which reaches the tool.
    pub idempotency_key: Option<String>,
    /// The canonical arguments; a list leaves long ones out.
    pub arguments: Option<String>,
    pub arguments_bytes: u64,
    pub arguments_sum: Digest,
    /// The files that the arguments name, as JSON.
    #[serde(skip)]
    pub files: String,
    #[serde(skip)]
    pub fingerprint: Digest,
    pub trace: String,
    pub run: Option<String>,
    pub door: String,
    pub created_unix_ms: u64,
    pub deadline_unix_ms: u64,
    pub state: ApprovalState,
    pub decided_by: Option<String>,
    pub decided_via: Option<String>,
    pub reason: Option<String>,
    pub decided_unix_ms: Option<u64>,
    /// Until when an approval may be used that nobody has used yet.
    pub good_until_unix_ms: Option<u64>,
}

/// What a person, or the lack of one, decided about a pending confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling<'a> {
    pub state: ApprovalState,
    pub by: &'a str,
    pub via: &'a str,
    pub reason: Option<&'a str>,
    pub at_unix_ms: u64,
    pub good_until_unix_ms: Option<u64>,
    /// Whether it holds only before the deadline, as everything does that a person says.
    pub in_time: bool,
}

/// Which confirmations to list, newest first for those that are decided, oldest first for those that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Whose; whoever asks on behalf of a tenant sets it.
    pub tenant: Option<String>,
    pub state: Option<ApprovalState>,
    /// Only those after this one, as the list before ended.
    pub after: Option<(u64, String)>,
    pub limit: u32,
}

/// What a person said once for all calls of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRuleRow {
    pub id: String,
    pub tenant: String,
    pub owner: String,
    pub agent: Option<String>,
    pub tool: String,
    pub definition: Digest,
    /// The digest of the code that was approved; none if the tool runs no code of the gateway's host.
    pub code: Option<Digest>,
    /// None for any arguments.
    pub arguments_sum: Option<Digest>,
    pub arguments: Option<String>,
    /// None for any run.
    pub run: Option<String>,
    pub created_by: String,
    pub created_unix_ms: u64,
    pub expires_unix_ms: u64,
    pub uses: u64,
}
