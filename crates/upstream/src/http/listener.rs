//! Which client receives what a server sends on a stream, and answers its questions there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strip::Client;

use crate::notifications::{Channel, Recipient};
use crate::pending::Pending;

/// Whose stream it is.
#[derive(Clone, Copy)]
pub(super) enum Listener<'a> {
    /// The gateway's own, on which it is notified of changes.
    Gateway,
    /// The stream of a request without a client.
    None,
    /// One request's, with its id.
    Request(u64, &'a Arc<dyn Client>),
    /// A caller's session's, for messages that belong to no request in particular.
    Session(&'a WaitingClients),
    /// A stream on which the answers to all requests of a session arrive.
    Channel(&'a Pending, ChannelOwner),
}

/// Who uses a stream on which the answers to all requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelOwner {
    /// The gateway, and all callers where they share a session.
    Gateway,
    /// One caller.
    Caller,
}

impl Listener<'_> {
    pub(super) fn channel(self) -> Channel {
        match self {
            Listener::Gateway | Listener::Channel(_, ChannelOwner::Gateway) => Channel::Gateway,
            Listener::Channel(_, ChannelOwner::Caller)
            | Listener::None
            | Listener::Request(..)
            | Listener::Session(_) => Channel::Caller,
        }
    }

    /// The client that a message is for.
    pub(super) fn client(self, recipient: &Recipient) -> Option<Arc<dyn Client>> {
        match (self, recipient) {
            (Listener::Gateway | Listener::None, _) => None,
            (Listener::Request(id, _), Recipient::Token(token)) if *token != id => None,
            (Listener::Request(_, client), _) => Some(Arc::clone(client)),
            (Listener::Channel(pending, _), Recipient::Token(token)) => pending.client_of(*token),
            (Listener::Channel(pending, owner), Recipient::Unspecified) => {
                pending.latest_client(owner == ChannelOwner::Gateway)
            }
            (Listener::Session(clients), Recipient::Token(token)) => {
                clients.table().get(token).cloned()
            }
            // The client of the latest request.
            (Listener::Session(clients), Recipient::Unspecified) => {
                clients.table().last_key_value().map(|(_, client)| Arc::clone(client))
            }
        }
    }
}

/// The clients that wait for answers within one session, by the ids of their requests.
#[derive(Default)]
pub(super) struct WaitingClients(Mutex<BTreeMap<u64, Arc<dyn Client>>>);

impl WaitingClients {
    fn table(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<dyn Client>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client until the guard is dropped.
    pub(super) fn enter(&self, id: u64, client: Option<&Arc<dyn Client>>) -> WaitingGuard<'_> {
        if let Some(client) = client {
            self.table().insert(id, Arc::clone(client));
        }
        WaitingGuard { clients: self, id }
    }
}

pub(super) struct WaitingGuard<'a> {
    clients: &'a WaitingClients,
    id: u64,
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.clients.table().remove(&self.id);
    }
}
