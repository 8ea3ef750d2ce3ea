//! The one order in which everything that callers ask for passes the guards, whatever its door: calls of tools, requests to
//! servers, operations on files, and what a door refused.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use proto::{Code, Digest, Failure};

use crate::agents::ApprovalRule;
use crate::approval::{Grant, run_to_end};
use crate::catalog::Entry;
use crate::forward::not_offered;
use crate::guard::approval::{ApprovalError, Passage, check_caller};
use crate::guard::arguments::Arguments;
use crate::guard::audit::{Begin, Content, Decision, OpenRow};
use crate::guard::idempotency::{CallError, Idempotency, Key, ToolResult};
use crate::guard::{deadline, determinism, shape, size};
use crate::guards::Guards;
use crate::resolve::Resolved;
use crate::runs::{Ticket, park_questions, repeat_task};
use crate::servers::{Server, ServerRequest};
use crate::stop::Stop;
use crate::{Answer, Door, Job, Output, Reply, Request};

/// How much longer than its caller's timeout a tool that steers may take: it keeps to the timeout itself, and has an answer
/// when it ends.
const GRACE: Duration = Duration::from_secs(5);

/// A call whose audit row is open.
struct Call {
    job: Job,
    arguments: Arguments,
    /// The tool that runs, if the caller has it.
    entry: Option<Arc<Entry>>,
    /// The tool that forwarded to it.
    forwarder: Option<Arc<Entry>>,
    row: OpenRow,
    ticket: Option<Ticket>,
}

/// A call that all guards before idempotency have admitted.
struct Admission {
    entry: Arc<Entry>,
    key: Option<Key>,
    /// Set if a person had to approve the call.
    grant: Option<Arc<Grant>>,
}

enum Admitted {
    Run(Admission),
    /// The caller is asked for its person's decision.
    Ask(Output),
}

/// How a call or request ended.
struct Outcome<T = Output> {
    result: Result<T, Failure>,
    decision: Decision,
    /// The key that its answer is recorded under.
    key: Option<Digest>,
}

/// How the row of a call is closed.
#[derive(Default)]
struct Closing {
    /// Whether the call may have changed something.
    changes: bool,
    /// Whether the answer waits until the row is on disk.
    wait: bool,
    content: Option<Content>,
}

impl Guards {
    /// A call of a tool: audit ▸ rate of the caller ▸ admit ▸ rate of the tool ▸ size-in ▸ public schema ▸ run ▸ approval
    /// ▸ re-admit ▸ idempotency ▸ deadline[ files-in ▸ tool schema ▸ ⟨tool⟩ ▸ schema-out ▸ refs-out ▸ size-out ]
    pub(crate) async fn answer(self: &Arc<Self>, mut job: Job) -> Answer {
        let mut row = self.audit.open(&job);
        let admitted = self.admit_caller(&job);
        let Resolved { forwarder, found } = match &admitted {
            Ok(()) => self.resolve(&mut job).await,
            // A refused call names its tool, but waits for no server.
            Err(_) => self.find_tool(&mut job),
        };
        if let Ok(entry) = &found {
            shape::drop_optional_nulls(entry, &mut job.input);
            shape::drop_optional_empty_texts(entry, &mut job.input);
        }
        let arguments = Arguments::of(&job.input);
        let entry = found.as_ref().ok().map(Arc::clone);
        row.complete(&job, &arguments, entry.as_ref());
        let mut call = Call { job, arguments, entry, forwarder, row, ticket: None };
        let outcome = match self.admit(&mut call, admitted.and(found)).await {
            Err(refusal) => Outcome::new(Err(refusal), Decision::Refused),
            Ok(Admitted::Ask(output)) => Outcome::new(Ok(output), Decision::Asked),
            Ok(Admitted::Run(admission)) if admission.grant.is_some() => {
                // An approval is not spent for nothing: from here on the call goes on even if its caller leaves.
                let guards = Arc::clone(self);
                let rest = async move {
                    let outcome = guards.begin(&mut call, admission).await;
                    guards.close(call, outcome).await
                };
                return Box::pin(run_to_end(rest)).await;
            }
            Ok(Admitted::Run(admission)) => self.begin(&mut call, admission).await,
        };
        self.close(call, outcome).await
    }

    /// A request to a server that is no tool call; also for a file that a call needs from it:
    /// audit ▸ rate ▸ admit ▸ size-in ▸ deadline[ ⟨server⟩ ▸ size-out ]
    ///
    /// None if there is no server, or none that the caller may use. Both count against the rate, or guessing would be free.
    pub(crate) async fn forward(
        &self,
        server: Option<&Arc<dyn Server>>,
        asked: ServerRequest<'_>,
        request: Request,
    ) -> Result<Option<Output>, Failure> {
        let name = match server {
            Some(server) => format!("{}:{}", server.name(), asked.method()),
            None => asked.method().to_owned(),
        };
        let job = Job::named(request, name);
        let mut row = self.audit.open(&job);
        let arguments = Arguments::of(&job.input);
        row.complete(&job, &arguments, None);
        let principal = &job.request().principal;
        let usable = server.filter(|server| self.may_ask(principal, server.name(), asked));
        let work = async {
            self.rate().check_caller(principal).map_err(CallError::Refused)?;
            let Some(server) = usable else { return Err(CallError::Refused(not_offered())) };
            let limit = self.limits().max_input_bytes;
            size::check_params(&arguments, limit).map_err(CallError::Refused)?;
            self.send(server, asked, &job).await
        };
        match self.audited(row, &job, work, |_| None).await {
            Err(failure) if usable.is_none() && failure.code == Code::NotFound => Ok(None),
            done => done.map(Some),
        }
    }

    /// An operation on a file: audit ▸ ⟨operation⟩. It returns the file's id, which the row names.
    pub(crate) async fn use_file<T>(
        &self,
        job: &Job,
        work: impl Future<Output = Result<(String, T), Failure>>,
        name_of: impl Fn(&str) -> String,
    ) -> Result<T, Failure> {
        let row = self.audit.open(job);
        let work = async { work.await.map_err(CallError::Failed) };
        let done = self.audited(row, job, work, |(id, _)| Some(name_of(id))).await;
        done.map(|(_, done)| done)
    }

    /// Work of the gateway for a caller that is no call of a tool, such as a plan: audit ▸ rate of the caller ▸ ⟨work⟩
    pub(crate) async fn run_work<T>(
        &self,
        job: &Job,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let mut row = self.audit.open(job);
        row.complete(job, &Arguments::of(&job.input), None);
        let work = async {
            let principal = &job.request().principal;
            self.rate().check_caller(principal).map_err(CallError::Refused)?;
            work.await.map_err(CallError::Failed)
        };
        self.audited(row, job, work, |_| None).await
    }

    /// A request that a door refused before it became a call: audit ▸ rate of the caller
    ///
    /// Returns the refusal, or the failure of the rate in its place.
    pub(crate) async fn refuse(&self, job: &Job, refusal: Failure) -> Failure {
        let row = self.audit.open(job);
        let counted = self.rate().check_caller(&job.request().principal);
        let failure = counted.err().unwrap_or(refusal);
        let refused = async { Err::<(), _>(CallError::Refused(failure.clone())) };
        let _ = self.audited(row, job, refused, |()| None).await;
        failure
    }

    /// audit ▸ ⟨work⟩, for what is no call of a tool.
    async fn audited<T>(
        &self,
        mut row: OpenRow,
        job: &Job,
        work: impl Future<Output = Result<T, CallError>>,
        name: impl FnOnce(&T) -> Option<String>,
    ) -> Result<T, Failure> {
        let (result, decision) = if self.audit.failing().is_some() {
            (Err(self.unaccountable()), Decision::Refused)
        } else {
            match work.await {
                Ok(done) => (Ok(done), Decision::Ran),
                Err(error) => error.split(),
            }
        };
        if let Some(name) = result.as_ref().ok().and_then(name) {
            row.is_about(&name);
        }
        let mut outcome = Outcome::new(result, decision);
        self.close_row(row, job, Closing::default(), &mut outcome).await;
        outcome.result
    }

    /// What a call must pass before its tool is looked for: rows can be written, and its caller may call again.
    fn admit_caller(&self, job: &Job) -> Result<(), Failure> {
        if self.audit.failing().is_some() {
            return Err(self.unaccountable());
        }
        self.rate().check_caller(&job.request().principal)
    }

    /// Everything before the look-up of a recorded answer. A person is asked only about a call that could run.
    async fn admit(
        &self,
        call: &mut Call,
        found: Result<Arc<Entry>, Failure>,
    ) -> Result<Admitted, Failure> {
        let entry = found?;
        self.check(&call.job, &entry, &call.arguments)?;
        call.ticket = Ticket::enter(&self.runs, &mut call.job, &entry).await?;
        if let Some(output) = repeat_task(&self.runs, &mut call.job)? {
            return Ok(Admitted::Ask(output));
        }
        let (entry, grant) = match self.rule_of(&call.job, &entry) {
            ApprovalRule::Free => (entry, None),
            ApprovalRule::Asked { .. } if call.job.request().verify => {
                return Err(determinism::refuse_gated());
            }
            ApprovalRule::Asked { timeout } => {
                match Box::pin(self.approve(&mut call.job, &call.arguments, &entry, timeout))
                    .await?
                {
                    Passage::Asked(output) => return Ok(Admitted::Ask(output)),
                    Passage::Granted { grant, revision } => {
                        (self.readmit(&call.job, &entry, revision)?, Some(grant))
                    }
                }
            }
        };
        let key = Idempotency::key(&call.job, &entry, &call.arguments)?;
        if key.as_ref().is_some_and(|key| !key.is_callers())
            && entry.files.is_some()
            && grant.is_none()
        {
            // A recorded answer about a file is not given again when the file is gone.
            Box::pin(self.executor.shown_files(&entry, &call.job)).await?;
        }
        Ok(Admitted::Run(Admission { entry, key, grant }))
    }

    /// rate of the tool ▸ size-in ▸ public schema
    fn check(&self, job: &Job, entry: &Entry, arguments: &Arguments) -> Result<(), Failure> {
        let request = job.request();
        self.rate().check_tool(&request.principal, entry)?;
        size::check_input(entry, arguments)?;
        shape::check_input(entry, &job.input)?;
        if request.verify {
            determinism::check_claimed(entry)?;
        }
        if request.door == Door::Workflow {
            shape::check_task(entry)?;
        }
        Ok(())
    }

    /// Resolves the tool again after a person has decided: this caller must still have its access and the tool, and it
    /// must be what they saw.
    fn readmit(&self, job: &Job, seen: &Entry, revision: u64) -> Result<Arc<Entry>, Failure> {
        self.check_access(&job.request().principal).map_err(ApprovalError::CallerGone)?;
        let view = self.view_of_job(job);
        let entry = view.tools().resolve(job.tool())?;
        if entry.definition != seen.definition || entry.tool.revision() != revision {
            return Err(ApprovalError::ToolChanged.into());
        }
        Ok(Arc::clone(entry))
    }

    /// Records that a call begins which may change something, and runs it.
    async fn begin(&self, call: &mut Call, admission: Admission) -> Outcome {
        let key = admission.key.as_ref().map(Key::digest);
        let begin = match &admission {
            Admission { grant: Some(_), .. } => Some(Begin::Durable),
            Admission { key: Some(key), .. } if key.is_durable() => Some(Begin::Queued),
            _ => admission.entry.descriptor.side_effecting().then_some(Begin::Trailing),
        };
        if let Some(begin) = begin {
            // Boxed to keep the future of read-only calls small.
            if let Err(unwritten) = Box::pin(call.row.begin(begin)).await {
                return Outcome::new(Err(unwritten), Decision::Refused).under(key);
            }
        }
        if admission.grant.is_some() {
            // Before the approval is spent: it must not run for a caller that has cancelled.
            if let Err(left) = check_caller(&call.job) {
                return Outcome::new(Err(left.into()), Decision::Refused).under(key);
            }
            // From here on its caller cannot stop it half-way.
            call.job.detach(self.stop.token(call.job.request().trace));
        }
        let ran = self.run_within_timeout(&call.job, admission).await;
        let (result, decision) = match ran {
            Ok((output, decision)) => (Ok(output), decision),
            Err(error) => error.split(),
        };
        Outcome { result, decision, key }
    }

    /// idempotency ▸ deadline[ … ]
    async fn run_within_timeout(
        &self,
        job: &Job,
        admission: Admission,
    ) -> Result<(Output, Decision), CallError> {
        let Admission { entry, key, grant } = admission;
        let run = |job: Job| self.executor.run(job, &entry, grant.clone(), self.inline_limits());
        let work = pin!(async {
            match key {
                None => ran(run(job.clone()).await),
                // Boxed to keep the future of calls without a key small.
                Some(key) => Box::pin(self.run_once(job, key, run)).await,
            }
        });
        let grace = if entry.tool.part().steers() { GRACE } else { Duration::ZERO };
        let timeout = job.timeout.map(|timeout| timeout + grace);
        // Spending cannot be undone, so the tool runs if its caller cancels in that moment.
        let is_spending = || grant.as_ref().is_some_and(|grant| grant.is_being_spent());
        deadline::wait(timeout, job.cancel(), is_spending, work).await
    }

    /// The answer of a call that has a key: recorded, shared, or fresh.
    async fn run_once<W>(
        &self,
        job: &Job,
        key: Key,
        run: impl Fn(Job) -> W,
    ) -> Result<(Output, Decision), CallError>
    where
        W: Future<Output = ToolResult> + Send + 'static,
    {
        // Shared work must not end because the caller who began it cancelled.
        let shared = job.shared();
        if job.resume.is_some() {
            // A call that continues after a question is never answered from a record.
            return self.idempotency.alone(key, self.window(), run(shared)).await;
        }
        let begin = || run(shared.clone());
        let once = self.idempotency.once(key.clone(), self.window(), begin);
        let (mut output, mut decision) = once.await?;
        if decision == Decision::Shared && output.reply != Reply::Done {
            // A question to another caller is no answer to this one.
            let again = self.idempotency.alone(key, self.window(), run(job.clone()));
            (output, decision) = again.await?;
        }
        if job.request().verify && output.reply == Reply::Done {
            let (fresh, _) = ran(run(shared).await)?;
            determinism::check_same(&output.data, &fresh.data).map_err(CallError::Failed)?;
        }
        Ok((output, decision))
    }

    /// Closes the audit row of a call and makes its answer.
    async fn close(&self, call: Call, mut outcome: Outcome) -> Answer {
        let Call { job, entry, forwarder, row, ticket, .. } = call;
        let began = row.began();
        if job.request().park.is_some()
            && let Ok(output) = &outcome.result
            && output.reply != Reply::Done
        {
            outcome.result = Box::pin(park_questions(&self.runs, &job, output.clone())).await;
        }
        let changes = entry.as_ref().is_some_and(|e| e.descriptor.side_effecting());
        let result = &outcome.result;
        let content = self.audit.keeps_payloads().then(|| Content {
            arguments: Arc::clone(&job.input),
            result: result.as_ref().ok().map(|output| Arc::clone(&output.data)),
        });
        // A workflow commits the result of its task, after this row and in the same writer.
        let wait = result.is_ok() && changes && job.request().door != Door::Workflow;
        let closing = Closing { changes, wait, content };
        if self.close_row(row, &job, closing, &mut outcome).await
            && let Some(entry) = &entry
        {
            self.note_end(&job, entry, ticket, &outcome);
        }
        self.finish(&job, entry, forwarder, began.elapsed(), outcome.result)
    }

    /// Closes an audit row, unless the caller has left: then it is dropped, which says so. Returns whether it was closed.
    async fn close_row<T>(
        &self,
        row: OpenRow,
        job: &Job,
        closing: Closing,
        outcome: &mut Outcome<T>,
    ) -> bool {
        let Closing { changes, wait, content } = closing;
        if outcome.result.is_err() && job.cancel().is_cancelled() {
            if !self.stop.is_stopping() {
                return false;
            }
            outcome.result = Err(Stop::failure(changes));
            outcome.decision = Decision::Failed;
        }
        let failure = outcome.result.as_ref().err();
        if let Err(unwritten) = row.close(outcome.decision, failure, content, wait).await {
            if outcome.result.is_ok() {
                outcome.result = Err(unwritten);
            } else {
                // What has failed keeps its own failure: it says more about what happened.
                tracing::error!(error = %unwritten, "the audit row of a failed call could not be written");
            }
        }
        true
    }

    /// Counts the call in its run, and notes what its caller uses.
    fn note_end(&self, job: &Job, entry: &Entry, ticket: Option<Ticket>, outcome: &Outcome) {
        if let Some(ticket) = ticket {
            ticket.close(job, entry, outcome.decision, outcome.key, &outcome.result);
        }
        if outcome.result.is_err() {
            return;
        }
        self.history.note(&job.request().principal, &entry.descriptor.id);
        if entry.descriptor.ui_resource().is_some()
            && let Some(server) = entry.server()
        {
            self.apps.note(job.request(), server);
        }
    }
}

impl<T> Outcome<T> {
    fn new(result: Result<T, Failure>, decision: Decision) -> Self {
        Self { result, decision, key: None }
    }

    fn under(self, key: Option<Digest>) -> Self {
        Self { key, ..self }
    }
}

/// The outcome of a run for this call alone.
fn ran(result: ToolResult) -> Result<(Output, Decision), CallError> {
    let (output, _) = result.map_err(CallError::Failed)?;
    Ok((output, Decision::Ran))
}
