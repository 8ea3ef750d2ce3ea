//! Who hears what a server says on a stream, and answers what it asks there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strip::Client;

use crate::hearing::{About, Place};

/// Whose stream it is.
#[derive(Clone, Copy)]
pub(super) enum Ears<'a> {
    /// The gateway's own, on which it wants to hear of changes.
    Gateway,
    /// A request's for which nobody listens.
    Nobody,
    /// One request's, with its id.
    Request(u64, &'a Arc<dyn Client>),
    /// A caller's session's, on which a server says what belongs to no request in particular.
    Session(&'a Callers),
}

impl Ears<'_> {
    /// Whether the gateway subscribed here.
    pub(super) fn place(self) -> Place {
        match self {
            Ears::Gateway => Place::Ours,
            Ears::Nobody | Ears::Request(..) | Ears::Session(_) => Place::Callers,
        }
    }

    /// Who is meant by a message.
    pub(super) fn of(self, about: &About) -> Option<Arc<dyn Client>> {
        match (self, about) {
            (Ears::Gateway | Ears::Nobody, _) => None,
            (Ears::Request(id, _), About::Token(token)) if *token != id => None,
            (Ears::Request(_, client), _) => Some(Arc::clone(client)),
            (Ears::Session(callers), About::Token(token)) => callers.table().get(token).cloned(),
            // The last who began something.
            (Ears::Session(callers), About::Anybody) => {
                callers.table().last_key_value().map(|(_, client)| Arc::clone(client))
            }
        }
    }
}

/// Who waits for answers within one session, by the ids of their requests.
#[derive(Default)]
pub(super) struct Callers(Mutex<BTreeMap<u64, Arc<dyn Client>>>);

impl Callers {
    fn table(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<dyn Client>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes who waits, until the guard is dropped.
    pub(super) fn enter(&self, id: u64, client: Option<&Arc<dyn Client>>) -> Waiting<'_> {
        if let Some(client) = client {
            self.table().insert(id, Arc::clone(client));
        }
        Waiting { callers: self, id }
    }
}

/// One who waits.
pub(super) struct Waiting<'a> {
    callers: &'a Callers,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.callers.table().remove(&self.id);
    }
}
