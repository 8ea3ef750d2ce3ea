use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use strip::Client;
use tokio::sync::{mpsc, oneshot};

use crate::broken::Broken;
use crate::era::{Era, Facts};
use crate::hearing::Verbosity;
use crate::rpc::{self, Answer, Ask, Params};

/// Our end of one process: whoever asks puts a line into the queue and an entry into the table.
pub(crate) struct Connection {
    outgoing: mpsc::Sender<Bytes>,
    pending: Arc<Pending>,
    next: AtomicU64,
    facts: OnceLock<Facts>,
    verbosity: Verbosity,
}

impl Connection {
    pub(super) fn new(outgoing: mpsc::Sender<Bytes>, pending: Arc<Pending>) -> Self {
        Self {
            outgoing,
            pending,
            next: AtomicU64::new(1),
            facts: OnceLock::new(),
            verbosity: Verbosity::default(),
        }
    }

    /// What the server said in the handshake.
    pub(super) fn facts(&self) -> &Facts {
        static UNMET: Facts = Facts::UNMET;
        self.facts.get().unwrap_or(&UNMET)
    }

    /// Ends the handshake: from now on, requests are written for this era.
    pub(super) fn agree(&self, facts: Facts) {
        // There is one handshake for each connection.
        let _ = self.facts.set(facts);
    }

    pub(super) fn is_open(&self) -> bool {
        self.pending.over().is_none()
    }

    /// Closes the connection if nobody waits for an answer; who asks after that is told before anything is sent.
    pub(super) fn close_if_idle(&self) -> bool {
        self.pending.close_if_idle()
    }

    /// Asks for something that stands as long as the connection and so does not count as work.
    pub(super) async fn stand(&self, ask: &Ask<'_>) -> Result<Answer, Broken> {
        self.pending.table().standing += 1;
        let _standing = Standing(&self.pending);
        self.ask(ask).await
    }

    /// Waits until nothing more can be asked.
    pub(super) async fn ended_waiting(&self) {
        self.outgoing.closed().await;
    }

    pub(crate) async fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Broken> {
        let facts = self.facts();
        if facts.era == Era::Legacy
            && let Some(params) = self.verbosity.raised(ask.client, facts.capabilities.as_ref())
        {
            // A server that will not is asked all the same.
            let ask = Ask::plain("logging/setLevel", Params::Map(&params));
            let _ = self.ask_in(facts.era, &ask).await;
        }
        self.ask_in(facts.era, ask).await
    }

    pub(super) async fn ask_in(&self, era: Era, ask: &Ask<'_>) -> Result<Answer, Broken> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut line = ask
            .encode(id, era)
            .map_err(|why| Broken::malformed(format!("the request cannot be written: {why}")))?;
        line.push(b'\n');
        let answer = self.pending.register(id, ask.client)?;
        let mut waiting = Waiting { connection: self, id, tell: false };
        if self.outgoing.send(line.into()).await.is_err() {
            return Err(self.ended());
        }
        // A server that has not been greeted yet does not know what a cancellation is.
        waiting.tell = !matches!(ask.method, "server/discover" | "initialize");
        let answer = answer.await.unwrap_or_else(|_| Err(self.ended()));
        waiting.tell = false;
        answer
    }

    /// Queues a notification or a reply.
    pub(super) async fn tell(&self, message: Bytes) -> Result<(), Broken> {
        self.outgoing.send(ended_line(&message)).await.map_err(|_| self.ended())
    }

    fn ended(&self) -> Broken {
        self.pending.over().unwrap_or_else(|| Broken::lost("the process has ended"))
    }
}

/// A request that waits as long as the connection lasts.
struct Standing<'a>(&'a Pending);

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        self.0.table().standing -= 1;
    }
}

pub(super) fn ended_line(message: &[u8]) -> Bytes {
    let mut line = Vec::with_capacity(message.len() + 1);
    line.extend_from_slice(message);
    line.push(b'\n');
    line.into()
}

/// One who waits. If they leave before the answer, the entry goes and the server is told.
struct Waiting<'a> {
    connection: &'a Connection,
    id: u64,
    tell: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waited = self.connection.pending.forget(self.id);
        if self.tell && waited {
            // A server that does not read any more need not hear it.
            let line = ended_line(&rpc::cancelled(self.id));
            let _ = self.connection.outgoing.try_send(line);
        }
    }
}

/// Who waits for which answer. An id is given out once and answered once.
#[derive(Default)]
pub(super) struct Pending(Mutex<Table>);

/// Who waits for an answer.
struct Waiter {
    answer: oneshot::Sender<Result<Answer, Broken>>,
    /// Who hears of the work and can be asked meanwhile.
    client: Option<Arc<dyn Client>>,
}

#[derive(Default)]
struct Table {
    waiting: HashMap<u64, Waiter>,
    /// How many of them wait for as long as the connection lasts.
    standing: usize,
    /// Why no more answers will come.
    over: Option<Broken>,
}

impl Pending {
    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(
        &self,
        id: u64,
        client: Option<&Arc<dyn Client>>,
    ) -> Result<oneshot::Receiver<Result<Answer, Broken>>, Broken> {
        let mut table = self.table();
        if let Some(over) = &table.over {
            return Err(over.clone());
        }
        let (sender, receiver) = oneshot::channel();
        table.waiting.insert(id, Waiter { answer: sender, client: client.cloned() });
        Ok(receiver)
    }

    /// Whether somebody was still waiting.
    fn forget(&self, id: u64) -> bool {
        self.table().waiting.remove(&id).is_some()
    }

    fn close_if_idle(&self) -> bool {
        let mut table = self.table();
        let idle = table.waiting.len() <= table.standing;
        if idle {
            table.over.get_or_insert(Broken::Expired);
        }
        idle
    }

    fn over(&self) -> Option<Broken> {
        self.table().over.clone()
    }

    /// Who waits for the answer to this request and may hear of it.
    pub(super) fn client_of(&self, id: u64) -> Option<Arc<dyn Client>> {
        self.table().waiting.get(&id)?.client.clone()
    }

    /// Who is meant when a server does not say: the last who began something. Where callers share a process, only
    /// one who is alone with it, so that nobody hears or is asked what is another's.
    pub(super) fn client_meant(&self, shared: bool) -> Option<Arc<dyn Client>> {
        let table = self.table();
        if shared && table.waiting.len() > table.standing + 1 {
            return None;
        }
        let hearing = table.waiting.iter().filter(|(_, waiter)| waiter.client.is_some());
        hearing.max_by_key(|(id, _)| **id)?.1.client.clone()
    }

    /// Hands an answer to who waits for it; false if nobody does.
    pub(super) fn settle(&self, id: u64, answer: Result<Answer, Broken>) -> bool {
        let waiter = self.table().waiting.remove(&id);
        waiter.is_some_and(|waiter| waiter.answer.send(answer).is_ok())
    }

    /// Tells all who wait the same, and goes on.
    pub(super) fn fail_all(&self, why: &Broken) {
        let waiting = std::mem::take(&mut self.table().waiting);
        for waiter in waiting.into_values() {
            let _ = waiter.answer.send(Err(why.clone()));
        }
    }

    /// Nobody will be answered any more.
    pub(super) fn end(&self, why: &Broken) {
        let waiting = {
            let mut table = self.table();
            table.over.get_or_insert_with(|| why.clone());
            std::mem::take(&mut table.waiting)
        };
        for waiter in waiting.into_values() {
            let _ = waiter.answer.send(Err(why.clone()));
        }
    }
}
