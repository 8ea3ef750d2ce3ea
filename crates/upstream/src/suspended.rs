//! Suspended calls to legacy servers: a client that answers questions in rounds leaves while a person decides. The call
//! goes on here, and the client's next request finds it again.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use files::Attachments;
use proto::Principal;
use serde_json::{Map, Value, json};
use strip::{AskError, AskMode, Client, LogLevel};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::caller::Caller;
use crate::error::{AskResult, TransportError};
use crate::rpc::{HeaderParam, Params, RpcRequest};
use crate::tasks;
use crate::transport::Transport;
use auth::request_state::ANSWER_TIMEOUT;

/// The most suspended calls of one server.
const MAX_CALLS: usize = 256;

/// The most suspended calls of one caller, so that no caller takes all slots.
const MAX_OF_CALLER: usize = 32;

/// Questions that one call may have open.
const MAX_QUESTIONS: usize = 16;

/// The suspended calls of one server.
#[derive(Clone, Default)]
pub(crate) struct SuspendedCalls(Arc<Mutex<HashMap<String, Entry>>>);

struct Entry {
    call: SuspendableCall,
    owner: Principal,
}

impl SuspendedCalls {
    fn table(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Suspends a call and returns its handle; none if too many are suspended already. It ends after a timeout.
    pub(crate) fn put(&self, call: SuspendableCall, owner: &Principal) -> Option<String> {
        let handle = Uuid::new_v4().simple().to_string();
        {
            let mut table = self.table();
            let of_owner = table.values().filter(|entry| entry.owner.is_same_caller(owner)).count();
            if table.len() >= MAX_CALLS || of_owner >= MAX_OF_CALLER {
                return None;
            }
            table.insert(handle.clone(), Entry { call, owner: owner.clone() });
        }
        let (calls, expired) = (self.clone(), handle.clone());
        tokio::spawn(async move {
            tokio::time::sleep(ANSWER_TIMEOUT).await;
            drop(calls.take(&expired));
        });
        Some(handle)
    }

    /// Ends every suspended call.
    pub(crate) fn clear(&self) {
        let ended = std::mem::take(&mut *self.table());
        drop(ended);
    }

    pub(crate) fn take(&self, handle: &str) -> Option<SuspendableCall> {
        self.table().remove(handle).map(|entry| entry.call)
    }
}

/// A request that outlives the one of the caller's client.
pub(crate) struct OwnedRequest {
    method: String,
    params: OwnedParams,
    idempotency_key: Option<String>,
    header_params: Vec<HeaderParam>,
    repeatable: bool,
    attached: Option<Arc<Attachments>>,
    as_task: bool,
    caller: Option<Caller>,
}

enum OwnedParams {
    Call { name: String, arguments: Value },
    Map(Map<String, Value>),
}

impl OwnedRequest {
    pub(crate) fn new(request: &RpcRequest<'_>, caller: Option<Caller>) -> Self {
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
            idempotency_key: request.idempotency_key.map(str::to_owned),
            header_params: request.header_params.to_vec(),
            repeatable: request.repeatable,
            attached: request.attached.cloned(),
            as_task: request.as_task,
            caller,
        }
    }

    async fn send(&self, transport: &Arc<Transport>, client: &Arc<dyn Client>) -> AskResult {
        let request = RpcRequest {
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
            modern: true,
            answers: None,
            attached: self.attached.as_ref(),
            as_task: self.as_task,
        };
        tasks::ask(transport, self.caller.as_ref(), &request).await
    }
}

/// A call in progress that can be suspended. Dropping it cancels it at the server.
pub(crate) struct SuspendableCall {
    work: JoinHandle<AskResult>,
    relay: Arc<Relay>,
    questions: mpsc::Receiver<Question>,
    open: HashMap<String, Question>,
    count: usize,
}

/// What happens next in a call.
pub(crate) enum CallEvent {
    Answer(AskResult),
    Questions(Map<String, Value>),
}

impl SuspendableCall {
    pub(crate) fn begin(
        transport: &Arc<Transport>,
        request: OwnedRequest,
        client: &Arc<dyn Client>,
    ) -> Self {
        let (sender, questions) = mpsc::channel(MAX_QUESTIONS);
        let relay = Arc::new(Relay {
            capabilities: client.capabilities().clone(),
            meta: client.meta().clone(),
            progress: client.wants_progress(),
            log_level: client.log_level(),
            current: ArcSwap::from_pointee(Arc::clone(client)),
            questions: sender,
        });
        let (transport, client) = (Arc::clone(transport), Arc::clone(&relay) as Arc<dyn Client>);
        let work = tokio::spawn(async move { request.send(&transport, &client).await });
        Self { work, relay, questions, open: HashMap::new(), count: 0 }
    }

    /// Takes the client's answers to open questions; those it left out stay open.
    pub(crate) fn answer(&mut self, client: &Arc<dyn Client>, responses: Map<String, Value>) {
        self.relay.current.store(Arc::new(Arc::clone(client)));
        for (key, response) in responses {
            if let Some(question) = self.open.remove(&key) {
                // The server may have stopped waiting for the answer.
                let _ = question.answer.send(response);
            }
        }
    }

    /// Waits for the result, or for questions of the server.
    pub(crate) async fn next_event(&mut self) -> CallEvent {
        self.open.retain(|_, question| !question.answer.is_closed());
        if self.open.is_empty() {
            tokio::select! {
                biased;
                Some(question) = self.questions.recv() => self.add(question),
                done = &mut self.work => {
                    let lost = || TransportError::lost("the call was cancelled");
                    return CallEvent::Answer(done.unwrap_or_else(|_| Err(lost())));
                }
            }
        }
        while let Ok(question) = self.questions.try_recv() {
            self.add(question);
        }
        let open = self.open.iter().map(|(key, question)| (key.clone(), question.request.clone()));
        CallEvent::Questions(open.collect())
    }

    fn add(&mut self, question: Question) {
        self.count += 1;
        if self.open.len() < MAX_QUESTIONS {
            self.open.insert(format!("question-{}", self.count), question);
        }
    }
}

impl Drop for SuspendableCall {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// A question of the server.
struct Question {
    request: Value,
    answer: oneshot::Sender<Value>,
}

/// The client of a suspendable call: collects questions, and forwards progress and logs to the client that is
/// connected at the moment.
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

    fn ask_mode(&self) -> AskMode {
        AskMode::Direct
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

    async fn ask(&self, method: &str, params: Value) -> Result<Value, AskError> {
        let (answer, answered) = oneshot::channel();
        let request = json!({"method": method, "params": params});
        let question = Question { request, answer };
        self.questions.try_send(question).map_err(|_| AskError::Silent)?;
        answered.await.map_err(|_| AskError::Silent)
    }
}
