//! The one order in which everything that callers ask for passes the guards, whatever its door: calls of tools, requests to
//! servers, operations on files, and what a door refused.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use proto::{Digest, Failure};
use tokio_util::sync::CancellationToken;

use crate::agents::ApprovalRule;
use crate::approval::{Grant, run_to_end};
use crate::catalog::Entry;
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

/// How a call ended.
struct Outcome {
    result: Result<Output, Failure>,
    decision: Decision,
    /// The key that its answer is recorded under.
    key: Option<Digest>,
}

impl Guards {
    /// A call of a tool: audit ▸ admit ▸ rate ▸ size-in ▸ public schema ▸ run ▸ approval ▸ re-admit ▸ idempotency
    /// ▸ deadline[ files-in ▸ tool schema ▸ ⟨tool⟩ ▸ schema-out ▸ refs-out ▸ size-out ]
    pub(crate) async fn answer(self: &Arc<Self>, mut job: Job) -> Answer {
        let Resolved { forwarder, found } = self.resolve(&mut job).await;
        if let Ok(entry) = &found {
            shape::drop_optional_nulls(entry, &mut job.input);
            shape::drop_optional_empty_texts(entry, &mut job.input);
        }
        let arguments = Arguments::of(&job.input);
        let entry = found.as_ref().ok().map(Arc::clone);
        let row = self.audit.open(&job, &arguments, entry.as_ref());
        let mut call = Call { job, arguments, entry, forwarder, row, ticket: None };
        let outcome = match self.admit(&mut call, found).await {
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
    /// audit ▸ rate ▸ size-in ▸ deadline[ ⟨server⟩ ▸ size-out ]
    pub(crate) async fn forward(
        &self,
        server: &Arc<dyn Server>,
        asked: ServerRequest<'_>,
        request: Request,
    ) -> Result<Output, Failure> {
        let job = Job::named(request, format!("{}:{}", server.name(), asked.method()));
        let arguments = Arguments::of(&job.input);
        let row = self.audit.open(&job, &arguments, None);
        let work = async {
            self.rate().check(&job.request().principal, None).map_err(CallError::Refused)?;
            let limit = self.limits().max_input_bytes;
            size::check_params(&arguments, limit).map_err(CallError::Refused)?;
            self.send(server, asked, &job).await
        };
        self.audited(row, job.cancel(), work, |_| None).await
    }

    /// An operation on a file: audit ▸ ⟨operation⟩. It returns the file's id, which the row names.
    pub(crate) async fn use_file<T>(
        &self,
        job: &Job,
        work: impl Future<Output = Result<(String, T), Failure>>,
        name_of: impl Fn(&str) -> String,
    ) -> Result<T, Failure> {
        let row = self.audit.open(job, &Arguments::of(&job.input), None);
        let work = async { work.await.map_err(CallError::Failed) };
        let done = self.audited(row, job.cancel(), work, |(id, _)| Some(name_of(id))).await;
        done.map(|(_, done)| done)
    }

    /// What a door refused before it became a call: audit.
    pub(crate) async fn refuse(&self, job: &Job, refusal: &Failure) {
        let row = self.audit.open(job, &Arguments::of(&job.input), None);
        let refused = async { Err::<(), _>(CallError::Refused(refusal.clone())) };
        let _ = self.audited(row, job.cancel(), refused, |()| None).await;
    }

    /// audit ▸ ⟨work⟩, for what is no call of a tool.
    async fn audited<T>(
        &self,
        mut row: OpenRow,
        cancel: &CancellationToken,
        work: impl Future<Output = Result<T, CallError>>,
        name: impl FnOnce(&T) -> Option<String>,
    ) -> Result<T, Failure> {
        let (mut result, decision) = if self.audit.failing().is_some() {
            (Err(self.unaccountable()), Decision::Refused)
        } else {
            match work.await {
                Ok(done) => (Ok(done), Decision::Ran),
                Err(error) => error.split(),
            }
        };
        if result.is_err() && cancel.is_cancelled() {
            if !self.stop.is_stopping() {
                // A dropped row says that the caller left.
                return result;
            }
            result = Err(Stop::failure(false));
        }
        if let Some(name) = result.as_ref().ok().and_then(name) {
            row.is_about(&name);
        }
        let written = row.close(decision, result.as_ref().err(), None, false).await;
        if let (Err(_), Err(unwritten)) = (&result, &written) {
            tracing::error!(error = %unwritten, "the audit row of a failed request could not be written");
        }
        let done = result?;
        written.map(|()| done)
    }

    /// Everything before the look-up of a recorded answer. A person is asked only about a call that could run.
    async fn admit(
        &self,
        call: &mut Call,
        found: Result<Arc<Entry>, Failure>,
    ) -> Result<Admitted, Failure> {
        if self.audit.failing().is_some() {
            return Err(self.unaccountable());
        }
        let entry = match found {
            Ok(entry) => entry,
            Err(unknown) => {
                return self.rate().check(&call.job.request().principal, None).and(Err(unknown));
            }
        };
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

    /// rate ▸ size-in ▸ public schema
    fn check(&self, job: &Job, entry: &Entry, arguments: &Arguments) -> Result<(), Failure> {
        let request = job.request();
        self.rate().check(&request.principal, Some(entry))?;
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

    /// Resolves the tool again after a person has decided: this caller must still have it, and it must be what they saw.
    fn readmit(&self, job: &Job, seen: &Entry, revision: u64) -> Result<Arc<Entry>, Failure> {
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
        let cancelled = outcome.result.is_err() && job.cancel().is_cancelled();
        if cancelled && !self.stop.is_stopping() {
            // A dropped row says that the caller left.
            drop(row);
        } else {
            if cancelled {
                outcome.result = Err(Stop::failure(changes));
                outcome.decision = Decision::Failed;
            }
            self.write_row(row, &job, changes, &mut outcome).await;
            if let Some(entry) = &entry {
                self.note_end(&job, entry, ticket, &outcome);
            }
        }
        self.finish(&job, entry, forwarder, began.elapsed(), outcome.result)
    }

    async fn write_row(&self, row: OpenRow, job: &Job, changes: bool, outcome: &mut Outcome) {
        let result = &outcome.result;
        // A workflow commits the result of its task, after this row and in the same writer.
        let wait = result.is_ok() && changes && job.request().door != Door::Workflow;
        let content = self.audit.keeps_payloads().then(|| Content {
            arguments: &job.input,
            result: result.as_ref().ok().map(|output| &*output.data),
        });
        let written = row.close(outcome.decision, result.as_ref().err(), content, wait).await;
        // A failed call keeps its own failure: it says more about what happened.
        if let Err(unwritten) = written
            && outcome.result.is_ok()
        {
            outcome.result = Err(unwritten);
        }
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

impl Outcome {
    fn new(result: Result<Output, Failure>, decision: Decision) -> Self {
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
