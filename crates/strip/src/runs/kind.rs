use proto::{Principal, TraceId};

/// How a run came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Named,
    Session,
    Current,
    Batch,
    Alone,
}

impl Kind {
    const ALL: [(&'static str, Self); 5] = [
        ("named", Self::Named),
        ("session", Self::Session),
        ("current", Self::Current),
        ("batch", Self::Batch),
        ("alone", Self::Alone),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    /// It waits for a person.
    Waiting,
    Completed,
    /// It was idle for too long.
    Expired,
}

impl State {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Expired => "expired",
        }
    }
}

/// Whose run it is; no other caller can name it.
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

/// Whether a name is an id that the gateway gives to runs.
pub(super) fn is_id(name: &str) -> bool {
    name.strip_prefix(ID).is_some_and(|hex| {
        hex.len() == 32 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}
