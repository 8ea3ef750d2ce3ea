use std::hash::{Hash, Hasher};
use std::sync::Arc;

use auth::client::Holder;
use proto::{Principal, canonical};
use serde_json::{Map, Value};
use strip::Client;

use crate::rpc;

/// For whom a session or process is kept, and what they can be asked there: a legacy server is told once. What a
/// caller may do now is no part of it, who they are is.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    principal: Arc<Principal>,
    /// What the caller can be asked, in one form for equal promises; empty if nothing.
    questions: Arc<[u8]>,
    /// The session that it is kept for, where each session has its own.
    session: Option<Arc<str>>,
}

impl Who {
    pub(crate) fn new(principal: &Arc<Principal>, client: Option<&Arc<dyn Client>>) -> Self {
        let questions = client.map(|client| rpc::questions(client.capabilities()));
        let questions = match questions {
            Some(questions) if !questions.is_empty() => {
                canonical::bytes(&Value::Object(questions)).into()
            }
            _ => Arc::default(),
        };
        Self { principal: Arc::clone(principal), questions, session: None }
    }

    /// The same caller in one of its sessions.
    pub(crate) fn in_session(self, session: Option<&str>) -> Self {
        Self { session: session.map(Into::into), ..self }
    }

    /// Whether it is the same person or program, as whatever agent.
    pub(crate) fn is_same_person(&self, other: &Self) -> bool {
        self.is_same_tenant(other) && self.principal.subject == other.principal.subject
    }

    pub(crate) fn is_same_tenant(&self, other: &Self) -> bool {
        self.principal.tenant == other.principal.tenant
    }

    /// Whose tokens are used.
    pub(crate) fn holder(&self) -> Holder {
        Holder::person(&self.principal)
    }

    /// What may be promised in this caller's name.
    pub(crate) fn promises(&self) -> Map<String, Value> {
        serde_json::from_slice(&self.questions).unwrap_or_default()
    }

    /// Whether the caller is the user of this machine.
    pub(crate) fn is_local(&self) -> bool {
        let Principal { tenant, subject, .. } = &*self.principal;
        (tenant.as_str(), subject.as_str()) == (auth::LOCAL_TENANT, auth::LOCAL_SUBJECT)
    }

    /// Whether nothing can be asked.
    pub(crate) fn is_mute(&self) -> bool {
        self.questions.is_empty()
    }

    /// The same caller, of whom nothing is promised.
    pub(crate) fn mute(&self) -> Self {
        Self { questions: Arc::default(), ..self.clone() }
    }

    fn parts(&self) -> (&str, &str, Option<&str>, &[u8], Option<&str>) {
        let principal = &self.principal;
        let agent = principal.agent.as_deref();
        let session = self.session.as_deref();
        (principal.tenant.as_str(), &principal.subject, agent, &self.questions, session)
    }
}

impl PartialEq for Who {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Who {}

impl Hash for Who {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}
