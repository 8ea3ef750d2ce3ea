use std::hash::{Hash, Hasher};
use std::sync::Arc;

use auth::client::Holder;
use proto::{Principal, canonical, digest_of_parts};
use serde_json::{Map, Value};
use server_entry::{Instances, ServerConfig};
use strip::servers::{ClientIdentity, InstanceKey};
use strip::{Client, Job};

use crate::personal::{Outdated, PersonalValues};
use crate::rpc;

/// The caller that a session or process is kept for, with the capabilities declared in its handshake. Scopes are not
/// part of the identity: they may change while the session lives.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    principal: Arc<Principal>,
    /// What the caller's client can be asked, as canonical JSON; empty if nothing.
    questions: Arc<[u8]>,
    /// Whether the caller's client shows MCP Apps.
    apps: bool,
    /// Whether it is asked by requests of its own, as legacy servers do it.
    direct: bool,
    /// The client session, where each one has its own process or session at the server.
    session: Option<Arc<str>>,
    /// The person's values, for a server that takes some from each person.
    personal: Option<Arc<PersonalValues>>,
}

impl Caller {
    pub(crate) fn new(principal: &Arc<Principal>, client: Option<&Arc<dyn Client>>) -> Self {
        let principal = Arc::clone(principal);
        let Some(client) = client else { return Self::declaring(principal, &Map::new(), false) };
        let declared = client.capabilities();
        let direct = rpc::is_asked_directly(client.ask_mode(), declared);
        Self::declaring(principal, declared, direct)
    }

    fn declaring(principal: Arc<Principal>, declared: &Map<String, Value>, direct: bool) -> Self {
        let questions = rpc::question_capabilities(declared);
        let questions = if questions.is_empty() {
            Arc::default()
        } else {
            canonical::bytes(&Value::Object(questions)).into()
        };
        let apps = rpc::shows_apps(declared);
        Self { principal, questions, apps, direct, session: None, personal: None }
    }

    /// The caller whose session or process serves a call; none where all callers share one.
    pub(crate) fn of_job(job: &Job, config: &ServerConfig) -> Option<Self> {
        let caller = || Self::new(&job.request().principal, job.client.as_ref());
        match config.instances() {
            Instances::Caller => Some(caller()),
            Instances::Session => {
                Some(Self { session: job.run.session().map(Into::into), ..caller() })
            }
            Instances::Shared => None,
        }
    }

    /// The caller whose session or process serves the requests of a client; none where all callers share one.
    pub(crate) fn of_client(client: &ClientIdentity, config: &ServerConfig) -> Option<Self> {
        let session = match config.instances() {
            Instances::Caller => None,
            Instances::Session => client.session.clone(),
            Instances::Shared => return None,
        };
        let declared = &client.capabilities;
        let direct = rpc::is_asked_directly(client.asking, declared);
        let principal = Arc::clone(&client.principal);
        Some(Self { session, ..Self::declaring(principal, declared, direct) })
    }

    /// Identifies its process or session. Its secrets are left out: with others it gets a new one.
    pub(crate) fn instance_key(&self) -> InstanceKey {
        let Principal { tenant, subject, agent, .. } = &*self.principal;
        let optional = |part: Option<&str>| part.map(|part| format!("={part}")).unwrap_or_default();
        InstanceKey(digest_of_parts([
            tenant.as_str().as_bytes(),
            subject.as_bytes(),
            optional(agent.as_deref()).as_bytes(),
            &self.questions,
            &[u8::from(self.apps)],
            optional(self.session.as_deref()).as_bytes(),
        ]))
    }

    /// The same caller with secrets of their own.
    pub(crate) fn with_personal(self, personal: Option<Arc<PersonalValues>>) -> Self {
        Self { personal, ..self }
    }

    /// The person's own values for the server.
    pub(crate) fn personal(&self) -> Option<&Arc<PersonalValues>> {
        self.personal.as_ref()
    }

    /// Whether it uses secrets that are out of date.
    pub(crate) fn uses_outdated(&self, outdated: &Outdated<'_>) -> bool {
        self.personal.as_ref().is_some_and(|values| outdated.covers(values))
    }

    #[cfg(test)]
    pub(crate) fn in_session(self, session: &str) -> Self {
        Self { session: Some(session.into()), ..self }
    }

    /// Whether it is the same person or program, under any agent.
    pub(crate) fn is_same_person(&self, other: &Self) -> bool {
        self.is_same_tenant(other) && self.principal.subject == other.principal.subject
    }

    pub(crate) fn is_same_tenant(&self, other: &Self) -> bool {
        self.principal.tenant == other.principal.tenant
    }

    /// The holder of the tokens that are used.
    pub(crate) fn holder(&self) -> Holder {
        Holder::person(&self.principal)
    }

    /// The capabilities to declare on behalf of this caller.
    pub(crate) fn capabilities(&self) -> Map<String, Value> {
        let mut capabilities: Map<String, Value> =
            // may fail: no bytes are no capabilities; others are written from a map.
            serde_json::from_slice(&self.questions).unwrap_or_default();
        if self.apps {
            capabilities.extend(rpc::apps_capability());
        }
        capabilities
    }

    /// Whether the caller is the user of this machine.
    pub(crate) fn is_local(&self) -> bool {
        let Principal { tenant, subject, .. } = &*self.principal;
        (tenant.as_str(), subject.as_str()) == (auth::LOCAL_TENANT, auth::LOCAL_SUBJECT)
    }

    /// Whether the caller's client can be asked anything.
    pub(crate) fn can_be_asked(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Whether the caller's client is asked by requests of its own, as legacy servers do it.
    pub(crate) fn is_asked_directly(&self) -> bool {
        self.direct
    }

    /// The same caller without capabilities.
    pub(crate) fn without_capabilities(&self) -> Self {
        Self { questions: Arc::default(), apps: false, direct: false, ..self.clone() }
    }

    /// Without `direct`: a legacy server does not see the difference, and at a server of both eras only callers that
    /// are asked directly keep their capabilities.
    fn parts(&self) -> Parts<'_> {
        let Principal { tenant, subject, agent, .. } = &*self.principal;
        let (agent, session) = (agent.as_deref(), self.session.as_deref());
        let personal = self.personal.as_deref();
        (tenant.as_str(), subject, agent, &self.questions, self.apps, session, personal)
    }
}

/// What makes two callers the same: tenant, subject, agent, capabilities, session and secrets.
type Parts<'a> = (
    &'a str,
    &'a str,
    Option<&'a str>,
    &'a [u8],
    bool,
    Option<&'a str>,
    Option<&'a PersonalValues>,
);

impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Caller {}

impl Hash for Caller {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}
