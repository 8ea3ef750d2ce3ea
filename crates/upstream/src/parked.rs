//! Calls to legacy servers that wait for a person whose client asks in rounds: the call goes on here while its caller
//! is away, and the caller's next request finds it again.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use proto::Principal;
use serde_json::{Map, Value, json};
use strip::files::Attachments;
use strip::{Asking, Client, Job, LogLevel, Unasked};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::broken::Broken;
use crate::conversation::Request;
use crate::definition::HeaderParam;
use crate::desk::PATIENCE;
use crate::rpc::{Answer, Ask, Params};
use crate::upstream::Shared;
use crate::who::Who;

/// More calls than this of one server never wait at once.
const MAX_PARKED: usize = 256;

/// As many of them may be one caller's: nobody takes all the places.
const MAX_OF_ONE: usize = 32;

/// Questions that one call may have open.
const MAX_QUESTIONS: usize = 16;

/// The waiting calls of one server.
#[derive(Clone, Default)]
pub(crate) struct Parked(Arc<Mutex<HashMap<String, Waiting>>>);

struct Waiting {
    live: Live,
    of: Principal,
}

impl Parked {
    fn table(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call of this caller wait; nothing if too many wait already. After a while it is ended.
    pub(crate) fn put(&self, live: Live, of: &Principal) -> Option<String> {
        let handle = Uuid::new_v4().simple().to_string();
        {
            let mut table = self.table();
            let theirs = table.values().filter(|waiting| waiting.of.is_same_caller(of)).count();
            if table.len() >= MAX_PARKED || theirs >= MAX_OF_ONE {
                return None;
            }
            table.insert(handle.clone(), Waiting { live, of: of.clone() });
        }
        let (parked, expired) = (self.clone(), handle.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            drop(parked.take(&expired));
        });
        Some(handle)
    }

    /// Ends every waiting call.
    pub(crate) fn clear(&self) {
        let ended = std::mem::take(&mut *self.table());
        drop(ended);
    }

    pub(crate) fn take(&self, handle: &str) -> Option<Live> {
        self.table().remove(handle).map(|waiting| waiting.live)
    }
}

/// A request that outlives the caller's own.
pub(crate) struct OwnedRequest {
    method: String,
    params: OwnedParams,
    idempotency_key: Option<String>,
    header_params: Vec<HeaderParam>,
    repeatable: bool,
    who: Option<Who>,
    attached: Option<Arc<Attachments>>,
}

enum OwnedParams {
    Call { name: String, arguments: Value },
    Map(Map<String, Value>),
}

impl OwnedRequest {
    pub(crate) fn new(request: &Request<'_>, call: &Job, who: Option<Who>) -> Self {
        let params = match request.params {
            Params::None => OwnedParams::Map(Map::new()),
            Params::Call { name, arguments } => {
                OwnedParams::Call { name: name.to_owned(), arguments: arguments.clone() }
            }
            Params::Map(params) => OwnedParams::Map(params.clone()),
        };
        Self {
            method: request.method.to_owned(),
            params,
            idempotency_key: call.request.idempotency_key.clone(),
            header_params: request.header_params.to_vec(),
            repeatable: request.repeatable,
            who,
            attached: call.attachments.clone(),
        }
    }

    async fn ask(&self, server: &Shared, client: &Arc<dyn Client>) -> Result<Answer, Broken> {
        let ask = Ask {
            method: &self.method,
            params: match &self.params {
                OwnedParams::Call { name, arguments } => Params::Call { name, arguments },
                OwnedParams::Map(params) => Params::Map(params),
            },
            idempotency_key: self.idempotency_key.as_deref(),
            header_params: &self.header_params,
            repeatable: self.repeatable,
            own: false,
            client: Some(client),
            answers: None,
            attached: self.attached.as_ref(),
        };
        server.link.ask(self.who.as_ref(), &ask).await
    }
}

/// A call under way. Dropping it ends it, and the server is told.
pub(crate) struct Live {
    work: JoinHandle<Result<Answer, Broken>>,
    relay: Arc<Relay>,
    questions: mpsc::Receiver<Question>,
    open: HashMap<String, Question>,
    count: usize,
}

/// What comes next of a call.
pub(crate) enum Heard {
    Answer(Result<Answer, Broken>),
    Questions(Map<String, Value>),
}

impl Live {
    pub(crate) fn begin(
        server: Arc<Shared>,
        request: OwnedRequest,
        client: &Arc<dyn Client>,
    ) -> Self {
        let (ask, questions) = mpsc::channel(MAX_QUESTIONS);
        let relay = Arc::new(Relay {
            capabilities: client.capabilities().clone(),
            meta: client.meta().clone(),
            progress: client.wants_progress(),
            log_level: client.log_level(),
            current: ArcSwap::from_pointee(Arc::clone(client)),
            questions: ask,
        });
        let heard = Arc::clone(&relay) as Arc<dyn Client>;
        let work = tokio::spawn(async move { request.ask(&server, &heard).await });
        Self { work, relay, questions, open: HashMap::new(), count: 0 }
    }

    /// Takes the caller's answers to what was asked; what it left out stays open.
    pub(crate) fn answer(&mut self, client: &Arc<dyn Client>, responses: Map<String, Value>) {
        self.relay.current.store(Arc::new(Arc::clone(client)));
        for (key, response) in responses {
            if let Some(question) = self.open.remove(&key) {
                // A server that does not wait any more has its reasons.
                let _ = question.answer.send(response);
            }
        }
    }

    /// Waits for the result, or for something that the server wants to know.
    pub(crate) async fn hear(&mut self) -> Heard {
        self.open.retain(|_, question| !question.answer.is_closed());
        if self.open.is_empty() {
            tokio::select! {
                biased;
                Some(question) = self.questions.recv() => self.note(question),
                done = &mut self.work => {
                    return Heard::Answer(done.unwrap_or_else(|_| Err(Broken::lost("it was given up"))));
                }
            }
        }
        while let Ok(question) = self.questions.try_recv() {
            self.note(question);
        }
        let asked = self.open.iter().map(|(key, question)| (key.clone(), question.request.clone()));
        Heard::Questions(asked.collect())
    }

    fn note(&mut self, question: Question) {
        self.count += 1;
        if self.open.len() < MAX_QUESTIONS {
            self.open.insert(format!("question-{}", self.count), question);
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Something that a server wants to know.
struct Question {
    request: Value,
    answer: oneshot::Sender<Value>,
}

/// Stands for a caller who comes and goes: collects what it is asked, and tells it things while it is there.
struct Relay {
    capabilities: Map<String, Value>,
    meta: Map<String, Value>,
    progress: bool,
    log_level: Option<LogLevel>,
    current: ArcSwap<Arc<dyn Client>>,
    questions: mpsc::Sender<Question>,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").finish_non_exhaustive()
    }
}

#[async_trait]
impl Client for Relay {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    fn asking(&self) -> Asking {
        Asking::Direct
    }

    fn wants_progress(&self) -> bool {
        self.progress
    }

    fn progress(&self, report: Map<String, Value>) {
        self.current.load().progress(report);
    }

    fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    fn log(&self, message: Map<String, Value>) {
        self.current.load().log(message);
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Unasked> {
        let (answer, answered) = oneshot::channel();
        let request = json!({"method": method, "params": params});
        let question = Question { request, answer };
        self.questions.try_send(question).map_err(|_| Unasked::Silent)?;
        answered.await.map_err(|_| Unasked::Silent)
    }
}
