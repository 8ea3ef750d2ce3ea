use proto::{Principal, TraceId};
use uuid::Uuid;

/// How a run came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Named,
    Session,
    Current,
    Batch,
    Workflow,
    Alone,
}

impl Kind {
    const ALL: [(&'static str, Self); 6] = [
        ("named", Self::Named),
        ("session", Self::Session),
        ("current", Self::Current),
        ("batch", Self::Batch),
        ("workflow", Self::Workflow),
        ("alone", Self::Alone),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// The role of a call in its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRole {
    /// It belongs to the run, no more.
    Plain,
    /// It ends the run.
    End,
    /// The workflow engine undoes a task with it.
    Compensation,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    /// It waits for a person.
    Waiting,
    /// A person rejected a task of the workflow; it can go on.
    Rejected,
    Ended(RunEnd),
    /// It was idle for too long.
    Expired,
}

/// How a run ended. Only the run of a workflow ends other than completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    Completed,
    /// Its owner stopped it.
    Aborted,
    /// A person rejected a task, and nothing followed.
    Rejected,
    Failed,
    /// Nothing happened for too long.
    Expired,
}

impl RunEnd {
    const ALL: [(&'static str, Self); 5] = [
        ("completed", Self::Completed),
        ("aborted", Self::Aborted),
        ("rejected", Self::Rejected),
        ("failed", Self::Failed),
        ("expired", Self::Expired),
    ];

    /// Its name as a state of the run.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, end)| *end == self).map_or("", |(name, _)| name)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, end)| *end)
    }
}

impl State {
    pub(super) fn end(self) -> Option<RunEnd> {
        match self {
            Self::Ended(end) => Some(end),
            Self::Open | Self::Waiting | Self::Rejected | Self::Expired => None,
        }
    }

    /// The state of a stored run; none for a text that is not stored for runs of this kind.
    pub(super) fn stored(kind: Kind, name: &str) -> Option<Self> {
        let is_workflow = kind == Kind::Workflow;
        match name {
            "open" => Some(Self::Open),
            "waiting" => Some(Self::Waiting),
            "rejected" => is_workflow.then_some(Self::Rejected),
            "expired" if !is_workflow => Some(Self::Expired),
            name => RunEnd::named(name)
                .filter(|end| is_workflow || *end == RunEnd::Completed)
                .map(Self::Ended),
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Rejected => "rejected",
            Self::Ended(end) => end.as_str(),
            Self::Expired => "expired",
        }
    }
}

/// The owner of a run; no other caller can name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    pub(crate) tenant: String,
    pub(crate) subject: String,
    pub(crate) agent: Option<String>,
}

impl Owner {
    pub(super) fn of(principal: &Principal) -> Self {
        Self {
            tenant: principal.tenant.as_str().to_owned(),
            subject: principal.subject.clone(),
            agent: principal.agent.clone(),
        }
    }

    pub(crate) fn is(&self, principal: &Principal) -> bool {
        self.tenant == principal.tenant.as_str()
            && self.subject == principal.subject
            && self.agent == principal.agent
    }
}

const ID: &str = "run_";

/// An id that no run had before.
pub(super) fn new_id() -> String {
    let hex = TraceId::random().to_string().replace('-', "");
    format!("{ID}{hex}")
}

/// The id of a workflow's run.
pub(super) fn id_of_workflow(workflow: Uuid) -> String {
    format!("{ID}{}", workflow.simple())
}

/// Whether a name is an id that the gateway gives to runs.
pub(super) fn is_id(name: &str) -> bool {
    name.strip_prefix(ID).is_some_and(|hex| {
        hex.len() == 32 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
