use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use files::Attachments;
use proto::Digest;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approval::ShownFile;
use crate::client::TaskClient;
use crate::runs::RunOf;
use crate::{Client, Request, Resume};

/// A call on its way through the stack: what its caller asked for, which never changes, and what the stack has found out. Each
/// field names the parts of the stack that write it; tools only read.
#[derive(Clone, Debug)]
pub struct Job {
    request: Arc<Request>,
    /// By `resolve`: the tool that runs, where the caller's name for it leads to another one.
    pub(crate) renamed: Option<String>,
    /// The input for the tool. `resolve` takes it from a forwarding tool, `shape` drops placeholders of absent arguments, and
    /// `files` puts contents in.
    pub input: Arc<Value>,
    /// By `files`: the input before contents were put in.
    pub caller_input: Option<Arc<Value>>,
    /// By `files`: files that the input only has placeholders of, because the tool streams them.
    pub attachments: Option<Arc<Attachments>>,
    /// By `resolve`: what is left of the caller's timeout after a server was waited for.
    pub timeout: Option<Duration>,
    /// By `run`: the run that the call has joined.
    pub run: RunOf,
    /// By `run` and `approval`: the answers for the tool, if the call continues after a question.
    pub resume: Option<Arc<Resume>>,
    /// By `run`: set if a repeated task begins again, so that its questions count from the first.
    pub(crate) begins_again: bool,
    /// By `approval`, `execution` and `forward`, each around what the one before has left: the caller's client as far as the
    /// tool or the server may see it.
    pub client: Option<Arc<dyn Client>>,
    /// By `approval`: the files that a person saw when they approved the call.
    pub(crate) shown_files: Option<Arc<[ShownFile]>>,
    /// By `approval`: the digest of the code that a person approved; the tool must run no other.
    pub approved_code: Option<Digest>,
    /// By `idempotency` and `approval`: set for work that does not end with its caller.
    own_cancel: Option<CancellationToken>,
    /// By `execution`: how long the tool may take, before `deadline` ends it.
    pub time_limit: Duration,
    /// How many notices its caller has got that it waits.
    beats: Arc<AtomicU32>,
}

impl Job {
    /// The number of the next notice that the call waits. Progress must rise, whatever part waits.
    pub(crate) fn next_beat(&self) -> u32 {
        self.beats.fetch_add(1, Ordering::Relaxed)
    }

    /// A request that no guard has added anything to.
    pub fn new(request: Request) -> Self {
        let task = || request.park.as_ref().map(|_| TaskClient::shared());
        Self {
            renamed: None,
            input: Arc::clone(&request.input),
            caller_input: None,
            attachments: None,
            timeout: request.timeout,
            run: request.run.clone(),
            resume: request.resume.clone(),
            begins_again: false,
            client: request.client.clone().or_else(task),
            shown_files: None,
            approved_code: None,
            own_cancel: None,
            time_limit: Duration::MAX,
            beats: Arc::default(),
            request: Arc::new(request),
        }
    }

    /// A job whose tool is shown under another name.
    pub(crate) fn named(request: Request, tool: String) -> Self {
        Self { renamed: Some(tool), ..Self::new(request) }
    }

    /// What the caller asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The request, for work that may outlive the job.
    pub(crate) fn share_request(&self) -> Arc<Request> {
        Arc::clone(&self.request)
    }

    /// The name of the tool that runs.
    pub fn tool(&self) -> &str {
        self.renamed.as_deref().unwrap_or(&self.request.tool)
    }

    /// Cancelled when the work is to end: no caller waits for its answer any more, or the gateway stops.
    pub fn cancel(&self) -> &CancellationToken {
        self.own_cancel.as_ref().unwrap_or(&self.request.cancel)
    }

    /// Lets only this token end the call, whatever its caller does.
    pub(crate) fn detach(&mut self, cancel: CancellationToken) {
        self.own_cancel = Some(cancel);
    }

    /// The same call as work that goes on when its caller cancels, because others may have joined it.
    pub(crate) fn shared(&self) -> Self {
        Self { own_cancel: Some(CancellationToken::new()), ..self.clone() }
    }
}
