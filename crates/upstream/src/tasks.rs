//! Tools that a server runs as tasks: on behalf of callers without tasks the gateway starts the task, waits for its end
//! and returns its result.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use strip::{AskMode, Client};

use crate::caller::Caller;
use crate::error::{AskResult, TransportError};
use crate::questions;
use crate::rpc::{self, Answer, Params, RpcError, RpcRequest, RpcResult, TASKS};
use crate::transport::Transport;

/// The pause between two polls where the server names none, and its limits.
const POLL: Duration = Duration::from_millis(500);
const MIN_POLL: Duration = Duration::from_millis(20);
const MAX_POLL: Duration = Duration::from_secs(5);

/// How long the cancellation of a task may take.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

const MISSING_CAPABILITY: i64 = -32021;
const INTERNAL_ERROR: i64 = -32603;

/// Sends a request and, if it is answered with a task, waits for its result. Dropping the future cancels the task.
pub(crate) async fn ask(
    transport: &Arc<Transport>,
    caller: Option<&Caller>,
    request: &RpcRequest<'_>,
) -> AskResult {
    let answer = transport.ask(caller, request).await?;
    if request.as_task {
        // Boxed to keep the common future small.
        return Box::pin(finish(transport, caller, request.client, answer)).await;
    }
    match &answer {
        Err(error) if !request.modern && requires_tasks(error) => {
            let request = RpcRequest { as_task: true, ..*request };
            Box::pin(async move {
                let answer = transport.ask(caller, &request).await?;
                finish(transport, caller, request.client, answer).await
            })
            .await
        }
        _ => Ok(answer),
    }
}

/// Whether a client takes tasks, so that the gateway passes them on.
pub(crate) fn are_taken_by(client: &dyn Client) -> bool {
    let extensions = client.capabilities().get("extensions");
    client.ask_mode() == AskMode::Rounds
        && extensions.is_some_and(|extensions| extensions.get(TASKS).is_some())
}

/// Whether a modern server refuses a request because the client does not take tasks.
fn requires_tasks(error: &RpcError) -> bool {
    let required = error.data.as_ref().map(|data| &data["requiredCapabilities"]["extensions"]);
    error.code == MISSING_CAPABILITY
        && required.is_some_and(|extensions| extensions.get(TASKS).is_some())
}

/// Waits for the result of a task, if the answer is one.
async fn finish(
    transport: &Arc<Transport>,
    caller: Option<&Caller>,
    client: Option<&Arc<dyn Client>>,
    answer: Answer,
) -> AskResult {
    let Ok(result) = &answer else { return Ok(answer) };
    let Ok(created) = serde_json::from_str::<Created>(result.get()) else { return Ok(answer) };
    let (state, is_legacy) = match created {
        Created { task: Some(state), .. } => (state, true),
        Created { result_type: Some(kind), state, .. } if kind == "task" => (state, false),
        _ => return Ok(answer),
    };
    let Some(id) = state.task_id.clone() else {
        return Err(TransportError::malformed("it answers with a task that has no id"));
    };
    let mut task = RunningTask {
        transport,
        caller,
        client,
        id,
        reports: 0,
        message: None,
        answered: HashSet::new(),
        open: true,
    };
    let answer =
        if is_legacy { task.finish_legacy(state).await } else { task.finish_modern(state).await };
    // A task that still waits for its answer is cancelled.
    task.open = matches!(answer, Err(TransportError::Unanswerable));
    answer.map_err(TransportError::after_sending)
}

/// The answer to a request that became a task, of either era.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    task: Option<TaskState>,
    result_type: Option<String>,
    #[serde(flatten)]
    state: TaskState,
}

/// The state of a task, as both eras write it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TaskState {
    task_id: Option<String>,
    status: String,
    status_message: Option<String>,
    /// A server of both eras may write both.
    poll_interval: Option<u64>,
    poll_interval_ms: Option<u64>,
}

impl TaskState {
    fn pause(&self) -> Duration {
        let pause = self.poll_interval_ms.or(self.poll_interval);
        pause.map_or(POLL, Duration::from_millis).clamp(MIN_POLL, MAX_POLL)
    }

    /// Whether the server still works on it and asks nothing.
    fn is_working(&self) -> bool {
        !matches!(self.status.as_str(), "completed" | "failed" | "cancelled" | "input_required")
    }

    /// Whether it says that it ended without a result.
    fn has_failed(&self) -> bool {
        matches!(self.status.as_str(), "failed" | "cancelled")
    }
}

/// How a modern task has ended, or what it asks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
    #[serde(default)]
    input_requests: Map<String, Value>,
}

/// A task at a server. Dropping it cancels the task.
struct RunningTask<'a> {
    transport: &'a Arc<Transport>,
    caller: Option<&'a Caller>,
    client: Option<&'a Arc<dyn Client>>,
    id: String,
    reports: u64,
    /// The last status message that the client has received.
    message: Option<String>,
    /// The questions that were answered. A server may list them until it has seen the answers.
    answered: HashSet<String>,
    open: bool,
}

impl RunningTask<'_> {
    /// A legacy task is polled until it ends or asks something; its result is a request of its own, on whose stream the
    /// questions arrive.
    async fn finish_legacy(&mut self, mut state: TaskState) -> AskResult {
        while state.is_working() {
            self.report(&state);
            tokio::time::sleep(state.pause()).await;
            state = match self.request("tasks/get", Map::new()).await? {
                Ok(result) => read_state(&result)?,
                Err(error) => return Err(untold(&error)),
            };
        }
        self.report(&state);
        match self.request("tasks/result", Map::new()).await? {
            Err(error) if !state.has_failed() => Err(untold(&error)),
            answer => Ok(answer),
        }
    }

    async fn finish_modern(&mut self, mut state: TaskState) -> AskResult {
        loop {
            self.report(&state);
            if state.is_working() {
                tokio::time::sleep(state.pause()).await;
            }
            let result = match self.request("tasks/get", Map::new()).await? {
                Ok(result) => result,
                Err(error) => return Err(untold(&error)),
            };
            state = read_state(&result)?;
            let text = result.whole();
            let ended: Ended<'_> = serde_json::from_str(&text)
                .map_err(|why| TransportError::malformed(format!("the state of a task: {why}")))?;
            match state.status.as_str() {
                "completed" => {
                    let raw = ended.result.ok_or_else(|| {
                        TransportError::malformed("a completed task has no result")
                    })?;
                    return Ok(Ok(RpcResult { raw: raw.to_owned(), blobs: None }));
                }
                "failed" => return Ok(Err(ended.error.unwrap_or_else(|| failed("failed")))),
                "cancelled" => return Ok(Err(failed("was cancelled"))),
                "input_required" => {
                    let mut asked = ended.input_requests;
                    asked.retain(|key, _| !self.answered.contains(key));
                    if asked.is_empty() {
                        tokio::time::sleep(state.pause()).await;
                    } else {
                        self.answer(&asked).await?;
                    }
                }
                _ => {}
            }
        }
    }

    /// Answers what a modern task asks.
    async fn answer(&mut self, asked: &Map<String, Value>) -> Result<(), TransportError> {
        let client = self
            .client
            .filter(|client| rpc::is_asked_directly(client.ask_mode(), client.capabilities()));
        let answered = match client {
            Some(client) => questions::ask_all(&**client, asked).await.ok(),
            None => None,
        };
        let Some(responses) = answered else { return Err(TransportError::Unanswerable) };
        self.answered.extend(asked.keys().cloned());
        let more = Map::from_iter([("inputResponses".to_owned(), Value::Object(responses))]);
        match self.request("tasks/update", more).await? {
            Ok(_) => Ok(()),
            Err(error) => Err(untold(&error)),
        }
    }

    async fn request(&self, method: &str, mut params: Map<String, Value>) -> AskResult {
        params.insert("taskId".to_owned(), self.id.clone().into());
        self.transport.ask(self.caller, &task_request(method, &params, self.client)).await
    }

    /// Reports the task's own description of its state to a client that wants progress.
    fn report(&mut self, state: &TaskState) {
        let Some(client) = self.client.filter(|client| client.wants_progress()) else { return };
        if state.status_message.is_none() || state.status_message == self.message {
            return;
        }
        self.message.clone_from(&state.status_message);
        self.reports += 1;
        let mut report = Map::new();
        report.insert("progress".to_owned(), self.reports.into());
        report.insert("message".to_owned(), self.message.clone().into());
        client.progress(report);
    }
}

impl Drop for RunningTask<'_> {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if !self.open {
            return;
        }
        let (transport, caller) = (Arc::clone(self.transport), self.caller.cloned());
        let (client, id) = (self.client.cloned(), self.id.clone());
        runtime.spawn(async move {
            let params = Map::from_iter([("taskId".to_owned(), id.into())]);
            let request = task_request("tasks/cancel", &params, client.as_ref());
            let cancelling = transport.ask(caller.as_ref(), &request);
            // The server ends the task itself at the end of its lifetime.
            let _ = tokio::time::timeout(CANCEL_TIMEOUT, cancelling).await;
        });
    }
}

/// A request about a task. It has the client of the call, so that it goes to the same session.
fn task_request<'a>(
    method: &'a str,
    params: &'a Map<String, Value>,
    client: Option<&'a Arc<dyn Client>>,
) -> RpcRequest<'a> {
    RpcRequest {
        own: false,
        client,
        as_task: true,
        repeatable: method == "tasks/get",
        ..RpcRequest::plain(method, Params::Map(params))
    }
}

fn read_state(result: &RpcResult) -> Result<TaskState, TransportError> {
    serde_json::from_str(result.get())
        .map_err(|why| TransportError::malformed(format!("the state of a task: {why}")))
}

/// The server runs the task, or has run it, and refuses a request about it.
fn untold(error: &RpcError) -> TransportError {
    TransportError::Untold(format!("it refuses a request about its task: {}", error.message).into())
}

fn failed(how: &str) -> RpcError {
    RpcError { code: INTERNAL_ERROR, message: format!("the task {how}"), data: None }
}
