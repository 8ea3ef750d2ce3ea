use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderValue;
use proto::{Scrubber, secrets_of};
use strip::servers::Servers;
use tokio::sync::{Notify, watch};

use crate::config::ServerConfig;
use crate::journal::Journal;

/// What all connections to one server share: where its notifications go, and its secrets.
pub(crate) struct ServerContext {
    /// One of its lists may have changed.
    pub(crate) changed: Notify,
    /// The URIs of resources that clients are subscribed to.
    pub(crate) watched: watch::Sender<BTreeSet<String>>,
    /// Removes the server's secrets from what it sends.
    pub(crate) scrubber: Scrubber,
    /// The same for stderr, which is read line by line: it also knows each line of a secret of several lines.
    pub(crate) stderr_scrubber: Scrubber,
    pub(crate) journal: Arc<Journal>,
    secrets: Vec<String>,
    /// The scrubber that also knows the token of the latest request.
    with_token: Mutex<Option<(HeaderValue, Scrubber)>>,
    /// How many questions of the server nobody could be asked.
    refused_questions: AtomicU64,
    server: String,
    servers: Arc<Servers>,
}

impl ServerContext {
    pub(crate) fn new(
        server: &str,
        config: &ServerConfig,
        servers: &Arc<Servers>,
        journal: Arc<Journal>,
    ) -> Self {
        let secrets = config.secrets();
        let lines = secrets.iter().flat_map(|secret| secret.lines());
        let whole = secrets.iter().map(String::as_str);
        Self {
            scrubber: Scrubber::new(&secrets),
            stderr_scrubber: Scrubber::new(whole.chain(lines)),
            journal,
            secrets,
            with_token: Mutex::default(),
            changed: Notify::new(),
            watched: watch::Sender::default(),
            refused_questions: AtomicU64::new(0),
            server: server.to_owned(),
            servers: Arc::clone(servers),
        }
    }

    /// The scrubber for a request with this token.
    pub(crate) fn scrubber_with(&self, token: Option<&HeaderValue>) -> Scrubber {
        let Some(token) = token else { return self.scrubber.clone() };
        let mut known = self.with_token.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scrubber)) = known.as_ref().filter(|(known, _)| known == token) {
            return scrubber.clone();
        }
        let text = token.to_str().unwrap_or_default();
        let of_token = secrets_of("authorization", text);
        let scrubber = Scrubber::new(self.secrets.iter().chain(&of_token));
        *known = Some((token.clone(), scrubber.clone()));
        scrubber
    }

    /// Notes that a question of the server could not be forwarded to a client.
    pub(crate) fn note_refused_question(&self) {
        self.refused_questions.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused_questions(&self) -> u64 {
        self.refused_questions.load(Ordering::Relaxed)
    }

    /// Notifies subscribed clients that a resource has changed.
    pub(crate) fn resource_updated(&self, uri: &str) {
        self.servers.updated(&self.server, uri);
    }
}
