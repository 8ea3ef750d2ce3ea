//! The requests in progress on a connection whose answers arrive in any order.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strip::Client;
use tokio::sync::oneshot;

use crate::error::{AskResult, TransportError};

/// The requests in progress. An id is used once and answered once.
#[derive(Default)]
pub(crate) struct Pending(Mutex<Table>);

struct Waiter {
    answer: oneshot::Sender<AskResult>,
    /// The client that receives progress and can be asked questions.
    client: Option<Arc<dyn Client>>,
}

#[derive(Default)]
struct Table {
    waiting: HashMap<u64, Waiter>,
    /// How many of them last as long as the connection.
    lasting: usize,
    /// Why no more answers will come.
    over: Option<TransportError>,
}

impl Pending {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request; an error if no more answers will come.
    pub(crate) fn register(
        &self,
        id: u64,
        client: Option<&Arc<dyn Client>>,
    ) -> Result<oneshot::Receiver<AskResult>, TransportError> {
        let mut table = self.table();
        if let Some(over) = &table.over {
            return Err(over.clone());
        }
        let (sender, receiver) = oneshot::channel();
        table.waiting.insert(id, Waiter { answer: sender, client: client.cloned() });
        Ok(receiver)
    }

    /// Removes a request; false if it was answered already.
    pub(crate) fn remove(&self, id: u64) -> bool {
        self.table().waiting.remove(&id).is_some()
    }

    /// Ends the connection if no request is in progress.
    pub(crate) fn close_if_idle(&self) -> bool {
        let mut table = self.table();
        let idle = table.waiting.len() <= table.lasting;
        if idle {
            table.over.get_or_insert(TransportError::Expired);
        }
        idle
    }

    /// Why no more answers will come, if so.
    pub(crate) fn over(&self) -> Option<TransportError> {
        self.table().over.clone()
    }

    /// Marks the next request as one that lasts as long as the connection, until the guard is dropped.
    pub(crate) fn begin_lasting(&self) -> LastingRequest<'_> {
        self.table().lasting += 1;
        LastingRequest(self)
    }

    /// The client of a request.
    pub(crate) fn client_of(&self, id: u64) -> Option<Arc<dyn Client>> {
        self.table().waiting.get(&id)?.client.clone()
    }

    /// The client of the latest request, for messages that name no request. Where callers share a process, only while
    /// there is one request, so that no client receives what belongs to another.
    pub(crate) fn latest_client(&self, shared: bool) -> Option<Arc<dyn Client>> {
        let table = self.table();
        if shared && table.waiting.len() > table.lasting + 1 {
            return None;
        }
        let with_client = table.waiting.iter().filter(|(_, waiter)| waiter.client.is_some());
        with_client.max_by_key(|(id, _)| **id)?.1.client.clone()
    }

    /// The clients of log messages, which name no request: of each session the one of its latest request. Where callers
    /// share a process, see `latest_client`.
    pub(crate) fn log_clients(&self, shared: bool) -> Vec<Arc<dyn Client>> {
        let table = self.table();
        if shared && table.waiting.len() > table.lasting + 1 {
            return Vec::new();
        }
        let clients =
            table.waiting.iter().filter_map(|(id, waiter)| Some((id, waiter.client.as_ref()?)));
        let mut latest: BTreeMap<Option<&str>, (&u64, &Arc<dyn Client>)> = BTreeMap::new();
        for (id, client) in clients {
            let known = latest.entry(client.session()).or_insert((id, client));
            if known.0 < id {
                *known = (id, client);
            }
        }
        latest.into_values().map(|(_, client)| Arc::clone(client)).collect()
    }

    /// Delivers an answer; false if no request waits for it.
    pub(crate) fn settle(&self, id: u64, answer: AskResult) -> bool {
        let waiter = self.table().waiting.remove(&id);
        waiter.is_some_and(|waiter| waiter.answer.send(answer).is_ok())
    }

    /// Fails all requests in progress; later ones are still possible.
    pub(crate) fn fail_all(&self, why: &TransportError) {
        let waiting = std::mem::take(&mut self.table().waiting);
        for waiter in waiting.into_values() {
            let _ = waiter.answer.send(Err(why.clone()));
        }
    }

    /// Fails all requests, now and later.
    pub(crate) fn end(&self, why: &TransportError) {
        self.table().over.get_or_insert_with(|| why.clone());
        self.fail_all(why);
    }
}

/// A request that lasts as long as the connection.
pub(crate) struct LastingRequest<'a>(&'a Pending);

impl Drop for LastingRequest<'_> {
    fn drop(&mut self) {
        self.0.table().lasting -= 1;
    }
}

#[cfg(test)]
mod tests;
