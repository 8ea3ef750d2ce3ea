//! Which client receives what a server sends on a stream, and answers its questions there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use strip::{AskMode, Client};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::caller::Caller;
use crate::notifications::{Channel, Recipient};
use crate::pending::Pending;

/// The owner of a stream.
#[derive(Clone, Copy)]
pub(super) enum Listener<'a> {
    /// The gateway's own stream, on which it is notified of changes.
    Gateway,
    /// The stream of a request without a client.
    None,
    /// The stream of one request, with its id.
    Request(u64, &'a Arc<dyn Client>),
    /// The stream of a caller's session, for messages that belong to no request in particular.
    Session(&'a WaitingClients),
    /// A stream on which the answers to all requests of a session arrive.
    Channel(&'a Pending, ChannelOwner),
}

/// The users of a stream on which the answers to all requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelOwner {
    /// The gateway, and all callers where they share a session.
    Gateway,
    /// One caller.
    Caller,
}

impl Listener<'_> {
    /// The channel of the stream, where requests are sent for this caller.
    pub(super) fn channel<'c>(self, caller: Option<&'c Caller>) -> Channel<'c> {
        match self {
            Listener::Gateway | Listener::Channel(_, ChannelOwner::Gateway) => Channel::Gateway,
            Listener::Channel(_, ChannelOwner::Caller)
            | Listener::None
            | Listener::Request(..)
            | Listener::Session(_) => Channel::Caller(caller),
        }
    }

    /// The clients that a notification is for.
    pub(super) fn clients(self, recipient: &Recipient) -> Vec<Arc<dyn Client>> {
        match (self, recipient) {
            (Listener::Channel(pending, owner), Recipient::Log) => {
                pending.log_clients(owner == ChannelOwner::Gateway)
            }
            _ => self.client(recipient).into_iter().collect(),
        }
    }

    /// The client that a message is for.
    pub(super) fn client(self, recipient: &Recipient) -> Option<Arc<dyn Client>> {
        match (self, recipient) {
            (Listener::Gateway | Listener::None, _) => None,
            (Listener::Request(id, _), Recipient::Token(token)) if *token != id => None,
            (Listener::Request(_, client), _) => Some(Arc::clone(client)),
            (Listener::Channel(pending, _), Recipient::Token(token)) => pending.client_of(*token),
            (Listener::Channel(pending, owner), Recipient::Unspecified | Recipient::Log) => {
                pending.latest_client(owner == ChannelOwner::Gateway)
            }
            (Listener::Session(clients), Recipient::Token(token)) => {
                clients.table().waiting.get(token).cloned()
            }
            (Listener::Session(clients), Recipient::Unspecified) => clients.latest(),
            (Listener::Session(clients), Recipient::Log) => {
                clients.note_log();
                clients.latest().or_else(|| clients.recent())
            }
        }
    }
}

/// How long after an answer log messages still count as those of its request.
const LATE: Duration = Duration::from_secs(2);

/// How long the stream of a session must be quiet after an answer, and how long that may take.
const QUIET: Duration = Duration::from_millis(50);
const MAX_WAIT: Duration = Duration::from_millis(400);

/// The clients that wait for answers within one session.
#[derive(Default)]
pub(super) struct WaitingClients {
    table: Mutex<Clients>,
    /// A log message has arrived on the stream of the session.
    log_arrived: Notify,
}

#[derive(Default)]
struct Clients {
    /// Clients by the ids of their requests.
    waiting: BTreeMap<u64, Arc<dyn Client>>,
    /// The client that was answered last, and when.
    recent: Option<(Instant, Arc<dyn Client>)>,
    /// Whether the server sends log messages on the stream of the session; none if that is not known.
    logs_on_stream: Option<bool>,
}

impl WaitingClients {
    fn table(&self) -> MutexGuard<'_, Clients> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client until the guard is dropped.
    pub(super) fn enter(&self, id: u64, client: Option<&Arc<dyn Client>>) -> WaitingGuard<'_> {
        if let Some(client) = client {
            self.table().waiting.insert(id, Arc::clone(client));
        }
        WaitingGuard { clients: self, id }
    }

    /// The client of the latest request.
    fn latest(&self) -> Option<Arc<dyn Client>> {
        self.table().waiting.last_key_value().map(|(_, client)| Arc::clone(client))
    }

    /// The client that was answered a moment ago.
    fn recent(&self) -> Option<Arc<dyn Client>> {
        let mut table = self.table();
        table.recent.take_if(|(answered, _)| answered.elapsed() > LATE);
        table.recent.as_ref().map(|(_, client)| Arc::clone(client))
    }

    fn note_log(&self) {
        self.table().logs_on_stream = Some(true);
        self.log_arrived.notify_one();
    }

    /// Waits after an answer for log messages of its request: servers may send them on the stream of the session, which
    /// is another connection. A server that has not done so during one call is not waited for.
    pub(super) async fn settle(&self) {
        if self.table().logs_on_stream == Some(false) {
            return;
        }
        let until = Instant::now() + MAX_WAIT;
        while Instant::now() < until && timeout(QUIET, self.log_arrived.notified()).await.is_ok() {}
        self.table().logs_on_stream.get_or_insert(false);
    }
}

pub(super) struct WaitingGuard<'a> {
    clients: &'a WaitingClients,
    id: u64,
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        let mut table = self.clients.table();
        if let Some(client) = table.waiting.remove(&self.id)
            && client.ask_mode() == AskMode::Direct
            && client.log_level().is_some()
        {
            table.recent = Some((Instant::now(), client));
        }
    }
}
