use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderValue;
use proto::{Scrubber, secrets_of};
use server_entry::ServerConfig;
use strip::servers::{Notice, NoticeKind, Servers};
use tokio::sync::{Notify, watch};

use crate::caller::Caller;
use crate::deps::Deps;
use crate::instances::{Announced, Instances};
use crate::journal::Journal;
use crate::notifications::Channel;
use crate::personal::{PersonalSecrets, PersonalValues};

/// A scrubber for text that is read line by line: it also finds each line of a secret of several lines.
pub(crate) fn line_scrubber(secrets: &[String]) -> Scrubber {
    let lines = secrets.iter().flat_map(|secret| secret.lines());
    Scrubber::new(secrets.iter().map(String::as_str).chain(lines))
}

/// A scrubber, and what it was made for.
struct WithToken {
    token: HeaderValue,
    personal: Option<Arc<PersonalValues>>,
    scrubber: Scrubber,
}

/// What all connections to one server share: where its notifications go, and its secrets.
pub(crate) struct ServerContext {
    /// One of its lists may have changed.
    pub(crate) changed: Notify,
    /// The lists that it says have changed, and that were not listed since.
    announced: Mutex<Announced>,
    /// Callers' own processes and sessions.
    pub(crate) instances: Arc<Instances>,
    /// The URIs of resources that clients are subscribed to.
    pub(crate) watched: watch::Sender<BTreeSet<String>>,
    /// Removes the server's secrets from what it sends.
    pub(crate) scrubber: Scrubber,
    /// Removes the server's secrets from stderr, which is read line by line: it also knows each line of a secret of several
    /// lines.
    pub(crate) stderr_scrubber: Scrubber,
    pub(crate) journal: Arc<Journal>,
    /// The secrets that each person has for it.
    pub(crate) personal: PersonalSecrets,
    secrets: Vec<String>,
    /// The scrubber that also knows the token of the latest request, for the secrets of this person.
    with_token: Mutex<Option<WithToken>>,
    /// How many questions of the server could not be forwarded.
    refused_questions: AtomicU64,
    server: String,
    servers: Arc<Servers>,
}

impl ServerContext {
    pub(crate) fn new(
        server: &str,
        config: &ServerConfig,
        deps: &Deps,
        journal: Arc<Journal>,
    ) -> Self {
        let (secrets, servers) = (config.secrets(), &deps.servers);
        Self {
            scrubber: Scrubber::new(&secrets),
            stderr_scrubber: line_scrubber(&secrets),
            personal: PersonalSecrets::new(config, deps.secrets.as_ref()),
            journal,
            secrets,
            with_token: Mutex::default(),
            changed: Notify::new(),
            announced: Mutex::default(),
            instances: Arc::new(Instances::new(deps.timing)),
            watched: watch::Sender::default(),
            refused_questions: AtomicU64::new(0),
            server: server.to_owned(),
            servers: Arc::clone(servers),
        }
    }

    /// The scrubber for what a caller's process or session sends.
    pub(crate) fn scrubber_of(&self, caller: Option<&Caller>) -> Scrubber {
        let personal = caller.and_then(Caller::personal);
        personal.map_or_else(|| self.scrubber.clone(), |values| values.scrubber().clone())
    }

    /// The scrubber for the stderr of a caller's process.
    pub(crate) fn stderr_scrubber_of(&self, caller: Option<&Caller>) -> Scrubber {
        match caller.and_then(Caller::personal) {
            Some(values) => line_scrubber(values.secrets()),
            None => self.stderr_scrubber.clone(),
        }
    }

    /// The scrubber for a request of a caller with this token.
    pub(crate) fn scrubber_with(
        &self,
        caller: Option<&Caller>,
        token: Option<&HeaderValue>,
    ) -> Scrubber {
        let Some(token) = token else { return self.scrubber_of(caller) };
        let personal = caller.and_then(Caller::personal);
        let mut known = self.with_token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref()
            && known.token == *token
            && known.personal.as_ref() == personal
        {
            return known.scrubber.clone();
        }
        let text = token.to_str().unwrap_or_default();
        let of_token = secrets_of("authorization", text);
        let secrets = personal.map_or(&self.secrets[..], |values| values.secrets());
        let scrubber = Scrubber::new(secrets.iter().chain(&of_token));
        let (token, personal) = (token.clone(), personal.cloned());
        *known = Some(WithToken { token, personal, scrubber: scrubber.clone() });
        scrubber
    }

    /// Notes that a question of the server could not be forwarded to a client.
    pub(crate) fn note_refused_question(&self) {
        self.refused_questions.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused_questions(&self) -> u64 {
        self.refused_questions.load(Ordering::Relaxed)
    }

    /// Schedules a listing of what has changed: the lists of a caller's instance, and those for all.
    pub(crate) fn list_changed(&self, channel: Channel<'_>, announced: Announced) {
        let of_caller = match channel {
            Channel::Caller(Some(caller)) => self.instances.announce(caller, announced),
            Channel::Caller(None) | Channel::Gateway => false,
        };
        if !of_caller {
            self.announced.lock().unwrap_or_else(PoisonError::into_inner).add(announced);
        }
        self.changed.notify_one();
    }

    /// Takes the lists that were announced since the last call.
    pub(crate) fn take_announced(&self) -> Announced {
        std::mem::take(&mut self.announced.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notifies subscribed clients that a resource has changed. A caller's instance notifies that caller's clients.
    pub(crate) fn resource_updated(&self, channel: Channel<'_>, uri: &str) {
        let instance = match channel {
            Channel::Gateway => None,
            Channel::Caller(Some(caller)) => Some(caller.instance_key()),
            Channel::Caller(None) => return,
        };
        let kind = NoticeKind::Updated(uri.into());
        self.servers.notify(Notice { server: self.server.as_str().into(), instance, kind });
    }
}
